use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of, share};
use crate::algorithms::rooted::choices;
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: scatter_linear::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices,
    cost: |values| {
        let ranks = values[0];
        Cost::rounds_of([(usize::from(ranks > 1), one_of(ranks))]).with_sent(share(ranks - 1, ranks))
    },
};

/// Scatter directly: the root sends every rank its part, all at once.
///
/// Choose it for large sizes, and wherever the root has links of its own to the others: every byte moves once. The root
/// has n−1 connections.
///
/// Any number of ranks. S is the scattered size. Rounds: 1, in which the root sends n−1 messages at once. Bytes sent by the root:
/// S·(n−1)/n. Time with links of latency α and bandwidth B between any two: α + S/(n·B); on a switch, where the root's
/// port is shared, α + S·(n−1)/(n·B).
///
/// Source: the linear scatter of MPI libraries; NCCL's grouped sends and receives.
///
/// ```text
///        ┌──▶ 1
///   0 ──▶├──▶ 2
///        └──▶ 3
/// ```
///
/// ```
/// use collective::algorithms::{self, scatter_linear};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(scatter_linear, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("scatter_linear").unwrap().cost(&[8, 0]).rounds(), 1);
/// ```
#[collective(scatter, in_place, root = root, defaults(root = 0), build(ranks = 8))]
pub fn scatter_linear(p: &Program, ranks: usize, root: usize) {
    for to in 0..ranks {
        p.chunk(root, Input, to).copy_to(to, Output, 0);
    }
}
