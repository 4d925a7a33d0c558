//! A rank's share in a collective: from when the rank comes to it until its nodes have finished.

use chakra_et::graph::Op;

use super::part::{Connection, EARLY, FINISHED, ISSUED, Instance, Part};
use super::program::NONE;
use super::run::{Engine, Settings};
use crate::error::Overflow;
use crate::events::MOST_RANKS;
use crate::model::Conventions;
use crate::model::network::Network;
use crate::units::{Bytes, Picos};
use crate::workload::costs::Costs;
use crate::workload::error::WorkloadError;

impl<'a, N: Network> Engine<'a, '_, N> {
    /// A rank comes to a collective: its share begins.
    pub(super) fn start_share(&mut self, rank: u32, node: u32) -> Result<(), WorkloadError> {
        let now = self.queue.now();
        let trace = &self.plan.traces[rank as usize];
        let own = trace.program.attached[node as usize];
        let group = self.plan.collectives[own as usize].group;
        // In the order in which this rank comes to them, which by our own rules is that of their numbers.
        let number = match self.settings.compat {
            None => Some(own),
            Some(_) => {
                let k = self.ranks[rank as usize].next_of_group(group);
                self.plan.nth_of_group(group, k)
            }
        };
        let Some(number) = number else { return Ok(()) };
        let used = self.plan.uses[own as usize];
        let prepared = &self.plan.algorithms[used.algorithm as usize];
        let members = &self.plan.workload.groups()[group as usize].members;
        if self.instances[number as usize].is_none() {
            let connections = vec![Connection::NEW; prepared.connections.len()];
            let pairs = &self.plan.bindings[used.binding as usize][..];
            let parts = vec![NONE; members.len()];
            let instance =
                Instance { collective: own, pairs, connections, parts, started: 0, ended: 0, since: now };
            self.instances[number as usize] = Some(Box::new(instance));
        }
        let Some(instance) = &mut self.instances[number as usize] else { return Ok(()) };
        let (of, here) =
            (&self.plan.collectives[instance.collective as usize], &self.plan.collectives[own as usize]);
        if (of.kind, of.bytes) != (here.kind, here.bytes)
            || self.plan.uses[instance.collective as usize].algorithm != used.algorithm
        {
            return Err(self.other_collective(rank, node, number));
        }
        let position = self.plan.positions[group as usize].get(&rank).copied().unwrap_or(NONE);
        let program = &prepared.programs[position as usize];
        let mut part = Part::new(program, rank, number, position, self.room.pop().unwrap_or_default());
        part.node = node;
        if self.timeline.is_some() {
            part.starts = vec![now; program.len()];
        }
        let open = self.gate(&mut part, rank, node, prepared);
        self.in_flight += program.len();
        self.most_in_flight = self.most_in_flight.max(self.in_flight);
        let at = self.place(part)?;
        let Some(instance) = &mut self.instances[number as usize] else { return Ok(()) };
        instance.parts[position as usize] = at;
        instance.started += 1;
        let complete = instance.started as usize == instance.parts.len();
        let state = &mut self.ranks[rank as usize];
        state.account.communicate(now, true);
        self.parts[at as usize].computed_before = state.account.computed(now);
        if !trace.tiles.is_empty() {
            state.share_of.insert(node, at);
        }
        if complete {
            self.note_waiting(number);
        }
        for chunk in open {
            self.release_chunk(rank, node, chunk, (rank, node));
        }
        if program.len() == 0 {
            return self.end_share(at, position);
        }
        let part = &mut self.parts[at as usize];
        for root in &program.roots {
            let state = &mut part.states[*root as usize];
            state.origin = position;
            if state.phase == 0 {
                self.ready.push_back((at, *root));
            }
        }
        Ok(())
    }

    /// Puts a part at a number that says its rank: by these numbers equal times are ordered.
    pub(super) fn place(&mut self, part: Part<'a>) -> Result<u32, Overflow> {
        let state = &mut self.ranks[part.rank as usize];
        let slot = state.free.pop().unwrap_or_else(|| {
            state.slots += 1;
            state.slots
        });
        let at = slot as usize * self.ranks.len() + part.rank as usize;
        if at >= MOST_RANKS {
            return Err(Overflow::MESSAGES);
        }
        while self.parts.len() <= at {
            self.parts.push(Part::unused(part.program));
        }
        self.parts[at] = part;
        Ok(at as u32)
    }

    /// Issues a node of an algorithm.
    pub(super) fn issue(&mut self, part: u32, node: u32) -> Result<(), WorkloadError> {
        let now = self.queue.now();
        let of = &mut self.parts[part as usize];
        of.states[node as usize].phase = ISSUED;
        if let Some(start) = of.starts.get_mut(node as usize) {
            *start = now;
        }
        match of.program.ops[node as usize] {
            Op::Send { .. } => self.issue_send(part, node),
            Op::Recv { .. } => self.issue_recv(part, node),
            Op::Comp { micros, ops, bytes } => {
                let rank = of.rank;
                let duration = self.step_duration(micros, ops, bytes)?;
                let duration = self.slowed(rank, duration)?;
                self.end_after(part, node, duration)
            }
            // The plan lets no other through.
            _ => Ok(()),
        }
    }

    /// How long a computation of an algorithm takes.
    pub(super) fn step_duration(&self, micros: u64, ops: u64, bytes: u64) -> Result<Picos, Overflow> {
        let Settings { conventions, options, costs, .. } = self.settings;
        if let (Some(bandwidth), 0, 1..) = (options.reduce_bandwidth, micros, ops) {
            return bandwidth.transfer_time(Bytes(bytes)).ok_or(Overflow::TIME);
        }
        // ASTRA-sim looks at the stated duration only.
        let costs = if conventions == Conventions::AstraSim { Costs::default() } else { costs };
        costs.compute(conventions, chakra_et::workload::Cost { micros, ops, bytes })
    }

    /// A node of an algorithm has finished.
    pub(super) fn complete_step(&mut self, part: u32, node: u32) -> Result<(), WorkloadError> {
        let of = &mut self.parts[part as usize];
        let state = &mut of.states[node as usize];
        if state.phase != EARLY {
            state.phase = FINISHED;
        }
        let origin = state.origin;
        for successor in of.program.successors(node) {
            let state = &mut of.states[*successor as usize];
            state.phase -= 1;
            if state.phase == 0 {
                state.origin = origin;
                self.ready.push_back((part, *successor));
            }
        }
        of.unfinished -= 1;
        let (over, gated) = (of.unfinished == 0, !of.gates.is_empty());
        if self.timeline.is_some() {
            self.show_step(part, node);
        }
        if gated {
            self.pass_gates(part, node);
        }
        if over { self.end_share(part, origin) } else { Ok(()) }
    }

    /// A rank's share in a collective is over; `origin` is the position of the rank that determined when.
    pub(super) fn end_share(&mut self, part: u32, origin: u32) -> Result<(), WorkloadError> {
        let Part { rank, instance: number, position, node, .. } = self.parts[part as usize];
        let Some(instance) = &mut self.instances[number as usize] else { return Ok(()) };
        instance.ended += 1;
        let collective = &self.plan.collectives[instance.collective as usize];
        let members = &self.plan.workload.groups()[collective.group as usize].members;
        if origin != position
            && let Some(of) = instance.parts.get(origin as usize).filter(|part| **part != NONE)
        {
            let late = members[origin as usize];
            self.ranks[rank as usize].via[node as usize] = (late, self.parts[*of as usize].node);
        }
        self.in_flight -= self.parts[part as usize].program.len();
        let now = self.queue.now();
        let state = &mut self.ranks[rank as usize];
        let span = now.0 - state.start[node as usize].0;
        let computed = state.account.computed(now) - self.parts[part as usize].computed_before;
        state.account.communicate(now, false);
        self.totals.share(instance.collective, Picos(span), Picos(span - computed));
        self.complete_node(rank, node)?;
        let Some(instance) = &self.instances[number as usize] else { return Ok(()) };
        if instance.ended as usize == instance.parts.len() {
            self.dissolve(number);
        }
        Ok(())
    }

    /// A collective is over on all ranks.
    pub(super) fn dissolve(&mut self, number: u32) {
        let Some(instance) = self.instances[number as usize].take() else { return };
        self.totals.span(instance.collective, Picos(self.queue.now().0 - instance.since.0));
        for part in instance.parts {
            let of = &mut self.parts[part as usize];
            self.room.push(std::mem::take(&mut of.states));
            let ranks = self.ranks.len() as u32;
            self.ranks[of.rank as usize].free.push(part / ranks);
        }
    }
}
