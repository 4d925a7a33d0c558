//! Who sends how much to whom: what gathering, scattering and all-to-all algorithms promise beyond their counts.

use collective::algorithms;
use collective::et::{self, EtOptions};
use collective::sim::link_loads::link_loads;
use collective::sim::topology::{Dimension, Topology};
use collective::{Schedule, Size};

/// Sender, receiver and chunks of every message, in order.
fn messages(schedule: &Schedule) -> Vec<(usize, usize, usize)> {
    let mut messages = Vec::new();
    for (rank, blocks) in schedule.ranks.iter().enumerate() {
        for block in &blocks.thread_blocks {
            let sends = block.steps.iter().filter(|step| step.kind.sends());
            messages.extend(sends.filter_map(|step| Some((rank, block.send?.index(), step.count as usize))));
        }
    }
    messages.sort_unstable();
    messages
}

fn of(name: &str, values: &[usize]) -> Schedule {
    let algorithm = algorithms::find(name).unwrap_or_else(|| panic!("no algorithm {name}"));
    let in_place = algorithm.placement.allows(true);
    algorithm.compile(in_place, values).unwrap_or_else(|found| panic!("{name} {values:?}: {found}"))
}

#[test]
fn all_to_all_on_nodes_sends_fewer_and_larger_messages_between_them() {
    for (nodes, gpus) in [(1, 4), (2, 2), (2, 4), (3, 2), (4, 4), (5, 1), (7, 3)] {
        let ranks = nodes * gpus;
        let between = |name: &str, values: &[usize]| -> Vec<(usize, usize, usize)> {
            let all = messages(&of(name, values)).into_iter();
            all.filter(|(from, to, _)| from / gpus != to / gpus).collect()
        };
        let shape = (nodes, gpus);
        // From each GPU one part to each of another node.
        let direct = between("alltoall_direct", &[ranks]);
        assert!(direct.iter().all(|message| message.2 == 1), "{shape:?}");
        assert_eq!(direct.len(), ranks * (nodes - 1) * gpus, "{shape:?}");
        // From each GPU one message to each node, to the GPU of its own number.
        let two = between("alltoall_two_step", &[ranks, gpus]);
        assert!(two.iter().all(|(from, to, parts)| from % gpus == to % gpus && *parts == gpus), "{shape:?}");
        assert_eq!(two.len(), ranks * (nodes - 1), "{shape:?}");
        // From each node one message to each node.
        let three = between("alltoall_three_step", &[ranks, gpus]);
        assert!(three.iter().all(|message| message.2 == gpus * gpus), "{shape:?}");
        let mut pairs: Vec<_> = three.iter().map(|(from, to, _)| (from / gpus, to / gpus)).collect();
        pairs.sort_unstable();
        let wanted: Vec<_> = (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b))).collect();
        assert_eq!(pairs, wanted.into_iter().filter(|(a, b)| a != b).collect::<Vec<_>>(), "{shape:?}");
        // Its leaders share the work: none has more than one node more than another would have to.
        for rank in 0..ranks {
            let led = three.iter().filter(|message| message.0 == rank).count();
            assert!(led <= (nodes - 1).div_ceil(gpus), "{shape:?}: rank {rank} leads for {led} nodes");
        }
    }
}

#[test]
fn hierarchical_all_to_all_crosses_one_dimension_with_a_message() {
    for (gpus, nodes, racks) in [(2, 3, 1), (4, 2, 2), (1, 5, 2), (3, 2, 3), (2, 1, 4)] {
        let ranks = gpus * nodes * racks;
        for (from, to, parts) in messages(&of("alltoall_hierarchical", &[ranks, gpus, racks])) {
            let place = |rank: usize| [rank % gpus, rank / gpus % nodes, rank / gpus / nodes];
            let (from, to) = (place(from), place(to));
            let crossed: Vec<usize> = (0..3).filter(|dimension| from[*dimension] != to[*dimension]).collect();
            let [dimension] = *crossed else { panic!("from {from:?} to {to:?}") };
            assert_eq!(parts, ranks / [gpus, nodes, racks][dimension]);
        }
    }
}

#[test]
fn neighbour_exchange_goes_to_neighbours_only() {
    for ranks in [2, 4, 6, 10, 16] {
        for (from, to, _) in messages(&of("allgather_neighbour_exchange", &[ranks])) {
            assert!((from + 1) % ranks == to || (to + 1) % ranks == from, "{ranks} ranks: {from} to {to}");
        }
    }
}

#[test]
fn pat_is_logarithmic_at_full_aggregation_and_linear_without_in_bounded_buffers() {
    for ranks in (2..=24_usize).chain([33]) {
        let width = ranks.next_power_of_two();
        for aggregation in (0..6).map(|power| 1 << power) {
            let agreed = aggregation.min((width / 2).max(1));
            let rounds = agreed.ilog2() as usize + (width / agreed).min(ranks) - 1;
            for name in ["allgather_pat", "reduce_scatter_pat"] {
                let schedule = of(name, &[ranks, aggregation]);
                let messages = messages(&schedule);
                let what = format!("{name}, {ranks} ranks, aggregation {aggregation}");
                assert_eq!(messages.len(), ranks * rounds, "{what}");
                assert!(messages.iter().all(|message| message.2 <= agreed), "{what}");
                // One message on its way out, one on its way in.
                let scratch = schedule.ranks.iter().map(|rank| rank.scratch_chunks as usize).max();
                assert!(scratch.is_some_and(|chunks| chunks <= 2 * agreed), "{what}: {scratch:?}");
            }
        }
    }
}

#[test]
fn pat_sends_least_the_farthest() {
    // Of the binomial tree of 16 ranks: 8 hops of 1, 4 of 2, 2 of 4 and 1 of 8, whatever is put together.
    for aggregation in [1, 2, 4, 8] {
        let mut chunks = [0; 16];
        for (from, to, count) in messages(&of("allgather_pat", &[16, aggregation])) {
            chunks[(to + 16 - from) % 16] += count;
        }
        let by_distance = [1, 2, 4, 8].map(|distance| (distance, chunks[distance] / 16));
        assert_eq!(by_distance, [(1, 8), (2, 4), (4, 2), (8, 1)]);
        assert_eq!(chunks.iter().sum::<usize>(), 16 * 15);
    }
}

#[test]
fn pat_reduce_scatter_is_the_mirror_of_its_all_gather() {
    for ranks in 1..=20 {
        for aggregation in [1, 2, 64] {
            let gather = messages(&of("allgather_pat", &[ranks, aggregation]));
            let scatter = messages(&of("reduce_scatter_pat", &[ranks, aggregation]));
            let mut mirrored: Vec<_> =
                gather.into_iter().map(|(from, to, count)| (to, from, count)).collect();
            mirrored.sort_unstable();
            assert_eq!(scatter, mirrored, "{ranks} ranks, aggregation {aggregation}");
        }
    }
}

/// In the order of thread blocks, which a GPU runs in, the longest chain of messages is that of theory.
#[test]
fn thread_blocks_lose_no_round() {
    let size = Size::bytes(4 * 48 * 1_024);
    let mut lost = Vec::new();
    for name in [
        "allgather_allpairs",
        "allgather_bruck",
        "allgather_neighbour_exchange",
        "allgather_pat",
        "allgather_recursive_doubling",
        "reduce_scatter_allpairs",
        "reduce_scatter_pat",
        "reduce_scatter_recursive_halving",
        "alltoall_bruck",
        "alltoall_direct",
        "alltoall_hierarchical",
        "alltoall_pairwise",
        "alltoall_three_step",
        "alltoall_two_step",
    ] {
        let algorithm = algorithms::find(name).expect("an entry");
        for values in [3, 4, 6, 8, 12, 16].into_iter().flat_map(|ranks| algorithm.choices(ranks)) {
            let schedule = of(name, &values);
            let ranks = schedule.ranks.len() as u32;
            let graph = et::graph(&schedule, &EtOptions::new(size)).expect("a graph");
            let link = ("50 GB/s".parse().expect("a bandwidth"), "500 ns".parse().expect("a latency"));
            let ring = Topology::new([Dimension::ring(ranks, link.0, link.1)]).expect("a ring");
            let rounds = link_loads(&ring, &graph).expect("loads").rounds.len() as u64;
            if rounds != algorithm.cost(&values).rounds() {
                lost.push(format!("{name} {values:?}: {rounds}"));
            }
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}
