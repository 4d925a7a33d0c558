//! Store and forward, with one FIFO queue for each directed link.
//!
//! A message of size S that starts on a free link at t
//! * is at the next device at t + latency + S / bandwidth, where it joins the queue of its next link;
//! * leaves the link free at t + S / bandwidth, when the next in the queue starts.
//!
//! Under ASTRA-sim's conventions (its congestion-aware backend) both spans are cut to whole ns.
//! Of messages that come to a link at the same time the one of the lowest sending rank is first, then that of the lowest
//! SEND; under ASTRA-sim's conventions the one that was scheduled first. There the arrival is ordered before the freeing
//! of the link. Nobody needs to hear of a link that falls
//! free without a queue, so that event only gets its place in the order, and is made when a message
//! joins the queue of the busy link.

mod divide;

use std::sync::Arc;

use super::Conventions;
use super::network::{Network, Pair, Passed};
use super::timing::Timing;
use crate::error::Overflow;
use crate::events::{Event, EventQueue, Message, MessageId, Messages, Ticket};
use crate::report::LinkLoad;
use crate::topology::{LinkId, Topology};
use crate::units::{Bytes, Picos};

/// Said where routes have several hops, because rings then look slower than on any machine.
const STORE_AND_FORWARD: &str = "link-queue stores and forwards whole messages: one that crosses several links (a \
switch is two) takes its time on each, so that a single chain of messages reaches only a fraction of their bandwidth; \
more chunks or channels in flight hide this";

/// Marks the last hop of a route.
const LAST_HOP: u32 = 1 << 31;

/// Marks a hop behind which the route goes on or ends in another block.
const CROSSES: u32 = 1 << 30;

/// What is left of a hop: an index of a link.
const LINK: u32 = CROSSES - 1;

/// Of all links that the routes use, or of a block of them.
pub(crate) struct LinkQueue {
    links: Vec<LinkState>,
    /// The index of the first of `links`; the first of each block.
    first_link: u32,
    blocks: Arc<[u32]>,
    /// By class of links of the topology.
    costs: Vec<Cost>,
    /// The routes of the pairs one after the other: indices of links.
    hops: Arc<[u32]>,
    /// Where the route of a pair begins in `hops`.
    first_hop: Arc<[u32]>,
    /// By index of a link, its class.
    classes: Arc<[u32]>,
    /// What has crossed the links, where it is recorded.
    passed: Option<Vec<Passed>>,
}

struct LinkState {
    id: LinkId,
    /// When the link falls free, and the place of that event among those of the same time.
    free_at: Picos,
    free_ticket: Ticket,
    /// The queue, linked through [`Messages`].
    head: Option<MessageId>,
    tail: Option<MessageId>,
    /// Index into `costs`.
    cost: u32,
    bytes: u64,
    busy: Picos,
}

/// What the links of one class cost, with the last answer: most messages of a collective have one size.
#[derive(Clone)]
struct Cost {
    timing: Timing,
    size: Bytes,
    occupation: Picos,
    passage: Picos,
}

impl Cost {
    #[inline]
    fn of(&mut self, size: Bytes) -> Result<(Picos, Picos), Overflow> {
        if size != self.size {
            let passage = self.timing.passage(size).ok_or(Overflow::TIME)?;
            let occupation = self.timing.occupation(size).ok_or(Overflow::TIME)?;
            (self.size, self.occupation, self.passage) = (size, occupation, passage);
        }
        Ok((self.occupation, self.passage))
    }
}

impl LinkQueue {
    pub(crate) fn new(
        topology: &Topology,
        conventions: Conventions,
        pairs: &[Pair],
    ) -> Result<Self, Overflow> {
        let costs = topology.link_classes().iter().map(|link| {
            let timing = Timing::new(conventions, 1, link.latency, link.bandwidth)?;
            let (occupation, passage) = (timing.occupation(Bytes(0))?, timing.passage(Bytes(0))?);
            Some(Cost { timing, size: Bytes(0), occupation, passage })
        });
        let costs = costs.collect::<Option<_>>().ok_or(Overflow::TIME)?;
        let dense = DenseLinks::of(topology, pairs);
        let (mut hops, mut first_hop, mut route) = (Vec::new(), Vec::with_capacity(pairs.len()), Vec::new());
        for pair in pairs {
            first_hop.push(u32::try_from(hops.len()).map_err(|_| Overflow::ROUTES)?);
            topology.route(pair.src, pair.dst, &mut route);
            hops.extend(route.drain(..).map(|id| dense.index(id)));
            if let Some(last) = hops.last_mut() {
                *last |= LAST_HOP;
            }
        }
        let ids = dense.ids();
        if ids.len() > LINK as usize {
            return Err(Overflow::ROUTES);
        }
        let class = |id: &LinkId| topology.dimension_of(*id).unwrap_or(0) as u32;
        let links = ids.iter().map(|id| LinkState {
            id: *id,
            free_at: Picos::ZERO,
            free_ticket: Ticket::default(),
            head: None,
            tail: None,
            cost: class(id),
            bytes: 0,
            busy: Picos::ZERO,
        });
        Ok(Self {
            links: links.collect(),
            first_link: 0,
            blocks: [0].into(),
            costs,
            hops: hops.into(),
            first_hop: first_hop.into(),
            classes: ids.iter().map(class).collect(),
            passed: None,
        })
    }

    /// The same, which keeps what crosses its links if that is wanted.
    pub(crate) fn recorded(self, wanted: bool) -> Self {
        Self { passed: wanted.then(Vec::new), ..self }
    }

    /// What to know when reading the figures.
    pub(crate) fn notes(&self) -> Vec<String> {
        let has_long_route = self.hops.iter().any(|hop| hop & LAST_HOP == 0);
        if has_long_route { vec![STORE_AND_FORWARD.to_owned()] } else { Vec::new() }
    }

    /// The message joins the queue of the link at its current hop.
    #[inline]
    fn join(
        &mut self,
        id: MessageId,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow> {
        let at = (self.hops[messages[id].hop as usize] & LINK) - self.first_link;
        let link = &mut self.links[at as usize];
        if let Some(tail) = link.tail {
            messages[tail].next = Some(id);
            link.tail = Some(id);
            return Ok(());
        }
        if queue.has_passed(link.free_at, link.free_ticket) {
            return self.start(at, id, messages, queue);
        }
        (link.head, link.tail) = (Some(id), Some(id));
        queue.schedule_reserved(link.free_at, link.free_ticket, Event::LinkFree(at + self.first_link))
    }

    #[inline]
    fn start(
        &mut self,
        at: u32,
        id: MessageId,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow> {
        let link = &mut self.links[at as usize];
        let size = messages[id].bytes;
        let (occupation, passage) = self.costs[link.cost as usize].of(size)?;
        if self.hops[messages[id].hop as usize] & CROSSES == 0 {
            queue.schedule_arrival(passage, id, messages)?;
        } else {
            queue.depart(passage, id)?;
        }
        link.free_at = queue.now().checked_add(occupation).ok_or(Overflow::TIME)?;
        link.free_ticket = queue.reserve();
        link.bytes = link.bytes.checked_add(size.0).ok_or(Overflow::BYTES)?;
        // A link carries one message at a time, so its busy time is no longer than the time that has passed.
        link.busy = Picos(link.busy.0 + occupation.0);
        if let Some(passed) = &mut self.passed {
            let Message { rank, node, .. } = messages[id];
            passed.push(Passed { link: link.id, start: queue.now(), finish: link.free_at, rank, node });
        }
        if link.head.is_some() {
            let event = Event::LinkFree(at + self.first_link);
            queue.schedule_reserved(link.free_at, link.free_ticket, event)?;
        }
        Ok(())
    }
}

impl Network for LinkQueue {
    #[inline]
    fn inject(
        &mut self,
        message: MessageId,
        pair: u32,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow> {
        messages[message].hop = self.first_hop[pair as usize];
        self.join(message, messages, queue)
    }

    #[inline]
    fn arrive(
        &mut self,
        message: MessageId,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<bool, Overflow> {
        let hop = &mut messages[message].hop;
        if self.hops[*hop as usize] & LAST_HOP != 0 {
            return Ok(true);
        }
        *hop += 1;
        self.join(message, messages, queue)?;
        Ok(false)
    }

    fn link_free(
        &mut self,
        at: u32,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow> {
        let at = at - self.first_link;
        let link = &mut self.links[at as usize];
        let Some(head) = link.head else { return Ok(()) };
        link.head = messages[head].next.take();
        if link.head.is_none() {
            link.tail = None;
        }
        self.start(at, head, messages, queue)
    }

    fn parts(&self, pair: u32, size: Bytes) -> Option<(Picos, Picos)> {
        let (mut latency, mut bandwidth) = (Picos::ZERO, Picos::ZERO);
        for hop in &self.hops[self.first_hop[pair as usize] as usize..] {
            let timing = &self.costs[self.classes[(hop & LINK) as usize] as usize].timing;
            let (occupation, passage) = (timing.occupation(size)?, timing.passage(size)?);
            bandwidth = bandwidth.checked_add(occupation)?;
            latency = latency.checked_add(Picos(passage.0.checked_sub(occupation.0)?))?;
            if hop & LAST_HOP != 0 {
                break;
            }
        }
        Some((latency, bandwidth))
    }

    fn crossed(&self, message: &Message, now: Picos) -> Option<(LinkId, Picos, Picos)> {
        let link = &self.links[((self.hops[message.hop as usize] & LINK) - self.first_link) as usize];
        let timing = &self.costs[link.cost as usize].timing;
        let start = Picos(now.0.checked_sub(timing.passage(message.bytes)?.0)?);
        Some((link.id, start, start.checked_add(timing.occupation(message.bytes)?)?))
    }

    fn passed(&mut self) -> Option<Vec<Passed>> {
        self.passed.take()
    }

    fn link_loads(&self) -> Option<Vec<LinkLoad>> {
        let load = |link: &LinkState| LinkLoad { link: link.id, bytes: Bytes(link.bytes), busy: link.busy };
        Some(self.links.iter().map(load).collect())
    }

    fn next_block(&self, message: &Message) -> Option<u32> {
        if self.hops[message.hop as usize] & LAST_HOP != 0 {
            return None;
        }
        let next = self.hops[message.hop as usize + 1] & LINK;
        Some(self.blocks.partition_point(|first| *first <= next) as u32 - 1)
    }
}

/// The links that some route uses, numbered from 0 in the order of their ids.
pub(super) enum DenseLinks {
    /// By link id, the index or `UNUSED`: for topologies with few links beside the routes.
    Table(Vec<u32>),
    /// The used ids in order, for the others.
    Sorted(Vec<u64>),
}

const UNUSED: u32 = u32::MAX;

impl DenseLinks {
    pub(super) fn of(topology: &Topology, pairs: &[Pair]) -> Self {
        const LINKS_PER_PAIR: u64 = 16;
        let mut route = Vec::new();
        let few = (pairs.len() as u64 * LINKS_PER_PAIR).max(1 << 16);
        if topology.link_count() <= few.min(u64::from(UNUSED)) {
            let mut table = vec![UNUSED; topology.link_count() as usize];
            for pair in pairs {
                topology.route(pair.src, pair.dst, &mut route);
                route.drain(..).for_each(|id| table[id.0 as usize] = 0);
            }
            let used = table.iter_mut().filter(|index| **index != UNUSED);
            (0..).zip(used).for_each(|(number, index)| *index = number);
            return Self::Table(table);
        }
        let mut used = Vec::new();
        for pair in pairs {
            topology.route(pair.src, pair.dst, &mut route);
            used.extend(route.drain(..).map(|id| id.0));
        }
        used.sort_unstable();
        used.dedup();
        Self::Sorted(used)
    }

    /// The index of a link on a route of one of the pairs.
    pub(super) fn index(&self, id: LinkId) -> u32 {
        match self {
            Self::Table(table) => table[id.0 as usize],
            Self::Sorted(used) => used.partition_point(|used| *used < id.0) as u32,
        }
    }

    pub(super) fn ids(&self) -> Vec<LinkId> {
        match self {
            Self::Table(table) => {
                let used = (0..).zip(table).filter(|(_, index)| **index != UNUSED);
                used.map(|(id, _)| LinkId(id)).collect()
            }
            Self::Sorted(used) => used.iter().map(|id| LinkId(*id)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Dimension;

    #[test]
    fn a_sparse_use_of_a_huge_topology_costs_only_the_links_used() {
        let full = Dimension::fully_connected(1 << 20, "50 GB/s".parse().unwrap(), "1 us".parse().unwrap());
        let topology = Topology::new([full]).unwrap();
        let pairs = [Pair { src: 9, dst: 1_000_000 }, Pair { src: 3, dst: 4 }];
        let network = LinkQueue::new(&topology, Conventions::Exact, &pairs).unwrap();
        assert_eq!(network.links.len(), 2);
        assert_eq!(*network.hops, [1 | LAST_HOP, LAST_HOP]);
        let mut route = Vec::new();
        topology.route(3, 4, &mut route);
        assert_eq!(network.links[0].id, route[0]);
    }
}
