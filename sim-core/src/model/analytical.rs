//! The contention-free model.
//!
//! * exact: Σ latency over the hops of the route + size / smallest bandwidth on it;
//! * ASTRA-sim's congestion-unaware backend: ⌊hops · latency + size / bandwidth⌋ whole ns, all three
//!   of the lowest-numbered dimension in which the coordinates differ.
//!
//! [`Routes`] is the model for the sweep; [`Analytical`] for the event engine, with one event for each message.

use rustc_hash::FxHashMap;

use super::Conventions;
use super::network::{ContentionFree, Network, Pair, Sent};
use super::timing::Timing;
use crate::error::Overflow;
use crate::events::{EventQueue, MessageId, Messages};
use crate::report::LinkLoad;
use crate::topology::Topology;
use crate::units::{Bandwidth, Bytes, Picos};

/// Said in every report, because results can look better than any machine.
const NO_LIMIT: &str = "analytical is contention-free and has no injection limit: any number of messages leave a \
rank at once, each with the full bandwidth";

/// Said where ASTRA-sim's rule leaves out links that a message would cross.
const ONE_DIMENSION: &str = "under the astra-sim conventions a message is charged only for the lowest-numbered \
dimension in which its ranks differ: slower links of higher dimensions may cost nothing";

/// What to know when reading the figures.
pub(crate) fn notes(conventions: Conventions, dimensions: usize) -> Vec<String> {
    let mut notes = vec![NO_LIMIT.to_owned()];
    if conventions == Conventions::AstraSim && dimensions > 1 {
        notes.push(ONE_DIMENSION.to_owned());
    }
    notes
}

pub(crate) struct Analytical {
    /// The different timings: few, because they depend on distances only.
    timings: Vec<Timing>,
    /// By pair, the index of its timing.
    timing_of: Vec<u32>,
}

impl Analytical {
    pub(crate) fn new(
        topology: &Topology,
        conventions: Conventions,
        pairs: &[Pair],
    ) -> Result<Self, Overflow> {
        let (mut timings, mut timing_of) = (Vec::new(), Vec::with_capacity(pairs.len()));
        let mut known = FxHashMap::default();
        for pair in pairs {
            let timing = route_timing(topology, conventions, *pair).ok_or(Overflow::TIME)?;
            let index = *known.entry(timing.bits()).or_insert_with(|| {
                timings.push(timing);
                timings.len() as u32 - 1
            });
            timing_of.push(index);
        }
        Ok(Self { timings, timing_of })
    }
}

/// None if the latency does not fit, or if the ranks are the same.
fn route_timing(topology: &Topology, conventions: Conventions, pair: Pair) -> Option<Timing> {
    match conventions {
        Conventions::AstraSim => {
            let mut first = None;
            topology.each_leg(pair.src, pair.dst, |leg| first = first.or(Some(leg)));
            let first = first?;
            Timing::new(conventions, first.hops, first.latency, first.bandwidth)
        }
        Conventions::Exact => {
            let (mut latency, mut smallest) = (Some(Picos::ZERO), None::<Bandwidth>);
            topology.each_leg(pair.src, pair.dst, |leg| {
                let of_leg = leg.latency.to_picos().0.checked_mul(u64::from(leg.hops));
                latency = latency.zip(of_leg).and_then(|(sum, of_leg)| sum.checked_add(Picos(of_leg)));
                smallest = Some(
                    smallest.map_or(leg.bandwidth, |b| if leg.bandwidth < b { leg.bandwidth } else { b }),
                );
            });
            Some(Timing::Exact { latency: latency?, bytes_per_s: smallest?.whole_bytes_per_s() })
        }
    }
}

impl Network for Analytical {
    #[inline]
    fn inject(
        &mut self,
        message: MessageId,
        pair: u32,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow> {
        let timing = &self.timings[self.timing_of[pair as usize] as usize];
        let passage = timing.passage(messages[message].bytes).ok_or(Overflow::TIME)?;
        queue.schedule_arrival(passage, message, messages)
    }

    #[inline]
    fn arrive(&mut self, _: MessageId, _: &mut Messages, _: &mut EventQueue) -> Result<bool, Overflow> {
        Ok(true)
    }

    fn link_free(&mut self, _: u32, _: &mut Messages, _: &mut EventQueue) -> Result<(), Overflow> {
        // No link is ever busy, so none is waited for.
        Ok(())
    }

    fn parts(&self, pair: u32, size: Bytes) -> Option<(Picos, Picos)> {
        let timing = &self.timings[self.timing_of[pair as usize] as usize];
        let (latency, passage) = (timing.passage(Bytes(0))?, timing.passage(size)?);
        Some((latency, Picos(passage.0.checked_sub(latency.0)?)))
    }

    fn link_loads(&self) -> Option<Vec<LinkLoad>> {
        None
    }
}

/// The times of all routes, worked out when they are asked for.
pub(crate) struct Routes<'a> {
    topology: &'a Topology,
    conventions: Conventions,
}

impl<'a> Routes<'a> {
    pub(crate) fn new(topology: &'a Topology, conventions: Conventions) -> Self {
        Self { topology, conventions }
    }
}

/// A route with its last answer: most messages of a collective have one size.
pub(crate) struct Route {
    timing: Timing,
    size: Bytes,
    passage: Picos,
}

/// The last messages by their ends, with what they took: a message is mostly one of many alike.
pub(crate) struct Memo {
    entries: Vec<Known>,
}

#[derive(Clone, Copy)]
struct Known {
    src: u32,
    dst: u32,
    size: Bytes,
    passage: Picos,
}

/// Small enough for the second cache of a core.
const REMEMBERED: usize = 1 << 12;

impl Default for Memo {
    fn default() -> Self {
        // Nobody sends to himself, so this answers nothing.
        Self { entries: vec![Known { src: 0, dst: 0, size: Bytes(0), passage: Picos::ZERO }; REMEMBERED] }
    }
}

impl Memo {
    #[inline]
    fn entry(&mut self, src: u32, dst: u32) -> &mut Known {
        // The upper bits of a product depend on all bits of both.
        let pair = u64::from(src) << 32 | u64::from(dst);
        let hash = pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - REMEMBERED.ilog2());
        &mut self.entries[hash as usize]
    }
}

impl ContentionFree for Routes<'_> {
    type Route = Route;
    type Processor = ();
    type Memo = Memo;
    const CONCURRENT: bool = true;

    fn route(&self, src: u32, dst: u32) -> Option<Route> {
        let timing = route_timing(self.topology, self.conventions, Pair { src, dst })?;
        Some(Route { timing, size: Bytes(0), passage: timing.passage(Bytes(0))? })
    }

    fn alike(&self, a: &Route, b: &Route) -> bool {
        a.timing.bits() == b.timing.bits()
    }

    #[inline]
    fn send(&self, route: &mut Route, (): &mut (), ready: Picos, size: Bytes) -> Option<Sent> {
        if size != route.size {
            (route.size, route.passage) = (size, route.timing.passage(size)?);
        }
        let arrival = ready.checked_add(route.passage)?;
        Some(Sent { finish: arrival, arrival })
    }

    #[inline]
    fn passage(&self, memo: &mut Memo, src: u32, dst: u32, size: Bytes) -> Option<Picos> {
        let known = memo.entry(src, dst);
        if (known.src, known.dst, known.size) != (src, dst, size) {
            let timing = route_timing(self.topology, self.conventions, Pair { src, dst })?;
            *known = Known { src, dst, size, passage: timing.passage(size)? };
        }
        Some(known.passage)
    }

    #[inline]
    fn receive(&self, (): &mut (), ready: Picos, arrival: Picos, _: Bytes) -> Option<Picos> {
        Some(ready.max(arrival))
    }

    #[inline]
    fn compute(&self, (): &mut (), ready: Picos, duration: Picos) -> Option<Picos> {
        ready.checked_add(duration)
    }
}
