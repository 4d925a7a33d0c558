//! Some ranks, run until none of them can go on.

use std::collections::VecDeque;
use std::ops::Range;

use chakra_et::graph::{Graph, Op, Symmetry};

use super::Outcome;
use super::channel::{Arrival, Arrivals, Channel};
use super::lanes::{self, END, Lanes};
use super::ports::Directory;
use crate::engine::compute;
use crate::engine::connection::Key;
use crate::model::Conventions;
use crate::model::network::ContentionFree;
use crate::units::{Bytes, Picos};

/// No lane.
pub(super) const NO_LANE: u32 = u32::MAX;

/// Arrivals for a channel of another partition.
pub(super) struct Parcel {
    pub(super) dst: u32,
    /// As the receiver names the connection.
    key: Key,
    arrivals: Vec<Arrival>,
}

pub(super) struct Partition<'a, C: ContentionFree, const RECORD: bool> {
    graph: &'a Graph,
    conventions: Conventions,
    costs: &'a C,
    ranks: Range<u32>,
    /// If the one rank stands for all.
    symmetry: Option<&'a Symmetry>,
    /// By rank, from the first of the partition; the next two likewise.
    states: Vec<RankState<C::Processor>>,
    finish: Vec<Picos>,
    times: Vec<Vec<Picos>>,
    /// The first of each rank, by rank; then the others as they are found.
    lanes: Vec<Lane>,
    ports: Vec<Port<C::Route>>,
    channels: Vec<Channel>,
    parcels: Vec<Parcel>,
    arrivals: Arrivals,
    runnable: VecDeque<u32>,
    unfinished: usize,
    messages: u64,
    bytes: u64,
}

#[derive(Default)]
struct RankState<P> {
    /// From the key of a connection to its port, and to its channel.
    sends: Directory,
    receives: Directory,
    processor: P,
    several: Option<Several>,
}

/// What a rank of several lanes needs.
struct Several {
    next: Vec<u32>,
    after: Vec<u32>,
    /// By node: when it finished, or [`WAITED_FOR`] with the first lane that waits for it.
    finish: Vec<u64>,
}

const WAITED_FOR: u64 = 1 << 63;
const NOT_FINISHED: u64 = WAITED_FOR | NO_LANE as u64;

#[derive(Clone, Copy)]
struct Lane {
    rank: u32,
    /// The next node to run, `END` behind the last; `UNSEEN` before the rank has been looked at.
    node: u32,
    /// The next lane that waits for the same node.
    next_waiter: u32,
    /// Of a chain: when the node before finished.
    time: Picos,
}

const UNSEEN: u32 = END - 1;

/// Where a rank sends on one connection.
struct Port<R> {
    route: R,
    /// A channel, or with [`ELSEWHERE`] a parcel.
    to: u32,
}

const ELSEWHERE: u32 = 1 << 31;

impl<'a, C: ContentionFree, const RECORD: bool> Partition<'a, C, RECORD> {
    pub(super) fn new(
        graph: &'a Graph,
        conventions: Conventions,
        costs: &'a C,
        ranks: Range<u32>,
        symmetry: Option<&'a Symmetry>,
    ) -> Self {
        let of_ranks = &graph.ranks()[ranks.start as usize..ranks.end as usize];
        let lane = |rank| Lane { rank, node: UNSEEN, next_waiter: NO_LANE, time: Picos::ZERO };
        let times = |nodes: usize| vec![Picos::ZERO; if RECORD { nodes } else { 0 }];
        Self {
            graph,
            conventions,
            costs,
            symmetry,
            states: ranks.clone().map(|_| RankState::default()).collect(),
            finish: vec![Picos::ZERO; ranks.len()],
            times: if RECORD { of_ranks.iter().map(|rank| times(rank.len())).collect() } else { Vec::new() },
            lanes: ranks.clone().map(lane).collect(),
            ports: Vec::new(),
            channels: Vec::new(),
            parcels: Vec::new(),
            arrivals: Arrivals::default(),
            runnable: (0..ranks.len() as u32).collect(),
            unfinished: of_ranks.iter().map(|rank| rank.len()).sum(),
            messages: 0,
            bytes: 0,
            ranks,
        }
    }

    /// Runs until nothing more can run here; None if the event engine has to run the graph.
    pub(super) fn run(&mut self) -> Option<()> {
        while let Some(lane) = self.runnable.pop_front() {
            if self.lanes[lane as usize].node == UNSEEN {
                self.look_at(lane)?;
            }
            match self.states[self.lanes[lane as usize].rank as usize - self.ranks.start as usize].several {
                None => self.run_chain(lane)?,
                Some(_) => self.run_one_of_several(lane)?,
            }
        }
        Some(())
    }

    /// What crossed to other partitions since the last call.
    pub(super) fn take_parcels(&mut self) -> Vec<Parcel> {
        let full = self.parcels.iter_mut().filter(|parcel| !parcel.arrivals.is_empty());
        let taken =
            |parcel: &mut Parcel| Parcel { arrivals: std::mem::take(&mut parcel.arrivals), ..*parcel };
        full.map(taken).collect()
    }

    pub(super) fn receive_parcel(&mut self, parcel: Parcel) -> Option<()> {
        let channel = self.channel(parcel.dst, parcel.key)?;
        parcel.arrivals.into_iter().try_for_each(|arrival| self.put(channel, arrival))
    }

    /// None if nodes are left that cannot run.
    pub(super) fn outcome(self) -> Option<Outcome> {
        let Self { finish, messages, bytes, times, .. } = self;
        (self.unfinished == 0).then_some(Outcome { finish, messages, bytes, times: RECORD.then_some(times) })
    }

    /// Finds out which lanes a rank has.
    fn look_at(&mut self, lane: u32) -> Option<()> {
        let rank = self.lanes[lane as usize].rank;
        let graph = self.graph.rank(rank as usize);
        if lanes::is_chain(graph) {
            self.lanes[lane as usize].node = 0;
            return Some(());
        }
        if !C::CONCURRENT {
            return None;
        }
        let Lanes { heads, next, after } = lanes::lanes(graph, self.conventions)?;
        self.states[(rank - self.ranks.start) as usize].several =
            Some(Several { next, after, finish: vec![NOT_FINISHED; graph.len()] });
        let (first, others) = heads.split_first()?;
        self.lanes[lane as usize].node = *first;
        for head in others {
            let number = u32::try_from(self.lanes.len()).ok().filter(|number| *number != NO_LANE)?;
            self.lanes.push(Lane { rank, node: *head, next_waiter: NO_LANE, time: Picos::ZERO });
            self.runnable.push_back(number);
        }
        Some(())
    }

    fn run_chain(&mut self, lane: u32) -> Option<()> {
        let Lane { rank, node: first, mut time, .. } = self.lanes[lane as usize];
        let at = (rank - self.ranks.start) as usize;
        let ops = &self.graph.rank(rank as usize).ops()[first as usize..];
        let mut node = first;
        for op in ops {
            let Ok(finish) = self.execute(lane, rank, op, time)? else { break };
            time = finish;
            if RECORD {
                self.times[at][node as usize] = time;
            }
            node += 1;
        }
        self.unfinished -= (node - first) as usize;
        self.finish[at] = time;
        (self.lanes[lane as usize].node, self.lanes[lane as usize].time) = (node, time);
        Some(())
    }

    fn run_one_of_several(&mut self, lane: u32) -> Option<()> {
        let Lane { rank, node: first, .. } = self.lanes[lane as usize];
        let (graph, at) = (self.graph.rank(rank as usize), (rank - self.ranks.start) as usize);
        let mut node = first;
        'nodes: while node != END {
            let several = self.states[at].several.as_mut()?;
            let mut ready = Picos::ZERO;
            let after = several.after.get(node as usize).filter(|after| **after != END);
            for (dep, is_time) in
                graph.deps(node).iter().map(|dep| (dep, true)).chain(after.map(|dep| (dep, false)))
            {
                let dep = &mut several.finish[*dep as usize];
                if *dep & WAITED_FOR != 0 {
                    self.lanes[lane as usize].next_waiter = *dep as u32;
                    *dep = WAITED_FOR | u64::from(lane);
                    break 'nodes;
                }
                if is_time {
                    ready = ready.max(Picos(*dep));
                }
            }
            let Ok(finish) = self.execute(lane, rank, &graph.op(node), ready)? else { break };
            if finish.0 & WAITED_FOR != 0 {
                return None;
            }
            let several = self.states[at].several.as_mut()?;
            let mut waiter = std::mem::replace(&mut several.finish[node as usize], finish.0) as u32;
            let next = several.next[node as usize];
            while waiter != NO_LANE {
                self.runnable.push_back(waiter);
                waiter = std::mem::replace(&mut self.lanes[waiter as usize].next_waiter, NO_LANE);
            }
            self.finish[at] = self.finish[at].max(finish);
            if RECORD {
                self.times[at][node as usize] = finish;
            }
            self.unfinished -= 1;
            node = next;
        }
        self.lanes[lane as usize].node = node;
        Some(())
    }

    /// When a node finishes that is ready at the given time; `Err` if it has to wait for a message.
    #[inline]
    fn execute(&mut self, lane: u32, rank: u32, op: &Op, ready: Picos) -> Option<Result<Picos, Blocked>> {
        let at = (rank - self.ranks.start) as usize;
        Some(Ok(match *op {
            Op::Send { dst, tag, bytes } => {
                let key = Key::new(self.conventions, dst, tag, bytes);
                let port = match self.states[at].sends.get(key) {
                    Some(port) => port,
                    None => self.open(rank, key)?,
                };
                let Port { route, to } = &mut self.ports[port as usize];
                let sent = self.costs.send(route, &mut self.states[at].processor, ready, Bytes(bytes))?;
                let arrival = Arrival { at: sent.arrival, bytes };
                self.messages += 1;
                self.bytes = self.bytes.checked_add(bytes)?;
                if *to & ELSEWHERE == 0 {
                    let to = *to;
                    self.put(to, arrival)?;
                } else {
                    self.parcels[(*to & !ELSEWHERE) as usize].arrivals.push(arrival);
                }
                sent.finish
            }
            Op::Recv { src, tag, bytes } => {
                let key = Key::new(self.conventions, src, tag, bytes);
                let channel = match self.states[at].receives.get(key) {
                    Some(channel) => channel,
                    None => self.channel(rank, key)?,
                };
                let channel = &mut self.channels[channel as usize];
                let Some(arrival) = self.arrivals.pop(channel) else {
                    channel.waiter = lane;
                    return Some(Err(Blocked));
                };
                if arrival.bytes != bytes {
                    return None;
                }
                let processor = &mut self.states[at].processor;
                self.costs.receive(processor, ready, arrival.at, Bytes(bytes))?
            }
            Op::Comp { micros, .. } => {
                let duration = compute::duration(self.conventions, micros).ok()?;
                self.costs.compute(&mut self.states[at].processor, ready, duration)?
            }
            _ => return None,
        }))
    }

    #[inline]
    fn put(&mut self, channel: u32, arrival: Arrival) -> Option<()> {
        let channel = &mut self.channels[channel as usize];
        self.arrivals.push(channel, arrival)?;
        if channel.waiter != NO_LANE {
            self.runnable.push_back(std::mem::replace(&mut channel.waiter, NO_LANE));
        }
        Some(())
    }

    fn is_peer(&self, rank: u32, peer: u32) -> bool {
        let ranks = self.symmetry.map_or(self.graph.rank_count(), |symmetry| symmetry.rank_count() as usize);
        peer != rank && (peer as usize) < ranks
    }

    /// A new port; None if there is no such peer.
    #[cold]
    fn open(&mut self, rank: u32, key: Key) -> Option<u32> {
        let dst = key.peer;
        if !self.is_peer(rank, dst) {
            return None;
        }
        let route = self.costs.route(rank, dst)?;
        let of_receiver = key.seen_from(rank);
        let to = if let Some(symmetry) = self.symmetry {
            self.channel(rank, key.seen_from(symmetry.back(dst)))?
        } else if self.ranks.contains(&dst) {
            self.channel(dst, of_receiver)?
        } else {
            self.parcels.push(Parcel { dst, key: of_receiver, arrivals: Vec::new() });
            ELSEWHERE | small(self.parcels.len() - 1)?
        };
        self.ports.push(Port { route, to });
        let number = small(self.ports.len() - 1)?;
        self.states[(rank - self.ranks.start) as usize].sends.insert(key, number);
        Some(number)
    }

    /// The channel of a receiving rank; opened by whoever comes first. None if there is no such peer.
    #[cold]
    fn channel(&mut self, dst: u32, key: Key) -> Option<u32> {
        if !self.is_peer(dst, key.peer) {
            return None;
        }
        let receives = &mut self.states[(dst - self.ranks.start) as usize].receives;
        if let Some(channel) = receives.get(key) {
            return Some(channel);
        }
        let number = small(self.channels.len())?;
        self.channels.push(Channel::EMPTY);
        receives.insert(key, number);
        Some(number)
    }
}

/// A RECV has no message yet; its lane is woken when one comes.
struct Blocked;

/// A number that leaves room for a flag.
fn small(number: usize) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| number & ELSEWHERE == 0)
}
