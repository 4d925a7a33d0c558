//! Keeps, where it is asked for, when each node was issued and finished and what it waited for last.
//!
//! 24 bytes a node. From it come the times of the messages and the critical path.

use std::ops::Range;

use chakra_et::graph::{Graph, Op, SourceRef};
use rustc_hash::FxHashMap;

use super::node::NONE;
use crate::model::network::Passed;
use crate::report::{CriticalPath, Crossing, LineShare, MessageTime, NodeTime, PathStep, Shares, StepKind};
use crate::topology::Topology;
use crate::units::{Bytes, Picos};

pub(super) struct Record {
    first_rank: u32,
    ranks: Vec<Vec<NodeRecord>>,
    /// RECVs that got their message from elsewhere, which is not noted there yet.
    received: Vec<Received>,
}

/// A SEND and its RECV.
struct Received {
    src: u32,
    send: u32,
    recv: u32,
}

#[derive(Clone, Copy)]
struct NodeRecord {
    issued: Picos,
    finished: Picos,
    /// The dependence that finished last; `NONE` for a node without.
    cause: u32,
    /// Of a RECV its SEND, and of a SEND its RECV.
    partner: u32,
}

/// What is to know of messages, beside when their nodes finished.
pub(super) struct Messages<'a> {
    /// Latency and serialisation of a message that has its links for itself: source, SEND, size.
    pub(super) parts: &'a Parts<'a>,
    /// How long a message enters the network after its SEND was issued.
    pub(super) send_overhead: Picos,
    /// Where a SEND finishes before its message arrives: how long before. Its RECV then draws the message in, and the processors
    /// of both ranks are what is waited for.
    pub(super) flight: Option<Picos>,
}

type Parts<'a> = dyn Fn(u32, u32, Bytes) -> Option<(Picos, Picos)> + 'a;

impl Record {
    /// Of some of the ranks.
    pub(super) fn new(graph: &Graph, ranks: Range<u32>) -> Self {
        let fresh = NodeRecord { issued: Picos::ZERO, finished: Picos::ZERO, cause: NONE, partner: NONE };
        let first_rank = ranks.start;
        let ranks = ranks.map(|rank| vec![fresh; graph.rank(rank as usize).len()]);
        Self { first_rank, ranks: ranks.collect(), received: Vec::new() }
    }

    /// One of all ranks from those of some, in their order.
    pub(super) fn joined(records: impl Iterator<Item = Self>) -> Self {
        let mut all = Self { first_rank: 0, ranks: Vec::new(), received: Vec::new() };
        for record in records {
            all.ranks.extend(record.ranks);
            all.received.extend(record.received);
        }
        for Received { src, send, recv } in std::mem::take(&mut all.received) {
            all.at(src, send).partner = recv;
        }
        all
    }

    fn at(&mut self, rank: u32, node: u32) -> &mut NodeRecord {
        &mut self.ranks[(rank - self.first_rank) as usize][node as usize]
    }

    /// The node's last dependence has finished.
    pub(super) fn released(&mut self, rank: u32, node: u32, cause: u32) {
        self.at(rank, node).cause = cause;
    }

    pub(super) fn issued(&mut self, rank: u32, node: u32, now: Picos) {
        self.at(rank, node).issued = now;
    }

    pub(super) fn finished(&mut self, rank: u32, node: u32, now: Picos) {
        self.at(rank, node).finished = now;
    }

    pub(super) fn matched(&mut self, src: u32, send: u32, dst: u32, recv: u32) {
        self.at(src, send).partner = recv;
        self.at(dst, recv).partner = send;
    }

    /// As `matched`, where the SEND is of a rank of another record.
    pub(super) fn received(&mut self, src: u32, send: u32, dst: u32, recv: u32) {
        self.at(dst, recv).partner = send;
        self.received.push(Received { src, send, recv });
    }

    /// All messages, by source rank and SEND.
    ///
    /// Their SENDs finish `flight` before they are delivered.
    pub(super) fn messages(&self, graph: &Graph, flight: Picos) -> Vec<MessageTime> {
        let mut messages = Vec::new();
        for (src, (rank, records)) in (0..).zip(graph.ranks().iter().zip(&self.ranks)) {
            for (node, (op, record)) in (0..).zip(rank.ops().iter().zip(records)) {
                let Op::Send { dst, tag, bytes } = *op else { continue };
                let receiver = graph.rank(dst as usize);
                messages.push(MessageTime {
                    src,
                    dst,
                    tag,
                    bytes: Bytes(bytes),
                    send: rank.id(node),
                    receive: (record.partner != NONE).then(|| receiver.id(record.partner)),
                    issued: record.issued,
                    // Both were added up when the message was sent.
                    delivered: Picos(record.finished.0.saturating_add(flight.0)),
                });
            }
        }
        messages
    }

    /// When each node was under way, by rank and node.
    pub(super) fn times(&self) -> Vec<Vec<NodeTime>> {
        let time = |record: &NodeRecord| NodeTime { start: record.issued, finish: record.finished };
        self.ranks.iter().map(|records| records.iter().map(time).collect()).collect()
    }

    /// What occupied links, in order.
    pub(super) fn crossings(&self, graph: &Graph, passed: impl Iterator<Item = Passed>) -> Vec<Crossing> {
        let mut passed: Vec<Passed> = passed.collect();
        passed.sort_unstable();
        let crossing = |passed: Passed| {
            let Passed { link, start, finish, rank: src, node: send } = passed;
            let Op::Send { dst, bytes, .. } = graph.rank(src as usize).op(send) else { return None };
            Some(Crossing { link, src, dst, send, bytes: Bytes(bytes), start, finish })
        };
        passed.into_iter().filter_map(crossing).collect()
    }

    /// The messages on the links of their routes, where each flows over all of them at once.
    pub(super) fn flows(&self, graph: &Graph, topology: &Topology, overhead: Picos) -> Vec<Crossing> {
        let (mut crossings, mut route) = (Vec::new(), Vec::new());
        for (src, (rank, records)) in (0..).zip(graph.ranks().iter().zip(&self.ranks)) {
            for (send, (op, record)) in (0..).zip(rank.ops().iter().zip(records)) {
                let Op::Send { dst, bytes, .. } = *op else { continue };
                topology.route(src, dst, &mut route);
                let start = Picos(record.issued.0.saturating_add(overhead.0));
                let (bytes, finish) = (Bytes(bytes), record.finished);
                let crossing = |link| Crossing { link, src, dst, send, bytes, start, finish };
                crossings.extend(route.drain(..).map(crossing));
            }
        }
        crossings.sort_unstable_by_key(|it| (it.link, it.start, it.finish, it.src, it.send));
        crossings
    }

    /// The path back from the first of the nodes that end the run.
    pub(super) fn critical_path(
        &self,
        graph: &Graph,
        makespan: Picos,
        messages: &Messages<'_>,
    ) -> CriticalPath {
        let Messages { parts, send_overhead, flight } = *messages;
        let ends = (0..).zip(&self.ranks).find_map(|(rank, records)| {
            let last = records.iter().position(|record| record.finished == makespan)?;
            Some((rank, last as u32))
        });
        let (mut path, mut lines) = (CriticalPath::default(), FxHashMap::<SourceRef, Shares>::default());
        let mut next = ends;
        while let Some((rank, node)) = next {
            let record = self.ranks[rank as usize][node as usize];
            let op = graph.rank(rank as usize).op(node);
            let message = match op {
                Op::Recv { src, .. } if record.partner != NONE => {
                    let sent = self.ranks[src as usize][record.partner as usize].finished;
                    let delivered = sent.0.saturating_add(flight.unwrap_or(Picos::ZERO).0);
                    (delivered > record.issued.0).then_some((src, record.partner, sent))
                }
                _ => None,
            };
            let (before, start) = match message {
                Some((src, send, sent)) => (Some((src, send)), sent),
                None if record.cause == NONE => (None, Picos::ZERO),
                None => {
                    let cause = self.ranks[rank as usize][record.cause as usize];
                    (Some((rank, record.cause)), cause.finished)
                }
            };
            let mut shares = Shares::default();
            // Between the end of the last dependence and the issue lies what is no dependence; a message under way is one.
            let is_on_its_way = flight.is_some() && message.is_some();
            let begin = if is_on_its_way { start } else { record.issued.max(start) };
            shares.waiting = Picos(begin.0 - start.0);
            let span = Picos(record.finished.0 - begin.0);
            let kind = match op {
                Op::Send { dst, bytes, .. } => {
                    match flight {
                        // The processor.
                        Some(_) => shares.waiting.0 += span.0,
                        None => {
                            let parts = parts(rank, node, Bytes(bytes));
                            share_message(&mut shares, span, send_overhead, parts);
                        }
                    }
                    StepKind::Send { dst }
                }
                Op::Recv { src, bytes, .. } => {
                    let drawn_in = flight.and_then(|_| parts(src, record.partner, Bytes(bytes)));
                    let (latency, bandwidth) = drawn_in.unwrap_or_default();
                    shares.latency = if is_on_its_way { latency.min(span) } else { Picos::ZERO };
                    shares.bandwidth = bandwidth.min(Picos(span.0 - shares.latency.0));
                    shares.waiting.0 += span.0 - shares.latency.0 - shares.bandwidth.0;
                    StepKind::Receive { src }
                }
                _ => {
                    shares.computing = span;
                    StepKind::Compute
                }
            };
            path.shares += shares;
            if let Some(source) = graph.rank(rank as usize).origin(node).source {
                *lines.entry(source).or_default() += shares;
            }
            let id = graph.rank(rank as usize).id(node);
            path.steps.push(PathStep { rank, node: id, kind, start, end: record.finished, shares });
            next = before;
        }
        path.steps.reverse();
        path.lines = sorted(graph, lines);
        path
    }
}

/// What a message took: its overhead, what it would have taken alone, and the rest.
fn share_message(shares: &mut Shares, span: Picos, overhead: Picos, parts: Option<(Picos, Picos)>) {
    let mut left = span;
    let mut take = |part: Picos| {
        let part = part.min(left);
        left = Picos(left.0 - part.0);
        part
    };
    shares.waiting.0 += take(overhead).0;
    // A model that does not know the parts says so, and then it is all the bytes'.
    let (latency, bandwidth) = parts.unwrap_or((Picos::ZERO, span));
    (shares.latency, shares.bandwidth) = (take(latency), take(bandwidth));
    shares.queueing = left;
}

/// The lines, the largest first; equal ones by file and line.
fn sorted(graph: &Graph, lines: FxHashMap<SourceRef, Shares>) -> Vec<LineShare> {
    let mut lines: Vec<(SourceRef, Shares)> = lines.into_iter().collect();
    lines.sort_unstable_by_key(|(source, shares)| (std::cmp::Reverse(shares.total()), *source));
    let named = lines.into_iter().filter_map(|(source, shares)| {
        let file = graph.source_files.get(usize::from(source.file))?.clone();
        Some(LineShare { file, line: source.line, shares })
    });
    named.collect()
}
