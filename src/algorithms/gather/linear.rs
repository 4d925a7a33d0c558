use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::algorithms::rooted::choices;
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: gather_linear::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices,
    cost: |values| {
        let ranks = values[0];
        Cost::rounds_of([(usize::from(ranks > 1), one_of(ranks))])
    },
};

/// Gather directly: every rank sends its data to the root, all at once.
///
/// Choose it for large sizes, and wherever the root has links of its own to the others: every byte moves once. The root
/// has n−1 connections.
///
/// Any number of ranks. S is the gathered size. Rounds: 1, in which the root receives n−1 messages at once. Bytes sent by each rank
/// but the root: S/n. Time with links of latency α and bandwidth B between any two: α + S/(n·B); on a switch, where the root's
/// port is shared, α + S·(n−1)/(n·B).
///
/// Source: the linear gather of MPI libraries; NCCL's grouped sends and receives.
///
/// ```text
///   1 ──▶┐
///   2 ──▶├──▶ 0
///   3 ──▶┘
/// ```
///
/// ```
/// use collective::algorithms::{self, gather_linear};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(gather_linear, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("gather_linear").unwrap().cost(&[8, 0]).rounds(), 1);
/// ```
#[collective(gather, in_place, root = root, defaults(root = 0), build(ranks = 8))]
pub fn gather_linear(p: &Program, ranks: usize, root: usize) {
    for from in 0..ranks {
        p.chunk(from, Input, 0).copy_to(root, Output, from);
    }
}
