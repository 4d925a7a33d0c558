//! Uses what the build script has embedded.

#![allow(missing_docs)]

mod algorithms;

/// What the build script has embedded.
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/algorithms.rs"));
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for built in embedded::allgather_by_distance::BUILDS.iter().chain(embedded::broadcast_tree::BUILDS) {
        let bytes: usize = built.ranks()?.iter().map(|rank| rank.len()).sum();
        println!("{built}: {bytes} bytes of traces");
    }
    // The same function, for any other parameters, at run time.
    println!("{} messages among 100 ranks", algorithms::broadcast_tree::compile(100)?.message_count());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{algorithms, embedded};

    #[test]
    fn what_is_embedded_is_what_the_functions_give_at_run_time() {
        let schedule = algorithms::allgather_by_distance::compile(12, 4).unwrap();
        assert_eq!(embedded::allgather_by_distance::RANKS_12_NODE_4.check(&schedule), Ok(()));
        let schedule = algorithms::broadcast_tree::compile(9).unwrap();
        let built = embedded::broadcast_tree::build(9).unwrap();
        assert_eq!(built.check(&schedule), Ok(()));
        assert_eq!(built.size().in_bytes(), 64 << 10);
        assert_eq!(embedded::broadcast_tree::build(10), None);
    }
}
