//! What the stories share: networks, steps of one collective, and what holds of every report.

use chakra_et::workload::{CollectiveKind, Workload, WorkloadBuilder};
use collective::chakra_et;
use collective::sim::Model;
use collective::sim::topology::{CardOrder, Cluster, Dimension, Topology};
use collective::sim::units::Picos;
use collective::sim::workload::{PathKind, WorkloadReport, WorkloadSimulation};
use collective::workload::{Expander, Rule, Rules};

/// Picoseconds of a microsecond.
pub(crate) const US: u64 = 1_000_000;

pub(crate) const MODELS: [Model; 3] = [Model::Analytical, Model::LinkQueue, Model::Fluid];

pub(crate) type Kind =
    fn(u32, collective::sim::units::Bandwidth, collective::sim::units::Latency) -> Dimension;

/// One dimension, with links of 50 GB/s and 500 ns.
pub(crate) fn network(kind: Kind, ranks: u32) -> Topology {
    Topology::new([kind(ranks, "50 GB/s".parse().unwrap(), "500 ns".parse().unwrap())]).unwrap()
}

/// A link between each two ranks on which a byte takes a picosecond, and nothing else does.
pub(crate) fn ideal(ranks: u32) -> Topology {
    let dimension = Dimension::fully_connected(ranks, "1 TB/s".parse().unwrap(), "0 ns".parse().unwrap());
    Topology::new([dimension]).unwrap()
}

/// Nodes of `gpus` ranks on a switch, a card for each rank, one switch for all cards.
pub(crate) fn cluster(nodes: u32, gpus: u32) -> Topology {
    let cluster = Cluster {
        nodes,
        node: Topology::new([Dimension::switch(
            gpus,
            "450 GB/s".parse().unwrap(),
            "250 ns".parse().unwrap(),
        )])
        .unwrap(),
        cards: gpus,
        card_link: None,
        network: network(Dimension::switch, nodes * gpus),
        order: CardOrder::ByNode,
        through_peer: false,
    };
    cluster.build().unwrap()
}

pub(crate) fn expander(rules: impl IntoIterator<Item = Rule>) -> Expander {
    Expander::new(rules.into_iter().fold(Rules::new(), Rules::rule)).unwrap()
}

/// All collectives by the library's defaults.
pub(crate) fn defaults() -> Expander {
    expander([])
}

/// One collective on all ranks, and nothing else.
pub(crate) fn alone(ranks: u32, kind: CollectiveKind, bytes: u64, root: u32) -> Workload {
    let mut step = WorkloadBuilder::new(ranks);
    for rank in 0..ranks {
        step.rooted(rank, "alone", kind, bytes, 0, root, &[]).unwrap();
    }
    step.finish()
}

/// The report of a run that goes to its end, after seeing that its figures agree with each other.
pub(crate) fn run(
    simulation: &WorkloadSimulation<'_>,
    workload: &Workload,
    expander: &Expander,
) -> WorkloadReport {
    let report = simulation.run(workload, expander).unwrap_or_else(|error| panic!("{error}"));
    check(&report);
    report
}

/// The report on [`ideal`] links under the fluid model.
pub(crate) fn run_ideal(workload: &Workload, expander: &Expander) -> WorkloadReport {
    run(&WorkloadSimulation::new(&ideal(workload.rank_count() as u32)), workload, expander)
}

/// What holds of every report: each rank's time is divided without rest, and the critical path has no gap.
pub(crate) fn check(report: &WorkloadReport) {
    let last = report.ranks.iter().map(|rank| rank.finish).max().unwrap_or_default();
    assert_eq!(last, report.makespan);
    for rank in &report.ranks {
        let parts = [rank.compute, rank.overlapped, rank.exposed, rank.idle];
        assert_eq!(parts.iter().map(|part| part.0).sum::<u64>(), report.makespan.0);
    }
    let path = &report.critical_path;
    let mut at = Picos::ZERO;
    for step in &path.steps {
        assert_eq!(step.start, at, "{step:?}");
        assert!(matches!(step.kind, PathKind::Collective { .. } | PathKind::Message) || step.rank == step.to);
        at = step.finish;
    }
    assert_eq!(at, report.makespan);
    assert_eq!(path.shares().iter().map(|share| share.0).sum::<u64>(), report.makespan.0);
    for row in &report.collectives {
        assert!(row.exposed <= row.time && row.waited <= row.time, "{row:?}");
    }
}
