//! Runs ranks of several lanes: every node has a state, and every message a place that was found beforehand.

use std::ops::Range;

use chakra_et::graph::Op;

use super::Outcome;
use super::lanes::END;
use super::matching::{LOOSE, Program};
use super::rounds::Part;
use super::source::Source;
use crate::engine::compute;
use crate::model::Conventions;
use crate::model::network::ContentionFree;
use crate::units::{Bytes, Picos};

/// A message for a rank of another partition.
pub(super) struct Parcel {
    dst: u32,
    place: u32,
    arrival: Picos,
}

/// Some ranks, run until none of them can go on.
pub(super) struct Partition<'a, C: ContentionFree> {
    source: Source<'a>,
    programs: &'a [Program],
    conventions: Conventions,
    costs: &'a C,
    memo: C::Memo,
    ranks: Range<u32>,
    /// By rank, from the first of the partition: where its states begin. Likewise `finish`.
    first: Vec<usize>,
    finish: Vec<Picos>,
    /// Of each rank its nodes, then its slots: when the node finished, or the message came; until then [`WAITED_FOR`] with
    /// the first lane that waits for it.
    states: Vec<u64>,
    lanes: Vec<Lane>,
    /// Lanes that can go on, and the first that has not begun.
    woken: Vec<u32>,
    fresh: u32,
    parcels: Vec<Parcel>,
    unfinished: usize,
    messages: u64,
    bytes: u64,
}

#[derive(Clone, Copy)]
struct Lane {
    rank: u32,
    /// The next node to run, `END` behind the last.
    node: u32,
    /// The next lane that waits for the same node.
    next_waiter: u32,
}

const NO_LANE: u32 = u32::MAX;
const WAITED_FOR: u64 = 1 << 63;
const NOT_FINISHED: u64 = WAITED_FOR | NO_LANE as u64;

impl<'a, C: ContentionFree> Partition<'a, C> {
    /// None if there are too many lanes.
    pub(super) fn new(
        source: Source<'a>,
        programs: &'a [Program],
        conventions: Conventions,
        costs: &'a C,
        ranks: Range<u32>,
    ) -> Option<Self> {
        let of = |rank| (&programs[source.program(rank)], source.programs()[source.program(rank)].len());
        let (mut first, mut states, mut lanes, mut unfinished) = (Vec::with_capacity(ranks.len()), 0, 0, 0);
        for rank in ranks.clone() {
            let (program, nodes) = of(rank);
            first.push(states);
            states += nodes + program.slots as usize;
            lanes += program.heads.len();
            unfinished += nodes;
        }
        u32::try_from(lanes).ok().filter(|lanes| *lanes != NO_LANE)?;
        let mut partition = Self {
            source,
            programs,
            conventions,
            costs,
            memo: C::Memo::default(),
            first,
            finish: vec![Picos::ZERO; ranks.len()],
            states: vec![NOT_FINISHED; states],
            lanes: Vec::with_capacity(lanes),
            woken: Vec::new(),
            fresh: 0,
            parcels: Vec::new(),
            unfinished,
            messages: 0,
            bytes: 0,
            ranks,
        };
        for rank in partition.ranks.clone() {
            let heads = &of(rank).0.heads;
            let lanes = heads.iter().map(|head| Lane { rank, node: *head, next_waiter: NO_LANE });
            partition.lanes.extend(lanes);
        }
        Some(partition)
    }

    /// None if nodes are left that cannot run.
    pub(super) fn outcome(self, record: bool) -> Option<Outcome> {
        if self.unfinished > 0 {
            return None;
        }
        let times = || {
            let of_rank = |(rank, first): (u32, &usize)| {
                let nodes = self.source.programs()[self.source.program(rank)].len();
                self.states[*first..first + nodes].iter().map(|time| Picos(*time)).collect()
            };
            self.ranks.clone().zip(&self.first).map(of_rank).collect()
        };
        Some(Outcome {
            times: record.then(times),
            messages: self.messages,
            bytes: self.bytes,
            finish: self.finish,
        })
    }

    fn run_lane(&mut self, lane: u32) -> Option<()> {
        let Lane { rank, mut node, .. } = self.lanes[lane as usize];
        let at = (rank - self.ranks.start) as usize;
        let number = self.source.program(rank);
        let (graph, program) = (&self.source.programs()[number], &self.programs[number]);
        let first = self.first[at];
        'nodes: while node != END {
            let mut ready = Picos::ZERO;
            for dep in graph.deps(node) {
                let dep = &mut self.states[first + *dep as usize];
                if *dep & WAITED_FOR != 0 {
                    self.lanes[lane as usize].next_waiter = *dep as u32;
                    *dep = WAITED_FOR | u64::from(lane);
                    break 'nodes;
                }
                ready = ready.max(Picos(*dep));
            }
            let place = program.places[node as usize];
            let finish = match graph.op(node) {
                Op::Send { dst, bytes, .. } => {
                    let dst = self.source.peer(rank, dst);
                    let passage = self.costs.passage(&mut self.memo, rank, dst, Bytes(bytes))?;
                    let arrival = ready.checked_add(passage)?;
                    self.messages += 1;
                    self.bytes = self.bytes.checked_add(bytes)?;
                    self.deliver(dst, place, arrival)?;
                    arrival
                }
                Op::Recv { .. } => {
                    let message = &mut self.states[first + graph.len() + place as usize];
                    if *message & WAITED_FOR != 0 {
                        *message = WAITED_FOR | u64::from(lane);
                        break;
                    }
                    ready.max(Picos(*message))
                }
                Op::Comp { micros, .. } => {
                    ready.checked_add(compute::duration(self.conventions, micros).ok()?)?
                }
                _ => return None,
            };
            self.finish(at, first + node as usize, finish)?;
            node = program.next[node as usize];
        }
        self.lanes[lane as usize].node = node;
        Some(())
    }

    /// A message goes to its place, here or in another partition. None if its time does not fit.
    #[inline]
    fn deliver(&mut self, dst: u32, place: u32, arrival: Picos) -> Option<()> {
        let at = match self.source {
            Source::First(..) => 0,
            _ if self.ranks.contains(&dst) => (dst - self.ranks.start) as usize,
            _ => {
                self.parcels.push(Parcel { dst, place, arrival });
                return Some(());
            }
        };
        self.accept(at, place, arrival)
    }

    #[inline]
    fn accept(&mut self, at: usize, place: u32, arrival: Picos) -> Option<()> {
        if place == END {
            return Some(());
        }
        if place & LOOSE != 0 {
            return self.finish(at, self.first[at] + (place & !LOOSE) as usize, arrival);
        }
        let rank = self.ranks.start + at as u32;
        let nodes = self.source.programs()[self.source.program(rank)].len();
        let slot = &mut self.states[self.first[at] + nodes + place as usize];
        let waiter = std::mem::replace(slot, fitting(arrival)?) as u32;
        if waiter != NO_LANE {
            self.woken.push(waiter);
        }
        Some(())
    }

    /// A node has finished: its state, and those that wait for it.
    #[inline]
    fn finish(&mut self, at: usize, state: usize, finish: Picos) -> Option<()> {
        let mut waiter = std::mem::replace(&mut self.states[state], fitting(finish)?) as u32;
        while waiter != NO_LANE {
            self.woken.push(waiter);
            waiter = std::mem::replace(&mut self.lanes[waiter as usize].next_waiter, NO_LANE);
        }
        self.finish[at] = self.finish[at].max(finish);
        self.unfinished -= 1;
        Some(())
    }
}

/// A time that is told apart from [`WAITED_FOR`].
#[inline]
fn fitting(time: Picos) -> Option<u64> {
    (time.0 & WAITED_FOR == 0).then_some(time.0)
}

impl<C: ContentionFree> Part for Partition<'_, C> {
    type Parcel = Parcel;

    fn run(&mut self) -> Option<()> {
        loop {
            // What was woken last is still at hand.
            let lane = match self.woken.pop() {
                Some(lane) => lane,
                None if (self.fresh as usize) < self.lanes.len() => {
                    self.fresh += 1;
                    self.fresh - 1
                }
                None => return Some(()),
            };
            self.run_lane(lane)?;
        }
    }

    fn take_parcels(&mut self) -> Vec<Parcel> {
        std::mem::take(&mut self.parcels)
    }

    fn receiver(parcel: &Parcel) -> u32 {
        parcel.dst
    }

    fn receive_parcel(&mut self, parcel: Parcel) -> Option<()> {
        self.accept((parcel.dst - self.ranks.start) as usize, parcel.place, parcel.arrival)
    }
}
