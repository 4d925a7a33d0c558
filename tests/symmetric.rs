//! As a network architect I want to know the time of 131,072 ranks, and that it is the time of the library's
//! algorithm.

use chakra_et::graph::{CollectiveInfo, RankGraph, SymmetricGraph};
use collective::algorithms::*;
use collective::et::{self, EtOptions, ReduceRate};
use collective::sim::topology::{Dimension, DimensionKind, FatTree, LinkSpec, Routing, Topology};
use collective::sim::{Conventions, LogGp, Model, Simulation};
use collective::symmetric::BetweenNodes::{HalvingDoubling, Ring};
use collective::symmetric::{self, SymmetricError};
use collective::{CollectiveKind, ElementType, Program, Setting, Size, compile};

/// The symmetric graph is that of the program, node by node; folded and rank by rank it takes the same times.
fn same(
    kind: CollectiveKind,
    ranks: usize,
    chunks: usize,
    size: u64,
    program: impl FnOnce(&Program),
    graph: &SymmetricGraph,
) {
    let setting = Setting { in_place: true, chunks: Some(chunks), ..Setting::new("test", kind, ranks) };
    let schedule = compile(&setting.trace("", program).unwrap()).unwrap();
    let size = Size::bytes(size).with_type(ElementType::I8);
    let options = EtOptions { reduce_rate: ReduceRate::CollectiveApi, ..EtOptions::new(size) };
    let library = et::graph(&schedule, &options).unwrap();
    for (rank, (expanded, of_library)) in graph.expand().ranks().iter().zip(library.ranks()).enumerate() {
        assert_eq!(expanded.ops(), of_library.ops(), "rank {rank} of {ranks}");
        for node in 0..expanded.len() as u32 {
            assert_eq!(expanded.deps(node), of_library.deps(node), "rank {rank} of {ranks}, node {node}");
            let step = |rank: &RankGraph| rank.origin(node).step;
            assert_eq!(step(expanded), step(of_library), "rank {rank} of {ranks}, node {node}");
        }
    }
    let stated = |info: Option<&CollectiveInfo>| {
        let info = info.unwrap().clone();
        (info.collective, info.in_place, info.size_bytes, info.element_type, info.chunks, info.protocol)
    };
    assert_eq!(stated(graph.info()), stated(library.info.as_ref()));
    assert_eq!(graph.rank_count() as usize, library.rank_count());
    let (bandwidth, latency) = ("50 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
    for dimension in [Dimension::ring, Dimension::switch, Dimension::fully_connected] {
        let topology = Topology::new([dimension(ranks as u32, bandwidth, latency)]).unwrap();
        for conventions in Conventions::ALL {
            let simulation = Simulation::new(&topology).model(Model::Analytical).conventions(conventions);
            let each = simulation.fold(false).run(&library).unwrap();
            let folded = simulation.run_symmetric(graph).unwrap();
            let alike = simulation.fold(false).run_symmetric(graph).unwrap();
            // Nodes are no neighbours on a ring as their numbers say.
            let is_ring = topology.dimensions().all(|dimension| dimension.kind == DimensionKind::Ring);
            let has_nodes = graph.info().is_some_and(|info| info.name == "allreduce_hierarchical");
            assert!(folded.folded || is_ring && has_nodes);
            assert!(!each.folded && !alike.folded);
            assert_eq!(
                (alike.finish, alike.messages, alike.bytes),
                (each.finish.clone(), each.messages, each.bytes)
            );
            assert_eq!(folded.finish, each.finish, "{ranks} ranks");
            assert_eq!((folded.messages, folded.bytes), (each.messages, each.bytes));
        }
    }
    let loggp = Simulation::with_loggp(LogGp::default());
    assert_eq!(
        loggp.run_symmetric(graph).unwrap().finish,
        loggp.fold(false).run(&graph.expand()).unwrap().finish
    );
}

fn reduce_micros(bytes: u64) -> u64 {
    3 * (bytes / 50) / 1000
}

#[test]
fn rings_are_those_of_the_library() {
    use CollectiveKind::{AllGather, AllReduce, ReduceScatter};
    for n in [2, 3, 4, 7, 8] {
        let (size, ranks) = (n as u64 * 131_072, n as u32);
        let ring = symmetric::allreduce_ring(ranks, size, reduce_micros).unwrap();
        same(AllReduce, n, n, size, |p| allreduce_ring(p, n, 1), &ring);
        let gather = symmetric::allgather_ring(ranks, size).unwrap();
        same(AllGather, n, 1, size, |p| allgather_ring(p, n, 1), &gather);
        let scatter = symmetric::reduce_scatter_ring(ranks, size, reduce_micros).unwrap();
        same(ReduceScatter, n, 1, size, |p| reduce_scatter_ring(p, n, 1), &scatter);
    }
    for (n, c) in [(2, 2), (3, 4), (5, 2), (8, 3), (6, 12)] {
        let (size, ranks, channels) = ((n * c) as u64 * 65_536, n as u32, c as u32);
        let rings = symmetric::allreduce_rings(ranks, channels, size, reduce_micros).unwrap();
        same(AllReduce, n, n * c, size, |p| allreduce_ring(p, n, c), &rings);
        let gather = symmetric::allgather_rings(ranks, channels, size).unwrap();
        same(AllGather, n, c, size, |p| allgather_ring(p, n, c), &gather);
        let scatter = symmetric::reduce_scatter_rings(ranks, channels, size, reduce_micros).unwrap();
        same(ReduceScatter, n, c, size, |p| reduce_scatter_ring(p, n, c), &scatter);
    }
}

#[test]
fn halving_doubling_is_that_of_the_library() {
    for n in [2, 4, 8, 16] {
        let size = n as u64 * 65_536;
        let graph = symmetric::allreduce_recursive_halving_doubling(n as u32, size, reduce_micros).unwrap();
        let program = |p: &Program| allreduce_recursive_halving_doubling(p, n);
        same(CollectiveKind::AllReduce, n, n, size, program, &graph);
    }
}

#[test]
fn recursive_doubling_is_that_of_the_library() {
    for n in [2, 4, 8, 16] {
        let graph = symmetric::allreduce_recursive_doubling(n as u32, 65_537, reduce_micros).unwrap();
        same(CollectiveKind::AllReduce, n, 1, 65_537, |p| allreduce_recursive_doubling(p, n), &graph);
    }
}

#[test]
fn hierarchical_all_reduce_is_that_of_the_library() {
    for (nodes, gpus) in [(2, 2), (2, 3), (3, 4), (5, 3), (4, 8), (3, 1), (7, 2)] {
        let (n, size) = (nodes * gpus, (nodes * gpus * 32_768) as u64);
        let graph =
            symmetric::allreduce_hierarchical(nodes as u32, gpus as u32, Ring, size, reduce_micros).unwrap();
        same(
            CollectiveKind::AllReduce,
            n,
            n,
            size,
            |p| allreduce_hierarchical(p, n, gpus, levels::DIRECT, levels::RING),
            &graph,
        );
    }
    for (nodes, gpus) in [(2, 2), (4, 3), (8, 2), (16, 4), (4, 1), (2, 7)] {
        let (n, size) = (nodes * gpus, (nodes * gpus * 32_768) as u64);
        let of_one = (nodes as u32, gpus as u32);
        let graph =
            symmetric::allreduce_hierarchical(of_one.0, of_one.1, HalvingDoubling, size, reduce_micros);
        let program = |p: &Program| {
            allreduce_hierarchical(p, n, gpus, levels::DIRECT, levels::HALVING_DOUBLING);
        };
        same(CollectiveKind::AllReduce, n, n, size, program, &graph.unwrap());
    }
}

/// A fat tree of 64 pods, 32 edges each, of 64 members; with half the bandwidth above the edges.
fn fat_tree() -> FatTree {
    let link = |bandwidth: &str| LinkSpec::new(bandwidth.parse().unwrap(), "500 ns".parse().unwrap());
    FatTree {
        pods: 64,
        edges: 32,
        aggregations: 32,
        cores: 32,
        hosts: 64,
        host: link("50 GB/s"),
        edge_uplink: link("25 GB/s"),
        core_uplink: link("25 GB/s"),
        routing: Routing::default(),
    }
}

#[test]
fn of_131_072_ranks_on_a_fat_tree_one_stands_for_all() {
    let (nodes, gpus, chunk) = (16_384, 8, 50_000);
    let size = u64::from(nodes * gpus) * chunk;
    let tree = fat_tree().build().unwrap();
    let analytical = Simulation::new(&tree).model(Model::Analytical);
    let graph =
        symmetric::allreduce_hierarchical(nodes, gpus, HalvingDoubling, size, symmetric::free).unwrap();
    let report = analytical.run_symmetric(&graph).unwrap();
    assert!(report.folded);
    // Under an edge there are 8 nodes, 2 hops apart; the pieces of a chunk are 1 µs there and 2 µs above. Inside, a piece of
    // 16,384 chunks twice; 3 halvings of 1, 2, 4 chunks under an edge, 5 of 8 to 128 in a pod, 6 of 256 to 8,192 between, all
    // twice.
    let inside = 2.0 * (1_000.0 + 16_384.0 * 1_000.0);
    let edge = 2.0 * (3.0 * 1_000.0 + 7.0 * 1_000.0);
    let pod = 2.0 * (5.0 * 2_000.0 + 248.0 * 2_000.0);
    let core = 2.0 * (6.0 * 3_000.0 + (8_192.0 * 2.0 - 256.0) * 2_000.0);
    assert_eq!(report.makespan.as_ns(), inside + edge + pod + core);
    assert_eq!(report.messages, u64::from(nodes * gpus) * (14 + 28));
    // Rank by rank it is the same.
    let each = analytical.fold(false).run_symmetric(&graph).unwrap();
    assert_eq!((each.finish, each.messages, each.bytes), (report.finish, report.messages, report.bytes));
    // A ring of nodes is no ring of equals on a tree.
    let ring = symmetric::allreduce_hierarchical(nodes, gpus, Ring, size, symmetric::free).unwrap();
    let error = analytical.run_symmetric(&ring).unwrap_err().to_string();
    assert!(error.contains("one rank cannot stand for all"), "{error}");
}

#[test]
fn a_ring_on_a_tree_is_simulated_rank_by_rank_without_its_nodes() {
    let tree = FatTree { pods: 3, edges: 2, hosts: 5, ..fat_tree() }.build().unwrap();
    let ring = symmetric::allreduce_ring(30, 30 * 65_536, reduce_micros).unwrap();
    let simulation = Simulation::new(&tree).model(Model::Analytical);
    let alike = simulation.run_symmetric(&ring).unwrap();
    assert!(!alike.folded);
    assert_eq!(alike, simulation.fold(false).run(&ring.expand()).unwrap());
}

#[test]
fn library_names_give_the_library_graphs() {
    let size = Size::bytes(96 * 4);
    let find =
        |name: &str, parameters: &[(&str, usize)]| symmetric::find(name, parameters, size, reduce_micros);
    let ring = symmetric::allreduce_ring(12, 96 * 4, reduce_micros).unwrap();
    assert_eq!(find("allreduce_ring", &[("ranks", 12), ("channels", 1)]), Some(ring));
    let two = symmetric::allreduce_hierarchical(4, 3, Ring, 96 * 4, reduce_micros).unwrap();
    assert_eq!(
        find("allreduce_hierarchical", &[("ranks", 12), ("gpus", 3), ("inner", 0), ("outer", 1)]),
        Some(two)
    );
    // What is found by the parameters of an algorithm of the library is its graph.
    let mut found = Vec::new();
    for algorithm in collective::algorithms::all() {
        for values in [8, 12, 16].iter().flat_map(|ranks| algorithm.choices(*ranks)) {
            let names = algorithm.def.params.iter().map(|parameter| parameter.name);
            let parameters: Vec<(&str, usize)> = names.zip(values.iter().copied()).collect();
            let size = Size::bytes(values[0] as u64 * 96).with_type(ElementType::I8);
            let Some(graph) = symmetric::find(algorithm.name(), &parameters, size, reduce_micros) else {
                continue;
            };
            let schedule = algorithm.compile(true, &values).unwrap();
            let options = EtOptions { reduce_rate: ReduceRate::CollectiveApi, ..EtOptions::new(size) };
            let library = et::graph(&schedule, &options).unwrap();
            for (expanded, of_library) in graph.expand().ranks().iter().zip(library.ranks()) {
                assert_eq!(expanded.ops(), of_library.ops(), "{} {values:?}", algorithm.name());
            }
            found.push(algorithm.name());
        }
    }
    found.dedup();
    assert_eq!(
        found,
        [
            "allreduce_hierarchical",
            "allreduce_recursive_doubling",
            "allreduce_recursive_halving_doubling",
            "allreduce_ring",
            "allgather_ring",
            "reduce_scatter_ring"
        ]
    );
    let rings = symmetric::allreduce_rings(12, 8, 96 * 4, reduce_micros).unwrap();
    assert_eq!(find("allreduce_ring", &[("ranks", 12), ("channels", 8)]), Some(rings));
    // Elements that do not divide, no channels, one rank, one node, no such algorithm.
    assert_eq!(find("allreduce_ring", &[("ranks", 12), ("channels", 16)]), None);
    assert_eq!(find("allreduce_ring", &[("ranks", 12), ("channels", 0)]), None);
    assert_eq!(find("allreduce_ring", &[("ranks", 36), ("channels", 1)]), None);
    assert_eq!(find("allreduce_ring", &[("ranks", 1), ("channels", 1)]), None);
    assert_eq!(
        find("allreduce_hierarchical", &[("ranks", 8), ("gpus", 8), ("inner", 0), ("outer", 1)]),
        None
    );
    assert_eq!(find("allreduce_tree", &[("ranks", 8)]), None);
}

#[test]
fn of_131_072_ranks_the_closed_forms_hold() {
    let ranks: u32 = 131_072;
    let network =
        Topology::new([Dimension::switch(ranks, "50 GB/s".parse().unwrap(), "500 ns".parse().unwrap())]);
    let network = network.unwrap();
    let analytical = Simulation::new(&network).model(Model::Analytical);
    let chunk = 50_000;
    let size = u64::from(ranks) * chunk;
    let cube = symmetric::allreduce_recursive_halving_doubling(ranks, size, symmetric::free).unwrap();
    let report = analytical.run_symmetric(&cube).unwrap();
    // 2·17 rounds of 2·500 ns, and twice (n−1) chunks of 1 µs.
    assert_eq!(report.makespan.as_ns(), 34.0 * 1_000.0 + 2.0 * 131_071.0 * 1_000.0);
    assert_eq!(report.messages, 34 * u64::from(ranks));
    let doubling = symmetric::allreduce_recursive_doubling(ranks, 50_000, symmetric::free).unwrap();
    assert_eq!(analytical.run_symmetric(&doubling).unwrap().makespan.as_ns(), 17.0 * 2_000.0);
}

#[test]
fn what_is_not_the_same_for_all_ranks_is_refused() {
    let error = symmetric::allreduce_ring(3, 10, symmetric::free).unwrap_err();
    assert_eq!(error, SymmetricError::Uneven { size: 10, ranks: 3, channels: 1 });
    assert!(error.to_string().ends_with("expected a multiple of 3"));
    let error = symmetric::allreduce_recursive_doubling(12, 8, symmetric::free).unwrap_err();
    assert_eq!(error.to_string(), "there are 12 ranks: expected a power of two");
    let error = symmetric::allreduce_rings(3, 4, 30, symmetric::free).unwrap_err().to_string();
    assert!(error.ends_with("expected a multiple of 12"), "{error}");
    assert!(symmetric::allgather_ring(0, 8).is_err());
    for channels in [0, 524_289] {
        let error = symmetric::allgather_rings(8, channels, 8 * 524_289).unwrap_err();
        assert_eq!(error.to_string(), format!("there are {channels} channels: expected 1 to 524288"));
    }
    // One rank, and no data, have nothing to send.
    for (ranks, size) in [(1, 64), (8, 0)] {
        let graph = symmetric::allreduce_ring(ranks, size, symmetric::free).unwrap();
        assert_eq!((graph.rank_count(), graph.node_count()), (ranks, u64::from(ranks)));
    }
}
