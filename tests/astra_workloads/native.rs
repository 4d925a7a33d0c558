//! ASTRA-sim's native ring, and how close ours is to it.
//!
//! In ASTRA-sim a native collective waits `endpoint-delay` in each step and passes the memory three times for each
//! reduction. Our ring has the same messages; without those its times are less by exactly that, and with an overhead and a
//! reduction bandwidth that stand for them, the same up to rounding.

use CollectiveKind::{AllGather, AllReduce, AllToAll, ReduceScatter};

use super::*;

/// Delay of an endpoint in ns, as in the runs.
const DELAY: u64 = 10;
/// The bandwidth of the memory in bytes per ns.
const MEMORY: f64 = 1600.0;

/// The time of a message to a neighbour, in whole nanoseconds.
fn message(network: &str, bytes: u64) -> u64 {
    let time = (500.0 + bytes as f64 / (50.0 * f64::from(1 << 30) / 1e9)) as u64;
    // Through a switch, stored and forwarded.
    if network == "Switch" { 2 * time } else { time }
}

/// The bytes of a message, the steps of a ring, and how many of them reduce.
fn steps(kind: CollectiveKind, n: u64, bytes: u64) -> (u64, u64, u64) {
    match kind {
        AllReduce => (bytes / n, 2 * (n - 1), n - 1),
        ReduceScatter => (bytes / n, n - 1, n - 1),
        AllGather => (bytes, n - 1, 0),
        _ => (bytes / n, n * (n - 1) / 2, 0),
    }
}

/// ASTRA-sim's native ring, one chunk on one dimension.
fn closed_form(kind: CollectiveKind, n: u64, bytes: u64, network: &str) -> u64 {
    let (size, steps, reductions) = steps(kind, n, bytes);
    let memory = 3 * ((size as f64 / MEMORY) as u64);
    steps * message(network, size) + (steps + 1) * DELAY + reductions * memory
}

/// Kind, ranks, network, and what ASTRA-sim (2026-03) takes for 1 MiB a rank.
const RUNS: [(CollectiveKind, u64, &str, u64); 23] = [
    (AllReduce, 4, "Ring", 33_829),
    (AllReduce, 4, "FullyConnected", 33_829),
    (AllReduce, 4, "Switch", 66_121),
    (AllReduce, 8, "Switch", 84_199),
    (AllReduce, 16, "Ring", 53_710),
    (AllReduce, 16, "Switch", 105_310),
    (AllGather, 4, "Switch", 120_226),
    (AllGather, 8, "Ring", 140_297),
    (AllGather, 8, "Switch", 280_514),
    (AllGather, 16, "FullyConnected", 300_625),
    (AllGather, 16, "Switch", 601_090),
    (ReduceScatter, 4, "Ring", 17_653),
    (ReduceScatter, 4, "FullyConnected", 17_653),
    (ReduceScatter, 8, "Ring", 22_368),
    (ReduceScatter, 8, "FullyConnected", 22_368),
    (ReduceScatter, 16, "FullyConnected", 27_760),
    (ReduceScatter, 16, "Switch", 53_560),
    (AllToAll, 4, "Ring", 32_362),
    (AllToAll, 4, "FullyConnected", 32_362),
    (AllToAll, 8, "FullyConnected", 82_638),
    (AllToAll, 8, "Switch", 164_986),
    (AllToAll, 16, "Ring", 207_610),
    (AllToAll, 16, "FullyConnected", 207_610),
];

#[test]
fn the_closed_form_is_that_of_astra_sims_runs() {
    for (kind, n, network, expected) in RUNS {
        assert_eq!(closed_form(kind, n, MIB, network), expected, "{kind} {n} {network}");
    }
}

#[test]
fn our_ring_takes_less_by_the_delay_of_endpoints_and_the_passes_over_memory() {
    let system = native(RINGS);
    // Of an all-to-all the ring here is another algorithm.
    for (kind, n, network, astra) in RUNS.into_iter().filter(|run| run.0 != AllToAll) {
        let report = run(network, &one(kind, n as u32, MIB), &system).unwrap();
        let (size, steps, reductions) = steps(kind, n, MIB);
        // A reduction takes 1 ns here.
        let memory = 3 * ((size as f64 / MEMORY) as u64) - 1;
        let less = (steps + 1) * DELAY + reductions * memory;
        assert_eq!(finish_ns(&report), vec![astra - less; n as usize], "{kind} {n} {network}");
    }
}

#[test]
fn with_an_overhead_and_a_bandwidth_of_reductions_our_ring_is_astra_sims_up_to_rounding() {
    let system = native(RINGS);
    for (kind, n, on, astra) in RUNS.into_iter().filter(|run| run.0 != AllToAll) {
        let topology = network(on, n as u32);
        let report = with_delays(&topology).run(&one(kind, n as u32, MIB), &system).unwrap();
        let (_, steps, reductions) = steps(kind, n, MIB);
        // ASTRA-sim cuts each hop and each of three passes to whole nanoseconds, and has one delay more.
        let hops = if on == "Switch" { 2 } else { 1 };
        let (least, most) = (astra - DELAY, astra + steps * hops + 3 * reductions);
        let ns = report.makespan.as_ns();
        assert!(least as f64 <= ns && ns <= most as f64, "{kind} {n} {on}: {ns}, ASTRA-sim {astra}");
    }
}

#[test]
fn what_the_native_all_to_all_of_astra_sim_does_is_not_done_here_and_said() {
    let system = native("\"all-to-all-implementation\": [\"ring\"]");
    let notes = system.notes();
    assert!(notes[0].contains("n (n - 1) / 2 steps") && notes[0].contains("alltoall_pairwise"), "{notes:?}");
    let ours = run("FullyConnected", &one(AllToAll, 8, MIB), &system).unwrap();
    // n − 1 rounds, in each a message of 1/8; in place, so with a copy of 1 ns.
    assert_eq!(finish_ns(&ours), [7 * (message("FullyConnected", MIB / 8) + 1); 8]);
}

/// ASTRA-sim's rules for what a rank does at once, with its delays in native collectives: under exact conventions, 10 ns
/// before each message, and reductions at a third of the memory's bandwidth.
pub(super) fn with_delays(topology: &Topology) -> WorkloadSimulation<'_> {
    WorkloadSimulation::new(topology)
        .model(Model::LinkQueue)
        .compat(Some(Compat::AstraSim))
        .overheads("10 ns".parse().unwrap(), "0 ns".parse().unwrap())
        .reduce_bandwidth(Bandwidth::from_bytes_per_s(MEMORY * 1e9 / 3.0).unwrap())
}
