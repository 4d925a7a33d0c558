//! Cut-through, with the bandwidth of every directed link shared max-min fairly.
//!
//! A message of S bytes that is injected at t is a *flow* over all links of its route at once, from t until
//! its last byte has left at u. It is delivered at u + Σ latency over its hops. While flows come and go,
//! flow f has the rate r_f, and
//!
//! ```text
//! ∫ r_f dt from t to u = S
//! ```
//!
//! The rates are max-min fair at every moment: no link carries more than its bandwidth, and every flow crosses a
//! *bottleneck*, a link that is full and on which no other flow is faster. Exactly one set of rates is like
//! that (Bertsekas and Gallager, *Data Networks*, 6.5.2). So a flow that is alone takes
//! Σ latency + S / smallest bandwidth, to the picosecond what `analytical` says, and k flows that start
//! together on one link take k · S / bandwidth each.
//!
//! **Arithmetic.** Whole numbers only. Rates are in 2^−24 bytes per second, rounded down
//! ([`sharing`]); work is in 2^−24 · 10^−12 bytes, so that rate · picoseconds = work without rounding
//! ([`stream`]). A flow ends at the nearest picosecond, half up, as a duration is rounded under the other models:
//! rounding up would put 7 · 20 µs at 140 µs and 1 ps, because a seventh of a bandwidth is rounded down. The error
//! of a time is below 2^−24 of the time for links of 1 byte per second, and below 2^−50 from 100 MB/s on.
//!
//! **Work.** A message whose links are all idle needs one event and no recomputation; if another one comes
//! across, the two become shared flows. After the arrivals and ends of a moment the rates are brought up to date once, from the
//! links where something changed outwards, as far as levels change ([`sharing`]). Flows with one bottleneck
//! have one clock of work, so that a new rate costs nothing for each of them ([`ends`]).
//!
//! Only under the exact conventions: ASTRA-sim has no such backend.

mod divide;
mod ends;
mod sharing;
mod stream;
mod transfer;

use self::ends::Ends;
use self::sharing::{Sharing, rate_of};
use self::stream::{Flow, Stream, work};
use self::transfer::LastTransfer;
use super::link_queue::DenseLinks;
use super::network::{Network, Pair};
use crate::error::Overflow;
use crate::events::{Event, EventQueue, MessageId, Messages};
use crate::report::LinkLoad;
use crate::topology::{LinkId, Topology};
use crate::units::{Bytes, Picos, transfer_time};

/// Said in every report, because no machine comes up to it.
const IDEAL: &str =
    "fluid shares links ideally fairly and at once: no packets, no queues, no congestion control";

/// What to know when reading the figures.
pub(crate) fn notes() -> Vec<String> {
    vec![IDEAL.to_owned()]
}

/// No class, no group.
const NONE: u32 = u32::MAX;

/// From here on, and by twice the number of its pair, the hop of a message that had its links for itself and whose receiver
/// belongs to another part of the network. One more, as for others 1, if its next arrival is void.
const FIRST_CROSSING: u32 = 2;

/// Among the numbers of groups: the event that recomputes the rates.
const RECOMPUTE: u32 = u32::MAX;

pub(crate) struct Fluid {
    ids: Vec<LinkId>,
    links: Vec<LinkState>,
    /// The number of the first pair: 0, if this is no part of a divided network.
    first_pair: u32,
    /// By pair.
    routes: Vec<Route>,
    sharing: Sharing,
    /// By class.
    streams: Vec<Stream>,
    ends: Ends,
    /// Groups of ends that lost some at this moment.
    waiting: Vec<u32>,
    /// The last moment for which a recomputation was asked.
    asked_at: Option<Picos>,
    /// Number of shared flows so far.
    joined: u64,
    last: LastTransfer,
}

/// The route of a pair of ranks.
struct Route {
    first_hop: u32,
    end_hop: u32,
    latency: Picos,
    /// Of the slowest link.
    bytes_per_s: u64,
    /// While several flows share links with it, its class.
    class: u32,
    /// Whether the receiver belongs to another part of a divided network.
    crosses: bool,
}

struct LinkState {
    /// The message that has the link for itself until `alone_until`, since when, and its pair.
    alone: Option<MessageId>,
    alone_pair: u32,
    alone_since: Picos,
    alone_until: Picos,
    bytes: u64,
    /// How long something flowed, up to `shared_since` if classes cross the link, and with all that a message
    /// alone will take.
    busy: Picos,
    shared_since: Picos,
}

impl Fluid {
    pub(crate) fn new(topology: &Topology, pairs: &[Pair]) -> Result<Self, Overflow> {
        Self::limited(topology, pairs, &[], |_| [])
    }

    /// With further limits, in bytes per second, to what flows together: `crossed` gives those that a pair is subject to, beside the
    /// links of its route. The loads are those of the links.
    pub(crate) fn limited<I: IntoIterator<Item = u32>>(
        topology: &Topology,
        pairs: &[Pair],
        limits: &[u64],
        crossed: impl Fn(usize) -> I,
    ) -> Result<Self, Overflow> {
        let dense = DenseLinks::of(topology, pairs);
        let ids = dense.ids();
        let cost_of = |id: &LinkId| {
            let (bandwidth, latency) = topology.link_timing(*id);
            (bandwidth.whole_bytes_per_s(), latency.to_picos())
        };
        let costs: Vec<(u64, Picos)> = ids.iter().map(cost_of).collect();
        let capacities: Vec<u64> =
            costs.iter().map(|(bytes_per_s, _)| *bytes_per_s).chain(limits.iter().copied()).collect();
        let first_limit = u32::try_from(ids.len()).map_err(|_| Overflow::ROUTES)?;
        let mut route = Vec::new();
        Self::of_routes(ids, capacities, pairs.len(), |number, hops| {
            let Pair { src, dst } = pairs[number];
            topology.route(src, dst, &mut route);
            let mut latency = Picos::ZERO;
            for id in route.drain(..) {
                let link = dense.index(id);
                latency = latency.checked_add(costs[link as usize].1).ok_or(Overflow::TIME)?;
                hops.push(link);
            }
            hops.extend(crossed(number).into_iter().map(|limit| first_limit + limit));
            Ok(latency)
        })
    }

    /// Of so many pairs, over links of these ids, and limits: `capacities` are those of the links, then of the limits, in bytes per
    /// second. `route` adds the numbers of those that a pair crosses, and gives its latency.
    pub(crate) fn of_routes(
        ids: Vec<LinkId>,
        capacities: Vec<u64>,
        pairs: usize,
        mut route: impl FnMut(usize, &mut Vec<u32>) -> Result<Picos, Overflow>,
    ) -> Result<Self, Overflow> {
        let (mut hops, mut routes) = (Vec::new(), Vec::with_capacity(pairs));
        for pair in 0..pairs {
            let first = hops.len();
            let latency = route(pair, &mut hops)?;
            let slowest = hops[first..].iter().map(|hop| capacities[*hop as usize]).min();
            let number = |hops: usize| u32::try_from(hops).map_err(|_| Overflow::ROUTES);
            routes.push(Route {
                first_hop: number(first)?,
                end_hop: number(hops.len())?,
                latency,
                bytes_per_s: slowest.unwrap_or(u64::MAX),
                class: NONE,
                crosses: false,
            });
        }
        let idle = || LinkState {
            alone: None,
            alone_pair: 0,
            alone_since: Picos::ZERO,
            alone_until: Picos::ZERO,
            bytes: 0,
            busy: Picos::ZERO,
            shared_since: Picos::ZERO,
        };
        Ok(Self {
            links: capacities.iter().map(|_| idle()).collect(),
            first_pair: 0,
            routes,
            streams: Vec::new(),
            ends: Ends::new(capacities.len()),
            sharing: Sharing::new(capacities.into_iter(), hops),
            waiting: Vec::new(),
            ids,
            asked_at: None,
            joined: 0,
            last: LastTransfer::default(),
        })
    }

    /// Takes the latencies off the pairs, so that an arrival is the end of a flow, and gives them by pair.
    pub(crate) fn take_latencies(&mut self) -> Vec<Picos> {
        self.routes.iter_mut().map(|route| std::mem::take(&mut route.latency)).collect()
    }

    /// The work that is left of the one message under way of a pair, and whether it has its links for itself. What it is counted in
    /// is of no account: equal work with equal rates takes equal times.
    pub(crate) fn left(&mut self, pair: u32, message: MessageId, size: Bytes, now: Picos) -> (u128, bool) {
        let Route { first_hop, bytes_per_s, class, .. } = self.routes[pair as usize];
        if class != NONE {
            let clock = self.sharing.clock_of_class(class, now);
            let goal = self.streams[class as usize].first().map_or(clock, |flow| flow.goal);
            return (goal.wrapping_sub(clock), false);
        }
        let link = &self.links[self.sharing.hops()[first_hop as usize] as usize];
        if link.alone != Some(message) || link.alone_until <= now {
            return (0, true);
        }
        (work(size).saturating_sub(rate_of(bytes_per_s) * u128::from(now.0 - link.alone_since.0)), true)
    }

    /// All links of the route are idle: the flow has them for itself, and nobody else has to know.
    #[inline]
    fn start_alone(
        &mut self,
        message: MessageId,
        pair: u32,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow> {
        let size = messages[message].bytes;
        let route = &self.routes[pair as usize];
        let span = self.last.of(size, route.bytes_per_s)?;
        let now = queue.now();
        let until = now.checked_add(span).ok_or(Overflow::TIME)?;
        for hop in route.first_hop..route.end_hop {
            let link = &mut self.links[self.sharing.hops()[hop as usize] as usize];
            link.alone = Some(message);
            (link.alone_pair, link.alone_since, link.alone_until) = (pair, now, until);
            // One flow at a time, or several within one busy span: no more than the time that has passed.
            link.busy = Picos(link.busy.0 + span.0);
        }
        if route.crosses {
            // Whether it is the last arrival is known when the flow ends: before that, others may come across.
            messages[message].hop = FIRST_CROSSING + 2 * pair;
            return queue.schedule_arrival(span, message, messages);
        }
        let span = span.checked_add(route.latency).ok_or(Overflow::TIME)?;
        queue.schedule_arrival(span, message, messages)
    }

    /// The flow meets others: all of them become shared flows, with rates from the end of this moment on.
    #[cold]
    fn start_shared(
        &mut self,
        message: MessageId,
        pair: u32,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow> {
        let now = queue.now();
        let Route { first_hop, end_hop, .. } = self.routes[pair as usize];
        for hop in first_hop..end_hop {
            let link = &self.links[self.sharing.hops()[hop as usize] as usize];
            if let (Some(other), true) = (link.alone, link.alone_until > now) {
                let of_pair = link.alone_pair;
                let left = self.leave_alone(of_pair, messages[other].bytes, now);
                // The arrival that was scheduled is void.
                messages[other].hop += 1;
                self.join(other, of_pair, left, now);
            }
        }
        self.join(message, pair, work(messages[message].bytes), now);
        self.ask(queue)
    }

    /// Ends the time in which the flow of a pair had its links for itself: the work that it has before it.
    fn leave_alone(&mut self, pair: u32, size: Bytes, now: Picos) -> u128 {
        let Route { first_hop, end_hop, bytes_per_s, .. } = self.routes[pair as usize];
        let mut since = now;
        for hop in first_hop..end_hop {
            let link = &mut self.links[self.sharing.hops()[hop as usize] as usize];
            since = link.alone_since;
            link.busy = Picos(link.busy.0 - (link.alone_until.0 - now.0));
            (link.alone, link.alone_until) = (None, now);
        }
        work(size).saturating_sub(rate_of(bytes_per_s) * u128::from(now.0 - since.0))
    }

    /// A flow joins the class of its pair.
    fn join(&mut self, message: MessageId, pair: u32, left: u128, now: Picos) {
        let class = self.class_of(pair, now);
        let flow = Flow::new(self.sharing.clock_of_class(class, now) + left, self.joined, message);
        self.joined += 1;
        if self.streams[class as usize].join(flow) {
            self.set_end(class);
        }
        self.sharing.set_flows(class, self.streams[class as usize].len());
    }

    fn class_of(&mut self, pair: u32, now: Picos) -> u32 {
        let Route { first_hop, end_hop, class, .. } = self.routes[pair as usize];
        if class != NONE {
            return class;
        }
        for hop in first_hop..end_hop {
            let at = self.sharing.hops()[hop as usize];
            if !self.sharing.is_shared(at) {
                self.links[at as usize].shared_since = now;
            }
        }
        let class = self.sharing.attach(first_hop..end_hop);
        if class as usize == self.streams.len() {
            self.streams.push(Stream::default());
        }
        self.streams[class as usize].pair = pair;
        self.routes[pair as usize].class = class;
        class
    }

    /// The class has another first flow or another home.
    fn set_end(&mut self, class: u32) {
        // A class without a home gets one at the end of this moment.
        let (first, home) = (self.streams[class as usize].first(), self.sharing.home(class));
        if let (Some(first), Some(home)) = (first, home) {
            self.ends.set(class, home, self.sharing.at_home(class, first.goal));
            self.sharing.touch(home);
        }
    }

    /// Asks for a recomputation behind everything that is already to run at this moment.
    ///
    /// All changes go through it: so it makes no difference which others, not connected with them, happen at the same time.
    fn ask(&mut self, queue: &mut EventQueue) -> Result<(), Overflow> {
        if self.asked_at == Some(queue.now()) {
            return Ok(());
        }
        self.asked_at = Some(queue.now());
        queue.schedule_last(Event::LinkFree(RECOMPUTE))
    }

    /// New rates where flows have come or gone, and events at the next ends there.
    fn recompute(&mut self, queue: &mut EventQueue) -> Result<(), Overflow> {
        let now = queue.now();
        self.sharing.recompute(now);
        while let Some(class) = self.sharing.pop_moved() {
            self.set_end(class);
        }
        let Self { ends, sharing, waiting, .. } = self;
        let mut schedule = |number, end: Picos| queue.schedule(Picos(end.0 - now.0), Event::LinkFree(number));
        ends.regroup(sharing, now, &mut schedule)?;
        for number in waiting.drain(..) {
            ends.next_end(number, sharing, now, &mut schedule)?;
        }
        Ok(())
    }

    /// The time of a group has come: the flows that are due leave, and the others get new rates.
    fn end_flows(
        &mut self,
        number: u32,
        messages: &Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow> {
        let now = queue.now();
        let links: Vec<u32> = self.ends.due(number, now).collect();
        if links.is_empty() {
            // Its first end has another time by now.
            let mut schedule =
                |number, end: Picos| queue.schedule(Picos(end.0 - now.0), Event::LinkFree(number));
            return self.ends.next_end(number, &mut self.sharing, now, &mut schedule);
        }
        self.waiting.push(number);
        let mut ended = Vec::new();
        for link in links {
            while let Some(class) = self.ends.ended(link, &mut self.sharing, now) {
                ended.extend(self.end_flow(class, now));
            }
            self.sharing.touch(link);
        }
        ended.sort_unstable_by_key(|(number, ..)| *number);
        for (_, message, pair) in ended {
            let Route { latency, crosses, .. } = self.routes[pair as usize];
            if crosses {
                queue.depart(latency, message)?;
            } else {
                queue.schedule_arrival(latency, message, messages)?;
            }
        }
        self.ask(queue)
    }

    /// The first flow of a class leaves: its number, its message and its pair.
    fn end_flow(&mut self, class: u32, now: Picos) -> Option<(u64, MessageId, u32)> {
        let stream = &mut self.streams[class as usize];
        let flow = stream.pop()?;
        let (flows, pair) = (stream.len(), stream.pair);
        self.sharing.set_flows(class, flows);
        if flows > 0 {
            self.set_end(class);
            return Some((flow.number, flow.message(), pair));
        }
        self.routes[pair as usize].class = NONE;
        self.ends.forget(class);
        self.sharing.detach(class);
        for &link in self.sharing.route(class) {
            if !self.sharing.is_shared(link) {
                let link = &mut self.links[link as usize];
                link.busy = Picos(link.busy.0 + (now.0 - link.shared_since.0));
            }
        }
        Some((flow.number, flow.message(), pair))
    }
}

impl Network for Fluid {
    #[inline]
    fn inject(
        &mut self,
        message: MessageId,
        pair: u32,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow> {
        let size = messages[message].bytes;
        let pair = pair - self.first_pair;
        let route = &self.routes[pair as usize];
        let now = queue.now();
        let mut idle = true;
        for hop in route.first_hop..route.end_hop {
            let at = self.sharing.hops()[hop as usize];
            let link = &mut self.links[at as usize];
            link.bytes = link.bytes.checked_add(size.0).ok_or(Overflow::BYTES)?;
            idle &= link.alone_until <= now && !self.sharing.is_shared(at);
        }
        if size == Bytes(0) && route.crosses {
            queue.depart(route.latency, message)
        } else if size == Bytes(0) {
            queue.schedule_arrival(route.latency, message, messages)
        } else if idle {
            self.start_alone(message, pair, messages, queue)
        } else {
            self.start_shared(message, pair, messages, queue)
        }
    }

    /// Only the last arrival of a message counts: the earlier ones were scheduled when it had its links for itself.
    #[inline]
    fn arrive(
        &mut self,
        message: MessageId,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<bool, Overflow> {
        let hop = &mut messages[message].hop;
        if *hop % 2 == 1 {
            *hop -= 1;
            return Ok(false);
        }
        if *hop < FIRST_CROSSING {
            return Ok(true);
        }
        let pair = (*hop - FIRST_CROSSING) / 2;
        queue.depart(self.routes[pair as usize].latency, message)?;
        Ok(false)
    }

    fn link_free(
        &mut self,
        number: u32,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow> {
        if number == RECOMPUTE {
            self.asked_at = None;
            return self.recompute(queue);
        }
        self.end_flows(number, messages, queue)
    }

    fn parts(&self, pair: u32, size: Bytes) -> Option<(Picos, Picos)> {
        let route = &self.routes[(pair - self.first_pair) as usize];
        Some((route.latency, transfer_time(size, route.bytes_per_s)?))
    }

    fn link_loads(&self) -> Option<Vec<LinkLoad>> {
        let loads = self.ids.iter().zip(&self.links);
        Some(
            loads
                .map(|(id, link)| LinkLoad { link: *id, bytes: Bytes(link.bytes), busy: link.busy })
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests;
