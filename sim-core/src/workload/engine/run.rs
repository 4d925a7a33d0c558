//! Runs a workload event by event.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use chakra_et::graph::Op;
use rustc_hash::FxHashMap;

use super::lanes::{Lane, LaneKind};
use super::part::{Connection, EARLY, FINISHED, ISSUED, Instance, Part, State};
use super::plan::Plan;
use super::program::NONE;
use super::ranks::RankState;
use super::totals::Totals;
use crate::compat::Compat;
use crate::error::{Overflow, SimError};
use crate::events::{Event, EventQueue, Messages, Order};
use crate::model::network::Network;
use crate::model::{Conventions, Model};
use crate::options::Options;
use crate::progress::{PartialReport, Progress};
use crate::straggler::Slowdown;
use crate::topology::Topology;
use crate::units::{Bytes, Picos};
use crate::workload::costs::Costs;
use crate::workload::error::WorkloadError;
use crate::workload::timeline::Timeline;

/// How many events an observer hears nothing of.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 14;

/// What holds for a run.
#[derive(Clone, Copy)]
pub(in crate::workload) struct Settings<'a> {
    pub(in crate::workload) conventions: Conventions,
    pub(in crate::workload) compat: Option<Compat>,
    pub(in crate::workload) options: Options<'a>,
    pub(in crate::workload) costs: Costs,
}

pub(super) struct Engine<'a, 't, N> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) settings: Settings<'a>,
    pub(super) network: N,
    pub(super) queue: EventQueue,
    pub(super) messages: Messages,
    /// The traces by rank, then in places that are used again the shares in collectives: that of rank r in place s is part
    /// s · ranks + r.
    pub(super) parts: Vec<Part<'a>>,
    /// States of parts that have ended, for others.
    pub(super) room: Vec<Vec<State>>,
    /// By number of the collective.
    pub(super) instances: Vec<Option<Box<Instance<'a>>>>,
    /// Of messages outside collectives.
    pub(super) direct: Vec<Connection>,
    pub(super) ranks: Vec<RankState>,
    pub(super) totals: Totals,
    slowdown: Vec<Slowdown>,
    /// Nodes of the rank at work that wait for nothing more: part and node.
    pub(super) ready: VecDeque<(u32, u32)>,
    /// Its lanes in which something may start, and what starts.
    touched: Vec<u32>,
    start: Vec<u32>,
    /// ASTRA-sim ends computations that end at one time on a rank together.
    ends: FxHashMap<(u32, Picos), Vec<(u32, u32)>>,
    events: u64,
    pub(super) unfinished: usize,
    pub(super) in_flight: usize,
    pub(super) most_in_flight: usize,
    pub(super) timeline: Option<&'t mut dyn Timeline>,
    /// For the timeline, by part and node: SENDs that have started, and RECVs that are matched, until they have ended.
    pub(super) flows: FxHashMap<(u32, u32), u64>,
    pub(super) next_flow: u64,
    /// For the links of routes.
    pub(super) topology: &'a Topology,
    pub(super) model: Model,
}

impl<'a, 't, N: Network> Engine<'a, 't, N> {
    pub(super) fn new(
        plan: &'a Plan<'a>,
        settings: Settings<'a>,
        network: N,
        (model, topology): (Model, &'a Topology),
        timeline: Option<&'t mut dyn Timeline>,
    ) -> Self {
        let mut slowdown = Vec::new();
        for straggler in settings.options.stragglers {
            slowdown.resize(plan.traces.len(), Slowdown::NONE);
            slowdown[straggler.rank as usize] = straggler.slowdown;
        }
        let parts = (0..).zip(&plan.traces);
        let parts = parts.map(|(rank, trace)| Part::new(&trace.program, rank, NONE, NONE, Vec::new()));
        let order = match (settings.conventions, settings.compat) {
            (Conventions::Exact, None) => Order::Key,
            _ => Order::Scheduling,
        };
        Self {
            plan,
            settings,
            network,
            queue: EventQueue::new(order),
            messages: Messages::default(),
            parts: parts.collect(),
            room: Vec::new(),
            instances: plan.collectives.iter().map(|_| None).collect(),
            direct: vec![Connection::NEW; plan.direct.len()],
            ranks: plan.traces.iter().map(|trace| RankState::new(trace, &plan.first_of_group)).collect(),
            totals: Totals::new(plan),
            slowdown,
            ready: VecDeque::new(),
            touched: Vec::new(),
            start: Vec::new(),
            ends: FxHashMap::default(),
            events: 0,
            unfinished: plan.traces.iter().map(|trace| trace.program.len()).sum(),
            in_flight: 0,
            most_in_flight: 0,
            timeline,
            flows: FxHashMap::default(),
            next_flow: 0,
            topology,
            model,
        }
    }

    /// Runs to the end: true if everything has finished.
    pub(super) fn run(&mut self) -> Result<bool, WorkloadError> {
        let mut delays = vec![Picos::ZERO; self.ranks.len()];
        for straggler in self.settings.options.stragglers {
            delays[straggler.rank as usize] = straggler.delay;
        }
        for (rank, delay) in (0..).zip(delays) {
            match delay {
                Picos::ZERO => self.begin_rank(rank)?,
                _ => self.queue.schedule(delay, Event::Start { rank })?,
            }
        }
        while let Some(event) = self.queue.pop(Picos(u64::MAX)) {
            self.events += 1;
            if self.events.is_multiple_of(EVENTS_BETWEEN_LOOKS) {
                self.observe()?;
            }
            self.happen(event)?;
        }
        Ok(self.unfinished == 0)
    }

    fn happen(&mut self, event: Event) -> Result<(), WorkloadError> {
        match event {
            Event::Arrival(message) => {
                if self.timeline.is_some() {
                    self.show_crossing(message);
                }
                if self.network.arrive(message, &mut self.messages, &mut self.queue)? {
                    self.deliver(message)?;
                }
            }
            Event::LinkFree(link) => {
                self.network.link_free(link, &mut self.messages, &mut self.queue)?;
            }
            Event::Computed { rank: part, node } => self.computed(part, node)?,
            Event::Received { rank: part, node } => self.finish(part, node)?,
            Event::Start { rank } => self.begin_rank(rank)?,
            Event::Inject { rank: part, node } => self.send(part, node)?,
            // Nothing is divided here.
            Event::Landed(_) => {}
        }
        Ok(())
    }

    /// Tells the observer how far the run is.
    #[cold]
    fn observe(&self) -> Result<(), WorkloadError> {
        let Some(observer) = self.settings.options.observer else { return Ok(()) };
        let nodes = self.plan.traces.iter().map(|trace| trace.program.len()).sum::<usize>();
        let progress = Progress {
            time: self.queue.now(),
            finished: nodes - self.unfinished,
            nodes,
            messages: self.totals.delivered,
            bytes: Bytes(self.totals.bytes),
            events: self.events,
        };
        match observer.0.observe(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => {
                let finish = self.ranks.iter().map(|rank| rank.finish).collect();
                Err(SimError::Stopped(Box::new(PartialReport { progress, finish })).into())
            }
        }
    }

    #[inline]
    pub(super) fn is_trace(&self, part: u32) -> bool {
        (part as usize) < self.ranks.len()
    }

    fn begin_rank(&mut self, rank: u32) -> Result<(), WorkloadError> {
        self.ready.extend(self.plan.traces[rank as usize].program.roots.iter().map(|node| (rank, *node)));
        self.settle(rank)
    }

    /// Issues what is ready on a rank and has its turn. A loop, not a recursion: chains of empty nodes may be long.
    fn settle(&mut self, rank: u32) -> Result<(), WorkloadError> {
        loop {
            while let Some((part, node)) = self.ready.pop_front() {
                if self.is_trace(part) { self.admit(rank, node) } else { self.issue(part, node)? }
            }
            let lanes = &mut self.ranks[rank as usize].lanes;
            self.start.extend(self.touched.drain(..).filter_map(|lane| lanes[lane as usize].take()));
            if self.start.is_empty() {
                return Ok(());
            }
            let mut start = std::mem::take(&mut self.start);
            start.sort_unstable();
            for node in start.drain(..) {
                self.begin(rank, node)?;
            }
            self.start = start;
        }
    }

    /// A node of a trace waits for nothing more but its lane.
    fn admit(&mut self, rank: u32, node: u32) {
        let trace = &self.plan.traces[rank as usize];
        let state = &mut self.ranks[rank as usize];
        state.start[node as usize] = self.queue.now();
        match trace.lanes[node as usize] {
            NONE => self.start.push(node),
            lane => {
                let in_order = matches!(trace.kinds[lane as usize], LaneKind::Group(_));
                let place = if in_order { trace.program.attached[node as usize] } else { node };
                state.lanes[lane as usize].add(place, node);
                self.touched.push(lane);
            }
        }
    }

    /// Starts a node of a trace.
    fn begin(&mut self, rank: u32, node: u32) -> Result<(), WorkloadError> {
        let now = self.queue.now();
        let trace = &self.plan.traces[rank as usize];
        let state = &mut self.ranks[rank as usize];
        state.cause[node as usize] = match trace.lanes[node as usize] {
            lane if lane != NONE && state.start[node as usize] < now => state.lanes[lane as usize].last,
            _ => self.parts[rank as usize].states[node as usize].origin,
        };
        state.start[node as usize] = now;
        self.parts[rank as usize].states[node as usize].phase = ISSUED;
        match trace.program.ops[node as usize] {
            Op::Send { dst, bytes, .. } => {
                state.account.communicate(now, true);
                self.ranks[dst as usize].account.communicate(now, true);
                self.totals.message(Bytes(bytes))?;
                self.issue_send(rank, node)
            }
            Op::Recv { .. } => self.issue_recv(rank, node),
            Op::Comp { micros, ops, bytes } => {
                let duration = self.duration(rank, node, micros, ops, bytes)?;
                if state_on_cpu(trace.kinds[trace.lanes[node as usize] as usize]) {
                    self.ranks[rank as usize].account.compute_on_cpu(now, true);
                } else {
                    self.ranks[rank as usize].account.compute(now, true);
                }
                self.end_after(rank, node, duration)
            }
            Op::Mem { bytes, .. } => {
                let number = trace.number(node);
                let remote = self.plan.workload.rank(rank as usize).traits(number).remote;
                let duration = self.settings.costs.access(remote, bytes)?;
                self.end_after(rank, node, duration)
            }
            Op::Coll { .. } => self.start_share(rank, node),
            _ => self.complete_node(rank, node),
        }
    }

    /// How long a computation of a trace takes on a rank.
    fn duration(&self, rank: u32, node: u32, micros: u64, ops: u64, bytes: u64) -> Result<Picos, Overflow> {
        let Settings { conventions, costs, .. } = self.settings;
        let trace = &self.plan.traces[rank as usize];
        let on_cpu = state_on_cpu(trace.kinds[trace.lanes[node as usize] as usize]);
        // ASTRA-sim's roofline is the GPU's alone.
        let costs = if conventions == Conventions::AstraSim && on_cpu { Costs::default() } else { costs };
        let whole = costs.compute(conventions, chakra_et::workload::Cost { micros, ops, bytes })?;
        let whole = self.slowed(rank, whole)?;
        Ok(match trace.tiles.get(&node) {
            None => whole,
            Some(tile) => {
                // The parts together take what the whole takes.
                let up_to = |index: u32| u128::from(whole.0) * u128::from(index) / u128::from(tile.of);
                Picos((up_to(tile.index + 1) - up_to(tile.index)) as u64)
            }
        })
    }

    pub(super) fn slowed(&self, rank: u32, duration: Picos) -> Result<Picos, Overflow> {
        match self.slowdown.get(rank as usize) {
            Some(slowdown) => slowdown.applied_to(duration).ok_or(Overflow::TIME),
            None => Ok(duration),
        }
    }

    /// Finishes a node after a time.
    pub(super) fn end_after(&mut self, part: u32, node: u32, duration: Picos) -> Result<(), WorkloadError> {
        match self.settings.conventions {
            Conventions::Exact if duration == Picos::ZERO => self.complete(part, node),
            Conventions::AstraSim => {
                let end = self.queue.now().checked_add(duration).ok_or(Overflow::TIME)?;
                let together = self.ends.entry((self.parts[part as usize].rank, end)).or_default();
                together.push((part, node));
                if together.len() == 1 {
                    self.queue.schedule(duration, Event::Computed { rank: part, node })?;
                }
                Ok(())
            }
            _ => Ok(self.queue.schedule(duration, Event::Computed { rank: part, node })?),
        }
    }

    fn computed(&mut self, part: u32, node: u32) -> Result<(), WorkloadError> {
        if self.settings.conventions == Conventions::AstraSim {
            let key = (self.parts[part as usize].rank, self.queue.now());
            for (part, node) in self.ends.remove(&key).unwrap_or_default() {
                self.finish(part, node)?;
            }
            return Ok(());
        }
        self.finish(part, node)
    }

    /// A node has finished.
    #[inline]
    pub(super) fn finish(&mut self, part: u32, node: u32) -> Result<(), WorkloadError> {
        let rank = self.parts[part as usize].rank;
        self.complete(part, node)?;
        self.settle(rank)
    }

    pub(super) fn complete(&mut self, part: u32, node: u32) -> Result<(), WorkloadError> {
        if self.is_trace(part) { self.complete_node(part, node) } else { self.complete_step(part, node) }
    }

    /// A node of a trace has finished.
    pub(super) fn complete_node(&mut self, rank: u32, node: u32) -> Result<(), WorkloadError> {
        let now = self.queue.now();
        let trace = &self.plan.traces[rank as usize];
        let part = &mut self.parts[rank as usize];
        let state = &mut part.states[node as usize];
        if state.phase != EARLY {
            state.phase = FINISHED;
        }
        for successor in trace.program.successors(node) {
            let state = &mut part.states[*successor as usize];
            state.phase -= 1;
            if state.phase == 0 {
                state.origin = node;
                self.ready.push_back((rank, *successor));
            }
        }
        self.unfinished -= 1;
        let state = &mut self.ranks[rank as usize];
        state.finish_of[node as usize] = now;
        state.finish = now;
        let span = Picos(now.0 - state.start[node as usize].0);
        let lane = trace.lanes[node as usize];
        match trace.program.ops[node as usize] {
            Op::Comp { .. } if state_on_cpu(trace.kinds[lane as usize]) => {
                state.account.compute_on_cpu(now, false);
            }
            Op::Comp { .. } => state.account.compute(now, false),
            Op::Send { .. } => {
                state.account.communicate(now, false);
                self.totals.message_time(span);
            }
            _ => {}
        }
        if lane != NONE {
            state.lanes[lane as usize].leave();
            self.touched.push(lane);
        }
        if self.timeline.is_some() {
            self.show_node(rank, node);
        }
        if !trace.tiles.is_empty() {
            self.feed(rank, node);
        }
        Ok(())
    }
}

fn state_on_cpu(kind: LaneKind) -> bool {
    matches!(kind, LaneKind::Cpu(_))
}

/// The lanes of a rank before the start.
pub(super) fn lanes(kinds: &[LaneKind], first_of_group: &[u32]) -> Vec<Lane> {
    let first = |kind: &LaneKind| match kind {
        LaneKind::Group(group) => Some(first_of_group[*group as usize]),
        _ => None,
    };
    kinds.iter().map(|kind| Lane::new(first(kind))).collect()
}
