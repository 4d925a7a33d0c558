//! Executes the nodes of neighbouring ranks: of all, or of a block that others run beside.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use chakra_et::graph::{Graph, Op};
use chakra_et::workload::Cost;

use super::compute::{self, Ends};
use super::connection::{CROSSING, Connection, Side};
use super::crossing::{Crossing, Exchange};
use super::node::{NONE, Phase, Ranks};
use super::plan::Plan;
use super::record::Record;
use super::turns::Turns;
use super::{Overflow, Setup, SimError};
use crate::compat::Compat;
use crate::events::{Event, EventQueue, Message, MessageId, Messages, Order};
use crate::model::Conventions;
use crate::model::network::{Network, Work};
use crate::options::Options;
use crate::progress::{PartialReport, Progress};
use crate::straggler::Slowdown;
use crate::units::{Bytes, Picos};

pub(super) struct Block<'a, N> {
    pub(super) graph: &'a Graph,
    pub(super) options: Options<'a>,
    pub(super) conventions: Conventions,
    pub(super) ranks: Ranks,
    first_connection: u32,
    connections: Vec<Connection>,
    pub(super) first_crossing: u32,
    pub(super) crossings: Vec<Crossing>,
    pub(super) exchange: Exchange,
    pub(super) network: N,
    pub(super) queue: EventQueue,
    pub(super) messages: Messages,
    /// Ready nodes of the rank at work, in the order in which they are to be issued.
    ready: VecDeque<u32>,
    /// By rank, if it may not do everything at once; else empty.
    turns: Vec<Turns>,
    ends: Ends,
    /// By rank, from the first on.
    pub(super) finish: Vec<Picos>,
    /// When each node finished, by rank and node, if asked for.
    pub(super) times: Option<Vec<Vec<Picos>>>,
    pub(super) unfinished: usize,
    pub(super) delivered: u64,
    pub(super) bytes: u64,
    pub(super) events: u64,
    /// By rank of the graph, where any is slower than stated.
    slowdown: Vec<Slowdown>,
    pub(super) record: Option<Record>,
}

/// How many events an observer hears nothing of.
pub(super) const EVENTS_BETWEEN_LOOKS: u64 = 1 << 16;

impl<'a, N: Network> Block<'a, N> {
    pub(super) fn new(
        graph: &'a Graph,
        setup: Setup<'a>,
        plan: Plan,
        exchange: Exchange,
        network: N,
    ) -> Self {
        let Setup { conventions, compat, options, times, .. } = setup;
        let ranks = plan.ranks.numbers();
        let of_ranks = &graph.ranks()[ranks.start as usize..ranks.end as usize];
        let none = || of_ranks.iter().map(|rank| vec![Picos::ZERO; rank.len()]).collect();
        let mut slowdown = Vec::new();
        for straggler in options.stragglers {
            slowdown.resize(graph.rank_count(), Slowdown::NONE);
            slowdown[straggler.rank as usize] = straggler.slowdown;
        }
        let order = match (conventions, compat) {
            (Conventions::Exact, None) => Order::Key,
            _ => Order::Scheduling,
        };
        Self {
            times: times.then(none),
            graph,
            options,
            conventions,
            ranks: plan.ranks,
            first_connection: plan.first_connection,
            connections: plan.connections,
            first_crossing: plan.first_crossing,
            crossings: plan.crossings,
            exchange,
            network,
            queue: EventQueue::new(order),
            messages: Messages::default(),
            ready: VecDeque::new(),
            turns: match compat {
                Some(Compat::AstraSim) => of_ranks.iter().map(|_| Turns::default()).collect(),
                None => Vec::new(),
            },
            ends: Ends::default(),
            finish: vec![Picos::ZERO; of_ranks.len()],
            unfinished: of_ranks.iter().map(|rank| rank.len()).sum(),
            delivered: 0,
            bytes: 0,
            events: 0,
            slowdown,
            record: options.is_recorded().then(|| Record::new(graph, ranks)),
        }
    }

    /// Issues what depends on nothing, at time 0 or where a rank is late when it begins.
    pub(super) fn begin(&mut self) -> Result<(), SimError> {
        let ranks = self.ranks.numbers();
        let mut delays = vec![Picos::ZERO; ranks.len()];
        for straggler in self.options.stragglers.iter().filter(|straggler| ranks.contains(&straggler.rank)) {
            delays[self.ranks.index(straggler.rank)] = straggler.delay;
        }
        for (rank, delay) in ranks.zip(delays) {
            match delay {
                Picos::ZERO => self.start(rank)?,
                _ => self.queue.schedule(delay, Event::Start { rank })?,
            }
        }
        Ok(self.dispatch()?)
    }

    /// Runs all events up to a time.
    pub(super) fn run(&mut self, until: Picos) -> Result<(), SimError> {
        while let Some(event) = self.queue.pop(until) {
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
                Event::Landed(message) => {
                    let message = self.messages.remove(message);
                    self.land(message)?;
                }
            }
            if self.queue.has_departures() {
                self.dispatch()?;
            }
        }
        Ok(())
    }

    /// What the message of a SEND takes that has its links for itself, if the model tells that: latency and serialisation.
    pub(super) fn parts(&self, src: u32, send: u32, size: Bytes) -> Option<(Picos, Picos)> {
        let node = &self.ranks.states()[self.ranks.index(src)].nodes[send as usize];
        let connection = &self.connections[(node.connection - self.first_connection) as usize];
        self.network.parts(connection.pair, size)
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
            let turns = &mut self.turns[self.ranks.index(rank)];
            turns.start(graph, self.ready.drain(..), &mut start);
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
        self.ranks.node(rank, node).phase = Phase::ISSUED;
        if let Some(record) = &mut self.record {
            record.issued(rank, node, self.queue.now());
        }
        match self.graph.rank(rank as usize).op(node) {
            Op::Send { bytes, .. } => self.issue_send(rank, node, Bytes(bytes)),
            Op::Recv { src, .. } => self.issue_recv(rank, node, src),
            Op::Comp { micros, ops, bytes } => self.issue_comp(rank, node, micros, ops, Bytes(bytes)),
            // The plan lets no other through.
            _ => Ok(()),
        }
    }

    #[inline]
    fn issue_send(&mut self, rank: u32, node: u32, bytes: Bytes) -> Result<(), SimError> {
        let id = self.ranks.node(rank, node).connection;
        let connection = &mut self.connections[(id - self.first_connection) as usize];
        if connection.crossing().is_some() {
            let sequence = connection.next_of_crossing();
            self.ranks.node(rank, node).link = sequence;
        } else if let Some(recv) = connection.issue(Side::Send, node, &mut self.ranks) {
            self.matched(id, node, recv)?;
        }
        let overhead = self.options.send_overhead;
        if overhead > Picos::ZERO {
            return Ok(self.queue.schedule(overhead, Event::Inject { rank, node })?);
        }
        self.send(rank, node, id, bytes)
    }

    /// The message of a SEND whose overhead is over.
    fn inject(&mut self, rank: u32, node: u32) -> Result<(), SimError> {
        let Op::Send { bytes, .. } = self.graph.rank(rank as usize).op(node) else { return Ok(()) };
        let id = self.ranks.node(rank, node).connection;
        self.send(rank, node, id, Bytes(bytes))
    }

    /// Hands the message of a SEND to the network.
    #[inline]
    fn send(&mut self, rank: u32, node: u32, id: u32, bytes: Bytes) -> Result<(), SimError> {
        let connection = &self.connections[(id - self.first_connection) as usize];
        let pair = connection.pair;
        let mut message = Message::new(bytes, rank, node, id);
        if let Some(number) = connection.crossing() {
            (message.connection, message.sequence) = (CROSSING | number, self.ranks.node(rank, node).link);
        }
        let message = self.messages.insert(message)?;
        Ok(self.network.inject(message, pair, &mut self.messages, &mut self.queue)?)
    }

    #[inline]
    fn issue_recv(&mut self, rank: u32, node: u32, src: u32) -> Result<(), SimError> {
        let id = self.ranks.node(rank, node).connection;
        if id & CROSSING != 0 {
            // Without a connection nothing is ever sent to it, and it waits for good.
            return match id {
                NONE => Ok(()),
                id => self.issue_crossing_recv(rank, node, src, id & !CROSSING),
            };
        }
        let connection = &mut self.connections[(id - self.first_connection) as usize];
        if let Some(send) = connection.issue(Side::Recv, node, &mut self.ranks) {
            let sender = connection.src;
            let early = self.ranks.node(sender, send).phase == Phase::EARLY;
            self.matched(id, send, node)?;
            if early {
                self.ranks.node(sender, send).phase = Phase::FINISHED;
                return self.receive(rank, node);
            }
        }
        Ok(())
    }

    /// A RECV finds its message already there.
    #[inline]
    pub(super) fn receive(&mut self, rank: u32, node: u32) -> Result<(), SimError> {
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
        let Connection { src, dst, .. } = self.connections[(connection - self.first_connection) as usize];
        let node = self.ranks.node(src, send);
        node.link = recv;
        node.phase = if node.phase == Phase::LEFT { Phase::LEFT_MATCHED } else { Phase::MATCHED };
        if let Some(record) = &mut self.record {
            record.matched(src, send, dst, recv);
        }
        match self.graph.rank(src as usize).op(send) {
            Op::Send { bytes, .. } => self.check_sizes(src, send, Bytes(bytes), dst, recv),
            _ => Ok(()),
        }
    }

    /// Whether a SEND and its RECV agree.
    #[inline]
    pub(super) fn check_sizes(
        &self,
        src: u32,
        send: u32,
        sent: Bytes,
        dst: u32,
        recv: u32,
    ) -> Result<(), SimError> {
        match self.graph.rank(dst as usize).op(recv) {
            Op::Recv { bytes: wanted, tag, .. } if sent != Bytes(wanted) => Err(SimError::SizeMismatch {
                sender: src,
                send: self.graph.rank(src as usize).id(send),
                sent,
                receiver: dst,
                recv: self.graph.rank(dst as usize).id(recv),
                wanted: Bytes(wanted),
                tag,
            }),
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
        let is_open = micros == 0 && !self.options.without_computing;
        if let (Some(bandwidth), true, 1..) = (self.options.reduce_bandwidth, is_open, ops) {
            duration = bandwidth.transfer_time(bytes).ok_or(Overflow::TIME)?;
        } else if let (Some(roofline), true) = (self.options.roofline, is_open) {
            let cost = Cost { micros, ops, bytes: bytes.0 };
            duration = roofline.time(cost).ok_or(Overflow::TIME)?;
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
                if !self.ends.add(rank, end, node, self.ranks.rank(rank)) {
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
            next = Ends::next(self.ranks.rank(rank), node);
            self.finish(rank, node)?;
        }
        Ok(())
    }

    /// The message is at its destination: the SEND finishes, then the RECV if it waits.
    #[inline]
    fn deliver(&mut self, message: MessageId) -> Result<(), SimError> {
        let Message { bytes, rank: src, node, connection, .. } = self.messages.remove(message);
        self.count(bytes)?;
        let dst = self.connections[(connection - self.first_connection) as usize].dst;
        let send = self.ranks.node(src, node);
        let recv = send.link;
        if N::HAS_PROCESSORS {
            // The SEND has finished before.
            let matched = send.phase == Phase::LEFT_MATCHED;
            send.phase = if matched { Phase::FINISHED } else { Phase::EARLY };
            return if matched { self.receive(dst, recv) } else { Ok(()) };
        }
        let matched = send.phase == Phase::MATCHED;
        self.finish(src, node)?;
        if matched {
            return self.receive_delivered(dst, recv);
        }
        self.ranks.node(src, node).phase = Phase::EARLY;
        Ok(())
    }

    /// Counts a message that was delivered.
    #[inline]
    pub(super) fn count(&mut self, bytes: Bytes) -> Result<(), Overflow> {
        self.delivered += 1;
        self.bytes = self.bytes.checked_add(bytes.0).ok_or(Overflow::BYTES)?;
        Ok(())
    }

    /// A RECV has waited for the message that is there now.
    #[inline]
    pub(super) fn receive_delivered(&mut self, rank: u32, node: u32) -> Result<(), SimError> {
        let overhead = self.options.receive_overhead;
        if overhead > Picos::ZERO {
            return Ok(self.queue.schedule(overhead, Event::Received { rank, node })?);
        }
        self.finish(rank, node)
    }

    #[inline]
    fn finish(&mut self, rank: u32, node: u32) -> Result<(), SimError> {
        self.complete(rank, node);
        self.issue_ready(rank)
    }

    /// Marks a node as finished and notes which nodes that makes ready.
    #[inline]
    fn complete(&mut self, rank: u32, node: u32) {
        let at = self.ranks.index(rank);
        let state = self.ranks.rank(rank);
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
        self.finish[at] = now;
        if let Some(times) = &mut self.times {
            times[at][node as usize] = now;
        }
        self.unfinished -= 1;
        if let Some(turns) = self.turns.get_mut(at) {
            turns.finish(self.graph.rank(rank as usize).op(node));
        }
    }
}
