//! Figures from outside this project: rounds, bytes and link loads that were counted by symbolic execution of the
//! published algorithms.

use collective::algorithms::{self, Share};
use collective::et::{self, EtOptions, NodeOrder};
use collective::sim::link_loads::link_loads;
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::Picos;
use collective::sim::{Model, Simulation};
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

/// The table's counts for 8 and 16 ranks, and for 12 where the number need not be a power of two.
#[test]
fn gathering_and_scattering_on_a_ring() {
    for (ranks, rounds, sent, near, far) in
        [(8, 3, (7, 8), (3, 2), (21, 8)), (16, 4, (15, 16), (2, 1), (85, 16))]
    {
        row("allgather_bruck", &[ranks], rounds, sent, far);
        row("allgather_recursive_doubling", &[ranks], rounds, sent, far);
        row("reduce_scatter_recursive_halving", &[ranks], rounds, sent, far);
        row("allgather_pat", &[ranks, 65_536], rounds, sent, near);
        row("reduce_scatter_pat", &[ranks, 65_536], rounds, sent, near);
        row("allgather_neighbour_exchange", &[ranks], ranks as u64 / 2, sent, sent);
    }
    row("allgather_bruck", &[12], 4, (11, 12), (37, 12));
    row("allgather_pat", &[12, 65_536], 4, (11, 12), (5, 3));
}

/// On a physical ring the loads of its links are what large messages pay for: by them PAT beats Bruck's algorithm, which sends most
/// the farthest, and exchanges between neighbours beat both.
#[test]
fn large_messages_on_a_ring_take_what_its_links_must_carry() {
    // At 50 GB/s a byte takes 20 ps.
    const SIZE: u64 = 16 << 20;
    let time = |name: &str, values: &[usize], latency: &str| {
        let schedule = algorithms::find(name).expect("an entry").compile(true, values).expect("a schedule");
        let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(Size::bytes(SIZE)) };
        let graph = et::graph(&schedule, &options).expect("a graph");
        let link = ("50 GB/s".parse().expect("a bandwidth"), latency.parse().expect("a latency"));
        let ring = Topology::new([Dimension::ring(16, link.0, link.1)]).expect("a ring");
        Simulation::new(&ring).model(Model::Fluid).run(&graph).expect("a report").makespan
    };
    let carried = |above: u64, below: u64| Picos(20 * SIZE / below * above);
    assert_eq!(time("allgather_bruck", &[16], "0 ns"), carried(85, 16));
    assert_eq!(time("reduce_scatter_recursive_halving", &[16], "0 ns"), carried(85, 16));
    assert_eq!(time("allgather_pat", &[16, 65_536], "0 ns"), carried(2, 1));
    assert_eq!(time("reduce_scatter_pat", &[16, 65_536], "0 ns"), carried(2, 1));
    assert_eq!(time("allgather_neighbour_exchange", &[16], "0 ns"), carried(15, 16));
    // In half the rounds of the ring.
    let (half, all) = (carried(15, 16).0 + 8 * 500_000, carried(15, 16).0 + 15 * 500_000);
    assert_eq!(time("allgather_neighbour_exchange", &[16], "500 ns"), Picos(half));
    assert_eq!(time("allgather_ring", &[16, 1], "500 ns"), Picos(all));
}

/// Rounds and bytes of all-to-all; the table has no link loads for it.
#[test]
fn all_to_all_by_its_counts() {
    let count = |name: &str, values: &[usize]| {
        let (rounds, sent, _) = figures(name, values);
        (rounds, *sent.numer(), *sent.denom())
    };
    assert_eq!(count("alltoall_pairwise", &[7]), (6, 6, 7));
    assert_eq!(count("alltoall_direct", &[7]), (1, 6, 7));
    assert_eq!(count("alltoall_bruck", &[7]), (3, 9, 7));
    assert_eq!(count("alltoall_bruck", &[16]), (4, 2, 1));
    assert_eq!(count("alltoall_two_step", &[8, 4]), (2, 5, 4));
    assert_eq!(count("alltoall_two_step", &[8, 2]), (2, 5, 4));
    // By hand, for 3 nodes of 2: a leader has one node. It sends its own node 1 part, the other leader 2, its node the 4 of
    // both GPUs, and hands out 2.
    assert_eq!(count("alltoall_three_step", &[6, 2]), (3, 3, 2));
    // The sum over the dimensions of S·(d−1)/d.
    assert_eq!(count("alltoall_hierarchical", &[8, 4, 1]), (4, 5, 4));
    assert_eq!(count("alltoall_hierarchical", &[12, 2, 3]), (4, 5, 3));
}

/// The algorithm, and the values of its parameters, of a row of the table of theory vectors.
fn of_row(name: &str, ranks: usize) -> Option<(&'static str, Vec<usize>)> {
    Some(match name {
        "allreduce ring" => ("allreduce_ring", vec![ranks, 1]),
        "allreduce Rabenseifner (halving+doubling)" => ("allreduce_recursive_halving_doubling", vec![ranks]),
        "allgather ring" => ("allgather_ring", vec![ranks, 1]),
        "allgather bruck" => ("allgather_bruck", vec![ranks]),
        "allgather PAT (full aggregation)" => ("allgather_pat", vec![ranks, 65_536]),
        "allgather neighbour exchange (even p)" => ("allgather_neighbour_exchange", vec![ranks]),
        "allgather recursive doubling" => ("allgather_recursive_doubling", vec![ranks]),
        "reduce_scatter ring" => ("reduce_scatter_ring", vec![ranks, 1]),
        "reduce_scatter recursive halving" => ("reduce_scatter_recursive_halving", vec![ranks]),
        "alltoall bruck" => ("alltoall_bruck", vec![ranks]),
        "alltoall pairwise/ring-offset" => ("alltoall_pairwise", vec![ranks]),
        "alltoall direct (allpairs)" => ("alltoall_direct", vec![ranks]),
        "alltoall two-step 2x2" => ("alltoall_two_step", vec![ranks, 2]),
        "alltoall two-step 2x4" => ("alltoall_two_step", vec![ranks, 4]),
        "alltoall two-step 4x2" => ("alltoall_two_step", vec![ranks, 2]),
        "alltoall two-step 3x4" => ("alltoall_two_step", vec![ranks, 4]),
        "alltoall two-step 4x4" => ("alltoall_two_step", vec![ranks, 4]),
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
        let rounds = row[2].parse().expect("a number");
        let counted = figures(name, &values);
        // Link loads of all-to-all are not in the table: 0 stands for them.
        let link = if row[7] == "0" { counted.2 } else { share(row[7]) };
        let expected = (rounds, share(row[3]), link);
        assert_eq!(counted, expected, "{} {ranks}: {name} {values:?}", row[0]);
        compared += 1;
    }
    println!("{compared} rows agree; no algorithm for {missing:#?}");
    assert!(compared >= 49 + 96);
}
