//! Everything that a rule may name takes part in a run: the library, XML, traces, a function and a constant of `#[collective]`.

use std::path::PathBuf;

use chakra_et::workload::{CollectiveKind, Cost, Workload, WorkloadBuilder};
use collective::Size;
use collective::algorithms::allreduce_ring;
use collective::chakra_et;
use collective::et::{self, EtOptions};
use collective::msccl::{self, XmlOptions};
use collective::prelude::*;
use collective::sim::workload::WorkloadReport;
use collective::workload::{Expander, Rule, Rules};

use crate::support::*;

/// The same ring as the library's, as somebody would write it.
#[collective(all_reduce, in_place, build(ranks = 4))]
fn my_ring(p: &Program, ranks: usize) {
    for index in 0..ranks {
        let mut sum = p.chunk(index, Input, index);
        for step in 1..ranks {
            sum = p.chunk((index + step) % ranks, Input, index).reduce(sum);
        }
        for step in 0..ranks - 1 {
            sum = sum.copy_to((index + step) % ranks, Input, index);
        }
    }
}

/// Eight ranks in two groups of four, of which one begins later; sums of two sizes.
fn step() -> Workload {
    let mut step = WorkloadBuilder::new(8);
    let groups = [step.group("1", 0..4).unwrap(), step.group("2", 4..8).unwrap()];
    for rank in 0..8 {
        let mut last = vec![];
        for bytes in [4_000_000, 16_000_000] {
            let half = rank / 4;
            let work = Cost::micros(5 + u64::from(half));
            let product = step.compute(rank, "product", work, &last).unwrap();
            let (kind, group) = (CollectiveKind::AllReduce, groups[half as usize]);
            last = vec![step.collective(rank, "sum", kind, bytes, group, &[product]).unwrap()];
        }
    }
    step.finish()
}

/// A directory that goes away in the end.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn with(rules: Rules, rule: Rule) -> WorkloadReport {
    run_ideal(&step(), &Expander::new(rules.rule(rule)).unwrap())
}

#[test]
fn the_same_ring_takes_the_same_time_whoever_brings_it() {
    let directory =
        Directory(std::env::temp_dir().join(format!("collective-targets-{}", std::process::id())));
    std::fs::create_dir_all(&directory.0).unwrap();
    let ring = allreduce_ring::compile(4, 1).unwrap();
    let xml = directory.0.join("ring.xml");
    std::fs::write(&xml, msccl::write(&ring, &XmlOptions::default()).unwrap()).unwrap();
    // Made for another size: it follows the workload's.
    let prefix = directory.0.join("ring");
    et::bytes(&ring, &EtOptions::new(Size::bytes(1 << 10))).unwrap().write(&prefix).unwrap();

    let of = |name: &str| Rule::algorithm(name);
    let library = with(Rules::new(), of("allreduce_ring"));
    let constant = my_ring::RANKS_4.schedule().unwrap();
    let others = [
        (with(Rules::new(), Rule::xml(&xml)), "ring.xml"),
        (with(Rules::new(), Rule::et(&prefix)), "ring"),
        (with(Rules::new().register(my_ring::DEF), of("my_ring")), "my_ring"),
        (with(Rules::new().register_schedule("mine", constant), of("mine")), "mine"),
    ];
    // By hand: 6 messages of 1 µs, then 6 of 4 µs, on one half after 5 µs each, on the other after 6.
    let finish = |rank: u64| (2 * (5 + rank / 4) + 6 + 24) * US;
    assert!((0..8).all(|rank| library.ranks[rank as usize].finish.0 == finish(rank)));
    for (report, name) in others {
        assert_eq!(report.ranks, library.ranks, "{name}");
        assert_eq!(
            (report.delivered, report.bytes, &report.links),
            (library.delivered, library.bytes, &library.links)
        );
        let called = &report.collectives[0].algorithms;
        assert!(called.iter().all(|called| called.contains(name)), "{called:?}");
    }
}
