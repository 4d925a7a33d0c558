//! Events one after the other: the engine for everything, in one loop.

use chakra_et::graph::Graph;

use super::block::Block;
use super::crossing::Exchange;
use super::plan::{Draft, Plan};
use super::record::{Messages, Record};
use super::{Run, Setup, notes, windows};
use crate::error::{Overflow, SimError};
use crate::model::analytical::Analytical;
use crate::model::fluid::{self, Fluid};
use crate::model::link_queue::LinkQueue;
use crate::model::loggp::{LogGp, Processors};
use crate::model::network::Network;
use crate::model::unit::Unit;
use crate::model::{Conventions, Model};
use crate::options::Options;
use crate::report::{MessageTime, Recording, Report};
use crate::topology::Topology;
use crate::units::{Bytes, Picos};

/// Runs a graph event by event; with several threads where that pays.
pub(super) fn run_events(setup: Setup<'_>, graph: &Graph) -> Result<Run, SimError> {
    match windows::run(setup, graph, windows::Policy::of_pool(graph)) {
        Some(run) => run,
        None => run_serially(setup, graph),
    }
}

/// Runs a graph in one loop.
pub(super) fn run_serially(setup: Setup<'_>, graph: &Graph) -> Result<Run, SimError> {
    let Setup { topology, model, conventions, .. } = setup;
    let draft = Draft::new(graph, conventions)?;
    let topology = || topology.ok_or(SimError::NoTopology { model });
    match model {
        Model::Analytical => {
            let network = Analytical::new(topology()?, conventions, &draft.pairs)?;
            run(setup, graph, draft.plan(graph)?, network, notes(setup))
        }
        Model::LinkQueue => {
            let network = LinkQueue::new(topology()?, conventions, &draft.pairs)?;
            let network = network.recorded(setup.options.recording);
            let notes = network.notes();
            run(setup, graph, draft.plan(graph)?, network, notes)
        }
        Model::Fluid => {
            let network = Fluid::new(topology()?, &draft.pairs)?;
            run(setup, graph, draft.plan(graph)?, network, fluid::notes())
        }
        Model::LogGp => {
            let network = Processors::new(setup.loggp, graph.rank_count(), &draft.pairs);
            run(setup, graph, draft.plan(graph)?, network, notes(setup))
        }
        Model::Machine => Err(SimError::NoMachine),
    }
}

fn run<N: Network>(
    setup: Setup<'_>,
    graph: &Graph,
    plan: Plan,
    network: N,
    notes: Vec<String>,
) -> Result<Run, SimError> {
    let mut block = Block::new(graph, setup, plan, Exchange::default(), network);
    block.begin()?;
    block.run(Picos(u64::MAX))?;
    if block.unfinished > 0 {
        return Err(SimError::Stuck(block.diagnose()));
    }
    conclude(setup, vec![block], notes)
}

/// The result of a run from the blocks that ran it, in the order of their ranks.
pub(super) fn conclude<N: Network>(
    setup: Setup<'_>,
    mut blocks: Vec<Block<'_, N>>,
    notes: Vec<String>,
) -> Result<Run, SimError> {
    let Setup { model, conventions, options, .. } = setup;
    let finish: Vec<Picos> = blocks.iter().flat_map(|block| block.finish.iter().copied()).collect();
    let makespan = finish.iter().copied().max().unwrap_or(Picos::ZERO);
    let bytes = blocks.iter().try_fold(0u64, |sum, block| sum.checked_add(block.bytes));
    let links: Option<Vec<_>> = blocks.iter().map(|block| block.network.link_loads()).collect();
    let links = links.map(|links| {
        let mut links = links.concat();
        links.sort_unstable_by_key(|load| load.link);
        links
    });
    let times: Option<Vec<_>> = blocks.iter_mut().map(|block| block.times.take()).collect();
    let records: Option<Vec<_>> = blocks.iter_mut().map(|block| block.record.take()).collect();
    let passed: Option<Vec<_>> = blocks.iter_mut().map(|block| block.network.passed()).collect();
    let record = records.map(|records| Record::joined(records.into_iter()));
    let (mut message_times, mut critical_path, mut recording) = (None, None, None);
    if let (Some(record), Some(graph)) = (record, blocks.first().map(|block| block.graph)) {
        let flight = blocks.first().and_then(|block| block.network.flight());
        message_times = options.message_times.then(|| record.messages(graph, flight.unwrap_or(Picos::ZERO)));
        let parts = |src: u32, send: u32, size| {
            let block = blocks.partition_point(|block| block.ranks.numbers().start <= src) - 1;
            blocks[block].parts(src, send, size)
        };
        let messages = Messages { parts: &parts, send_overhead: options.send_overhead, flight };
        let path = || record.critical_path(graph, makespan, &messages);
        critical_path = options.critical_path.then(path);
        // Where messages do not occupy one link after the other they flow over all of their route; without a network over none.
        let crossings = || match passed {
            Some(passed) => record.crossings(graph, passed.into_iter().flatten()),
            None => match setup.topology.filter(|_| model != Model::LogGp) {
                Some(topology) => record.flows(graph, topology, options.send_overhead),
                None => Vec::new(),
            },
        };
        recording = options.recording.then(|| Recording { nodes: record.times(), crossings: crossings() });
    }
    let report = Report {
        makespan,
        message_times,
        critical_path,
        recording,
        finish,
        messages: blocks.iter().map(|block| block.delivered).sum(),
        bytes: Bytes(bytes.ok_or(Overflow::BYTES)?),
        model,
        conventions,
        notes,
        links,
        folded: false,
    };
    Ok((report, times.map(|times| times.into_iter().flatten().collect())))
}

/// The messages with their rounds as times: each message takes one unit of time, everything else none.
pub(crate) fn in_rounds(topology: &Topology, graph: &Graph) -> Result<Vec<MessageTime>, SimError> {
    let ranks = topology.rank_count();
    if graph.rank_count() != ranks as usize {
        return Err(SimError::RankCount { graph: graph.rank_count(), topology: ranks });
    }
    let options = Options { without_computing: true, message_times: true, ..Options::default() };
    // The model of the report is of no account.
    let (model, conventions) = (Model::Analytical, Conventions::Exact);
    let (topology, loggp) = (Some(topology), LogGp::default());
    let setup = Setup {
        topology,
        model,
        conventions,
        compat: None,
        loggp,
        fold: false,
        options,
        times: false,
        machine: None,
    };
    let plan = Draft::new(graph, conventions)?.plan(graph)?;
    Ok(run(setup, graph, plan, Unit, Vec::new())?.0.message_times.unwrap_or_default())
}
