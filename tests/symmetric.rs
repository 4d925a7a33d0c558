//! As a network architect I want to know the time of 131,072 ranks, and that it is the time of the library's
//! algorithm.

use chakra_et::graph::SymmetricGraph;
use collective::algorithms::*;
use collective::et::{self, EtOptions, ReduceRate};
use collective::sim::topology::{Dimension, Topology};
use collective::sim::{Conventions, LogGp, Model, Simulation};
use collective::symmetric::{self, SymmetricError};
use collective::{CollectiveKind, Program, Setting, Size, compile};

/// The library's program is simulated rank by rank, the symmetric graph folded: times and messages are equal.
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
    let options = EtOptions { reduce_rate: ReduceRate::CollectiveApi, ..EtOptions::new(Size::bytes(size)) };
    let library = et::graph(&schedule, &options).unwrap();
    let (bandwidth, latency) = ("50 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
    for dimension in [Dimension::ring, Dimension::switch, Dimension::fully_connected] {
        let topology = Topology::new([dimension(ranks as u32, bandwidth, latency)]).unwrap();
        for conventions in Conventions::ALL {
            let simulation = Simulation::new(&topology).model(Model::Analytical).conventions(conventions);
            let each = simulation.fold(false).run(&library).unwrap();
            let folded = simulation.run_symmetric(graph).unwrap();
            assert!(folded.folded && !each.folded);
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
    for n in [3, 4, 7, 8] {
        let (size, ranks) = (n as u64 * 131_072, n as u32);
        let ring = symmetric::allreduce_ring(ranks, size, reduce_micros).unwrap();
        same(AllReduce, n, n, size, |p| allreduce_ring(p, n, 1), &ring);
        let gather = symmetric::allgather_ring(ranks, size).unwrap();
        same(AllGather, n, 1, size, |p| allgather_ring(p, n, 1), &gather);
        let scatter = symmetric::reduce_scatter_ring(ranks, size, reduce_micros).unwrap();
        same(ReduceScatter, n, 1, size, |p| reduce_scatter_ring(p, n, 1), &scatter);
    }
}

#[test]
fn halving_doubling_is_that_of_the_library() {
    for n in [4, 8, 16] {
        let size = n as u64 * 65_536;
        let graph = symmetric::allreduce_recursive_halving_doubling(n as u32, size, reduce_micros).unwrap();
        let program = |p: &Program| allreduce_recursive_halving_doubling(p, n);
        same(CollectiveKind::AllReduce, n, n, size, program, &graph);
    }
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
    assert_eq!(error, SymmetricError::Uneven { size: 10, ranks: 3 });
    assert!(error.to_string().ends_with("expected a multiple of 3"));
    let error = symmetric::allreduce_recursive_doubling(12, 8, symmetric::free).unwrap_err();
    assert_eq!(error.to_string(), "there are 12 ranks: expected a power of two");
    assert!(symmetric::allgather_ring(0, 8).is_err());
    // One rank, and no data, have nothing to send.
    for (ranks, size) in [(1, 64), (8, 0)] {
        let graph = symmetric::allreduce_ring(ranks, size, symmetric::free).unwrap();
        assert_eq!((graph.rank_count(), graph.node_count()), (ranks, u64::from(ranks)));
    }
}
