//! Runs ranks whose nodes form one chain: nothing is kept of a node, and of a message only while it is under way.

use std::collections::VecDeque;
use std::ops::Range;

use chakra_et::graph::{Graph, Op};

use super::Outcome;
use super::channel::{Arrival, Arrivals, Channel, NO_RANK};
use super::ports::Directory;
use super::rounds::Part;
use super::source::Source;
use crate::engine::compute;
use crate::engine::connection::Key;
use crate::model::Conventions;
use crate::model::network::ContentionFree;
use crate::units::{Bytes, Picos};

/// Arrivals for a channel of another partition.
pub(super) struct Parcel {
    pub(super) dst: u32,
    /// As the receiver names the connection.
    key: Key,
    arrivals: Vec<Arrival>,
}

/// Some ranks, run until none of them can go on.
pub(super) struct Partition<'a, C: ContentionFree, const RECORD: bool> {
    source: Source<'a>,
    graph: &'a Graph,
    conventions: Conventions,
    costs: &'a C,
    ranks: Range<u32>,
    /// By rank, from the first of the partition; the next two likewise.
    states: Vec<RankState<C::Processor>>,
    finish: Vec<Picos>,
    times: Vec<Vec<Picos>>,
    ports: Vec<Port<C::Route>>,
    channels: Vec<Channel>,
    parcels: Vec<Parcel>,
    arrivals: Arrivals,
    /// Ranks, from the first of the partition, that may be able to go on.
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
    /// The next node to run. The one before it finished at the rank's `finish`.
    node: u32,
}

/// Where a rank sends on one connection.
struct Port<R> {
    route: R,
    /// A channel, or with [`ELSEWHERE`] a parcel.
    to: u32,
}

const ELSEWHERE: u32 = 1 << 31;

impl<'a, C: ContentionFree, const RECORD: bool> Partition<'a, C, RECORD> {
    /// `source` must be the ranks of the graph, or the first alone.
    pub(super) fn new(
        source: Source<'a>,
        graph: &'a Graph,
        conventions: Conventions,
        costs: &'a C,
        ranks: Range<u32>,
    ) -> Self {
        let of_ranks = &graph.ranks()[ranks.start as usize..ranks.end as usize];
        let times = of_ranks.iter().map(|rank| vec![Picos::ZERO; rank.len()]);
        Self {
            source,
            graph,
            conventions,
            costs,
            states: ranks.clone().map(|_| RankState::default()).collect(),
            finish: vec![Picos::ZERO; ranks.len()],
            times: if RECORD { times.collect() } else { Vec::new() },
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

    /// None if nodes are left that cannot run.
    pub(super) fn outcome(self) -> Option<Outcome> {
        let Self { finish, messages, bytes, times, .. } = self;
        (self.unfinished == 0).then_some(Outcome { finish, messages, bytes, times: RECORD.then_some(times) })
    }

    /// Runs a rank as far as it gets.
    fn run_rank(&mut self, at: usize) -> Option<()> {
        let rank = self.ranks.start + at as u32;
        let (first, mut time) = (self.states[at].node, self.finish[at]);
        let ops = &self.graph.rank(rank as usize).ops()[first as usize..];
        let mut node = first;
        for op in ops {
            let Ok(finish) = self.execute(at, rank, op, time)? else { break };
            time = finish;
            if RECORD {
                self.times[at][node as usize] = time;
            }
            node += 1;
        }
        self.unfinished -= (node - first) as usize;
        (self.states[at].node, self.finish[at]) = (node, time);
        Some(())
    }

    /// When a node finishes that is ready at the given time; `Err` if it has to wait for a message.
    #[inline]
    fn execute(&mut self, at: usize, rank: u32, op: &Op, ready: Picos) -> Option<Result<Picos, Blocked>> {
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
                    channel.waiter = at as u32;
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
        if channel.waiter != NO_RANK {
            self.runnable.push_back(std::mem::replace(&mut channel.waiter, NO_RANK));
        }
        Some(())
    }

    /// A new port; None if there is no such peer.
    #[cold]
    fn open(&mut self, rank: u32, key: Key) -> Option<u32> {
        let dst = key.peer;
        if !self.source.may_name(rank as usize, dst) {
            return None;
        }
        let route = self.costs.route(rank, dst)?;
        let of_receiver = key.seen_from(rank);
        let to = if let Source::First(..) = self.source {
            self.channel(rank, self.source.other_end(0, key).1)?
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
        if !self.source.may_name(dst as usize, key.peer) {
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

impl<C: ContentionFree, const RECORD: bool> Part for Partition<'_, C, RECORD> {
    type Parcel = Parcel;

    fn run(&mut self) -> Option<()> {
        while let Some(at) = self.runnable.pop_front() {
            self.run_rank(at as usize)?;
        }
        Some(())
    }

    fn take_parcels(&mut self) -> Vec<Parcel> {
        let full = self.parcels.iter_mut().filter(|parcel| !parcel.arrivals.is_empty());
        let taken =
            |parcel: &mut Parcel| Parcel { arrivals: std::mem::take(&mut parcel.arrivals), ..*parcel };
        full.map(taken).collect()
    }

    fn receiver(parcel: &Parcel) -> u32 {
        parcel.dst
    }

    fn receive_parcel(&mut self, parcel: Parcel) -> Option<()> {
        let channel = self.channel(parcel.dst, parcel.key)?;
        parcel.arrivals.into_iter().try_for_each(|arrival| self.put(channel, arrival))
    }
}

/// A RECV has no message yet; its rank is woken when one comes.
struct Blocked;

/// A number that leaves room for a flag.
fn small(number: usize) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| number & ELSEWHERE == 0)
}
