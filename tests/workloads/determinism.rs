//! The same step gives the same report, whatever the threads, and after it was written and read.

use chakra_et::workload::{CollectiveKind, Cost, Workload, WorkloadBuilder, from_bytes};
use collective::chakra_et;
use collective::sim::workload::{Roofline, WorkloadReport, WorkloadSimulation};
use collective::workload::{Expander, Overlap, Rule, Rules};

use crate::support::*;

/// 12 ranks: every kind, on groups that overlap, with messages, loads, two streams and the CPU.
fn everything() -> Workload {
    const RANKS: u32 = 12;
    let mut step = WorkloadBuilder::new(RANKS);
    let rows: Vec<u32> =
        (0..3).map(|row| step.group(format!("{}", 1 + row), row * 4..row * 4 + 4).unwrap()).collect();
    let columns: Vec<u32> = (0..4)
        .map(|column| step.group(format!("{}", 11 + column), (0..3).map(|row| row * 4 + column)).unwrap())
        .collect();
    for rank in 0..RANKS {
        let (row, column) = (rows[rank as usize / 4], columns[rank as usize % 4]);
        let host = step.compute_on(rank, "host", Cost::micros(2), true, 0, &[]).unwrap();
        let load = step.memory(rank, "load", false, rank % 2 == 0, 1 << 20, &[host]).unwrap();
        let mut last = load;
        for (at, kind) in (0..).zip(CollectiveKind::ALL) {
            let cost = Cost::operations(1_000_000_000 * u64::from(rank + at + 1), 30_000_000);
            let product = step.compute(rank, format!("product {at}"), cost, &[last]).unwrap();
            let beside = step.compute_on(rank, "beside", Cost::micros(3), false, 1, &[product]).unwrap();
            let root = if kind.has_root() { at % 3 } else { 0 };
            let bytes = 100_003 + u64::from(at);
            let first = step.rooted(rank, "of the row", kind, bytes, row, root, &[product]).unwrap();
            let second = step.rooted(rank, "of the column", kind, bytes, column, root, &[beside]).unwrap();
            let (next, previous) = ((rank + 1) % RANKS, (rank + RANKS - 1) % RANKS);
            step.send(rank, "hand on", next, at, 5_000, &[product]).unwrap();
            let came = step.recv(rank, "handed on", previous, at, 5_000, &[]).unwrap();
            last = step.compute(rank, "join", Cost::micros(1), &[first, second, came]).unwrap();
        }
        step.collective(rank, "all", CollectiveKind::AllReduce, 1_000_003, 0, &[last]).unwrap();
        step.memory(rank, "store", true, false, 1 << 20, &[last]).unwrap();
    }
    step.finish()
}

fn report(workload: &Workload) -> Vec<WorkloadReport> {
    let topology = cluster(3, 4);
    let roofline = Roofline::new(300e12, "2 TB/s".parse().unwrap()).unwrap();
    let rules = Rules::new().machine(4).rule(
        Rule::default_algorithm()
            .kinds([CollectiveKind::AllGather, CollectiveKind::ReduceScatter])
            .overlap(Overlap::Both),
    );
    // Each run makes its algorithms anew.
    let one = |model| {
        let expander = Expander::new(rules.clone()).unwrap();
        run(&WorkloadSimulation::new(&topology).model(model).roofline(roofline), workload, &expander)
    };
    MODELS.map(one).into()
}

#[test]
fn reports_are_equal_for_any_number_of_threads() {
    let workload = everything();
    let wanted = report(&workload);
    assert_eq!(wanted[0].collectives.len(), 10 * 7 + 1);
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for _ in 0..2 {
            assert!(pool.install(|| report(&workload)) == wanted, "{threads} threads");
        }
    }
}

#[test]
fn a_step_that_was_written_and_read_gives_the_same_report() {
    let workload = everything();
    let bytes = workload.to_bytes().unwrap();
    let read = from_bytes(&bytes, Some(&workload.communicators())).unwrap();
    assert_eq!(read, workload);
    assert!(report(&read) == report(&workload));
}
