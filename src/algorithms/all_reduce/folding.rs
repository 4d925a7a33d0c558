//! Numbers of ranks that are no powers of two, as MPICH handles them: the ranks beyond a power of two give their data to a
//! neighbour, stand aside, and get the sums at the end.

use crate::algorithms::catalogue::{Cost, Share, one_of, share};

/// How many ranks go on: the largest power of two that is not above their number.
fn core(ranks: usize) -> usize {
    1 << ranks.max(1).ilog2()
}

/// What recursive doubling costs, whoever the partners are.
///
/// Folding in and out is a round each. Where only one rank stands aside, its neighbour loses no round: the data of the first
/// partner come while it takes the other's in, and it adds both.
pub(super) fn exchanges_of_all(ranks: usize) -> Cost {
    let rounds = core(ranks).ilog2() as usize;
    let folding = usize::min(ranks - core(ranks), 2);
    let sent = rounds + folding.min(1);
    Cost::rounds_of([(rounds + folding, one_of(1))]).with_sent(Share::from_integer(sent as u64))
}

/// What halving and doubling costs, whoever the partners are. Folding in and out is a message of all data each.
pub(super) fn halving_and_doubling(ranks: usize) -> Cost {
    let rounds = core(ranks).ilog2();
    let halves = (1..=rounds).chain((1..=rounds).rev()).map(|round| (1, one_of(1 << round)));
    let folding = (usize::from(ranks > core(ranks)), one_of(1));
    let cost = Cost::rounds_of([folding].into_iter().chain(halves).chain([folding]));
    // A rank that has taken a neighbour's data in sends what all send, and the sums to the neighbour.
    let sent = share(2 * (core(ranks) - 1), core(ranks)) + folding.0 as u64;
    cost.with_sent(sent)
}
