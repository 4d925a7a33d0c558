//! Times that TE-CCL's authors published for schedules of two synthesizers, rebuilt: see `docs/modelled-table.md`, which a test
//! here writes.

mod dgx2;
mod document;
mod epochs;
mod ndv2;
mod table;

use collective::et::{self, EtOptions, NodeOrder};
use collective::sim::topology::Topology;
use collective::sim::{Model, Simulation};
use collective::{ElementType, Schedule, Size};

use epochs::Epochs;
use table::{Case, GROUPS, Group, Row};

impl Case {
    fn ranks(self) -> usize {
        match self {
            Self::TecclDgx2 | Self::TecclNdv2 => 32,
            Self::TacclNdv2(chassis) => 8 * chassis,
        }
    }

    /// Compiled, which is to say verified.
    fn schedule(self) -> Schedule {
        match self {
            Self::TecclDgx2 => dgx2::alltoall_two_dgx2::compile(32),
            Self::TecclNdv2 => ndv2::alltoall_ndv2::compile(32, 192, 1),
            Self::TacclNdv2(chassis) => ndv2::alltoall_ndv2::compile(8 * chassis, 1, 0),
        }
        .unwrap()
    }

    fn topology(self, bytes: u64) -> Topology {
        let epochs = |fastest| Epochs::of_chunks(bytes as f64 / self.ranks() as f64, bytes, fastest);
        match self {
            Self::TecclDgx2 => dgx2::topology(&epochs(125.0)),
            Self::TecclNdv2 => ndv2::topology(4, &epochs(50.0)),
            Self::TacclNdv2(chassis) => ndv2::topology(chassis, &Epochs::None),
        }
    }

    /// TE-CCL hands a chunk on after it has come in whole, by switches too: link-queue. For TACCL a way by a switch is one link: fluid.
    fn model(self) -> Model {
        match self {
            Self::TecclDgx2 | Self::TecclNdv2 => Model::LinkQueue,
            Self::TacclNdv2(_) => Model::Fluid,
        }
    }

    /// Microseconds. The synthesizers know no thread blocks, so nodes wait for what the algorithm demands and for their connection.
    fn simulated(self, schedule: &Schedule, bytes: u64) -> f64 {
        // Of the sizes only 1000 is no multiple.
        let size = Size::of(bytes.next_multiple_of(self.ranks() as u64), ElementType::I8);
        let graph =
            et::graph(schedule, &EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(size) }).unwrap();
        let topology = self.topology(bytes);
        Simulation::new(&topology).model(self.model()).run(&graph).unwrap().makespan.0 as f64 / 1e6
    }
}

/// What each row takes, and by how much of the published time that is more.
fn outcomes(group: &Group) -> Vec<(&Row, f64, f64)> {
    let schedule = group.case.schedule();
    let ours = group.rows.iter().map(|row| (row, group.case.simulated(&schedule, row.bytes)));
    ours.map(|(row, took)| (row, took, took / row.published - 1.0)).collect()
}

#[test]
fn rows_said_to_be_rebuilt_are_within_one_percent() {
    for group in &GROUPS {
        for (row, took, more) in outcomes(group).into_iter().filter(|(row, ..)| row.rebuilt) {
            let (name, bytes, published) = (group.name, row.bytes, row.published);
            assert!(more.abs() <= 0.01, "{name}, {bytes} bytes: {took} µs of {published}");
        }
    }
}

/// The bytes that must cross the most loaded link.
#[test]
fn nothing_is_faster_than_the_links_between_the_chassis() {
    for group in &GROUPS {
        for (row, took, _) in outcomes(group) {
            let bytes = f64::from(group.chunks_a_link) * row.bytes as f64 / group.case.ranks() as f64;
            assert!(took >= bytes / 12.5e3, "{}, {} bytes: {took} µs", group.name, row.bytes);
            assert!(row.published >= bytes / 12.5e3, "{}, {} bytes", group.name, row.bytes);
        }
    }
}

/// The rows down to 64 KB take what TE-CCL's own schedules take: the same number of epochs. Below, the released schedules have
/// longer epochs than the rule of `Epochs` gives, and the times are within a hundredth.
#[test]
fn released_schedules_take_as_long() {
    for (row, took, _) in outcomes(&GROUPS[0]) {
        let released = row.released.unwrap();
        let allowed = if row.bytes >= 64_000 { 1e-9 } else { 0.01 };
        assert!((took / released - 1.0).abs() <= allowed, "{} bytes: {took} µs of {released}", row.bytes);
    }
}
