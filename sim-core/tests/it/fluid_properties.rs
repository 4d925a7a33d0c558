//! The fluid model against a naive one, and what holds for any messages.

use std::collections::BTreeMap;

use chakra_et::graph::{Graph, Op};
use proptest::prelude::*;
use sim_core::topology::{Dimension, DimensionKind, LinkId, LinkList, LinkSpec, Node, Topology};
use sim_core::units::{Bandwidth, Latency, Picos};
use sim_core::{Model, Simulation};

use crate::support::*;

/// A message that depends on nothing but the time: source, distance to the destination, size, start in µs.
type Message = (u32, u32, u64, u64);

const RANKS: u32 = 12;

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let size = prop_oneof![Just(1_000_000), 1..2_000_000u64, 0..10u64];
    prop::collection::vec((0..RANKS, 1..RANKS, size, 0..60u64), 1..50)
}

/// Twelve ranks: products, with a bandwidth in GB/s for each dimension, and lists of links.
fn topologies() -> impl Strategy<Value = Topology> {
    use DimensionKind::{FullyConnected, Ring, Switch};
    let shapes = prop::sample::select(vec![
        vec![(Ring, 12, 50.0)],
        vec![(Switch, 12, 50.0)],
        vec![(Ring, 3, 30.0), (Switch, 4, 7.0)],
        vec![(Switch, 6, 400.0), (Switch, 2, 50.0)],
        vec![(FullyConnected, 2, 3.0), (Ring, 2, 1.0), (Ring, 3, 2.0)],
    ]);
    let products = shapes.prop_map(|shape| {
        let dimension = |(kind, size, gb_per_s): (DimensionKind, u32, f64)| {
            let bandwidth = Bandwidth::from_bytes_per_s(gb_per_s * 1e9).unwrap();
            Dimension { kind, size, bandwidth, latency: Latency::from_ns(500.0).unwrap() }
        };
        Topology::new(shape.into_iter().map(dimension)).unwrap()
    });
    // A ring of links of all kinds of speeds, with short cuts over a switch.
    let speeds = prop::collection::vec(1..20u32, 2 * RANKS as usize + 6);
    let lists = speeds.prop_map(|speeds| {
        let mut list = LinkList::new(RANKS);
        let hub = list.switch("hub");
        let ring = (0..RANKS).map(|rank| (Node::Rank(rank), Node::Rank((rank + 1) % RANKS)));
        let back = (0..RANKS).map(|rank| (Node::Rank((rank + 1) % RANKS), Node::Rank(rank)));
        let up = (0..3).map(|at| (Node::Rank(4 * at), hub));
        let down = (0..3).map(|at| (hub, Node::Rank(4 * at)));
        for ((from, to), speed) in ring.chain(back).chain(up).chain(down).zip(speeds) {
            let bandwidth = Bandwidth::from_bytes_per_s(f64::from(speed) * 1e9).unwrap();
            list.one_way(from, to, LinkSpec::new(bandwidth, Latency::from_ns(f64::from(speed)).unwrap()));
        }
        list.build().unwrap()
    });
    prop_oneof![products, lists]
}

/// Each message has its own tag, and a COMP before it gives its start.
fn graph(messages: &[Message]) -> Graph {
    let mut ranks = Ranks::new(RANKS);
    for (tag, &(src, distance, bytes, start)) in (0..).zip(messages) {
        let dst = (src + distance) % RANKS;
        let begin = ranks.comp(src, start, &[]);
        ranks.push(src, Op::Send { dst, tag, bytes }, &[begin]);
        ranks.push(dst, Op::Recv { src, tag, bytes }, &[]);
    }
    ranks.graph()
}

/// When each message was delivered.
fn delivered(topology: &Topology, model: Model, messages: &[Message]) -> Vec<Picos> {
    let simulation = Simulation::new(topology).model(model).message_times(true);
    let times = simulation.run(&graph(messages)).unwrap().message_times.unwrap();
    let mut delivered = vec![Picos::ZERO; messages.len()];
    times.iter().for_each(|message| delivered[message.tag as usize] = message.delivered);
    delivered
}

/// The same from the definition, in floating point: at every start and end, fill all links from the beginning.
fn reference(topology: &Topology, messages: &[Message]) -> Vec<f64> {
    let route = |&(src, distance, ..): &Message| {
        let mut route = Vec::new();
        topology.route(src, (src + distance) % RANKS, &mut route);
        route
    };
    let routes: Vec<_> = messages.iter().map(route).collect();
    let link = |id| topology.link(id).unwrap();
    let mut left: Vec<f64> = messages.iter().map(|message| message.2 as f64).collect();
    let mut end = vec![f64::NAN; messages.len()];
    let mut now = 0.0;
    loop {
        let flowing: Vec<usize> =
            (0..messages.len()).filter(|&m| end[m].is_nan() && messages[m].3 as f64 * 1e6 <= now).collect();
        let rates = max_min(topology, &routes, &flowing);
        let next_end = flowing.iter().map(|m| now + left[*m] / rates[m]).fold(f64::INFINITY, f64::min);
        let starts = messages.iter().map(|message| message.3 as f64 * 1e6).filter(|start| *start > now);
        let next = starts.fold(next_end, f64::min);
        if next == f64::INFINITY {
            break;
        }
        for m in flowing {
            left[m] -= rates[&m] * (next - now);
            if left[m] <= 1e-6 {
                end[m] = next;
            }
        }
        now = next;
    }
    let latency = |m: usize| routes[m].iter().map(|id| link(*id).latency.as_ns() * 1e3).sum::<f64>();
    (0..messages.len()).map(|m| end[m] + latency(m)).collect()
}

/// Bytes per picosecond of each flow.
fn max_min(topology: &Topology, routes: &[Vec<LinkId>], flowing: &[usize]) -> BTreeMap<usize, f64> {
    let mut rates = BTreeMap::<usize, f64>::new();
    loop {
        // Share of each link that still has flows without a rate.
        let mut links = BTreeMap::new();
        for m in flowing.iter().filter(|m| !rates.contains_key(*m)) {
            routes[*m].iter().for_each(|id| *links.entry(*id).or_insert(0.0) += 1.0);
        }
        let share = |id: &LinkId, count: f64| {
            let used: f64 =
                rates.iter().filter(|(m, _)| routes[**m].contains(id)).map(|(_, rate)| rate).sum();
            (topology.link(*id).unwrap().bandwidth.bytes_per_s() / 1e12 - used) / count
        };
        let tightest =
            links.iter().map(|(id, count)| (share(id, *count), *id)).min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((share, id)) = tightest else { return rates };
        for m in flowing {
            if routes[*m].contains(&id) {
                rates.entry(*m).or_insert(share);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_message_takes_what_the_definition_says(topology in topologies(), messages in messages()) {
        let times = delivered(&topology, Model::Fluid, &messages);
        for (time, expected) in times.iter().zip(reference(&topology, &messages)) {
            // Each change of rates may round by half a picosecond of the flow that ended.
            prop_assert!((time.0 as f64 - expected).abs() < 100.0, "{time} instead of {expected} ps");
        }
    }

    #[test]
    fn no_message_is_faster_than_alone_and_alone_it_takes_what_analytical_says(
        topology in topologies(), messages in messages()
    ) {
        let fluid = delivered(&topology, Model::Fluid, &messages);
        let alone = delivered(&topology, Model::Analytical, &messages);
        for (at, message) in messages.iter().enumerate() {
            prop_assert!(fluid[at] >= alone[at]);
            prop_assert_eq!(delivered(&topology, Model::Fluid, &[*message]), [alone[at]]);
        }
    }

    #[test]
    fn no_link_is_busy_longer_than_the_run_or_shorter_than_its_bytes_need(
        topology in topologies(), messages in messages()
    ) {
        let report = Simulation::new(&topology).model(Model::Fluid).run(&graph(&messages)).unwrap();
        for load in report.links.unwrap() {
            prop_assert!(load.busy <= report.makespan);
            let needed = topology.link(load.link).unwrap().bandwidth.transfer_time(load.bytes).unwrap();
            // Each of up to 50 flows may end half a picosecond early.
            prop_assert!(load.busy.0 + 25 >= needed.0, "busy {} of {needed}", load.busy);
        }
    }

    #[test]
    fn a_larger_message_is_not_delivered_earlier(
        topology in topologies(), messages in messages(), which in 0..50usize, more in 1..1_000_000u64
    ) {
        let which = which % messages.len();
        let mut larger = messages.clone();
        larger[which].2 += more;
        let before = delivered(&topology, Model::Fluid, &messages)[which];
        prop_assert!(before <= delivered(&topology, Model::Fluid, &larger)[which]);
    }

    #[test]
    fn neither_the_order_of_messages_nor_the_names_of_ranks_matter(messages in messages(), turn in 0..RANKS) {
        let switch = one(Dimension::switch, RANKS, "500 ns");
        let times = delivered(&switch, Model::Fluid, &messages);
        let backwards: Vec<Message> = messages.iter().rev().copied().collect();
        let mut again = delivered(&switch, Model::Fluid, &backwards);
        again.reverse();
        prop_assert_eq!(&again, &times);
        let turned = messages.iter().map(|&(src, distance, bytes, start)| ((src + turn) % RANKS, distance, bytes, start));
        prop_assert_eq!(&delivered(&switch, Model::Fluid, &turned.collect::<Vec<_>>()), &times);
    }

    #[test]
    fn shares_of_the_critical_path_add_up_to_the_time(
        topology in topologies(), messages in messages(), late in 0..RANKS, overhead in 0..3_000_000u64
    ) {
        let late = [format!("{late}=+30us,x2").parse().unwrap()];
        for model in NETWORK_MODELS {
            let simulation = Simulation::new(&topology).model(model).critical_path(true).stragglers(&late);
            let simulation = simulation.overheads(Picos(overhead), Picos(overhead / 2));
            let report = simulation.run(&graph(&messages)).unwrap();
            let path = report.critical_path.unwrap();
            prop_assert_eq!(path.shares.total(), report.makespan);
            let mut time = Picos::ZERO;
            for step in &path.steps {
                prop_assert_eq!(step.start, time);
                time = step.end;
                prop_assert_eq!(step.shares.total().0, step.end.0 - step.start.0);
            }
            prop_assert_eq!(time, report.makespan);
            if model == Model::Analytical {
                prop_assert_eq!(path.shares.queueing, Picos::ZERO);
            }
        }
    }
}
