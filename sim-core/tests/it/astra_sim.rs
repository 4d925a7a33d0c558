//! Times that ASTRA-sim's analytical backends gave for the same graphs and networks.
//!
//! Its congestion-unaware backend is `analytical`, its congestion-aware one `link-queue`. Networks are
//! of 50 "GB/s" (2^30 bytes per second each) and 500 ns.

use sim_core::Conventions;
use sim_core::topology::Dimension;

use crate::support::*;

/// All ranks finish at the same time; checked under [analytical, link-queue].
fn check(name: &str, npus: u32, graph: &chakra_et::graph::Graph, expected: [f64; 2]) {
    let times = finish_ns(&astra(name, npus, 50.0, 500.0), Conventions::AstraSim, graph);
    assert_eq!(times, expected.map(|ns| vec![ns; npus as usize]), "{name} of {npus}");
}

#[test]
fn ring_all_reduce_of_1_mib_among_8() {
    let graph = ring_all_reduce(8, 131_072, 0);
    check("Ring", 8, &graph, [41_181.0, 41_181.0]);
    check("FullyConnected", 8, &graph, [41_181.0, 41_181.0]);
    check("Switch", 8, &graph, [48_181.0, 82_355.0]);
}

#[test]
fn ring_all_reduce_of_1_mib_among_8_with_reductions_of_7_us() {
    let graph = ring_all_reduce(8, 131_072, 7);
    check("Ring", 8, &graph, [90_174.0, 90_174.0]);
    check("FullyConnected", 8, &graph, [90_174.0, 90_174.0]);
    check("Switch", 8, &graph, [97_174.0, 131_348.0]);
}

/// What the converter of ASTRA-sim's collective API states for a reduction.
fn reduce_micros(bytes: u64) -> u64 {
    3 * (bytes / 50) / 1000
}

#[test]
fn ring_all_reduce_of_64_mib_among_16() {
    let chunk = 4_194_304;
    let graph = ring_all_reduce(16, chunk, reduce_micros(chunk));
    check("Ring", 16, &graph, [6_123_750.0, 6_123_750.0]);
    check("FullyConnected", 16, &graph, [6_123_750.0, 6_123_750.0]);
    check("Switch", 16, &graph, [6_138_750.0, 8_482_500.0]);
}

#[test]
fn halving_doubling_all_reduce_of_1_mib_among_8() {
    let graph = halving_doubling_all_reduce(8, 1 << 20, reduce_micros);
    check("Switch", 8, &graph, [93_176.0, 127_352.0]);
    check("Ring", 8, &graph, [94_176.0, 162_530.0]);
}

#[test]
fn direct_all_reduce() {
    check("FullyConnected", 16, &all_pairs_all_reduce(16, 62_500, 3), [48_328.0, 48_328.0]);
    // On links that several messages want the order in which ASTRA-sim hands out its nodes matters; these are
    // the results in ascending order.
    for (name, npus, chunk, micros, contention_free, makespan) in
        [("Ring", 8, 131_072, 7, 56_382.0, 84_997.0), ("Switch", 16, 62_500, 3, 49_328.0, 100_544.0)]
    {
        let graph = all_pairs_all_reduce(npus, chunk, micros);
        let [analytical, link_queue] =
            finish_ns(&astra(name, npus, 50.0, 500.0), Conventions::AstraSim, &graph);
        assert_eq!(analytical, vec![contention_free; npus as usize], "{name}");
        assert_eq!(link_queue.into_iter().fold(0.0, f64::max), makespan, "{name}");
    }
}

#[test]
fn tags_are_taken_modulo_500_000_000() {
    use chakra_et::graph::Op;
    let mut ranks = Ranks::new(2);
    ranks.push(0, Op::Send { dst: 1, tag: 7, bytes: 64 }, &[]);
    ranks.push(1, Op::Recv { src: 0, tag: 500_000_007, bytes: 64 }, &[]);
    // ⌊500 + 64 / 53.687⌋
    check("FullyConnected", 2, &ranks.graph(), [501.0, 501.0]);
}

#[test]
fn computations_that_end_together_run_at_the_place_of_the_first() {
    // At 2 µs end: a COMP of rank 0 and one of rank 1, scheduled at the start in this order, and a second
    // of rank 0, scheduled at 1 µs. The last two then send to rank 2 and meet at its port. ASTRA-sim runs
    // the two of rank 0 together, so rank 0 is first there; in the order of scheduling alone rank 1 would be.
    let graph = |bytes| {
        let mut ranks = Ranks::new(3);
        ranks.comp(0, 2, &[]);
        let short = ranks.comp(0, 1, &[]);
        let second = ranks.comp(0, 1, &[short]);
        ranks.send(0, 2, bytes, &[second]);
        let other = ranks.comp(1, 2, &[]);
        ranks.send(1, 2, bytes, &[other]);
        ranks.graph()
    };
    // ⌊53,687 / 53.687⌋ = 999 ns on a link and 1,499 for a hop.
    let [_, link_queue] = finish_ns(&astra("Switch", 3, 50.0, 500.0), Conventions::AstraSim, &graph(53_687));
    assert_eq!(link_queue, [4_998.0, 5_997.0, 0.0]);
    let exact = one(Dimension::switch, 3, "500 ns");
    let [_, link_queue] = finish_ns(&exact, Conventions::Exact, &graph(50_000));
    // By key, which knows nothing of scheduling: the lower sender is first.
    assert_eq!(link_queue, [5_000.0, 6_000.0, 0.0]);
}
