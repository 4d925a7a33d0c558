//! Executes a graph: issues nodes when their dependences have finished, matches SENDs with RECVs, and
//! lets a network move the messages.
//!
//! The rules, which are ASTRA-sim's: at time 0 the ranks issue their nodes without dependences, rank 0
//! first, each in ascending order; a node that becomes ready is issued at once, several in ascending
//! order; on delivery the SEND finishes and its successors are issued, then the RECV, if it was issued;
//! a RECV that finds its message there finishes behind everything already scheduled for that time.
//! Late and slow ranks and overheads of messages are not ASTRA-sim's and only shift these moments.
//!
//! Three engines do this. [`sweep`] runs contention-free models without events. [`serial`] runs everything, in
//! one loop. [`windows`] runs large graphs under `link-queue` and `fluid` with several threads. The last two execute the
//! same [`block`]: of all ranks, or of some that tell each other what crosses between them ([`crossing`]).
//!
//! The order of equal times is part of the result. Under ASTRA-sim's conventions it is the order of scheduling; under ours
//! that of the events' keys ([`crate::events`]), which is the same for any number of blocks.

mod block;
mod compute;
mod connection;
mod crossing;
mod deadlock;
mod diagnose;
mod fold;
mod node;
mod plan;
mod record;
mod serial;
mod sweep;
#[cfg(test)]
pub(crate) mod tests;
mod turns;
mod windows;

use chakra_et::graph::{Graph, SymmetricGraph, Symmetry};

pub(crate) use self::serial::in_rounds;
use crate::compat::Compat;
use crate::error::{Overflow, SimError};
use crate::machine::{self, Machine};
use crate::model::analytical::Routes;
use crate::model::loggp::LogGp;
use crate::model::{Conventions, Model, analytical};
use crate::options::Options;
use crate::report::Report;
use crate::topology::Topology;
use crate::units::{Bytes, Picos};

/// What to run, and how.
#[derive(Clone, Copy)]
pub(crate) struct Setup<'a> {
    /// All models but loggp need one.
    pub(crate) topology: Option<&'a Topology>,
    pub(crate) model: Model,
    pub(crate) conventions: Conventions,
    pub(crate) compat: Option<Compat>,
    pub(crate) loggp: LogGp,
    /// Whether a rank may stand for all, where all do the same.
    pub(crate) fold: bool,
    pub(crate) options: Options<'a>,
    /// Whether to note when each node finishes.
    pub(crate) times: bool,
    /// The model machine needs one.
    pub(crate) machine: Option<&'a Machine>,
}

impl Setup<'_> {
    /// Whether messages do not disturb each other, so that the sweep may run the graph.
    fn is_contention_free(&self) -> bool {
        self.compat.is_none()
            && self.options.is_plain()
            && matches!(self.model, Model::Analytical | Model::LogGp)
    }
}

/// The report, and when each node finished, by rank and node, if asked for.
pub(crate) type Run = (Report, Option<Vec<Vec<Picos>>>);

/// Runs a graph.
pub(crate) fn run(setup: Setup<'_>, graph: &Graph) -> Result<Run, SimError> {
    check(setup, graph.rank_count())?;
    if setup.model == Model::Machine {
        return machine::run(setup, graph, fold::candidates(graph, setup.topology));
    }
    if setup.fold && !setup.times && setup.is_contention_free() {
        let mut symmetries = fold::candidates(graph, setup.topology);
        if let Some(report) = symmetries.find_map(|symmetry| fold(setup, graph, &symmetry)) {
            return Ok((report, None));
        }
    }
    match sweep(setup, graph) {
        Some(run) => Ok(run),
        None => serial::run_events(setup, graph),
    }
}

/// Runs a graph in which all ranks do the same: one of them, where that is the same, else all.
pub(crate) fn run_symmetric(setup: Setup<'_>, graph: &SymmetricGraph) -> Result<Report, SimError> {
    /// Of 8 bytes each, where the sweep runs all; elsewhere the nodes themselves and their states, some 60.
    const MOST_NODES: [u64; 2] = [1 << 28, 1 << 27];
    check(setup, graph.rank_count() as usize)?;
    if setup.model == Model::Machine {
        return machine::run_symmetric(setup, graph);
    }
    if setup.fold
        && let Some(report) = fold(setup, graph.first(), graph.symmetry())
    {
        return Ok(report);
    }
    let nodes = graph.node_count();
    if nodes <= MOST_NODES[0]
        && let Some(report) = each_alike(setup, graph)
    {
        return Ok(report);
    }
    if nodes > MOST_NODES[1] {
        let error = SimError::CannotFold { model: setup.model, nodes, limit: MOST_NODES[1] };
        return Err(stuck(setup, graph).unwrap_or(error));
    }
    Ok(run(Setup { fold: false, times: false, ..setup }, &graph.expand())?.0)
}

/// Does something with the costs of a contention-free model; None under another.
macro_rules! with_costs {
    ($setup:expr, $costs:ident => $what:expr) => {
        match ($setup.model, $setup.topology) {
            _ if !$setup.is_contention_free() => None,
            (Model::Analytical, Some(topology)) => {
                let $costs = &Routes::new(topology, $setup.conventions);
                $what
            }
            (Model::LogGp, _) => {
                let $costs = &$setup.loggp;
                $what
            }
            _ => None,
        }
    };
}

/// Whether the parts of a setup fit each other, and the graph.
fn check(setup: Setup<'_>, ranks: usize) -> Result<(), SimError> {
    let Setup { topology, model, conventions, options, .. } = setup;
    if model == Model::LogGp {
        options.check(conventions, u32::try_from(ranks).unwrap_or(u32::MAX))?;
        return check_loggp(setup);
    }
    let topology = topology.ok_or(SimError::NoTopology { model })?;
    if ranks != topology.rank_count() as usize {
        return Err(SimError::RankCount { graph: ranks, topology: topology.rank_count() });
    }
    let dimensions = topology.part_count();
    if model == Model::LinkQueue && conventions == Conventions::AstraSim && dimensions > 1 {
        return Err(SimError::OneDimensionOnly { dimensions });
    }
    if matches!(model, Model::Fluid | Model::Machine) && conventions != Conventions::Exact {
        return Err(SimError::ExactOnly { model, conventions });
    }
    options.check(conventions, topology.rank_count())
}

/// What loggp does by itself.
fn check_loggp(Setup { compat, options, .. }: Setup<'_>) -> Result<(), SimError> {
    let what = if let Some(compat) = compat {
        format!("`--compat {compat}`")
    } else if options.send_overhead > Picos::ZERO || options.receive_overhead > Picos::ZERO {
        "an overhead of messages".to_owned()
    } else {
        return Ok(());
    };
    Err(SimError::NotWithLogGp { what })
}

/// Runs a graph without events; None where that cannot be done, or the graph cannot be executed to its end.
fn sweep(setup: Setup<'_>, graph: &Graph) -> Option<Run> {
    let outcome = with_costs!(setup, costs => match setup.times {
        false => sweep::run::<_, false>(graph, setup.conventions, costs),
        true => sweep::run::<_, true>(graph, setup.conventions, costs),
    });
    Some(outcome?.report(setup))
}

/// Runs every rank of a graph in which all do the same, without their nodes; None as above.
fn each_alike(setup: Setup<'_>, graph: &SymmetricGraph) -> Option<Report> {
    let (first, symmetry) = (graph.first(), graph.symmetry());
    let outcome = with_costs!(setup, costs => sweep::run_alike(first, symmetry, setup.conventions, costs));
    Some(outcome?.report(setup).0)
}

/// Runs one rank for all; None where that is not the same, or the sweep does not get to the end.
///
/// Every rank of the graph, or the one rank there is, must do what the first does, relabelled.
fn fold(setup: Setup<'_>, graph: &Graph, symmetry: &Symmetry) -> Option<Report> {
    let outcome = with_costs!(setup, costs => sweep::run_folded(graph, symmetry, setup.conventions, costs));
    Some(Report { folded: true, ..outcome?.report(setup).0 })
}

/// Why ranks that do the same do not come to their end, if that can be told by one of them.
fn stuck(setup: Setup<'_>, graph: &SymmetricGraph) -> Option<SimError> {
    let (first, symmetry) = (graph.first(), graph.symmetry());
    with_costs!(setup, costs => sweep::stuck::reason(first, symmetry, setup.conventions, costs))
}

impl sweep::Outcome {
    fn report(self, setup: Setup<'_>) -> Run {
        let report = Report {
            makespan: self.finish.iter().copied().max().unwrap_or(Picos::ZERO),
            finish: self.finish,
            messages: self.messages,
            bytes: Bytes(self.bytes),
            model: setup.model,
            conventions: setup.conventions,
            notes: notes(setup),
            links: None,
            folded: false,
            message_times: None,
            critical_path: None,
            recording: None,
        };
        (report, self.times)
    }
}

/// What to know when reading the figures of a contention-free model.
fn notes(setup: Setup<'_>) -> Vec<String> {
    match (setup.model, setup.topology) {
        (Model::LogGp, _) => setup.loggp.notes(),
        (_, Some(topology)) => analytical::notes(setup.conventions, topology.part_count()),
        _ => Vec::new(),
    }
}
