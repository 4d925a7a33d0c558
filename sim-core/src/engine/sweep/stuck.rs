//! Who waits for whom where all ranks do the same and cannot go on: found out on the first, said for all.

use std::collections::BTreeMap;

use chakra_et::graph::{Graph, Op, RankGraph, Symmetry};

use super::is_invariant;
use super::lanes::{END, is_chain};
use super::matching::Sides;
use super::source::Source;
use crate::engine::compute;
use crate::engine::connection::Key;
use crate::error::{Overflow, SimError};
use crate::model::Conventions;
use crate::model::network::ContentionFree;
use crate::stuck::{DependenceCycle, StuckReport, WaitCycle, WaitKind, WaitReason, WaitStep, WaitingReceive};
use crate::units::{Bytes, Picos};

/// Why a graph in which all ranks do the same does not come to its end; None if that is not the reason, or one rank cannot
/// stand for all.
pub(in crate::engine) fn reason<C: ContentionFree>(
    graph: &Graph,
    symmetry: &Symmetry,
    conventions: Conventions,
    costs: &C,
) -> Option<SimError> {
    let first = graph.ranks().first()?;
    if !is_invariant(graph, symmetry, costs) || !(C::CONCURRENT || is_chain(first)) {
        return None;
    }
    let is_known = |op: &Op| matches!(op, Op::Send { .. } | Op::Recv { .. } | Op::Comp { .. });
    let count = first.len();
    let is_dep = |dep: &u32| (*dep as usize) < count;
    if !first.ops().iter().all(is_known) || !(0..count as u32).all(|node| first.deps(node).iter().all(is_dep))
    {
        return None;
    }
    let source = Source::First(graph, symmetry);
    let partners = Sides::of(first, conventions).partners(source, first);
    let mut run = Run { graph, first, symmetry, conventions, partners, finish: vec![None; first.len()] };
    match run.execute(costs) {
        Ok(()) => run.finish.contains(&None).then(|| SimError::Stuck(run.report())),
        Err(error) => Some(error),
    }
}

struct Run<'a> {
    graph: &'a Graph,
    first: &'a RankGraph,
    symmetry: &'a Symmetry,
    conventions: Conventions,
    /// By node, of a RECV the SEND of its message, as a node of the sender, and of a SEND its RECV; else `END`.
    partners: Vec<u32>,
    /// By node.
    finish: Vec<Option<Picos>>,
}

impl Run<'_> {
    /// Runs what can run. An error if a RECV finds a message of another size, or a time does not fit.
    fn execute<C: ContentionFree>(&mut self, costs: &C) -> Result<(), SimError> {
        let count = self.first.len() as u32;
        let is_receive = |node: u32| matches!(self.first.op(node), Op::Recv { .. });
        // A RECV waits for its message too; without a SEND for good.
        let waits = |node: u32| self.first.deps(node).len() + usize::from(is_receive(node));
        let mut waits: Vec<usize> = (0..count).map(waits).collect();
        let mut successors = vec![Vec::new(); count as usize];
        for node in 0..count {
            self.first.deps(node).iter().for_each(|dep| successors[*dep as usize].push(node));
        }
        let mut arrivals = vec![Picos::ZERO; count as usize];
        let mut processor = C::Processor::default();
        let mut open: Vec<u32> = (0..count).rev().filter(|node| waits[*node as usize] == 0).collect();
        while let Some(node) = open.pop() {
            let ready = self.first.deps(node).iter().filter_map(|dep| self.finish[*dep as usize]);
            let ready = ready.max().unwrap_or(Picos::ZERO);
            let finish = match self.first.op(node) {
                Op::Send { dst, bytes, .. } => {
                    let mut route = costs.route(0, dst).ok_or(Overflow::TIME)?;
                    let sent = costs.send(&mut route, &mut processor, ready, Bytes(bytes));
                    let sent = sent.ok_or(Overflow::TIME)?;
                    let receive = self.partners[node as usize];
                    if receive != END {
                        arrivals[receive as usize] = sent.arrival;
                        waits[receive as usize] -= 1;
                        if waits[receive as usize] == 0 {
                            open.push(receive);
                        }
                    }
                    sent.finish
                }
                Op::Recv { bytes, .. } => {
                    let send = self.partners[node as usize];
                    if let Op::Send { bytes: sent, .. } = self.first.op(send)
                        && sent != bytes
                    {
                        return Err(self.mismatch(send, node));
                    }
                    let arrival = arrivals[node as usize];
                    costs.receive(&mut processor, ready, arrival, Bytes(bytes)).ok_or(Overflow::TIME)?
                }
                Op::Comp { micros, .. } => {
                    let duration = compute::duration(self.conventions, micros)?;
                    costs.compute(&mut processor, ready, duration).ok_or(Overflow::TIME)?
                }
                _ => ready,
            };
            self.finish[node as usize] = Some(finish);
            for successor in &successors[node as usize] {
                waits[*successor as usize] -= 1;
                if waits[*successor as usize] == 0 {
                    open.push(*successor);
                }
            }
        }
        Ok(())
    }

    fn mismatch(&self, send: u32, receive: u32) -> SimError {
        let size = |node| match self.first.op(node) {
            Op::Send { bytes, .. } | Op::Recv { bytes, .. } => Bytes(bytes),
            _ => Bytes(0),
        };
        let (sender, tag) = match self.first.op(receive) {
            Op::Recv { src, tag, .. } => (src, tag),
            _ => (0, 0),
        };
        SimError::SizeMismatch {
            sender,
            send: self.first.id(send),
            sent: size(send),
            receiver: 0,
            recv: self.first.id(receive),
            wanted: size(receive),
            tag,
        }
    }

    fn is_finished(&self, node: u32) -> bool {
        self.finish[node as usize].is_some()
    }

    /// The RECVs that have been issued and have no message.
    fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.first.len() as u32).filter(|node| {
            let is_issued = || self.first.deps(*node).iter().all(|dep| self.is_finished(*dep));
            !self.is_finished(*node) && matches!(self.first.op(*node), Op::Recv { .. }) && is_issued()
        })
    }

    fn report(&self) -> StuckReport {
        let ranks = self.symmetry.rank_count();
        let waiting: Vec<(u32, WaitReason)> = self.waiting().map(|node| (node, self.reason(node))).collect();
        let receives = (0..ranks).flat_map(|rank| waiting.iter().map(move |waiting| (rank, waiting)));
        let receives = receives.filter_map(|(rank, (node, reason))| self.receive(rank, *node, *reason));
        let cycle = self
            .circle(false)
            .map(|circle| -> Vec<u64> { circle.into_iter().map(|node| self.first.id(node)).collect() });
        let cycles = (0..ranks).filter_map(|rank| {
            let nodes = cycle.clone()?;
            Some(DependenceCycle { rank, nodes })
        });
        let unfinished = self.finish.iter().filter(|finish| finish.is_none()).count();
        StuckReport {
            time: self.finish.iter().flatten().copied().max().unwrap_or(Picos::ZERO),
            unfinished: unfinished * ranks as usize,
            nodes: self.first.len() * ranks as usize,
            deadlock: self.circle(true).map(|circle| self.unrolled(&circle)),
            cycles: cycles.collect(),
            receives: receives.collect(),
        }
    }

    fn receive(&self, rank: u32, node: u32, reason: WaitReason) -> Option<WaitingReceive> {
        let Op::Recv { src, tag, bytes } = self.first.op(node) else { return None };
        let source = self.graph.source(0, node);
        Some(WaitingReceive {
            rank,
            node: self.first.id(node),
            peer: self.symmetry.moved(src, rank),
            tag,
            bytes: Bytes(bytes),
            step: self.first.origin(node).step,
            source: source.map(|(file, line)| (file.to_owned(), line)),
            reason,
        })
    }

    /// What the sender has for a RECV: what was sent in vain is the better hint.
    fn reason(&self, receive: u32) -> WaitReason {
        let Op::Recv { src, tag, bytes } = self.first.op(receive) else { return WaitReason::NoSend };
        let to = self.symmetry.back(src);
        let key = Key::new(self.conventions, to, tag, bytes);
        // Sent in vain: its RECV, if there is one, is not issued.
        let is_left = |node: u32| {
            let receive = self.partners[node as usize];
            receive == END || !self.is_finished(receive)
        };
        let sends = (0..).zip(self.first.ops()).filter_map(|(node, op)| match *op {
            Op::Send { dst, tag, bytes } if dst == to && is_left(node) => Some((node, tag, bytes)),
            _ => None,
        });
        let mut by_tag = BTreeMap::new();
        let mut first = None;
        let (early, blocked): (Vec<_>, Vec<_>) = sends.partition(|send| self.is_finished(send.0));
        for (node, of_send, size) in &blocked {
            if Key::new(self.conventions, to, *of_send, *size) == key {
                return WaitReason::SendNotIssued { node: self.first.id(*node) };
            }
        }
        for send in early.into_iter().chain(blocked) {
            by_tag.entry(send.1).or_insert(send);
            first.get_or_insert(send);
        }
        match (by_tag.get(&tag), first) {
            (Some((node, _, bytes)), _) => {
                WaitReason::OtherSize { node: self.first.id(*node), bytes: Bytes(*bytes) }
            }
            (None, Some((node, tag, _))) => WaitReason::OtherTag { node: self.first.id(node), tag },
            (None, None) => WaitReason::NoSend,
        }
    }

    /// What keeps an unfinished node: what it depends on, or with `messages` its message, as a node of the sender.
    fn edge(&self, node: u32, number: usize, messages: bool) -> Option<u32> {
        let deps = self.first.deps(node).iter().copied();
        if let Some(dep) = deps.filter(|dep| !self.is_finished(*dep)).nth(number) {
            return Some(dep);
        }
        let is_issued = self.first.deps(node).iter().all(|dep| self.is_finished(*dep));
        let is_receive = matches!(self.first.op(node), Op::Recv { .. });
        let send = self.partners[node as usize];
        let waits = messages && number == 0 && is_issued && is_receive;
        (waits && send != END && !self.is_finished(send)).then_some(send)
    }

    /// A circle of nodes each of which is kept by the next, within the rank or with `messages` through at least one message.
    fn circle(&self, messages: bool) -> Option<Vec<u32>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            No,
            OnPath,
            Done,
        }
        let mut seen = vec![Seen::No; self.first.len()];
        let mut path: Vec<(u32, usize)> = Vec::new();
        for root in (0..self.first.len() as u32).filter(|node| !self.is_finished(*node)) {
            if seen[root as usize] == Seen::No {
                seen[root as usize] = Seen::OnPath;
                path.push((root, 0));
            }
            while let Some((node, followed)) = path.last_mut() {
                let Some(next) = self.edge(*node, *followed, messages) else {
                    seen[*node as usize] = Seen::Done;
                    path.pop();
                    continue;
                };
                *followed += 1;
                match seen[next as usize] {
                    Seen::No => {
                        seen[next as usize] = Seen::OnPath;
                        path.push((next, 0));
                    }
                    Seen::OnPath => {
                        let circle = path.iter().map(|(node, _)| *node).skip_while(|node| *node != next);
                        let circle: Vec<u32> = circle.collect();
                        // Only a RECV that was issued is kept by another rank.
                        let crosses = |node: &u32| self.waiting().any(|waiting| waiting == *node);
                        if !messages || circle.iter().any(crosses) {
                            return Some(circle);
                        }
                    }
                    Seen::Done => {}
                }
            }
        }
        None
    }

    /// The circle through all ranks that it takes to come back to the first.
    fn unrolled(&self, circle: &[u32]) -> WaitCycle {
        let (mut steps, mut rank) = (Vec::new(), 0);
        loop {
            for &node in circle {
                let (kind, next) = match self.first.op(node) {
                    Op::Send { dst, .. } => (WaitKind::Send { dst: self.symmetry.moved(dst, rank) }, rank),
                    Op::Recv { src, .. } => {
                        let src = self.symmetry.moved(src, rank);
                        let is_issued = self.first.deps(node).iter().all(|dep| self.is_finished(*dep));
                        (WaitKind::Receive { src }, if is_issued { src } else { rank })
                    }
                    _ => (WaitKind::Other, rank),
                };
                steps.push(WaitStep { rank, node: self.first.id(node), kind });
                rank = next;
            }
            // Relabellings form a group, so this comes after at most as many rounds as there are ranks.
            if rank == 0 {
                return WaitCycle { steps };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use chakra_et::graph::{Origin, SymmetricGraph};

    use super::*;
    use crate::model::analytical::Routes;
    use crate::topology::{Dimension, Topology};
    use crate::{Model, Simulation};

    fn recv(src: u32, tag: u32, bytes: u64) -> Op {
        Op::Recv { src, tag, bytes }
    }

    fn send(dst: u32, tag: u32, bytes: u64) -> Op {
        Op::Send { dst, tag, bytes }
    }

    const COMP: Op = Op::Comp { micros: 3, ops: 0, bytes: 0 };

    /// What is said of six ranks in a ring: by one for all, and by the event engine of all.
    fn both(nodes: &[(Op, &[u32])]) -> [SimError; 2] {
        let mut rank = RankGraph::builder();
        for (op, deps) in nodes {
            rank.push(*op, deps.iter().copied(), Origin::default()).unwrap();
        }
        let graph = SymmetricGraph::new(Symmetry::rotation(6), rank.finish()).unwrap();
        let (bandwidth, latency) = ("50 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
        let topology = Topology::new([Dimension::switch(6, bandwidth, latency)]).unwrap();
        let costs = Routes::new(&topology, Conventions::Exact);
        let of_one = reason(graph.first(), graph.symmetry(), Conventions::Exact, &costs).unwrap();
        let all = Simulation::new(&topology).model(Model::Analytical).run(&graph.expand()).unwrap_err();
        [of_one, all]
    }

    #[test]
    fn one_rank_says_what_all_would() {
        let cases: [&[(Op, &[u32])]; 6] = [
            // Everybody receives first.
            &[(recv(5, 0, 8), &[]), (send(1, 0, 8), &[0])],
            // The same after a round that went well, with something beside it.
            &[
                (send(1, 0, 8), &[]),
                (recv(5, 0, 8), &[0]),
                (COMP, &[1]),
                (recv(4, 7, 8), &[2]),
                (COMP, &[3]),
                (send(2, 7, 8), &[4]),
                (COMP, &[]),
            ],
            // No further SEND, another tag, another size under a tag of which something else is left.
            &[(send(1, 0, 8), &[]), (recv(5, 0, 8), &[]), (recv(5, 0, 8), &[1])],
            &[(send(1, 3, 8), &[]), (recv(5, 4, 8), &[])],
            &[(recv(5, 1, 8), &[]), (send(1, 1, 16), &[0])],
            // A rank waits for itself.
            &[(send(1, 0, 8), &[]), (COMP, &[2]), (COMP, &[1]), (recv(5, 0, 8), &[])],
        ];
        for (at, nodes) in cases.into_iter().enumerate() {
            let [SimError::Stuck(one), SimError::Stuck(all)] = both(nodes) else { panic!("case {at}") };
            // Circles may be told from another of their nodes.
            let rotations = |stuck: &StuckReport| stuck.deadlock.as_ref().map(|circle| circle.steps.len());
            assert_eq!(rotations(&one), rotations(&all), "case {at}");
            let lines = |stuck: StuckReport| (stuck.time, stuck.unfinished, stuck.nodes, stuck.receives);
            assert_eq!(one.cycles.len(), all.cycles.len(), "case {at}");
            assert_eq!(lines(one), lines(all), "case {at}");
        }
    }

    #[test]
    fn a_message_of_another_size_is_the_reason() {
        let [one, all] = both(&[(send(1, 0, 8), &[]), (recv(5, 0, 16), &[])]);
        let sizes = |error| match error {
            SimError::SizeMismatch { send, sent, recv, wanted, tag, .. } => (send, sent, recv, wanted, tag),
            other => panic!("{other}"),
        };
        assert_eq!(sizes(one), sizes(all));
    }
}
