//! Finds out, before anything runs, which RECV takes which SEND.
//!
//! The k-th SEND of a connection belongs to its k-th RECV. Where dependences fix the order of both ([`super::lanes`]), that
//! is by number, so sorting tells it: the SENDs of each rank and the RECVs of each rank by connection, then both lists
//! side by side. No table of connections is kept: a SEND has the place where its message is awaited.

use std::ops::Range;

use chakra_et::graph::{Op, RankGraph};
use rayon::prelude::*;

use super::lanes::{self, END, Lanes};
use super::source::Source;
use crate::engine::connection::Key;
use crate::model::Conventions;

/// The nodes of a rank, ready to be run.
pub(super) struct Program {
    /// The first node of each lane.
    pub(super) heads: Vec<u32>,
    /// By node, the next one of its lane.
    pub(super) next: Vec<u32>,
    /// By node: of a SEND where its message goes, of a RECV where its message is found; else `END`. A place is one
    /// of the receiving rank's slots or, with [`LOOSE`], a RECV in no lane.
    pub(super) places: Vec<u32>,
    /// Number of slots.
    pub(super) slots: u32,
}

/// Marks the place of a RECV in no lane.
pub(super) const LOOSE: u32 = 1 << 31;

/// The programs of the ranks; None if it is not certain which messages belong together, or if some do not.
pub(super) fn programs(source: Source<'_>, conventions: Conventions) -> Option<Vec<Program>> {
    let graphs = source.programs();
    let prepared = graphs.par_iter().enumerate().map(|(number, graph)| {
        let sides = Sides::of(graph, conventions);
        let may_name = |peer| source.may_name(number, peer);
        if !graph.ops().iter().all(|op| is_fit(op, may_name)) {
            return None;
        }
        let lanes = lanes::lanes(graph, &sides.before(graph))?;
        Some((Program::new(graph, &sides, lanes)?, sides))
    });
    let prepared = prepared.collect::<Option<Vec<_>>>()?;
    let (mut programs, sides): (Vec<Program>, Vec<Sides>) = prepared.into_iter().unzip();

    let matching = Matching { source, conventions, graphs, programs: &programs, sides: &sides };
    let senders = graphs.len();
    let share = senders.div_ceil(rayon::current_num_threads()).max(1);
    let shares = (0..senders.div_ceil(share)).into_par_iter();
    let found = shares.map(|at| matching.places(at * share..senders.min((at + 1) * share)));
    let found = found.collect::<Option<Vec<_>>>()?;
    let matched: usize = found.iter().map(|(_, matched)| matched).sum();
    if matched < sides.iter().map(|sides| sides.receives.len()).sum() {
        return None;
    }
    let places = found.into_iter().flat_map(|(places, _)| places);
    for ((program, sides), places) in programs.iter_mut().zip(sides).zip(places) {
        for (send, place) in sides.sends.into_iter().zip(places) {
            program.places[send as usize] = place;
        }
    }
    Some(programs)
}

/// Whether a node is one that the sweep knows, and its peer exists.
fn is_fit(op: &Op, may_name: impl Fn(u32) -> bool) -> bool {
    match *op {
        Op::Send { dst: peer, .. } | Op::Recv { src: peer, .. } => may_name(peer),
        Op::Comp { .. } => true,
        _ => false,
    }
}

impl Program {
    /// Before it is known where messages go. None if there are too many nodes.
    fn new(graph: &RankGraph, sides: &Sides, lanes: Lanes) -> Option<Self> {
        let Lanes { heads, next, loose } = lanes;
        if graph.len() >= LOOSE as usize {
            return None;
        }
        let mut places = vec![END; graph.len()];
        loose.iter().for_each(|node| places[*node as usize] = LOOSE | node);
        // By node, not by connection: that is the order in which they are wanted.
        let mut slots = 0;
        if loose.len() < sides.receives.len() {
            for (place, op) in places.iter_mut().zip(graph.ops()) {
                if *place == END && matches!(op, Op::Recv { .. }) {
                    *place = slots;
                    slots += 1;
                }
            }
        }
        Some(Self { heads, next, places, slots })
    }
}

/// The nodes of a rank that send, and those that receive, by connection and number.
pub(super) struct Sides {
    conventions: Conventions,
    sends: Vec<u32>,
    receives: Vec<u32>,
}

impl Sides {
    pub(super) fn of(graph: &RankGraph, conventions: Conventions) -> Self {
        let sorted = |is_of_side: fn(&Op) -> bool| {
            let nodes = (0..).zip(graph.ops()).filter(|(_, op)| is_of_side(op)).map(|(node, _)| node);
            let mut nodes: Vec<u32> = nodes.collect();
            // Stable, and quick where the order is there already, or rotated.
            nodes.sort_by_key(|node| key(conventions, graph, *node));
            nodes
        };
        let receives = |op: &Op| matches!(op, Op::Recv { .. });
        Self { conventions, sends: sorted(Op::is_send), receives: sorted(receives) }
    }

    /// By node, the one before it on its side of its connection, or `END`.
    pub(super) fn before(&self, graph: &RankGraph) -> Vec<u32> {
        let mut before = vec![END; graph.len()];
        for two in [&self.sends, &self.receives].into_iter().flat_map(|side| side.windows(2)) {
            if key(self.conventions, graph, two[0]) == key(self.conventions, graph, two[1]) {
                before[two[1] as usize] = two[0];
            }
        }
        before
    }
}

impl Sides {
    /// By node of the first of ranks that do the same: of a RECV the SEND of its message, and the other way round; else `END`.
    pub(super) fn partners(&self, source: Source<'_>, graph: &RankGraph) -> Vec<u32> {
        let key = |node: &u32| key(self.conventions, graph, *node);
        let mut partners = vec![END; graph.len()];
        for run in self.sends.chunk_by(|a, b| key(a) == key(b)) {
            let (_, wanted) = source.other_end(0, key(&run[0]));
            let from = self.receives.partition_point(|receive| key(receive) < wanted);
            let receives = self.receives[from..].iter().take_while(|receive| key(receive) == wanted);
            for (send, receive) in run.iter().zip(receives) {
                (partners[*send as usize], partners[*receive as usize]) = (*receive, *send);
            }
        }
        partners
    }
}

/// The connection of a node; of a COMP, which has none, some key.
#[inline]
fn key(conventions: Conventions, graph: &RankGraph, node: u32) -> Key {
    match graph.op(node) {
        Op::Send { dst: peer, tag, bytes } | Op::Recv { src: peer, tag, bytes } => {
            Key::new(conventions, peer, tag, bytes)
        }
        _ => Key::new(conventions, 0, 0, 0),
    }
}

/// What is needed to lay SENDs and RECVs side by side.
struct Matching<'a> {
    source: Source<'a>,
    conventions: Conventions,
    graphs: &'a [RankGraph],
    programs: &'a [Program],
    sides: &'a [Sides],
}

impl Matching<'_> {
    /// The places of the SENDs of some programs, by program in the order of their sides, and how many have a RECV. None if a
    /// message is of another size than its RECV wants.
    fn places(&self, senders: Range<usize>) -> Option<(Vec<Vec<u32>>, usize)> {
        // By receiver, how far its RECVs are passed: senders ascend, and so do the keys of what a receiver gets.
        let mut passed = vec![END; self.graphs.len()];
        let mut matched = 0;
        let mut of_senders = Vec::with_capacity(senders.len());
        for sender in senders {
            let sends = &self.sides[sender].sends;
            let mut places = Vec::with_capacity(sends.len());
            let graph = &self.graphs[sender];
            for run in sends.chunk_by(|a, b| self.key(graph, *a) == self.key(graph, *b)) {
                let (receiver, wanted) = self.source.other_end(sender, self.key(graph, run[0]));
                let (receives, of_receiver) = (&self.sides[receiver].receives, &self.graphs[receiver]);
                let mut at = passed[receiver] as usize;
                if at >= receives.len() || self.key(of_receiver, receives[at]) != wanted {
                    // Not the next one, as at the start: not every rank sends to every other.
                    at = receives.partition_point(|receive| self.key(of_receiver, *receive) < wanted);
                }
                for send in run {
                    match receives.get(at) {
                        Some(receive) if self.key(of_receiver, *receive) == wanted => {
                            if bytes(graph.op(*send)) != bytes(of_receiver.op(*receive)) {
                                return None;
                            }
                            places.push(self.programs[receiver].places[*receive as usize]);
                            (at, matched) = (at + 1, matched + 1);
                        }
                        _ => places.push(END),
                    }
                }
                passed[receiver] = at as u32;
            }
            of_senders.push(places);
        }
        Some((of_senders, matched))
    }

    #[inline]
    fn key(&self, graph: &RankGraph, node: u32) -> Key {
        key(self.conventions, graph, node)
    }
}

fn bytes(op: Op) -> u64 {
    match op {
        Op::Send { bytes, .. } | Op::Recv { bytes, .. } => bytes,
        _ => 0,
    }
}
