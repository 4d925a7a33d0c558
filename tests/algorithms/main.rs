//! As a designer I start from the library, and trust what each entry says about itself.
//!
//! `cargo test --release --test algorithms -- --ignored` runs the full matrix: every number of ranks that matters.
//! `ALGORITHMS=ring,swing` restricts matrix and costs to the algorithms with one of these texts in their names.

mod alltoallv;
mod costs;
mod crossovers;
mod document;
mod figures;
mod levels;
mod machine;
mod matrix;
mod messages;
mod rooted;
mod shapes;

use collective::algorithms::{self, Algorithm};

/// The algorithms to try: all, or those that the variable `ALGORITHMS` names.
fn chosen() -> Vec<&'static Algorithm> {
    let Ok(names) = std::env::var("ALGORITHMS") else { return algorithms::all().collect() };
    let named = |algorithm: &&Algorithm| names.split(',').any(|part| algorithm.name().contains(part.trim()));
    let chosen: Vec<_> = algorithms::all().filter(named).collect();
    assert!(!chosen.is_empty(), "ALGORITHMS={names}: no algorithm has such a name");
    chosen
}
