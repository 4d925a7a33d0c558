//! Times computed by hand: links of 50 GB/s (SI) carry 1,000,000 B in 20,000 ns.

use chakra_et::graph::Op;
use sim_core::topology::{Dimension, Topology, parse_astra_yaml};
use sim_core::units::{Bytes, Picos};
use sim_core::{Conventions, Model};

use crate::support::*;

const MB: u64 = 1_000_000;
const EXACT: Conventions = Conventions::Exact;

#[test]
fn one_message_through_a_switch_pays_two_latencies_and_once_or_twice_its_bytes() {
    let mut ranks = Ranks::new(4);
    ranks.message(1, 2, MB);
    let [analytical, link_queue] = finish_ns(&one(Dimension::switch, 4, "500 ns"), EXACT, &ranks.graph());
    assert_eq!(analytical, [0.0, 21_000.0, 21_000.0, 0.0]);
    assert_eq!(link_queue, [0.0, 41_000.0, 41_000.0, 0.0]);
}

#[test]
fn latency_is_paid_by_hop() {
    for (dst, exact, astra_sim) in
        [(4, [22_000.0, 82_000.0], [20_626.0, 76_504.0]), (7, [20_500.0; 2], [19_126.0; 2])]
    {
        let mut ranks = Ranks::new(8);
        ranks.message(0, dst, MB);
        let graph = ranks.graph();
        assert_eq!(makespan_ns(&one(Dimension::ring, 8, "500 ns"), EXACT, &graph), exact);
        assert_eq!(makespan_ns(&astra("Ring", 8, 50.0, 500.0), Conventions::AstraSim, &graph), astra_sim);
    }
}

#[test]
fn two_messages_on_one_link_queue_only_where_there_are_queues() {
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, MB);
    ranks.message(0, 1, MB);
    let [analytical, link_queue] = makespan_ns(&one(Dimension::ring, 2, "500 ns"), EXACT, &ranks.graph());
    assert_eq!((analytical, link_queue), (20_500.0, 40_500.0));
}

#[test]
fn a_message_that_only_passes_through_takes_its_turn() {
    // 0 → 2 goes through 1, whose own message to 2 is first on the link 1 → 2 and leaves it at 20,000.
    let mut ranks = Ranks::new(5);
    ranks.message(0, 2, MB);
    ranks.message(1, 2, MB);
    let [_, link_queue] = finish_ns(&one(Dimension::ring, 5, "500 ns"), EXACT, &ranks.graph());
    assert_eq!(link_queue, [41_000.0, 20_500.0, 41_000.0, 0.0, 0.0]);
    // Twice the size at rank 1: the link is busy until 40,000.
    let mut ranks = Ranks::new(5);
    ranks.message(0, 2, MB);
    ranks.message(1, 2, 2 * MB);
    let [_, link_queue] = finish_ns(&one(Dimension::ring, 5, "500 ns"), EXACT, &ranks.graph());
    assert_eq!(link_queue, [60_500.0, 40_500.0, 60_500.0, 0.0, 0.0]);
}

#[test]
fn an_incast_is_served_one_after_the_other_at_the_last_link() {
    let mut ranks = Ranks::new(8);
    (1..8).for_each(|src| ranks.message(src, 0, MB));
    let [analytical, link_queue] = finish_ns(&one(Dimension::switch, 8, "500 ns"), EXACT, &ranks.graph());
    assert_eq!(analytical, [21_000.0; 8]);
    // All are at the switch at 20,500; the k-th leaves it k · 20,000 later and takes 500 more.
    let served = (1..8).map(|k| 21_000.0 + f64::from(k) * 20_000.0);
    let expected: Vec<f64> = std::iter::once(161_000.0).chain(served).collect();
    assert_eq!(link_queue, expected);
}

#[test]
fn disjoint_pairs_do_not_disturb_each_other() {
    let mut ranks = Ranks::new(8);
    (0..4).for_each(|src| ranks.message(src, src + 4, MB));
    let [analytical, link_queue] = finish_ns(&one(Dimension::switch, 8, "500 ns"), EXACT, &ranks.graph());
    assert_eq!(analytical, [21_000.0; 8]);
    assert_eq!(link_queue, [41_000.0; 8]);
}

#[test]
fn direct_and_ring_differ_on_a_switch_as_theory_says() {
    // All-reduce of 100,000,000 B among 8, links of 50 GB/s and 10 ns.
    let chunk = 12_500_000;
    let (ring, direct) = (ring_all_reduce(8, chunk, 0), direct_all_reduce(8, chunk));
    let switch = one(Dimension::switch, 8, "10 ns");
    assert_eq!(makespan_ns(&switch, EXACT, &ring), [3_500_280.0, 7_000_280.0]);
    assert_eq!(makespan_ns(&switch, EXACT, &direct), [500_040.0, 4_000_040.0]);
    let full = one(Dimension::fully_connected, 8, "10 ns");
    assert_eq!(makespan_ns(&full, EXACT, &ring), [3_500_140.0; 2]);
    assert_eq!(makespan_ns(&full, EXACT, &direct), [500_020.0; 2]);
}

#[test]
fn gigabytes_are_10_to_the_9_bytes_unless_astra_sim_says_otherwise() {
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, 1 << 30);
    let graph = ranks.graph();
    let text = "topology: FullyConnected\nnpus_count: 2\nbandwidth: 100\nlatency: 0\n";
    for (conventions, ns) in [(EXACT, 10_737_418.24), (Conventions::AstraSim, 10_000_000.0)] {
        let loaded = parse_astra_yaml(text, "network.yml", Some(conventions)).unwrap();
        assert_eq!(makespan_ns(&loaded.topology, conventions, &graph), [ns; 2]);
    }
}

#[test]
fn a_route_through_two_dimensions_pays_both() {
    let cluster = Topology::new([
        Dimension::switch(8, "400 GB/s".parse().unwrap(), "500 ns".parse().unwrap()),
        Dimension::switch(4, "50 GB/s".parse().unwrap(), "2 us".parse().unwrap()),
    ])
    .unwrap();
    let mut ranks = Ranks::new(32);
    ranks.message(3, 12, MB);
    let graph = ranks.graph();
    // 2 · 500 + 2 · 2,000 + 20,000, and 2 · (500 + 2,500) + 2 · (2,000 + 20,000).
    assert_eq!(makespan_ns(&cluster, EXACT, &graph), [25_000.0, 50_000.0]);
    // ASTRA-sim's contention-free backend charges dimension 0 only: 2 · 500 + 2,500.
    let report = simulate(&cluster, Model::Analytical, Conventions::AstraSim, &graph);
    assert_eq!(report.makespan.as_ns(), 3_500.0);
}

#[test]
fn an_empty_message_takes_its_latency() {
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, 0);
    ranks.message(0, 1, 0);
    let graph = ranks.graph();
    assert_eq!(makespan_ns(&one(Dimension::switch, 2, "500 ns"), EXACT, &graph), [1_000.0; 2]);
    assert_eq!(makespan_ns(&astra("Switch", 2, 50.0, 500.0), Conventions::AstraSim, &graph), [1_000.0; 2]);
}

#[test]
fn a_receive_that_comes_late_costs_nothing_and_delays_nobody() {
    let mut ranks = Ranks::new(2);
    ranks.send(0, 1, MB, &[]);
    let busy = ranks.comp(1, 100, &[]);
    ranks.recv(1, 0, MB, &[busy]);
    let times = finish_ns(&one(Dimension::ring, 2, "500 ns"), EXACT, &ranks.graph());
    assert_eq!(times, [[20_500.0, 100_000.0], [20_500.0, 100_000.0]]);
}

#[test]
fn a_send_finishes_at_its_delivery_without_a_receive() {
    let mut ranks = Ranks::new(2);
    let send = ranks.send(0, 1, MB, &[]);
    ranks.comp(0, 7, &[send]);
    let times = finish_ns(&one(Dimension::ring, 2, "500 ns"), EXACT, &ranks.graph());
    assert_eq!(times, [[27_500.0, 0.0], [27_500.0, 0.0]]);
}

#[test]
fn the_kth_send_belongs_to_the_kth_receive_even_if_a_later_message_overtakes_it() {
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, MB);
    ranks.message(0, 1, 0);
    // The second RECV has its message at 500 ns: a COMP of 30 µs behind it ends at 30,500.
    ranks.comp(1, 30, &[1]);
    let [analytical, link_queue] = finish_ns(&one(Dimension::ring, 2, "500 ns"), EXACT, &ranks.graph());
    assert_eq!(analytical, [20_500.0, 30_500.0]);
    assert_eq!(link_queue, [20_500.0, 50_500.0], "on a queue nothing overtakes");
}

#[test]
fn a_long_chain_of_empty_computations_takes_no_time_and_no_stack() {
    let mut ranks = Ranks::new(2);
    let mut last = Vec::new();
    for _ in 0..1_000_000 {
        last = vec![ranks.comp(0, 0, &last)];
    }
    let graph = ranks.graph();
    assert_eq!(makespan_ns(&one(Dimension::ring, 2, "500 ns"), EXACT, &graph), [0.0; 2]);
    let astra_sim = makespan_ns(&one(Dimension::ring, 2, "500 ns"), Conventions::AstraSim, &graph);
    assert_eq!(astra_sim, [1_000_000.0; 2], "1 ns each");
}

#[test]
fn a_report_counts_messages_once_and_links_by_hop() {
    let mut ranks = Ranks::new(8);
    ranks.message(0, 2, MB);
    ranks.message(1, 2, MB);
    let (ring, graph) = (one(Dimension::ring, 8, "500 ns"), ranks.graph());
    let report = simulate(&ring, Model::LinkQueue, EXACT, &graph);
    assert_eq!((report.messages, report.bytes), (2, Bytes(2 * MB)));
    assert_eq!((report.model, report.conventions), (Model::LinkQueue, EXACT));
    let links = report.links.unwrap();
    let loads: Vec<_> = links.iter().map(|load| (load.link.0, load.bytes.0, load.busy)).collect();
    assert_eq!(loads, [(0, MB, Picos(20_000_000)), (1, 2 * MB, Picos(40_000_000))]);
    assert!(report.notes[0].contains("stores and forwards whole messages"));
    // Neighbours only: nothing to warn of.
    let mut ranks = Ranks::new(8);
    ranks.message(0, 1, MB);
    assert!(simulate(&ring, Model::LinkQueue, EXACT, &ranks.graph()).notes.is_empty());

    let report = simulate(&ring, Model::Analytical, EXACT, &graph);
    assert_eq!(report.links, None);
    assert!(report.notes[0].contains("no injection limit"), "{:?}", report.notes);
}

#[test]
fn a_graph_without_nodes_finishes_at_0() {
    let report = simulate(&one(Dimension::ring, 3, "1 us"), Model::LinkQueue, EXACT, &Ranks::new(3).graph());
    assert_eq!((report.makespan, report.finish), (Picos::ZERO, vec![Picos::ZERO; 3]));
}

#[test]
fn one_rank_alone_may_compute() {
    let mut ranks = Ranks::new(1);
    ranks.push(0, Op::Comp { micros: 3, ops: 1, bytes: 8 }, &[]);
    assert_eq!(makespan_ns(&one(Dimension::switch, 1, "1 us"), EXACT, &ranks.graph()), [3_000.0; 2]);
}

/// Both messages are at the switch at 40.5 µs. That of rank 3 is under way longer, but rank 1 comes first.
#[test]
fn of_messages_that_come_to_a_link_at_once_the_lower_sender_goes_first() {
    let mut ranks = Ranks::new(4);
    ranks.message(3, 0, 2 * MB);
    let busy = ranks.comp(1, 20, &[]);
    ranks.send(1, 0, MB, &[busy]);
    ranks.recv(0, 1, MB, &[]);
    let report = simulate(&one(Dimension::switch, 4, "500 ns"), Model::LinkQueue, EXACT, &ranks.graph());
    let finish: Vec<f64> = report.finish.iter().map(|finish| finish.as_ns()).collect();
    // 40,500 + 20,500; the down-link falls free at 60,500, + 40,500.
    assert_eq!(finish, [101_000.0, 61_000.0, 0.0, 101_000.0]);
}
