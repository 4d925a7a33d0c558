//! Times on switched and placed networks, computed by hand: 1,000,000 B take 20,000 ns at 50 GB/s and 40,000 ns at 25 GB/s.

use sim_core::topology::{
    CardOrder, Cluster, Dimension, LeafSpine, LinkList, LinkSpec, Node, Placement, Routing, Topology,
};
use sim_core::{Conventions, Model, SimError, Simulation};

use crate::support::*;

const MB: u64 = 1_000_000;
const EXACT: Conventions = Conventions::Exact;

fn link(bandwidth: &str, latency: &str) -> LinkSpec {
    LinkSpec::new(bandwidth.parse().unwrap(), latency.parse().unwrap())
}

fn leaf_spine(spines: u32) -> Topology {
    let (host, uplink) = (link("50 GB/s", "500 ns"), link("25 GB/s", "1 us"));
    LeafSpine { leaves: 2, hosts: 2, spines, host, uplink, routing: Routing::Destination }.build().unwrap()
}

#[test]
fn a_message_over_a_spine_pays_every_layer() {
    let mut ranks = Ranks::new(4);
    ranks.message(0, 3, MB);
    // 2 · 500 + 2 · 1000 ns, and the slowest link once or each link: 2 · 20,000 + 2 · 40,000.
    assert_eq!(makespan_ns(&leaf_spine(1), EXACT, &ranks.graph()), [43_000.0, 123_000.0]);
}

#[test]
fn messages_meet_on_the_only_spine_and_not_on_two() {
    let mut ranks = Ranks::new(4);
    ranks.message(0, 2, MB);
    ranks.message(1, 3, MB);
    let graph = ranks.graph();
    // Both are at leaf 0 at 20,500. The second waits there for 40,000 and then follows unhindered.
    assert_eq!(makespan_ns(&leaf_spine(1), EXACT, &graph), [43_000.0, 163_000.0]);
    assert_eq!(makespan_ns(&leaf_spine(2), EXACT, &graph), [43_000.0, 123_000.0]);
}

#[test]
fn the_ranks_of_a_node_share_its_card() {
    let cluster = Cluster {
        nodes: 2,
        node: one(Dimension::switch, 2, "100 ns"),
        cards: 1,
        card_link: Some(link("50 GB/s", "0 ns")),
        network: Topology::new([Dimension::ring(2, "25 GB/s".parse().unwrap(), "1 us".parse().unwrap())])
            .unwrap(),
        order: CardOrder::ByNode,
        through_peer: false,
    };
    let topology = cluster.build().unwrap();
    let mut ranks = Ranks::new(4);
    ranks.message(0, 2, MB);
    ranks.message(1, 3, MB);
    // Rank to card 20,000, the cable 40,000 one after the other, + 1,000, card to rank 20,000.
    let [_, link_queue] = finish_ns(&topology, EXACT, &ranks.graph());
    assert_eq!(link_queue, [81_000.0, 121_000.0, 81_000.0, 121_000.0]);
    // Within a node no card takes part: 2 · (100 + 20,000).
    let mut ranks = Ranks::new(4);
    ranks.message(2, 3, MB);
    assert_eq!(makespan_ns(&topology, EXACT, &ranks.graph()), [20_200.0, 40_200.0]);
}

#[test]
fn a_slow_way_back_is_only_slow_back() {
    let mut list = LinkList::new(2);
    list.one_way(Node::Rank(0), Node::Rank(1), link("50 GB/s", "0 ns"));
    list.one_way(Node::Rank(1), Node::Rank(0), link("25 GB/s", "3 us"));
    let topology = list.build().unwrap();
    for (src, dst, ns) in [(0, 1, 20_000.0), (1, 0, 43_000.0)] {
        let mut ranks = Ranks::new(2);
        ranks.message(src, dst, MB);
        assert_eq!(makespan_ns(&topology, EXACT, &ranks.graph()), [ns; 2]);
    }
}

#[test]
fn ranks_that_are_placed_apart_pay_for_the_way() {
    let ring = one(Dimension::ring, 8, "500 ns");
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, MB);
    let graph = ranks.graph();
    for (positions, hops) in [([0, 1], 1.0), ([2, 6], 4.0), ([7, 1], 2.0)] {
        let placement = Placement::from_positions(positions).unwrap();
        let simulation = Simulation::new(&ring).placement(&placement);
        let time = |model| simulation.model(model).run(&graph).unwrap().makespan.as_ns();
        assert_eq!(time(Model::Analytical), 500.0 * hops + 20_000.0);
        assert_eq!(time(Model::LinkQueue), 20_500.0 * hops);
    }
    // Placed on its own topology every rank is as without a placement.
    let graph = ring_all_reduce(8, MB, 3);
    let identity = Placement::identity(8);
    for model in NETWORK_MODELS {
        let plain = Simulation::new(&ring).model(model);
        assert_eq!(plain.placement(&identity).run(&graph), plain.run(&graph));
    }
}

#[test]
fn placements_that_do_not_fit_are_refused() {
    let ring = one(Dimension::ring, 4, "500 ns");
    let graph = Ranks::new(2).graph();
    let run = |placement: &Placement| Simulation::new(&ring).placement(placement).run(&graph);
    let far = Placement::from_positions([0, 4]).unwrap();
    assert_eq!(run(&far).unwrap_err().to_string(), "rank 1 is placed at position 4: expected one below 4");
    assert_eq!(run(&Placement::identity(3)), Err(SimError::RankCount { graph: 2, topology: 3 }));
    assert!(run(&Placement::identity(2)).is_ok());
}

#[test]
fn the_conventions_of_astra_sim_know_its_kinds_only() {
    let graph = Ranks::new(8).graph();
    let cube = one(Dimension::hypercube, 8, "500 ns");
    let tree = leaf_spine(1);
    for (topology, name) in [(&cube, "Hypercube of 8"), (&tree, "LeafSpine of 2 leaves")] {
        let error =
            Simulation::new(topology).conventions(Conventions::AstraSim).run(&graph).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("--conventions exact"), "{error}");
    }
    let placement = Placement::random(8, 8, 1).unwrap();
    let ring = astra("Ring", 8, 50.0, 500.0);
    let simulation = Simulation::new(&ring).conventions(Conventions::AstraSim);
    assert!(simulation.placement(&placement).run(&graph).is_ok());
}
