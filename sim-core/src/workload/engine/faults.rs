//! Errors that need the names of nodes.

use chakra_et::graph::Op;

use super::program::NONE;
use super::run::Engine;
use crate::error::SimError;
use crate::model::network::Network;
use crate::units::{Bytes, Picos};
use crate::workload::error::WorkloadError;

impl<N: Network> Engine<'_, '_, N> {
    /// A rank comes to a collective where others have come to another one.
    pub(super) fn other_collective(&self, rank: u32, node: u32, number: u32) -> WorkloadError {
        let trace = &self.plan.traces[rank as usize];
        let of = |rank: u32, node: u32| {
            let nodes = self.plan.workload.rank(rank as usize);
            let number = self.plan.traces[rank as usize].number(node);
            (nodes.graph().id(number), nodes.name(number).to_owned())
        };
        let group = self.plan.collectives[trace.program.attached[node as usize] as usize].group;
        let instance = self.instances[number as usize].as_deref();
        let first = instance.and_then(|instance| instance.parts.iter().find(|part| **part != NONE));
        let (other, of_other) = first.map_or((rank, node), |part| {
            let part = &self.parts[*part as usize];
            (part.rank, part.node)
        });
        let ((node, name), (other_node, other_name)) = (of(rank, node), of(other, of_other));
        let group = self.plan.workload.groups()[group as usize].label();
        WorkloadError::OtherCollective { group, rank, node, name, other, other_node, other_name }
    }

    /// A SEND and a RECV that belong together differ in size.
    pub(super) fn size_mismatch(&self, src: u32, send: u32, dst: u32, recv: u32) -> WorkloadError {
        let (from, to) = (&self.parts[src as usize], &self.parts[dst as usize]);
        let (sent, wanted, tag) = match (from.program.ops[send as usize], to.program.ops[recv as usize]) {
            (Op::Send { bytes, tag, .. }, Op::Recv { bytes: wanted, .. }) => (bytes, wanted, tag),
            _ => (0, 0, 0),
        };
        let (sent, wanted) = (Bytes(sent), Bytes(wanted));
        if self.is_trace(src) {
            let id = |rank: u32, node: u32| {
                let number = self.plan.traces[rank as usize].number(node);
                self.plan.workload.rank(rank as usize).graph().id(number)
            };
            let (send, recv) = (id(src, send), id(dst, recv));
            return SimError::SizeMismatch { sender: src, send, sent, receiver: dst, recv, wanted, tag }
                .into();
        }
        let Some(instance) = &self.instances[from.instance as usize] else {
            return SimError::SizeMismatch {
                sender: from.rank,
                send: 0,
                sent,
                receiver: to.rank,
                recv: 0,
                wanted,
                tag,
            }
            .into();
        };
        let used = self.plan.uses[instance.collective as usize];
        let algorithm = &self.plan.algorithms[used.algorithm as usize].algorithm;
        let id = |position: u32, node: u32| algorithm.graph().rank(position as usize).id(node);
        let mismatch = SimError::SizeMismatch {
            sender: from.position,
            send: id(from.position, send),
            sent,
            receiver: to.position,
            recv: id(to.position, recv),
            wanted,
            tag,
        };
        let collective = &self.plan.collectives[instance.collective as usize];
        let group = self.plan.workload.groups()[collective.group as usize].label();
        WorkloadError::Algorithm {
            collective: format!(
                "the {} of {} bytes on {group}, by {}",
                collective.kind,
                collective.bytes,
                algorithm.name()
            ),
            source: mismatch.into(),
        }
    }

    /// All ranks have come to a collective: those that came first have waited until now.
    pub(super) fn note_waiting(&mut self, number: u32) {
        let Some(instance) = &self.instances[number as usize] else { return };
        let now = self.queue.now();
        for part in &instance.parts {
            let part = &self.parts[*part as usize];
            let state = &mut self.ranks[part.rank as usize];
            let start = state.start[part.node as usize];
            // A share may be over before others have come; one without nodes waits for nobody.
            let until = match part.unfinished {
                0 if part.program.len() == 0 => start,
                0 => state.finish_of[part.node as usize],
                _ => now,
            };
            let waited = until.0 - start.0;
            state.account.waited += waited;
            self.totals.waited(instance.collective, Picos(waited));
        }
    }
}
