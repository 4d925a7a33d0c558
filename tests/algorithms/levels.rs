//! As an architect I use algorithms on levels and dimensions because of what each link then carries: the bytes are
//! counted here, on the networks that they are for.

use collective::algorithms::{self, Algorithm, levels};
use collective::chakra_et::graph::{Graph, Op};
use collective::et::{self, EtOptions, NodeOrder};
use collective::prelude::*;
use collective::sim::link_loads::link_loads;
use collective::sim::topology::{CardOrder, Cluster, Dimension, LinkId, LinkSpec, Topology};
use collective::sim::{Model, Simulation};
use collective::{Diagnostics, Size, assert_correct};

fn link(bandwidth: &str, latency: &str) -> LinkSpec {
    LinkSpec::new(bandwidth.parse().expect("a bandwidth"), latency.parse().expect("a latency"))
}

fn algorithm(name: &str) -> &'static Algorithm {
    algorithms::find(name).unwrap_or_else(|| panic!("no algorithm {name}"))
}

fn graph(name: &str, values: &[usize], size: u64) -> Graph {
    let schedule = algorithm(name).compile(true, values).expect("a schedule");
    let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(Size::bytes(size)) };
    et::graph(&schedule, &options).expect("a graph")
}

/// Who sends to whom, once a message.
fn messages(graph: &Graph) -> impl Iterator<Item = (u32, u32)> {
    graph.ranks().iter().zip(0..).flat_map(|(rank, src)| {
        (0..rank.len()).filter_map(move |node| match rank.op(node as u32) {
            Op::Send { dst, .. } => Some((src, dst)),
            _ => None,
        })
    })
}

/// What each of the links carries whose description has `word`.
fn carried(topology: &Topology, graph: &Graph, word: &str) -> Vec<u64> {
    let mut bytes = vec![0; topology.link_count() as usize];
    for (link, load) in link_loads(topology, graph).expect("loads").rounds.concat() {
        bytes[link.0 as usize] += load.0;
    }
    let described = (0..topology.link_count()).map(LinkId);
    described
        .filter(|id| topology.link(*id).expect("a link").description.contains(word))
        .map(|id| bytes[id.0 as usize])
        .collect()
}

/// Nodes on an NVSwitch with a card for each GPU; the cards of one number hang on one rail, and nothing joins the rails.
fn rails(nodes: u32, gpus: u32) -> Topology {
    let nvlink = link("450 GB/s", "250 ns");
    let network = link("50 GB/s", "1 us");
    let cluster = Cluster {
        nodes,
        node: Topology::new([Dimension::switch(gpus, nvlink.bandwidth, nvlink.latency)]).expect("a node"),
        cards: gpus,
        card_link: Some(link("64 GB/s", "300 ns")),
        network: Topology::new([Dimension::switch(nodes, network.bandwidth, network.latency)])
            .expect("a rail"),
        order: CardOrder::Rails,
        through_peer: true,
    };
    cluster.build().expect("a cluster")
}

#[test]
fn a_card_carries_the_least_that_leaves_a_node() {
    let (nodes, gpus, chunk) = (4, 8, 1 << 10);
    let (n, cluster) = (nodes * gpus, rails(nodes as u32, gpus as u32));
    let size = n * chunk;
    // 2(n − 1)/(n·g)·S: the pieces of all GPUs together are what a ring over the nodes alone would send.
    let all_reduce = 2 * (nodes - 1) * chunk;
    for (inner, outer) in [(0, 1), (1, 1), (2, 2), (0, 0)] {
        let values = [n, gpus, inner, outer].map(|value| value as usize);
        let cards = carried(&cluster, &graph("allreduce_hierarchical", &values, size), "→ switch of rail");
        assert_eq!(cards, vec![all_reduce; n as usize], "{values:?}");
        for half in ["allgather_hierarchical", "reduce_scatter_hierarchical"] {
            let cards = carried(&cluster, &graph(half, &values, size), "→ switch of rail");
            assert_eq!(cards, vec![all_reduce / 2; n as usize], "{half} {values:?}");
        }
    }
    // On a rail-optimised cluster nothing crosses the spine: who sends to another node sends to the GPU of its number.
    for name in ["allreduce_hierarchical", "allgather_hierarchical", "reduce_scatter_hierarchical"] {
        let graph = graph(name, &[32, 8, 0, 1], size);
        let mut between = 0;
        for (src, dst) in messages(&graph).filter(|(src, dst)| src / 8 != dst / 8) {
            assert_eq!(src % 8, dst % 8, "{name}");
            between += 1;
        }
        assert!(between >= 32 * (nodes - 1), "{name}");
    }
    // Recursive doubling: log2 nodes times a GPU's piece.
    let cards = carried(&cluster, &graph("allreduce_hierarchical", &[32, 8, 0, 3], size), "→ switch of rail");
    assert_eq!(cards, vec![2 * size / gpus; n as usize]);
    // A flat ring takes one card a node, with all the data.
    let mut cards = carried(&cluster, &graph("allreduce_ring", &[32, 1], size), "→ switch of rail");
    cards.sort_unstable();
    assert_eq!(cards.split_off(28), [2 * (n - 1) * chunk; 4]);
    assert_eq!(cards, [0; 28]);
}

#[test]
fn each_level_of_three_carries_its_share() {
    // 2 GPUs a node, 4 nodes a pod, 2 pods: a product of switches has a link a rank and a level.
    let spec = link("50 GB/s", "500 ns");
    let sizes = [2, 4, 2];
    let topology =
        Topology::new(sizes.map(|members| Dimension::switch(members, spec.bandwidth, spec.latency)))
            .expect("levels");
    let chunk = 1 << 10;
    for (name, values) in [
        ("allreduce_hierarchical_three_level", &[16, 2, 4, 0, 1, 1][..]),
        ("allreduce_hierarchical_three_level", &[16, 2, 4, 1, 2, 0]),
        ("allreduce_blueconnect", &[16, 2, 4]),
    ] {
        let graph = graph(name, values, 16 * chunk);
        // 2·S·(d − 1)/(product of the dimensions so far), as Cho et al. have it.
        for (dimension, sent) in [(0, 8), (1, 6), (2, 1)] {
            let loads = carried(&topology, &graph, &format!("dimension {dimension}"));
            assert!(!loads.is_empty());
            assert_eq!(loads, vec![2 * sent * chunk; loads.len()], "{name} {values:?} dimension {dimension}");
        }
    }
}

#[test]
fn no_link_of_a_torus_carries_more_than_its_share() {
    let spec = link("50 GB/s", "500 ns");
    for (name, sizes, directions) in [
        ("allreduce_torus_2d", &[4, 4][..], 2),
        ("allreduce_torus_2d", &[4, 4], 1),
        ("allreduce_torus_2d", &[5, 3], 2),
        ("allreduce_torus_3d", &[3, 3, 3], 2),
        ("allreduce_torus_3d", &[4, 3, 2], 1),
        ("allreduce_torus_3d", &[3, 4, 5], 2),
    ] {
        let n: usize = sizes.iter().product();
        let parts = sizes.len() * directions;
        let torus = Topology::torus(sizes.iter().map(|size| *size as u32), spec).expect("a torus");
        let values = [&[n], &sizes[..sizes.len() - 1], &[directions]].concat();
        let chunk = 1 << 8;
        let graph = graph(name, &values, (parts * n * chunk) as u64);
        for at in 0..sizes.len() {
            // The part that takes this dimension as its k-th sends 2(d − 1) messages of 1/(product of the first k) of a part.
            let share: usize = (0..sizes.len())
                .map(|before| {
                    let first = (at + sizes.len() - before) % sizes.len();
                    let pieces: usize = (0..=before).map(|k| sizes[(first + k) % sizes.len()]).product();
                    2 * (sizes[at] - 1) * n / pieces * chunk
                })
                .sum();
            let loads = carried(&torus, &graph, &format!("dimension {at}"));
            let largest = loads.iter().max();
            assert_eq!(largest, Some(&(share as u64)), "{name} {values:?}, dimension {at}");
            let busy = loads.iter().filter(|load| **load > 0).count();
            assert_eq!(
                busy,
                if sizes[at] == 2 { n } else { directions * n },
                "{name} {values:?}, dimension {at}"
            );
        }
    }
}

#[test]
fn dimensions_in_parallel_divide_the_time() {
    // 64 MiB: latency hardly counts. Equal dimensions, both directions: a link of 2·D carries 1/(2·D) of what a rank sends.
    let spec = link("50 GB/s", "1 ns");
    let size = 3 << 24;
    for (sizes, bucket, one_by_one) in [
        (&[4, 4][..], ("allreduce_torus_2d", &[16, 4, 2][..]), ("allreduce_blueconnect", &[16, 4, 1][..])),
        (&[4, 4, 4], ("allreduce_torus_3d", &[64, 4, 4, 2]), ("allreduce_blueconnect", &[64, 4, 4])),
    ] {
        let torus = Topology::torus(sizes.iter().copied(), spec).expect("a torus");
        let time = |(name, values): (&str, &[usize])| {
            let graph = graph(name, values, size);
            Simulation::new(&torus).model(Model::Fluid).run(&graph).expect("a report").makespan.0 as f64
        };
        let (times, links) = (time(one_by_one) / time(bucket), 2.0 * sizes.len() as f64);
        assert!((times / links - 1.0).abs() < 0.01, "{sizes:?}: {times} times faster, {links} expected");
    }
}

#[test]
fn fewer_rounds_between_nodes_win_small_sizes_and_fewer_bytes_large_ones() {
    let cluster = rails(16, 4);
    let fastest = |size: u64| {
        let times = [1, 2, 3].map(|outer| {
            let graph = graph("allreduce_hierarchical", &[64, 4, 0, outer], size);
            (Simulation::new(&cluster).model(Model::Fluid).run(&graph).expect("a report").makespan, outer)
        });
        times.into_iter().min().expect("a time").1
    };
    assert_eq!(fastest(1 << 10), levels::RECURSIVE_DOUBLING);
    // Both send as many bytes; halving and doubling has 8 rounds, the ring 30.
    assert_eq!(fastest(1 << 28), levels::HALVING_DOUBLING);
}

/// Building blocks of the library around a program of one's own: any algorithm inside, any outside.
#[collective(all_reduce, in_place)]
fn composed(p: &Program, ranks: usize, gpus: usize, inner: usize) {
    let nodes = ranks / gpus;
    let node = |node: usize| (0..gpus).map(|gpu| node * gpus + gpu).collect::<Vec<_>>();
    for at in 0..nodes {
        levels::reduce_scatter(p, inner, &node(at), Input, 0, nodes);
    }
    // Between nodes: a chain of one's own, up to add, down to hand out.
    for gpu in 0..gpus {
        let mut sum = p.chunks(gpu, Input, gpu * nodes, nodes);
        for at in 1..nodes {
            sum = p.chunks(at * gpus + gpu, Input, gpu * nodes, nodes).reduce(sum);
        }
        for at in (0..nodes - 1).rev() {
            sum = sum.copy_to(at * gpus + gpu, Input, gpu * nodes);
        }
    }
    for at in 0..nodes {
        levels::all_gather(p, inner, &node(at), Input, 0, nodes);
    }
}

#[test]
fn building_blocks_compose_with_a_program_of_ones_own() {
    for inner in [levels::DIRECT, levels::RING, levels::HALVING_DOUBLING] {
        assert_correct!(composed, ranks = [4, 8, 20], gpus = 4, inner = inner);
    }
    assert_correct!(composed, ranks = [3, 9], gpus = 3, inner = [0, 1]);
}

#[test]
fn what_does_not_fit_is_refused_once_and_says_what_would() {
    let refusal = |name: &str, values: &[usize]| -> String {
        let found: Diagnostics = algorithm(name).compile(true, values).expect_err("a refusal");
        assert_eq!(found.to_string().matches("must be").count(), 1, "{found}");
        found.to_string()
    };
    for (name, values, expected) in [
        ("allreduce_hierarchical", &[12, 5, 0, 1][..], "the number of ranks must be a multiple of `gpus`"),
        ("allreduce_hierarchical", &[12, 0, 0, 1], "the number of ranks must be a multiple of `gpus`"),
        (
            "allreduce_hierarchical",
            &[12, 3, 2, 1],
            "the number of ranks must be a power of two on a level of",
        ),
        (
            "allreduce_hierarchical",
            &[12, 4, 0, 3],
            "the number of ranks must be a power of two on a level of",
        ),
        ("allreduce_hierarchical", &[12, 4, 3, 1], "0 (direct), 1 (ring) or 2"),
        ("allreduce_hierarchical", &[12, 4, 0, 5], "0 (direct), 1 (ring), 2"),
        ("allreduce_hierarchical_three_level", &[12, 4, 2, 0, 1, 1], "a multiple of `gpus` times `nodes`"),
        (
            "allreduce_hierarchical_three_level",
            &[12, 4, usize::MAX, 0, 1, 1],
            "a multiple of `gpus` times `nodes`",
        ),
        ("allreduce_hierarchical_three_level", &[12, 2, 3, 0, 2, 1], "power of two on a level"),
        ("allgather_hierarchical", &[12, 5, 0, 1], "the number of ranks must be a multiple of `gpus`"),
        (
            "reduce_scatter_hierarchical",
            &[12, 4, 0, 2],
            "the number of ranks must be a power of two on a level",
        ),
        ("allreduce_blueconnect", &[12, 5, 1], "a multiple of `x` times `y`"),
        ("allreduce_blueconnect", &[12, 2, 0], "a multiple of `x` times `y`"),
        ("allreduce_torus_2d", &[12, 5, 2], "a multiple of `x`"),
        ("allreduce_torus_2d", &[12, 4, 3], "`directions` must be 1 or 2"),
        ("allreduce_torus_3d", &[12, 2, usize::MAX, 1], "a multiple of `x` times `y`"),
    ] {
        let refusal = refusal(name, values);
        assert!(refusal.contains(expected), "{name} {values:?}: {refusal}");
    }
}
