//! Figures from outside this project: rounds, bytes and link loads that were counted by symbolic execution of the
//! published algorithms.

use collective::algorithms::{self, Share, levels};
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

/// What all ranks send together, as a share of S.
fn total(name: &str, values: &[usize]) -> Share {
    let algorithm = algorithms::find(name).unwrap_or_else(|| panic!("no algorithm {name}"));
    let schedule = algorithm.compile(algorithm.placement.allows(true), values).expect("a schedule");
    let blocks = schedule.ranks.iter().flat_map(|rank| &rank.thread_blocks);
    let sending = blocks.flat_map(|block| &block.steps).filter(|step| step.kind.sends());
    let chunks = sending.map(|step| u64::from(step.count)).sum();
    Share::new(chunks, run::one_element_a_chunk(&schedule.collective))
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

/// Worked out by hand.
#[test]
fn rooted_ones_on_a_ring() {
    // Distances 8, 4, 2, 1: no two messages of a round share a link.
    row("broadcast_binomial", &[16, 0], 4, (4, 1), (4, 1));
    row("reduce_binomial", &[16, 0], 4, (1, 1), (4, 1));
    // 4 gives to 3 and 1 to 0; 3 to 2; 2 to 0.
    row("reduce_binomial", &[5, 0], 3, (1, 1), (3, 1));
    row("broadcast_chain", &[4, 8, 0], 10, (1, 1), (10, 8));
    row("reduce_chain", &[4, 8, 1], 10, (1, 1), (10, 8));
    // 0 → 2 → 1 and 0 → 1 → 2, half each.
    row("broadcast_double_tree", &[3, 1, 0], 2, (1, 1), (1, 1));
    row("reduce_double_tree", &[3, 1, 0], 2, (1, 1), (1, 1));
    // Halves 4 apart, all clockwise, four on every link; quarters 2 apart, two on a link; an eighth. Then 1, 2, 4 eighths.
    row("reduce_by_scatter_gather", &[8, 0], 6, (11, 8), (28, 8));
    row("scatter_binomial", &[8, 0], 3, (7, 8), (7, 8));
    row("scatter_binomial", &[5, 0], 3, (4, 5), (4, 5));
    row("gather_binomial", &[8, 0], 3, (4, 8), (7, 8));
    // 1, 3 and 4 send at once; then 2 sends two ranks' data.
    row("gather_binomial", &[5, 0], 2, (2, 5), (3, 5));
    // Two from each side.
    row("gather_linear", &[5, 0], 1, (1, 5), (2, 5));
    row("scatter_linear", &[5, 0], 1, (4, 5), (2, 5));
    // Distances 1, 2 and 4, which is 1 the other way around.
    row("barrier_dissemination", &[5], 3, (3, 1), (4, 1));
    // 4 → 5 and one share of 3 → 7 cross link 4; then 0 → 4, 1 → 5 and 2 → 6 links 2 and 3; then 5 and 6 → 4 link 5.
    row("alltonext", &[8, 4], 3, (5, 4), (10, 4));
}

#[test]
fn levels_and_dimensions() {
    // Two nodes of 4: rounds 2(g − 1) + 2(n − 1); rings inside, then a ring of opposite ranks, 4 apart. On a ring of 8 every round
    // inside has a quarter of the data on the 3 links on the way back from GPU 3 to GPU 0, and each GPU's eighth of the ring
    // between nodes goes over 4 links, which 4 ranks share: 6 · 1/4 + 2 · 4/8.
    row("allreduce_hierarchical", &[8, 4, levels::RING, levels::RING], 8, (7, 4), (5, 2));
    row("allreduce_blueconnect", &[8, 4, 1], 8, (7, 4), (5, 2));
    // BlueConnect's three tiers of 2, by hand: distances 1, 2 and 4; shares 1/2, 1/4 and 1/8, each twice. At distance 1 every
    // pair has its own link, at distance 2 two pairs share one, at distance 4 four.
    row("allreduce_blueconnect", &[8, 2, 2], 6, (7, 4), (3, 1));
    row("allreduce_hierarchical_three_level", &[8, 2, 2, 1, 1, 1], 6, (7, 4), (3, 1));
    // log2 of 4 rounds between nodes, of the whole half, instead of 2 · 3 of its quarters: 2 · 1/2 + 2 · 1/2 bytes.
    let few_rounds =
        algorithms::find("allreduce_hierarchical").unwrap().cost(&[8, 2, 0, levels::RECURSIVE_DOUBLING]);
    assert_eq!((few_rounds.rounds(), few_rounds.sent), (4, Share::new(2, 1)));
    // A binomial tree of 5 nodes: node 3 is two hops from the root, which has the children 1, 2 and 4.
    let tree = algorithms::find("allreduce_hierarchical").unwrap().cost(&[5, 1, 0, levels::TREE]);
    assert_eq!((tree.rounds(), tree.sent), (4, Share::new(3, 1)));
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
        name if name.starts_with("allreduce dimension-wise ring") => {
            let sizes: Vec<usize> =
                name.rsplit(' ').next()?.split('x').filter_map(|size| size.parse().ok()).collect();
            let [x, between @ .., _] = sizes.as_slice() else { return None };
            ("allreduce_blueconnect", vec![ranks, *x, between.iter().product()])
        }
        name if name.starts_with("allreduce hierarchical") => {
            let gpus = name.rsplit(' ').next()?.parse().ok()?;
            ("allreduce_hierarchical", vec![ranks, gpus, levels::RING, levels::RING])
        }
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
        "broadcast binomial" => ("broadcast_binomial", vec![ranks, 0]),
        "broadcast scatter+ring allgather" => ("broadcast_scatter_allgather", vec![ranks, 0]),
        "reduce binomial" => ("reduce_binomial", vec![ranks, 0]),
        "scatter binomial" => ("scatter_binomial", vec![ranks, 0]),
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
        assert_eq!(found, (rounds, share(row[3]), link), "{} {ranks}: {name} {values:?}", row[0]);
        if !row[6].is_empty() {
            assert_eq!(total(name, &values), share(row[6]), "{} {ranks}: total of {name} {values:?}", row[0]);
        }
        compared += 1;
    }
    println!("{compared} rows agree; no algorithm for {missing:#?}");
    assert_eq!(compared, 277);
}
