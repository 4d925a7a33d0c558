//! As someone who trusts ASTRA-sim I want its times for whole workloads too, with its system files; and to know where its
//! rules are not those of this simulator.
//!
//! The expected figures are ASTRA-sim's own results, or worked out by hand from its rules.
#![cfg(feature = "topology-files")]

mod custom;
mod deadlock;
mod native;
mod oracle;
mod resources;
mod system;

use std::path::{Path, PathBuf};

use chakra_et::workload::{CollectiveKind, Workload, WorkloadBuilder};
use collective::et::{self, EtOptions, ReduceRate};
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::Bandwidth;
use collective::sim::workload::{Algorithms, WorkloadError, WorkloadReport, WorkloadSimulation};
use collective::sim::{Compat, Conventions, Model};
use collective::workload::AstraSystem;
use collective::{Schedule, Size};

const MIB: u64 = 1 << 20;

/// The networks of ASTRA-sim's runs: one dimension of 50 GB/s, which are 2^30 bytes each, and 500 ns.
fn network(kind: &str, ranks: u32) -> Topology {
    let bandwidth = Bandwidth::from_bytes_per_s(50.0 * f64::from(1 << 30)).unwrap();
    let latency = "500 ns".parse().unwrap();
    Topology::new([match kind {
        "Ring" => Dimension::ring(ranks, bandwidth, latency),
        "Switch" => Dimension::switch(ranks, bandwidth, latency),
        _ => Dimension::fully_connected(ranks, bandwidth, latency),
    }])
    .unwrap()
}

/// As ASTRA-sim with its congestion-aware backend.
fn astra_sim(topology: &Topology) -> WorkloadSimulation<'_> {
    WorkloadSimulation::new(topology)
        .model(Model::LinkQueue)
        .conventions(Conventions::AstraSim)
        .compat(Some(Compat::AstraSim))
}

fn run(
    kind: &str,
    workload: &Workload,
    algorithms: &dyn Algorithms,
) -> Result<WorkloadReport, WorkloadError> {
    astra_sim(&network(kind, workload.rank_count() as u32)).run(workload, algorithms)
}

/// When each rank finishes, in nanoseconds.
fn finish_ns(report: &WorkloadReport) -> Vec<u64> {
    let whole = |rank: &collective::sim::workload::RankTimes| {
        assert!(rank.finish.0.is_multiple_of(1000), "whole nanoseconds");
        rank.finish.0 / 1000
    };
    report.ranks.iter().map(whole).collect()
}

/// One collective of all ranks.
fn one(kind: CollectiveKind, ranks: u32, bytes: u64) -> Workload {
    let mut builder = WorkloadBuilder::new(ranks);
    for rank in 0..ranks {
        builder.collective(rank, "COMM_COLL_NODE", kind, bytes, 0, &[]).unwrap();
    }
    builder.finish()
}

/// A folder of traces that goes with its test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("collective-astra-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn traces(&self, name: &str, schedule: &Schedule, size: u64, reduce_rate: ReduceRate) {
        let options = EtOptions { reduce_rate, ..EtOptions::new(Size::bytes(size)) };
        et::bytes(schedule, &options).unwrap().write(self.0.join(name)).unwrap();
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn system(&self, keys: &str) -> AstraSystem {
        self.parse(keys).unwrap()
    }

    fn parse(&self, keys: &str) -> Result<AstraSystem, collective::workload::SystemError> {
        let text = format!("{{\"preferred-dataset-splits\": 1, {keys}}}");
        AstraSystem::parse(&text, "system.json", &self.0)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A system file without custom traces.
fn native(keys: &str) -> AstraSystem {
    let text = format!("{{\"preferred-dataset-splits\": 1, {keys}}}");
    AstraSystem::parse(&text, "system.json", Path::new("")).unwrap()
}

/// The ring for every kind.
const RINGS: &str = "\"all-reduce-implementation\": [\"ring\"], \"all-gather-implementation\": [\"ring\"], \
                     \"reduce-scatter-implementation\": [\"ring\"], \"all-to-all-implementation\": [\"ring\"]";
