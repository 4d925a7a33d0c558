//! Every algorithm, for every number of ranks that it claims, in and out of place: verified by all rules, and run on
//! integers and on floats with sizes that divide, that do not, one element and none.

use collective::algorithms::{self, Algorithm};
use collective::correctness;
use rayon::prelude::*;

/// What is tried in the suite.
fn sample() -> Vec<usize> {
    (1..=17).chain([32, 64]).collect()
}

/// What is wrong with an algorithm on so many ranks.
fn wrong(algorithm: &Algorithm, ranks: usize, choices: &[Vec<usize>]) -> Vec<String> {
    let def = algorithm.def;
    if choices.is_empty() {
        return claims_too_little(algorithm, ranks).into_iter().collect();
    }
    let places = [true, false].into_iter().filter(|in_place| algorithm.placement.allows(*in_place));
    places
        .flat_map(|in_place| choices.iter().map(move |values| (in_place, values)))
        .flat_map(|(in_place, values)| {
            let given: Vec<(&str, Vec<usize>)> = def
                .params
                .iter()
                .map(|param| param.name)
                .zip(values.iter().map(|value| vec![*value]))
                .collect();
            let failures = correctness::check(&def.placed(in_place), &given);
            failures.into_iter().map(move |failure| format!("{}, in place {in_place}: {failure}", def.name))
        })
        .collect()
}

/// A number of ranks that is not claimed is refused, by a message that says which are right.
fn claims_too_little(algorithm: &Algorithm, ranks: usize) -> Option<String> {
    let def = algorithm.def.placed(algorithm.placement.allows(true));
    match def.compile_with(&[("ranks", ranks)]) {
        Ok(_) => Some(format!("{} compiles for {ranks} ranks, which it does not claim", def.name)),
        Err(found) if found.to_string().contains("ranks must be") => None,
        Err(found) => Some(format!("{} does not say which ranks it is for: {found}", def.name)),
    }
}

/// The first two and the last two.
fn ends(mut choices: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    if choices.len() > 4 {
        choices.drain(2..choices.len() - 2);
    }
    choices
}

fn assert_none(mut failures: Vec<String>) {
    failures.sort();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn cases(counts: &[usize]) -> Vec<(&'static Algorithm, usize)> {
    crate::chosen()
        .into_iter()
        .flat_map(|algorithm| counts.iter().map(move |ranks| (algorithm, *ranks)))
        .collect()
}

#[test]
fn every_algorithm_is_right_for_the_ranks_that_it_claims_and_refuses_the_rest() {
    let failures = cases(&sample())
        .into_par_iter()
        .flat_map(|(algorithm, ranks)| wrong(algorithm, ranks, &ends(algorithm.choices(ranks))));
    assert_none(failures.collect());
}

#[test]
#[ignore = "minutes: the full matrix"]
fn every_algorithm_is_right_for_all_ranks_of_the_full_matrix() {
    let counts: Vec<usize> = (1..=33).chain([48, 64, 100, 128]).collect();
    let failures = cases(&counts)
        .into_par_iter()
        .flat_map(|(algorithm, ranks)| wrong(algorithm, ranks, &algorithm.choices(ranks)));
    assert_none(failures.collect());
}

#[test]
fn names_are_unique_and_entries_are_documented() {
    let mut names: Vec<&str> = algorithms::all().map(Algorithm::name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    for algorithm in algorithms::all() {
        let docs = algorithm.def.docs;
        for part in ["Choose it", "Rounds", "Bytes sent", "Time", "Source:", "```text"] {
            assert!(docs.contains(part), "{} does not say: {part}\n{docs}", algorithm.name());
        }
    }
}
