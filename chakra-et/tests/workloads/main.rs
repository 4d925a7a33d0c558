//! Workloads: traces of training steps are read, joined, checked, written again and made larger.

mod checking;
#[path = "../common/mod.rs"]
mod common;
mod joining;
mod progress;
mod reading;
#[cfg(feature = "json")]
mod samples;
mod scaling;
mod writing;

use chakra_et::proto::{Node, NodeType};
use chakra_et::workload::{
    self, CollectiveKind, Cost, LoadError, ReadOptions, Workload, WorkloadBuilder, from_bytes, load_bytes,
};
use chakra_et::{attr, groups::Groups};
use common::{comp, file, node};

/// A collective of a kind on a group.
fn coll(id: u64, kind: i64, bytes: i64, group: Option<&str>, deps: &[u64]) -> Node {
    let mut attrs = vec![attr::int64("comm_type", kind), attr::int64("comm_size", bytes)];
    attrs.extend(group.map(|group| attr::string("pg_name", group)));
    node(id, NodeType::CommCollNode, deps, attrs)
}

fn groups(groups: &[(&str, &[u64])]) -> Groups {
    Groups::new(groups.iter().map(|(name, members)| ((*name).to_owned(), members.to_vec())))
}

fn message<T: std::fmt::Debug>(result: Result<T, LoadError>) -> String {
    result.unwrap_err().to_string()
}
