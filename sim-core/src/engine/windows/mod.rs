//! Events in parallel: blocks of ranks run windows of time, one after the other, without hearing of each other.
//!
//! A conservative engine (Chandy and Misra 1979; windows as in YAWNS, Nicol 1993). Ranks and links are divided into
//! blocks ([`crate::model::division`]); what happens in one reaches another at the earliest a *lookahead* later. A
//! window begins with the first event of any block and is as long as the lookahead, so that what crosses is always for
//! a later window. Parcels lie in the mailbox of their block until its next window.
//!
//! The result is that of the serial engine to the bit, for any number of blocks and threads: both run the same
//! [`Block`], whose order of equal times is that of keys ([`crate::events`]), and what crosses carries its key. An event of a
//! message whose ranks are in two blocks happens in both, at the same place of the order.
//!
//! Serial are: ASTRA-sim's conventions and `--compat` (their order is that of scheduling, over all ranks), models other than
//! `link-queue` and `fluid` (the sweep runs those, or a report is wanted that it does not make), graphs that are small, and networks
//! that are tied together: by links without latency, or under `fluid` by shared links. Runs whose windows turn out to hold too few
//! events begin anew serially. So do those that cannot go on, overflow or mismatch: the serial engine finds the words, and the
//! time is spent twice. Everything else works in windows: stragglers, overheads, placements, times, the critical path, observers.

mod pace;
mod signal;
mod team;
#[cfg(test)]
mod tests;

use chakra_et::graph::Graph;
use rayon::prelude::*;

use self::team::{Ending, Team};
use super::block::Block;
use super::crossing::Exchange;
use super::plan::Draft;
use super::serial::conclude;
use super::{Run, Setup, SimError};
use crate::model::division::{Divisible, Wanted};
use crate::model::fluid::{self, Fluid};
use crate::model::link_queue::LinkQueue;
use crate::model::{Conventions, Model};
use crate::options::Options;

/// Below this number of nodes a block more costs more than it brings.
const NODES_PER_BLOCK: usize = 1 << 16;

/// How to divide the work.
#[derive(Clone, Copy)]
pub(super) struct Policy {
    /// Number of blocks, at most.
    pub(super) blocks: usize,
    /// Whether to go on with windows that hold next to nothing.
    pub(super) always: bool,
}

impl Policy {
    /// A block for each thread of the pool, as far as there is enough to do.
    pub(super) fn of_pool(graph: &Graph) -> Self {
        let blocks = (graph.node_count() / NODES_PER_BLOCK).min(rayon::current_num_threads());
        Self { blocks, always: false }
    }
}

/// Runs a graph in windows; None where the serial engine has to.
pub(super) fn run(setup: Setup<'_>, graph: &Graph, policy: Policy) -> Option<Result<Run, SimError>> {
    let Setup { topology, model, conventions, compat, .. } = setup;
    if policy.blocks < 2 || conventions != Conventions::Exact || compat.is_some() {
        return None;
    }
    let topology = topology.filter(|_| matches!(model, Model::LinkQueue | Model::Fluid))?;
    let draft = Draft::new(graph, conventions).ok()?;
    if model == Model::Fluid {
        let network = Fluid::new(topology, &draft.pairs).ok()?;
        return run_divided(setup, graph, draft, network, fluid::notes(), policy);
    }
    let network = LinkQueue::new(topology, conventions, &draft.pairs).ok()?.recorded(setup.options.recording);
    let notes = network.notes();
    run_divided(setup, graph, draft, network, notes, policy)
}

fn run_divided<N: Divisible + Send>(
    setup: Setup<'_>,
    graph: &Graph,
    draft: Draft,
    network: N,
    notes: Vec<String>,
    policy: Policy,
) -> Option<Result<Run, SimError>> {
    let weights: Vec<u64> = graph.ranks().iter().map(|rank| rank.len() as u64).collect();
    let Draft { pairs, least, .. } = &draft;
    let (topology, least) = (setup.topology?, *least);
    let wanted = Wanted { topology, pairs, weights: &weights, blocks: policy.blocks, least };
    let division = network.divide(&wanted).ok()?;
    let plans = draft.divided(graph, &division.starts).ok()?;
    let starts: Vec<_> = plans.iter().map(|plan| (plan.ranks.numbers().start, plan.first_crossing)).collect();
    // The team looks at the whole, not each block for itself.
    let quiet = Setup { options: Options { observer: None, ..setup.options }, ..setup };
    let parts: Vec<_> = plans.into_iter().zip(division.networks).enumerate().collect();
    let blocks = parts.into_par_iter().map(|(here, (plan, network))| {
        let mut block = Block::new(graph, quiet, plan, Exchange::new(here, starts.clone()), network);
        block.begin().ok()?;
        Some(block)
    });
    let blocks: Vec<Block<'_, N>> = blocks.collect::<Option<_>>()?;
    let team =
        Team::new(blocks, division.lookahead, setup.options.observer, graph.node_count(), policy.always);
    match team.run(rayon::current_num_threads()) {
        Ending::Finished(blocks) if blocks.iter().all(|block| block.unfinished == 0) => {
            Some(conclude(setup, blocks, notes))
        }
        Ending::Stopped(partial) => Some(Err(SimError::Stopped(partial))),
        _ => None,
    }
}
