//! As somebody who overlaps computation with communication I want every algorithm of the library to say truly which
//! nodes make each chunk and which need it.

#[path = "../collective-dsl/tests/replay/mod.rs"]
mod replay;

use collective::algorithms;

#[test]
fn the_ends_of_every_algorithm_of_the_library_are_found() {
    for algorithm in algorithms::all() {
        for ranks in [2, 3, 4, 6, 9] {
            // The first choice, and the last, which has another root or level.
            let choices = algorithm.choices(ranks);
            let ends = [choices.first(), choices.last().filter(|_| choices.len() > 1)];
            for values in ends.into_iter().flatten() {
                for in_place in [true, false] {
                    if algorithm.placement.allows(in_place) {
                        let schedule = algorithm.compile(in_place, values).unwrap();
                        replay::check(&schedule, ranks as u64);
                    }
                }
            }
        }
    }
}
