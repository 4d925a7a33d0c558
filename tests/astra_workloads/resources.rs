//! What a rank does at once.

use chakra_et::workload::Cost;

use super::*;

#[test]
fn sends_go_one_after_the_other_in_ascending_order_each_until_it_is_delivered() {
    let mut builder = WorkloadBuilder::new(5);
    for dst in [3, 1, 2] {
        builder.send(0, "COMM_SEND_NODE", dst, 0, 1_000, &[]).unwrap();
    }
    // Receives wait for nobody, not even for each other; one that is posted late finds its message.
    for rank in 1..4 {
        builder.recv(rank, "COMM_RECV_NODE", 4, 1, 500_000, &[]).unwrap();
        builder.recv(rank, "COMM_RECV_NODE", 0, 0, 1_000, &[]).unwrap();
        builder.send(4, "COMM_SEND_NODE", rank, 1, 500_000, &[]).unwrap();
    }
    let system = native(RINGS);
    let workload = builder.finish();
    // ⌊500 + 1,000 / 53.687⌋ = 518, and ⌊500 + 500,000 / 53.687⌋ = 9,813.
    let report = run("FullyConnected", &workload, &system).unwrap();
    assert_eq!(finish_ns(&report), [3 * 518, 9_813, 2 * 9_813, 3 * 9_813, 3 * 9_813]);
    // All at once by our own rules.
    let topology = network("FullyConnected", 5);
    let own = astra_sim(&topology).compat(None).run(&workload, &system).unwrap();
    assert_eq!(finish_ns(&own), [518, 9_813, 9_813, 9_813, 9_813]);
}

#[test]
fn computations_take_turns_beside_communication_and_follow_the_roofline_of_the_system_file() {
    let workload = |cost: Cost| {
        let mut builder = WorkloadBuilder::new(2);
        for rank in 0..2 {
            for _ in 0..3 {
                builder.compute(rank, "COMP_NODE", cost, &[]).unwrap();
            }
            builder.collective(rank, "COMM_COLL_NODE", CollectiveKind::AllGather, 1_000, 0, &[]).unwrap();
        }
        builder.finish()
    };
    let time = |system: &AstraSystem, cost: Cost| {
        let topology = network("FullyConnected", 2);
        let simulation = astra_sim(&topology);
        let simulation = match system.roofline() {
            Some(roofline) => simulation.roofline(roofline),
            None => simulation,
        };
        finish_ns(&simulation.run(&workload(cost), system).unwrap())
    };
    let roofline =
        native(&format!("{RINGS}, \"roofline-enabled\": 1, \"peak-perf\": 900, \"local-mem-bw\": 1600"));
    // The figures for a computation of 3 µs by the trace: its own without a roofline; 900,000,000 operations at 900 · 10^12 a
    // second; 4,000,000 bytes at 1600 · 10^9 a second.
    let cost = |ops, bytes| Cost { micros: 3, ops, bytes };
    assert_eq!(time(&native(RINGS), cost(900_000_000, 1_000)), [3 * 3_000; 2]);
    assert_eq!(time(&roofline, cost(900_000_000, 1_000)), [3 * 1_000; 2]);
    assert_eq!(time(&roofline, cost(1_000, 4_000_000)), [3 * 2_500; 2]);
    // Nothing to compute: 1 ns each without a roofline, so the collective is what takes time, ⌊500 + 1,000 / 53.687⌋.
    assert_eq!(time(&native(RINGS), Cost::default()), [518; 2]);
}
