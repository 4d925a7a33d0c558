//! As somebody who builds on the crates I hand their errors through mine: across threads, with `?`, and down to what caused them.

use std::error::Error;

use chakra_et::{groups, workload};
use collective::{build, compare, et, msccl, run, sim, sweep, symmetric};

fn is_error<E: Error + Send + Sync + 'static>() {}

#[test]
fn every_error_can_be_boxed_and_sent() {
    // chakra-et
    is_error::<chakra_et::ReadError>();
    is_error::<chakra_et::FileError>();
    is_error::<chakra_et::Problem>();
    is_error::<chakra_et::WriteError>();
    is_error::<chakra_et::EncodeError>();
    is_error::<chakra_et::attr::AttrError>();
    is_error::<chakra_et::frame::FrameError>();
    is_error::<chakra_et::graph::TooLarge>();
    is_error::<chakra_et::graph::SymmetryError>();
    is_error::<groups::GroupsError>();
    is_error::<workload::BuildError>();
    is_error::<workload::JoinError>();
    is_error::<workload::LoadError>();
    is_error::<workload::ReplicateError>();
    is_error::<workload::WriteError>();
    // sim-core
    is_error::<sim::SimError>();
    is_error::<sim::Overflow>();
    is_error::<sim::LogGpError>();
    is_error::<sim::straggler::StragglerError>();
    is_error::<sim::topology::PlacementError>();
    is_error::<sim::topology::TopologyError>();
    is_error::<sim::units::UnitError>();
    is_error::<sim::workload::PeakError>();
    is_error::<sim::workload::WorkloadError>();
    // collective-dsl
    is_error::<collective::CollectiveError>();
    is_error::<collective::Diagnostics>();
    is_error::<collective::EmbeddedError>();
    is_error::<collective::SizeError>();
    is_error::<collective::UnknownOption>();
    is_error::<et::ChunksError>();
    is_error::<et::EtError>();
    is_error::<et::RecoverError>();
    is_error::<et::RescaleError>();
    is_error::<msccl::XmlError>();
    is_error::<run::RunError>();
    // collective
    is_error::<build::Failure>();
    is_error::<compare::NoTime>();
    is_error::<sweep::SweepError>();
    is_error::<symmetric::SymmetricError>();
    is_error::<collective::workload::RuleError>();
}

#[cfg(feature = "topology-files")]
#[test]
fn errors_of_files_too_and_they_name_their_cause() {
    is_error::<sim::topology::ConfigError>();
    let missing = std::path::Path::new("no/such/folder/network.toml");
    let error = sim::topology::load(missing, None).unwrap_err();
    let cause = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    assert_eq!(cause.map(std::io::Error::kind), Some(std::io::ErrorKind::NotFound));
}

/// What is handed from thread to thread, or shared by several.
#[test]
fn what_is_made_can_be_shared_by_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<collective::Schedule>();
    is_shared::<collective::Trace>();
    is_shared::<collective::Embedded>();
    is_shared::<chakra_et::Graph>();
    is_shared::<sim::topology::Topology>();
    is_shared::<sim::Simulation<'static>>();
    is_shared::<sim::Report>();
    is_shared::<sweep::Sweep>();
    is_shared::<collective::workload::Expander>();
}
