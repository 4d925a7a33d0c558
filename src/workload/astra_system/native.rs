//! ASTRA-sim's own algorithms, and which of this library have the same idea.

use chakra_et::workload::CollectiveKind::{self, AllGather, AllReduce, AllToAll, ReduceScatter};

use super::super::rule::Rule;

/// The names, as ASTRA-sim reads them.
pub(super) const NAMES: &str =
    "ring, oneRing, direct, oneDirect, halvingDoubling, oneHalvingDoubling or doubleBinaryTree";

/// The rule that gives an algorithm of this library, and what is to be said of it.
pub(super) struct Native {
    pub(super) rule: Rule,
    pub(super) note: Option<String>,
}

/// Finds the algorithm for a name; or says why there is none.
pub(super) fn find(kind: CollectiveKind, stated: &str) -> Result<Native, String> {
    // A window says how many messages of a rank are under way at once: direct4.
    let (name, window) =
        match ["oneDirect", "direct"].iter().find_map(|name| Some((*name, stated.strip_prefix(name)?))) {
            Some((name, "")) => (name, None),
            Some((name, window)) if window.bytes().all(|byte| byte.is_ascii_digit()) => (name, Some(window)),
            Some(_) => return Err(format!("expected {NAMES}")),
            None => (stated, None),
        };
    let mut note = None;
    let algorithm = match (name, kind) {
        ("ring" | "oneRing", AllReduce) => "allreduce_ring",
        ("ring" | "oneRing", AllGather) => "allgather_ring",
        ("ring" | "oneRing", ReduceScatter) => "reduce_scatter_ring",
        ("ring" | "oneRing", AllToAll) => {
            note = Some(
                "ASTRA-sim passes the parts from neighbour to neighbour, n (n - 1) / 2 steps; here every part goes to its \
                 destination, n - 1 rounds (alltoall_pairwise)"
                    .to_owned(),
            );
            "alltoall_pairwise"
        }
        ("direct" | "oneDirect", AllReduce) => "allreduce_allpairs_two_shot",
        ("direct" | "oneDirect", AllGather) => "allgather_allpairs",
        ("direct" | "oneDirect", ReduceScatter) => "reduce_scatter_allpairs",
        ("direct" | "oneDirect", AllToAll) => "alltoall_direct",
        ("halvingDoubling" | "oneHalvingDoubling", AllReduce) => "allreduce_recursive_halving_doubling",
        ("halvingDoubling" | "oneHalvingDoubling", AllGather) => "allgather_recursive_doubling",
        ("halvingDoubling" | "oneHalvingDoubling", ReduceScatter) => "reduce_scatter_recursive_halving",
        ("halvingDoubling" | "oneHalvingDoubling", _) => {
            return Err("ASTRA-sim has no halving and doubling for it".to_owned());
        }
        ("doubleBinaryTree", AllReduce) => "allreduce_double_binary_tree",
        ("doubleBinaryTree", _) => return Err("the double binary tree is an all-reduce only".to_owned()),
        _ => return Err(format!("expected {NAMES}")),
    };
    if let Some(window) = window {
        note = Some(format!("a window of {window} messages has no effect here: all are under way at once"));
    }
    Ok(Native { rule: Rule::algorithm(algorithm), note })
}
