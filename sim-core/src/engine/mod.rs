//! Executes a graph: issues nodes when their dependences have finished, matches SENDs with RECVs, and
//! lets a network move the messages.
//!
//! The rules, which are ASTRA-sim's: at time 0 the ranks issue their nodes without dependences, rank 0
//! first, each in ascending order; a node that becomes ready is issued at once, several in ascending
//! order; on delivery the SEND finishes and its successors are issued, then the RECV, if it was issued;
//! a RECV that finds its message there finishes behind everything already scheduled for that time.
//! Late and slow ranks and overheads of messages are not ASTRA-sim's and only shift these moments.
//!
//! The loop is serial: every event may touch any link, and the order of equal times is part of the
//! result. Contention-free models have no need of it: [`sweep`] runs them, where it can.

mod compute;
mod connection;
mod deadlock;
mod diagnose;
mod fold;
mod node;
mod plan;
mod record;
mod sweep;
#[cfg(test)]
mod tests;
mod turns;

use std::collections::VecDeque;
use std::ops::ControlFlow;

use chakra_et::graph::{Graph, Op, SymmetricGraph, Symmetry};

use self::compute::Ends;
use self::connection::{Connection, Side};
use self::node::{Phase, RankState};
use self::plan::Plan;
use self::record::Record;
use self::turns::Turns;
use crate::compat::Compat;
use crate::error::{Overflow, SimError};
use crate::events::{Event, EventQueue, MessageId, Messages};
use crate::model::analytical::{Analytical, Routes};
use crate::model::fluid::{self, Fluid};
use crate::model::link_queue::LinkQueue;
use crate::model::loggp::{LogGp, Processors};
use crate::model::network::{Network, Work};
use crate::model::unit::Unit;
use crate::model::{Conventions, Model, analytical};
use crate::options::Options;
use crate::progress::{PartialReport, Progress};
use crate::report::{MessageTime, Report};
use crate::straggler::Slowdown;
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
    if setup.fold && !setup.times && setup.is_contention_free() {
        let mut symmetries = fold::candidates(graph, setup.topology);
        if let Some(report) = symmetries.find_map(|symmetry| fold(setup, graph, &symmetry)) {
            return Ok((report, None));
        }
    }
    match sweep(setup, graph) {
        Some(run) => Ok(run),
        None => run_events(setup, graph),
    }
}

/// Runs a graph in which all ranks do the same: one of them, where that is the same, else all.
pub(crate) fn run_symmetric(setup: Setup<'_>, graph: &SymmetricGraph) -> Result<Report, SimError> {
    /// Of 8 bytes each, where the sweep runs all; elsewhere the nodes themselves and their states, some 60.
    const MOST_NODES: [u64; 2] = [1 << 28, 1 << 27];
    check(setup, graph.rank_count() as usize)?;
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
    if model == Model::Fluid && conventions != Conventions::Exact {
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

/// Runs a graph event by event.
fn run_events(setup: Setup<'_>, graph: &Graph) -> Result<Run, SimError> {
    let Setup { topology, model, conventions, .. } = setup;
    let plan = Plan::new(graph, conventions)?;
    let topology = || topology.ok_or(SimError::NoTopology { model });
    match model {
        Model::Analytical => {
            let network = Analytical::new(topology()?, conventions, &plan.pairs)?;
            let (report, times) = Engine::new(graph, setup, plan, network).run(model)?;
            Ok((Report { notes: notes(setup), ..report }, times))
        }
        Model::LinkQueue => {
            let network = LinkQueue::new(topology()?, conventions, &plan.pairs)?;
            let notes = network.notes();
            let (report, times) = Engine::new(graph, setup, plan, network).run(model)?;
            Ok((Report { notes, ..report }, times))
        }
        Model::Fluid => {
            let network = Fluid::new(topology()?, &plan.pairs)?;
            let (report, times) = Engine::new(graph, setup, plan, network).run(model)?;
            Ok((Report { notes: fluid::notes(), ..report }, times))
        }
        Model::LogGp => {
            let network = Processors::new(setup.loggp, graph.rank_count(), &plan.pairs);
            let (report, times) = Engine::new(graph, setup, plan, network).run(model)?;
            Ok((Report { notes: notes(setup), ..report }, times))
        }
    }
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
    let setup =
        Setup { topology, model, conventions, compat: None, loggp, fold: false, options, times: false };
    let engine = Engine::new(graph, setup, Plan::new(graph, conventions)?, Unit);
    Ok(engine.run(model)?.0.message_times.unwrap_or_default())
}

struct Engine<'a, N> {
    graph: &'a Graph,
    options: Options<'a>,
    conventions: Conventions,
    ranks: Vec<RankState>,
    connections: Vec<Connection>,
    network: N,
    queue: EventQueue,
    messages: Messages,
    /// Ready nodes of the rank at work, in the order in which they are to be issued.
    ready: VecDeque<u32>,
    /// By rank, if it may not do everything at once; else empty.
    turns: Vec<Turns>,
    ends: Ends,
    finish: Vec<Picos>,
    /// When each node finished, by rank and node, if asked for.
    times: Option<Vec<Vec<Picos>>>,
    unfinished: usize,
    delivered: u64,
    bytes: u64,
    events: u64,
    /// By rank, where any is slower than stated.
    slowdown: Vec<Slowdown>,
    record: Option<Record>,
}

/// How many events an observer hears nothing of.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 16;

impl<'a, N: Network> Engine<'a, N> {
    fn new(graph: &'a Graph, setup: Setup<'a>, plan: Plan, network: N) -> Self {
        let Setup { conventions, compat, options, times, .. } = setup;
        let none = || graph.ranks().iter().map(|rank| vec![Picos::ZERO; rank.len()]).collect();
        let mut slowdown = Vec::new();
        for straggler in options.stragglers {
            slowdown.resize(graph.rank_count(), Slowdown::NONE);
            slowdown[straggler.rank as usize] = straggler.slowdown;
        }
        Self {
            times: times.then(none),
            graph,
            options,
            conventions,
            ranks: plan.ranks,
            connections: plan.connections,
            network,
            queue: EventQueue::new(),
            messages: Messages::default(),
            ready: VecDeque::new(),
            turns: match compat {
                Some(Compat::AstraSim) => graph.ranks().iter().map(|_| Turns::default()).collect(),
                None => Vec::new(),
            },
            ends: Ends::default(),
            finish: vec![Picos::ZERO; graph.rank_count()],
            unfinished: graph.node_count(),
            delivered: 0,
            bytes: 0,
            events: 0,
            slowdown,
            record: options.is_recorded().then(|| Record::new(graph)),
        }
    }

    fn run(mut self, model: Model) -> Result<Run, SimError> {
        let mut delays = vec![Picos::ZERO; self.ranks.len()];
        for straggler in self.options.stragglers {
            delays[straggler.rank as usize] = straggler.delay;
        }
        for (rank, delay) in (0..).zip(delays) {
            match delay {
                Picos::ZERO => self.start(rank)?,
                _ => self.queue.schedule(delay, Event::Start { rank })?,
            }
        }
        while let Some(event) = self.queue.pop() {
            self.events += 1;
            if self.events.is_multiple_of(EVENTS_BETWEEN_LOOKS) {
                self.observe()?;
            }
            match event {
                Event::Arrival(message) => {
                    if self.network.arrive(message, &mut self.messages, &mut self.queue)? {
                        self.deliver(message)?;
                    }
                }
                Event::LinkFree(link) => {
                    self.network.link_free(link, &mut self.messages, &mut self.queue)?;
                }
                Event::Computed { rank, node } => self.computed(rank, node)?,
                Event::Received { rank, node } => self.finish(rank, node)?,
                Event::Start { rank } => self.start(rank)?,
                Event::Inject { rank, node } => self.inject(rank, node)?,
            }
        }
        if self.unfinished > 0 {
            return Err(SimError::Stuck(self.diagnose()));
        }
        let makespan = self.finish.iter().copied().max().unwrap_or(Picos::ZERO);
        let message_times = match &self.record {
            Some(record) if self.options.message_times => {
                Some(record.messages(self.graph, self.network.flight().unwrap_or(Picos::ZERO)))
            }
            _ => None,
        };
        let critical_path = match &self.record {
            Some(record) if self.options.critical_path => {
                let parts = |src: u32, send: u32, size| {
                    let id = self.ranks[src as usize].nodes[send as usize].connection;
                    self.network.parts(self.connections[id as usize].pair, size)
                };
                let (send_overhead, flight) = (self.options.send_overhead, self.network.flight());
                let messages = record::Messages { parts: &parts, send_overhead, flight };
                Some(record.critical_path(self.graph, makespan, &messages))
            }
            _ => None,
        };
        let report = Report {
            makespan,
            message_times,
            critical_path,
            finish: self.finish,
            messages: self.delivered,
            bytes: Bytes(self.bytes),
            model,
            conventions: self.conventions,
            notes: Vec::new(),
            links: self.network.link_loads(),
            folded: false,
        };
        Ok((report, self.times))
    }

    /// Issues the nodes of a rank that depend on nothing.
    fn start(&mut self, rank: u32) -> Result<(), SimError> {
        let graph = self.graph.rank(rank as usize);
        let roots = (0..graph.len() as u32).filter(|node| graph.deps(*node).is_empty());
        self.ready.extend(roots);
        self.issue_ready(rank)
    }

    /// Tells the observer how far the run is.
    #[cold]
    fn observe(&self) -> Result<(), SimError> {
        let Some(observer) = self.options.observer else { return Ok(()) };
        let nodes = self.graph.node_count();
        let progress = Progress {
            time: self.queue.now(),
            finished: nodes - self.unfinished,
            nodes,
            messages: self.delivered,
            bytes: Bytes(self.bytes),
            events: self.events,
        };
        match observer.0.observe(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => {
                Err(SimError::Stopped(Box::new(PartialReport { progress, finish: self.finish.clone() })))
            }
        }
    }

    /// Issues what is ready on a rank. A loop, not a recursion: chains of empty COMPs may be long.
    #[inline]
    fn issue_ready(&mut self, rank: u32) -> Result<(), SimError> {
        if !self.turns.is_empty() {
            return self.issue_in_turn(rank);
        }
        while let Some(node) = self.ready.pop_front() {
            self.issue(rank, node)?;
        }
        Ok(())
    }

    /// Issues what is ready on a rank and has its turn.
    fn issue_in_turn(&mut self, rank: u32) -> Result<(), SimError> {
        let graph = self.graph.rank(rank as usize);
        let mut start = Vec::new();
        loop {
            self.turns[rank as usize].start(graph, self.ready.drain(..), &mut start);
            if start.is_empty() {
                return Ok(());
            }
            // A COMP that takes no time finishes here and makes others ready.
            for node in start.drain(..) {
                self.issue(rank, node)?;
            }
        }
    }

    #[inline]
    fn issue(&mut self, rank: u32, node: u32) -> Result<(), SimError> {
        self.ranks[rank as usize].nodes[node as usize].phase = Phase::ISSUED;
        if let Some(record) = &mut self.record {
            record.issued(rank, node, self.queue.now());
        }
        match self.graph.rank(rank as usize).op(node) {
            Op::Send { bytes, .. } => self.issue_send(rank, node, Bytes(bytes)),
            Op::Recv { .. } => self.issue_recv(rank, node),
            Op::Comp { micros, ops, bytes } => self.issue_comp(rank, node, micros, ops, Bytes(bytes)),
            // The plan lets no other through.
            _ => Ok(()),
        }
    }

    #[inline]
    fn issue_send(&mut self, rank: u32, node: u32, bytes: Bytes) -> Result<(), SimError> {
        let id = self.ranks[rank as usize].nodes[node as usize].connection;
        let connection = &mut self.connections[id as usize];
        let pair = connection.pair;
        if let Some(recv) = connection.issue(Side::Send, node, &mut self.ranks) {
            self.matched(id, node, recv)?;
        }
        let overhead = self.options.send_overhead;
        if overhead > Picos::ZERO {
            return Ok(self.queue.schedule(overhead, Event::Inject { rank, node })?);
        }
        let message = self.messages.insert(bytes, id, node)?;
        Ok(self.network.inject(message, pair, &mut self.messages, &mut self.queue)?)
    }

    /// The message of a SEND whose overhead is over.
    fn inject(&mut self, rank: u32, node: u32) -> Result<(), SimError> {
        let Op::Send { bytes, .. } = self.graph.rank(rank as usize).op(node) else { return Ok(()) };
        let id = self.ranks[rank as usize].nodes[node as usize].connection;
        let pair = self.connections[id as usize].pair;
        let message = self.messages.insert(Bytes(bytes), id, node)?;
        Ok(self.network.inject(message, pair, &mut self.messages, &mut self.queue)?)
    }

    #[inline]
    fn issue_recv(&mut self, rank: u32, node: u32) -> Result<(), SimError> {
        let id = self.ranks[rank as usize].nodes[node as usize].connection;
        // Without a connection nothing is ever sent to it, and it waits for good.
        let Some(connection) = self.connections.get_mut(id as usize) else { return Ok(()) };
        if let Some(send) = connection.issue(Side::Recv, node, &mut self.ranks) {
            let sender = connection.src as usize;
            let early = self.ranks[sender].nodes[send as usize].phase == Phase::EARLY;
            self.matched(id, send, node)?;
            if early {
                self.ranks[sender].nodes[send as usize].phase = Phase::FINISHED;
                return self.receive(rank, node);
            }
        }
        Ok(())
    }

    /// A RECV finds its message already there.
    #[inline]
    fn receive(&mut self, rank: u32, node: u32) -> Result<(), SimError> {
        let mut span = self.options.receive_overhead;
        if N::HAS_PROCESSORS
            && let Op::Recv { bytes, .. } = self.graph.rank(rank as usize).op(node)
        {
            span = self.occupy(rank, Work::Receive(Bytes(bytes)))?;
        }
        Ok(self.queue.schedule(span, Event::Received { rank, node })?)
    }

    /// How long it is until the rank's processor has done something.
    fn occupy(&mut self, rank: u32, work: Work) -> Result<Picos, Overflow> {
        let now = self.queue.now();
        let finish = self.network.occupy(rank, work, now)?;
        Ok(Picos(finish.0.saturating_sub(now.0)))
    }

    /// A SEND and a RECV belong together.
    #[inline]
    fn matched(&mut self, connection: u32, send: u32, recv: u32) -> Result<(), SimError> {
        let Connection { src, dst, .. } = self.connections[connection as usize];
        let node = &mut self.ranks[src as usize].nodes[send as usize];
        node.link = recv;
        node.phase = if node.phase == Phase::LEFT { Phase::LEFT_MATCHED } else { Phase::MATCHED };
        if let Some(record) = &mut self.record {
            record.matched(src, send, dst, recv);
        }
        let (sender, receiver) = (self.graph.rank(src as usize), self.graph.rank(dst as usize));
        match (sender.op(send), receiver.op(recv)) {
            (Op::Send { bytes: sent, tag, .. }, Op::Recv { bytes: wanted, .. }) if sent != wanted => {
                Err(SimError::SizeMismatch {
                    sender: src,
                    send: sender.id(send),
                    sent: Bytes(sent),
                    receiver: dst,
                    recv: receiver.id(recv),
                    wanted: Bytes(wanted),
                    tag,
                })
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn issue_comp(
        &mut self,
        rank: u32,
        node: u32,
        micros: u64,
        ops: u64,
        bytes: Bytes,
    ) -> Result<(), SimError> {
        let micros = if self.options.without_computing { 0 } else { micros };
        let mut duration = compute::duration(self.conventions, micros)?;
        if let (Some(bandwidth), 0, 1..) = (self.options.reduce_bandwidth, micros, ops) {
            duration = bandwidth.transfer_time(bytes).ok_or(Overflow::TIME)?;
        }
        if let Some(slowdown) = self.slowdown.get(rank as usize) {
            duration = slowdown.applied_to(duration).ok_or(Overflow::TIME)?;
        }
        if N::HAS_PROCESSORS {
            let span = self.occupy(rank, Work::Compute(duration))?;
            return Ok(self.queue.schedule(span, Event::Received { rank, node })?);
        }
        match self.conventions {
            Conventions::Exact if duration == Picos::ZERO => {
                self.complete(rank, node);
                return Ok(());
            }
            Conventions::Exact => {}
            Conventions::AstraSim => {
                let end = self.queue.now().checked_add(duration).ok_or(Overflow::TIME)?;
                if !self.ends.add(rank, end, node, &mut self.ranks[rank as usize]) {
                    return Ok(());
                }
            }
        }
        Ok(self.queue.schedule(duration, Event::Computed { rank, node })?)
    }

    fn computed(&mut self, rank: u32, node: u32) -> Result<(), SimError> {
        if self.conventions == Conventions::Exact {
            return self.finish(rank, node);
        }
        self.ends.remove(rank, self.queue.now());
        let mut next = Some(node);
        while let Some(node) = next {
            next = Ends::next(&self.ranks[rank as usize], node);
            self.finish(rank, node)?;
        }
        Ok(())
    }

    /// The message is at its destination: the SEND finishes, then the RECV if it waits.
    #[inline]
    fn deliver(&mut self, message: MessageId) -> Result<(), SimError> {
        let message = self.messages.remove(message);
        self.delivered += 1;
        self.bytes = self.bytes.checked_add(message.bytes.0).ok_or(Overflow::BYTES)?;
        let Connection { src, dst, .. } = self.connections[message.connection as usize];
        let send = &self.ranks[src as usize].nodes[message.node as usize];
        let recv = send.link;
        if N::HAS_PROCESSORS {
            // The SEND has finished before.
            let matched = send.phase == Phase::LEFT_MATCHED;
            self.ranks[src as usize].nodes[message.node as usize].phase =
                if matched { Phase::FINISHED } else { Phase::EARLY };
            return if matched { self.receive(dst, recv) } else { Ok(()) };
        }
        let matched = send.phase == Phase::MATCHED;
        self.finish(src, message.node)?;
        if matched {
            let overhead = self.options.receive_overhead;
            if overhead > Picos::ZERO {
                return Ok(self.queue.schedule(overhead, Event::Received { rank: dst, node: recv })?);
            }
            return self.finish(dst, recv);
        }
        self.ranks[src as usize].nodes[message.node as usize].phase = Phase::EARLY;
        Ok(())
    }

    #[inline]
    fn finish(&mut self, rank: u32, node: u32) -> Result<(), SimError> {
        self.complete(rank, node);
        self.issue_ready(rank)
    }

    /// Marks a node as finished and notes which nodes that makes ready.
    #[inline]
    fn complete(&mut self, rank: u32, node: u32) {
        let state = &mut self.ranks[rank as usize];
        let phase = &mut state.nodes[node as usize].phase;
        // A SEND that leaves a processor is not yet delivered.
        *phase = match *phase {
            Phase::MATCHED if N::HAS_PROCESSORS => Phase::LEFT_MATCHED,
            Phase::ISSUED if N::HAS_PROCESSORS && self.graph.rank(rank as usize).op(node).is_send() => {
                Phase::LEFT
            }
            _ => Phase::FINISHED,
        };
        let now = self.queue.now();
        match &mut self.record {
            None => state.release(node, |ready| self.ready.push_back(ready)),
            Some(record) => {
                record.finished(rank, node, now);
                state.release(node, |ready| {
                    record.released(rank, ready, node);
                    self.ready.push_back(ready);
                });
            }
        }
        self.finish[rank as usize] = now;
        if let Some(times) = &mut self.times {
            times[rank as usize][node as usize] = now;
        }
        self.unfinished -= 1;
        if let Some(turns) = self.turns.get_mut(rank as usize) {
            turns.finish(self.graph.rank(rank as usize).op(node));
        }
    }
}
