//! Whole runs against the definition in whole numbers: at every moment, fill all links from the beginning.

use chakra_et::graph::{Graph, Op, Origin, RankGraph};
use proptest::prelude::*;

use super::sharing::rate_of;
use super::stream::work;
use crate::topology::{Dimension, FatTree, LeafSpine, LinkSpec, Routing, Topology};
use crate::units::{Bytes, Picos};
use crate::{Model, Simulation};

const RANKS: u32 = 16;

/// A message and what must be before: a time in µs, or the delivery of an earlier message to its source.
#[derive(Clone, Debug)]
struct Message {
    src: u32,
    dst: u32,
    bytes: u64,
    start: u64,
    after: Option<usize>,
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let size = prop_oneof![
        60 => Just(1_000_000), 60 => Just(999_983), 120 => 1..2_000_000u64, 60 => 0..4u64, 1 => Just(1 << 45)
    ];
    let message = (0..RANKS, 1..RANKS, size, prop_oneof![Just(0), 0..40u64], any::<bool>());
    prop::collection::vec(message, 1..90).prop_map(|drawn| {
        let mut messages = Vec::<Message>::new();
        for (src, distance, bytes, start, chained) in drawn {
            let after = messages.iter().rposition(|message| chained && message.dst == src);
            let start = if after.is_some() { 0 } else { start };
            messages.push(Message { src, dst: (src + distance) % RANKS, bytes, start, after });
        }
        messages
    })
}

fn topologies() -> impl Strategy<Value = Topology> {
    let speed = prop::sample::select(vec!["50 GB/s", "1 B/s", "7 GB/s", "999983 B/s", "2 TB/s"]);
    (speed, 0..5u8, prop_oneof![Just("0 ns"), Just("500 ns")]).prop_map(|(speed, kind, latency)| {
        let (bandwidth, latency) = (speed.parse().unwrap(), latency.parse().unwrap());
        let link = LinkSpec::new(bandwidth, latency);
        let slow = LinkSpec::new("3 GB/s".parse().unwrap(), latency);
        let routing = Routing::default();
        match kind {
            0 => Topology::new([Dimension::switch(RANKS, bandwidth, latency)]),
            1 => Topology::new([Dimension::ring(RANKS, bandwidth, latency)]),
            2 => Topology::torus([4, 4], link),
            3 => LeafSpine { leaves: 4, hosts: 4, spines: 2, host: link, uplink: slow, routing }.build(),
            _ => FatTree::k_ary(4, link).and_then(FatTree::build),
        }
        .unwrap()
    })
}

/// When each message is delivered.
fn simulated(topology: &Topology, messages: &[Message]) -> Option<Vec<Picos>> {
    let mut ranks: Vec<_> = (0..RANKS).map(|_| RankGraph::builder()).collect();
    let mut receives = Vec::new();
    for (tag, message) in (0..).zip(messages) {
        let Message { src, dst, bytes, start, after } = *message;
        let mut push = |rank: u32, op, dep| ranks[rank as usize].push(op, dep, Origin::default()).unwrap();
        let dep = match after {
            Some(after) => receives[after],
            None => push(src, Op::Comp { micros: start, ops: 0, bytes: 0 }, None),
        };
        push(src, Op::Send { dst, tag, bytes }, Some(dep));
        receives.push(push(dst, Op::Recv { src, tag, bytes }, None));
    }
    let graph = Graph::new(ranks.into_iter().map(|rank| rank.finish()).collect());
    // Times that do not fit are refused.
    let report = Simulation::new(topology).model(Model::Fluid).message_times(true).run(&graph).ok()?;
    let mut delivered = vec![Picos::ZERO; messages.len()];
    report.message_times?.iter().for_each(|message| delivered[message.tag as usize] = message.delivered);
    Some(delivered)
}

/// A flow under way.
struct Flow {
    message: usize,
    links: Vec<u64>,
    left: u128,
    rate: u128,
}

fn defined(topology: &Topology, messages: &[Message]) -> Vec<Picos> {
    let mut delivered = vec![None::<u64>; messages.len()];
    let mut starts: Vec<Option<u64>> =
        messages.iter().map(|message| message.after.is_none().then_some(message.start * 1_000_000)).collect();
    let (mut flows, mut now) = (Vec::<Flow>::new(), 0);
    loop {
        // Ends, then starts, then new rates, which may let flows end within half a picosecond.
        let (ended, rest): (Vec<_>, Vec<_>) = flows.into_iter().partition(|flow| flow.left * 2 < flow.rate);
        flows = rest;
        let mut ended: Vec<(usize, Vec<u64>)> =
            ended.into_iter().map(|flow| (flow.message, flow.links)).collect();
        let mut started = false;
        for at in 0..messages.len() {
            if starts[at] == Some(now) {
                (starts[at], started) = (None, true);
                let mut route = Vec::new();
                topology.route(messages[at].src, messages[at].dst, &mut route);
                let links = route.into_iter().map(|id| id.0).collect();
                match messages[at].bytes {
                    0 => ended.push((at, links)),
                    bytes => flows.push(Flow { message: at, links, left: work(Bytes(bytes)), rate: 0 }),
                }
            }
        }
        let any = started || !ended.is_empty();
        for (message, links) in ended {
            let latency = |id: &u64| topology.link_timing(crate::topology::LinkId(*id)).1.to_picos().0;
            let time = now + links.iter().map(latency).sum::<u64>();
            delivered[message] = Some(time);
            for (at, start) in starts.iter_mut().enumerate() {
                if messages[at].after == Some(message) {
                    *start = Some(time);
                }
            }
        }
        if any {
            if starts.contains(&Some(now)) {
                continue;
            }
            fill(topology, &mut flows);
        }
        // A flow may look as if it went on for ever, until others leave.
        let ends = flows.iter().map(|flow| u128::from(now) + (flow.left * 2 + flow.rate) / (flow.rate * 2));
        let Some(next) = ends.chain(starts.iter().flatten().map(|start| u128::from(*start))).min() else {
            break;
        };
        let next = u64::try_from(next).unwrap();
        for flow in &mut flows {
            flow.left = flow.left.saturating_sub(flow.rate * u128::from(next - now));
        }
        now = next;
    }
    delivered.into_iter().map(|time| Picos(time.unwrap())).collect()
}

fn fill(topology: &Topology, flows: &mut [Flow]) {
    let mut links: Vec<u64> = flows.iter().flat_map(|flow| flow.links.iter().copied()).collect();
    links.sort_unstable();
    links.dedup();
    let capacity =
        |link: u64| rate_of(topology.link_timing(crate::topology::LinkId(link)).0.whole_bytes_per_s());
    let mut open = vec![true; flows.len()];
    while open.contains(&true) {
        let shares: Vec<Option<u128>> = links
            .iter()
            .map(|link| {
                let on = |at: &usize| flows[*at].links.contains(link);
                let used: u128 =
                    (0..flows.len()).filter(|at| !open[*at] && on(at)).map(|at| flows[at].rate).sum();
                let count = (0..flows.len()).filter(|at| open[*at] && on(at)).count();
                (capacity(*link) - used).checked_div(count as u128)
            })
            .collect();
        let smallest = shares.iter().flatten().min().copied().unwrap();
        for (flow, open) in flows.iter_mut().zip(&mut open) {
            let full = |link: &u64| shares[links.binary_search(link).unwrap()] == Some(smallest);
            if *open && flow.links.iter().any(full) {
                (flow.rate, *open) = (smallest, false);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn every_message_takes_to_the_picosecond_what_the_definition_says(
        topology in topologies(), messages in messages()
    ) {
        if let Some(times) = simulated(&topology, &messages) {
            prop_assert_eq!(times, defined(&topology, &messages));
        }
    }
}
