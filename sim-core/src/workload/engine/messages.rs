//! Messages: of a trace, and of what runs of collectives.

use chakra_et::graph::Op;

use super::part::{EARLY, FINISHED, MATCHED, Side};
use super::program::NONE;
use super::run::Engine;
use crate::events::{Event, Message, MessageId};
use crate::model::network::Network;
use crate::units::{Bytes, Picos};
use crate::workload::error::WorkloadError;

impl<N: Network> Engine<'_, '_, N> {
    /// The parts at both ends of the connection of a node, NONE where one has not started, and the pair of ranks.
    #[inline]
    pub(super) fn ends_of(&self, part: u32, connection: u32) -> (u32, u32, u32) {
        match self.parts[part as usize].instance {
            NONE => self.plan.direct[connection as usize],
            number => match &self.instances[number as usize] {
                Some(instance) => {
                    let used = self.plan.uses[instance.collective as usize];
                    let algorithm = &self.plan.algorithms[used.algorithm as usize];
                    let (src, dst) = algorithm.connections[connection as usize];
                    let part = |position: u32| instance.parts[position as usize];
                    (part(src), part(dst), instance.pairs[connection as usize])
                }
                None => (NONE, NONE, NONE),
            },
        }
    }

    #[inline]
    pub(super) fn connect(&mut self, part: u32, node: u32, side: Side, own: u32, other: u32) -> Option<u32> {
        let connection = self.parts[part as usize].program.attached[node as usize];
        let connection = match self.parts[part as usize].instance {
            NONE => &mut self.direct[connection as usize],
            number => &mut self.instances[number as usize].as_mut()?.connections[connection as usize],
        };
        connection.issue(side, node, own, other, &mut self.parts)
    }

    pub(super) fn issue_send(&mut self, part: u32, node: u32) -> Result<(), WorkloadError> {
        let connection = self.parts[part as usize].program.attached[node as usize];
        let (_, dst, _) = self.ends_of(part, connection);
        if self.timeline.is_some() {
            self.flows.insert((part, node), self.next_flow);
            self.next_flow += 1;
        }
        if let Some(recv) = self.connect(part, node, Side::Send, part, dst) {
            self.matched(part, node, dst, recv)?;
        }
        let overhead = self.settings.options.send_overhead;
        if overhead > Picos::ZERO {
            return Ok(self.queue.schedule(overhead, Event::Inject { rank: part, node })?);
        }
        self.send(part, node)
    }

    /// Hands the message of a SEND to the network.
    #[inline]
    pub(super) fn send(&mut self, part: u32, node: u32) -> Result<(), WorkloadError> {
        let of = &self.parts[part as usize];
        let Op::Send { bytes, .. } = of.program.ops[node as usize] else { return Ok(()) };
        let connection = of.program.attached[node as usize];
        let (_, _, pair) = self.ends_of(part, connection);
        let message = self.messages.insert(Message::new(Bytes(bytes), part, node, connection))?;
        Ok(self.network.inject(message, pair, &mut self.messages, &mut self.queue)?)
    }

    pub(super) fn issue_recv(&mut self, part: u32, node: u32) -> Result<(), WorkloadError> {
        let connection = self.parts[part as usize].program.attached[node as usize];
        let (src, _, _) = self.ends_of(part, connection);
        let Some(send) = self.connect(part, node, Side::Recv, part, src) else { return Ok(()) };
        let early = self.parts[src as usize].states[send as usize].phase == EARLY;
        self.matched(src, send, part, node)?;
        if early {
            self.flows.remove(&(src, send));
            self.parts[src as usize].states[send as usize].phase = FINISHED;
            let overhead = self.settings.options.receive_overhead;
            self.queue.schedule(overhead, Event::Received { rank: part, node })?;
        }
        Ok(())
    }

    /// A SEND and a RECV belong together.
    pub(super) fn matched(&mut self, src: u32, send: u32, dst: u32, recv: u32) -> Result<(), WorkloadError> {
        let sizes = (
            self.parts[src as usize].program.ops[send as usize],
            self.parts[dst as usize].program.ops[recv as usize],
        );
        if let (Op::Send { bytes: sent, .. }, Op::Recv { bytes: wanted, .. }) = sizes
            && sent != wanted
        {
            return Err(self.size_mismatch(src, send, dst, recv));
        }
        let state = &mut self.parts[src as usize].states[send as usize];
        state.link = recv;
        state.phase = MATCHED;
        if let Some(flow) = self.flows.get(&(src, send)).copied() {
            self.flows.insert((dst, recv), flow);
        }
        Ok(())
    }

    /// The message is at its destination: the SEND finishes, then the RECV if it waits.
    pub(super) fn deliver(&mut self, message: MessageId) -> Result<(), WorkloadError> {
        let Message { bytes, rank: src, node, connection, .. } = self.messages.remove(message);
        self.totals.delivered(bytes)?;
        let (_, dst, pair) = self.ends_of(src, connection);
        if self.timeline.is_some() {
            self.show_route(src, node, pair, bytes);
        }
        let state = self.parts[src as usize].states[node as usize];
        let (matched, recv) = (state.phase == MATCHED, state.link);
        if self.is_trace(src) {
            let now = self.queue.now();
            self.ranks[dst as usize].account.communicate(now, false);
            if matched {
                self.ranks[dst as usize].via[recv as usize] = (src, node);
            }
        } else if matched {
            self.parts[dst as usize].states[recv as usize].origin = state.origin;
        }
        if !matched {
            self.parts[src as usize].states[node as usize].phase = EARLY;
        }
        self.finish(src, node)?;
        if !matched {
            return Ok(());
        }
        let overhead = self.settings.options.receive_overhead;
        if overhead > Picos::ZERO {
            return Ok(self.queue.schedule(overhead, Event::Received { rank: dst, node: recv })?);
        }
        self.finish(dst, recv)
    }
}
