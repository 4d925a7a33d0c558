//! The machines that are built in.

use super::parse_as;
use crate::machine::Machine;

/// Name and text of each: a further one is a further line, and its file.
const FILES: &[(&str, &str)] = &[
    ("a100", include_str!("../../../machines/a100.toml")),
    ("dgx-spark", include_str!("../../../machines/dgx-spark.toml")),
    ("h100", include_str!("../../../machines/h100.toml")),
    ("h100-cluster", include_str!("../../../machines/h100-cluster.toml")),
    ("mi300x", include_str!("../../../machines/mi300x.toml")),
    ("nccl-ampere", include_str!("../../../machines/nccl-ampere.toml")),
    ("nccl-hopper", include_str!("../../../machines/nccl-hopper.toml")),
    ("v100", include_str!("../../../machines/v100.toml")),
];

/// The names of the machines that are built in.
pub const BUILTIN: [&str; FILES.len()] = {
    let mut names = [""; FILES.len()];
    let mut at = 0;
    while at < FILES.len() {
        names[at] = FILES[at].0;
        at += 1;
    }
    names
};

/// A machine that is built in; None if none has this name.
///
/// ```
/// use sim_core::machine::{BUILTIN, builtin};
///
/// assert!(BUILTIN.into_iter().all(|name| builtin(name).is_some_and(|machine| machine.name == name)));
/// ```
#[must_use]
pub fn builtin(name: &str) -> Option<Machine> {
    let (name, text) = FILES.iter().find(|(known, _)| *known == name)?;
    // A test reads them all.
    parse_as(text, name).ok()
}

/// The name most like another, if one is.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    /// Less similar ones are no help (0 is nothing in common, 1 the same).
    const LEAST: f64 = 0.8;
    let name = name.to_lowercase();
    let similar = BUILTIN.into_iter().map(|known| (strsim::jaro_winkler(&name, known), known));
    let similar = similar.filter(|(similarity, _)| *similarity >= LEAST);
    similar.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, known)| known)
}
