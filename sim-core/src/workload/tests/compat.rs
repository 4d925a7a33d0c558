//! What a rank does at once as ASTRA-sim has it: its `HardwareResource` knows the CPU, the GPU, and one resource for everything
//! else but RECVs.

use super::*;
use crate::units::Bandwidth;

fn compat(topology: &Topology) -> WorkloadSimulation<'_> {
    let memory = Memory { latency: Picos(0), bandwidth: "1 TB/s".parse().unwrap() };
    WorkloadSimulation::new(topology)
        .model(Model::Analytical)
        .compat(Some(Compat::AstraSim))
        .local_memory(memory)
}

#[test]
fn a_load_a_send_and_a_collective_take_turns_and_a_computation_and_a_receive_do_not_wait() {
    let topology = fully_connected(2);
    let mut builder = WorkloadBuilder::new(2);
    // 1 byte is 1 ps: a load of 3 µs, a SEND of 4 µs, a collective of one message of 5 µs.
    builder.memory(0, "load", false, false, 3 * US, &[]).unwrap();
    builder.send(0, "send", 1, 0, 4 * US, &[]).unwrap();
    builder.collective(0, "sum", ALL_REDUCE, 10 * US, 0, &[]).unwrap();
    builder.compute(0, "product", Cost::micros(2), &[]).unwrap();
    let recv = builder.recv(0, "recv", 1, 1, US, &[]).unwrap();
    builder.compute_on(0, "host", Cost::micros(1), true, 0, &[recv]).unwrap();
    builder.recv(1, "recv", 0, 0, 4 * US, &[]).unwrap();
    builder.send(1, "send", 0, 1, US, &[]).unwrap();
    builder.collective(1, "sum", ALL_REDUCE, 10 * US, 0, &[]).unwrap();
    let workload = builder.finish();
    let mut diary = Diary::default();
    compat(&topology).run_with_timeline(&workload, &Ring::default(), &mut diary).unwrap();
    let of_rank_0: Vec<&str> =
        diary.0.iter().map(String::as_str).filter(|line| !line.contains("link")).collect();
    let has = |end: &str| assert!(of_rank_0.iter().any(|line| line.ends_with(end)), "{end}: {of_rank_0:?}");
    has("load 0..3");
    has("send 3..7");
    has("sum 7..12");
    has("gpu 0: product 0..2");
    has("recv 0..1");
    has("host 1..2");
    // By the own rules all at once.
    let own = compat(&topology).compat(None).run(&workload, &Ring::default()).unwrap();
    assert_eq!(own.makespan, Picos(5 * US));
}

#[test]
fn the_roofline_is_of_the_gpu_and_a_computation_without_bytes_is_skipped() {
    let topology = fully_connected(1);
    let bandwidth: Bandwidth = "1600 GB/s".parse().unwrap();
    let simulation = WorkloadSimulation::new(&topology)
        .model(Model::Analytical)
        .conventions(Conventions::AstraSim)
        .compat(Some(Compat::AstraSim))
        .roofline(Roofline::new(900e12, bandwidth).unwrap());
    let time = |on_cpu: bool, cost: Cost| {
        let mut builder = WorkloadBuilder::new(1);
        builder.compute_on(0, "p", cost, on_cpu, 0, &[]).unwrap();
        simulation.run(&builder.finish(), &Ring::default()).unwrap().makespan.0 / 1000
    };
    // Bound by memory: ⌊1,000,000 B / 1600 B/ns⌋ = 625 ns, whatever the trace states.
    let cost = Cost { micros: 7, ops: 1_000, bytes: 1_000_000 };
    assert_eq!(time(false, cost), 625);
    assert_eq!(time(false, Cost { bytes: 0, ..cost }), 0);
    // The CPU takes what is stated, and without a statement 1 ns.
    assert_eq!(time(true, cost), 7_000);
    assert_eq!(time(true, Cost { micros: 0, ..cost }), 1);
}
