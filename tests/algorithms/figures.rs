//! Figures from outside this project: rounds, bytes and link loads that were counted by symbolic execution of the
//! published algorithms.

use collective::algorithms::{self, Share};
use collective::et::{self, EtOptions, NodeOrder};
use collective::sim::link_loads::link_loads;
use collective::sim::topology::{Dimension, Topology};
use collective::{Size, run};

/// Rounds; bytes sent by the busiest rank; the sum over the rounds of the load of the most loaded link of a
/// bidirectional ring with shortest paths: the latter two as shares of S.
fn figures(name: &str, values: &[usize]) -> (u64, Share, Share) {
    let algorithm = algorithms::find(name).unwrap_or_else(|| panic!("no algorithm {name}"));
    let schedule = algorithm.compile(algorithm.placement.allows(true), values).expect("a schedule");
    // Even, so that half chunks are whole where a ring has two shortest paths.
    let size = run::one_element_a_chunk(&schedule.collective) * 4_096;
    let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(Size::bytes(size)) };
    let graph = et::graph(&schedule, &options).expect("a graph");
    let link = ("50 GB/s".parse().expect("a bandwidth"), "500 ns".parse().expect("a latency"));
    let ring = Dimension::ring(schedule.ranks.len() as u32, link.0, link.1);
    let loads = link_loads(&Topology::new([ring]).expect("a ring"), &graph).expect("loads");
    let load = loads.sum_of_largest().expect("a sum").0;
    (loads.rounds.len() as u64, algorithm.cost(values).sent, Share::new(load, size.max(1)))
}

/// The row `name, values: rounds, sent, ring link`.
#[track_caller]
fn row(name: &str, values: &[usize], rounds: u64, sent: (u64, u64), link: (u64, u64)) {
    let expected = (rounds, Share::new(sent.0, sent.1), Share::new(link.0, link.1));
    assert_eq!(figures(name, values), expected, "{name} {values:?}");
}

#[test]
fn sixteen_ranks_of_all_reduce_on_a_ring() {
    row("allreduce_ring", &[16, 1], 30, (15, 8), (15, 8));
    row("allreduce_recursive_halving_doubling", &[16], 8, (15, 8), (85, 8));
}

#[test]
fn flat_all_reduce_on_a_ring() {
    // Either direction of the links carries half of what a ring in one direction does.
    row("allreduce_bidirectional_ring", &[8], 14, (7, 4), (7, 8));
    row("allreduce_bidirectional_ring", &[7], 12, (12, 7), (6, 7));
    // The distances 1, 2, 4, 8 add up.
    row("allreduce_recursive_doubling", &[16], 4, (4, 1), (15, 1));
    row("allreduce_halving_doubling_nearest_first", &[16], 8, (15, 8), (4, 1));
    // Of the distances 1, 1, 3, 5, every second rank goes each way.
    row("allreduce_swing", &[16], 4, (4, 1), (7, 1));
    row("allreduce_swing_bandwidth", &[16], 8, (15, 8), (19, 8));
    // The butterflies of Bine have the partners of Swing.
    row("allreduce_bine", &[16], 4, (4, 1), (7, 1));
    row("allreduce_bine_bandwidth", &[16], 8, (15, 8), (19, 8));
    // The distances 1, 3, 9 add up to (n − 1)/2; a third, a ninth, … of the data over 1, 3, … links are S/3 a round.
    row("allreduce_trivance", &[9], 2, (4, 1), (4, 1));
    row("allreduce_trivance", &[27], 3, (6, 1), (13, 1));
    row("allreduce_trivance_bandwidth", &[9], 4, (16, 9), (4, 3));
    row("allreduce_trivance_bandwidth", &[27], 6, (52, 27), (2, 1));
}

/// The algorithm, and the values of its parameters, of a row of the table of theory vectors.
fn of_row(name: &str, ranks: usize) -> Option<(&'static str, Vec<usize>)> {
    Some(match name {
        "allreduce ring" => ("allreduce_ring", vec![ranks, 1]),
        "allreduce Rabenseifner (halving+doubling)" => ("allreduce_recursive_halving_doubling", vec![ranks]),
        "allreduce halving-doubling nearest-first" => {
            ("allreduce_halving_doubling_nearest_first", vec![ranks])
        }
        "allreduce recursive doubling" => ("allreduce_recursive_doubling", vec![ranks]),
        "allreduce Swing latency-optimal (1D)" => ("allreduce_swing", vec![ranks]),
        "allreduce Swing bandwidth-optimal (1D)" => ("allreduce_swing_bandwidth", vec![ranks]),
        "allreduce allpairs 1-shot" => ("allreduce_allpairs_one_shot", vec![ranks]),
        "allreduce allpairs 2-shot" => ("allreduce_allpairs_two_shot", vec![ranks]),
        "allreduce double binary tree (NCCL shape)" => ("allreduce_double_binary_tree", vec![ranks, 1]),
        "allgather ring" => ("allgather_ring", vec![ranks, 1]),
        "reduce_scatter ring" => ("reduce_scatter_ring", vec![ranks, 1]),
        _ => return None,
    })
}

#[test]
fn the_counts_are_those_of_the_table() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/reference/algorithms/theory_vectors.csv");
    let Ok(table) = std::fs::read_to_string(path) else { return };
    let share = |text: &str| {
        let (above, below) = text.split_once('/').unwrap_or((text, "1"));
        Share::new(above.parse().expect("a number"), below.parse().expect("a number"))
    };
    let mut compared = 0;
    let mut missing = std::collections::BTreeSet::new();
    for row in table.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()) {
        let Ok(ranks) = row[1].parse::<usize>() else { continue };
        let Some((name, values)) = of_row(row[0], ranks) else {
            missing.insert(row[0].to_owned());
            continue;
        };
        // Of a tree the table has the depth: without a pipeline, one way up and one down.
        let rounds = match row[2].strip_prefix("depth ").and_then(|text| text.split_once(';')) {
            Some((depth, _)) => 2 * depth.parse::<u64>().expect("a number"),
            None => row[2].parse().expect("a number"),
        };
        let found = figures(name, &values);
        // Where no link is loaded, none was counted.
        let link = if matches!(row[7], "" | "0") { found.2 } else { share(row[7]) };
        let expected = (rounds, share(row[3]), link);
        assert_eq!(found, expected, "{} {ranks}: {name} {values:?}", row[0]);
        compared += 1;
    }
    println!("{compared} rows agree; no algorithm for {missing:#?}");
    assert!(compared >= 110);
}
