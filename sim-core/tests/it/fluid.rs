//! Fair sharing, by hand: links of 50 GB/s carry 1,000,000 B in 20,000 ns, and k flows on one take k times as long.

use sim_core::topology::{Dimension, LinkList, LinkSpec, Node, Topology};
use sim_core::{Conventions, Model, Simulation};

use crate::support::*;

const MB: u64 = 1_000_000;

/// The finish times of the ranks in ns.
fn fluid(topology: &Topology, ranks: Ranks) -> Vec<f64> {
    let report = simulate(topology, Model::Fluid, Conventions::Exact, &ranks.graph());
    report.finish.iter().map(|finish| finish.as_ns()).collect()
}

fn switch(size: u32) -> Topology {
    one(Dimension::switch, size, "500 ns")
}

#[test]
fn one_flow_pays_the_latency_of_each_hop_and_its_bytes_once() {
    let mut ranks = Ranks::new(4);
    ranks.message(1, 2, MB);
    assert_eq!(fluid(&switch(4), ranks), [0.0, 21_000.0, 21_000.0, 0.0]);
    let mut ranks = Ranks::new(8);
    ranks.message(0, 4, MB);
    assert_eq!(fluid(&one(Dimension::ring, 8, "500 ns"), ranks)[4], 22_000.0);
}

#[test]
fn flows_that_start_together_on_one_link_end_together() {
    for flows in [2, 3, 7] {
        let mut ranks = Ranks::new(2);
        (0..flows).for_each(|_| ranks.message(0, 1, MB));
        let end = 500.0 + 20_000.0 * f64::from(flows);
        assert_eq!(fluid(&one(Dimension::ring, 2, "500 ns"), ranks), [end; 2], "{flows} flows");
    }
}

#[test]
fn an_incast_shares_the_last_link() {
    let mut ranks = Ranks::new(8);
    (1..8).for_each(|src| ranks.message(src, 0, MB));
    assert_eq!(fluid(&switch(8), ranks), [141_000.0; 8]);
}

#[test]
fn disjoint_pairs_do_not_disturb_each_other() {
    let mut ranks = Ranks::new(8);
    (0..4).for_each(|src| ranks.message(src, src + 4, MB));
    assert_eq!(fluid(&switch(8), ranks), [21_000.0; 8]);
}

#[test]
fn all_to_all_through_a_switch_takes_as_long_as_one_link_needs_for_all_its_bytes() {
    let mut ranks = Ranks::new(16);
    for src in 0..16 {
        (1..16).for_each(|step| ranks.message(src, (src + step) % 16, MB));
    }
    assert_eq!(fluid(&switch(16), ranks), [301_000.0; 16]);
}

#[test]
fn a_flow_that_leaves_early_hands_on_its_share() {
    // Half the up-link each until 1 MB is through at 40,000; the second megabyte of the other then takes 20,000.
    let mut ranks = Ranks::new(3);
    ranks.message(0, 1, MB);
    ranks.message(0, 2, 2 * MB);
    assert_eq!(fluid(&switch(3), ranks), [61_000.0, 41_000.0, 61_000.0]);
}

#[test]
fn a_flow_that_comes_late_takes_its_share_from_then_on() {
    // 0.5 MB are through at 10,000; by 50,000 each has moved 1 MB more; the last 0.5 MB take 10,000.
    let mut ranks = Ranks::new(3);
    ranks.message(0, 1, 2 * MB);
    let later = ranks.comp(0, 10, &[]);
    ranks.send(0, 2, MB, &[later]);
    ranks.recv(2, 0, MB, &[]);
    assert_eq!(fluid(&switch(3), ranks), [61_000.0, 61_000.0, 51_000.0]);
}

#[test]
fn a_flow_that_comes_when_another_has_just_ended_has_the_link_for_itself() {
    let mut ranks = Ranks::new(3);
    ranks.message(0, 1, MB);
    let later = ranks.comp(0, 20, &[]);
    ranks.send(0, 2, MB, &[later]);
    ranks.recv(2, 0, MB, &[]);
    assert_eq!(fluid(&switch(3), ranks), [41_000.0, 21_000.0, 41_000.0]);
}

#[test]
fn three_flows_on_a_line_get_half_a_link_each() {
    let mut ranks = Ranks::new(5);
    ranks.message(0, 2, MB);
    ranks.message(0, 1, MB);
    ranks.message(1, 2, MB);
    assert_eq!(fluid(&one(Dimension::ring, 5, "500 ns"), ranks), [41_000.0, 40_500.0, 41_000.0, 0.0, 0.0]);
}

#[test]
fn with_two_bottlenecks_a_flow_takes_what_the_tighter_one_leaves_it() {
    // Link 1 → 2 has three flows and gives a third each; 0 → 1 shares its first link with one of them and gets two
    // thirds of it: 30,000. The others have then moved 0.5 MB. The long one (0.5 MB) ends there as well, and the
    // two that are left get half the link for the rest: 20,000 more.
    let mut ranks = Ranks::new(7);
    ranks.message(0, 2, MB / 2);
    ranks.message(0, 1, MB);
    ranks.message(1, 2, MB);
    ranks.message(1, 3, MB);
    let times = fluid(&one(Dimension::ring, 7, "500 ns"), ranks);
    assert_eq!(times[..4], [31_000.0, 51_000.0, 50_500.0, 51_000.0]);
}

#[test]
fn a_slow_link_elsewhere_leaves_more_to_the_others() {
    // GPU 3's link to the NVSwitch has 400 GB/s. One flow goes on over a rail of 50 GB/s, so the other gets 350.
    let cluster = Topology::new([
        Dimension::switch(8, "400 GB/s".parse().unwrap(), "500 ns".parse().unwrap()),
        Dimension::switch(4, "50 GB/s".parse().unwrap(), "2 us".parse().unwrap()),
    ])
    .unwrap();
    let mut ranks = Ranks::new(32);
    ranks.message(3, 12, MB);
    ranks.message(3, 5, 7 * MB);
    let times = fluid(&cluster, ranks);
    assert_eq!([times[3], times[12], times[5]], [25_000.0, 25_000.0, 21_000.0]);
}

#[test]
fn a_link_may_be_slower_and_longer_one_way() {
    let link =
        |bandwidth: &str, latency: &str| LinkSpec::new(bandwidth.parse().unwrap(), latency.parse().unwrap());
    let mut list = LinkList::new(2);
    list.one_way(Node::Rank(0), Node::Rank(1), link("50 GB/s", "500 ns"));
    list.one_way(Node::Rank(1), Node::Rank(0), link("10 GB/s", "2 us"));
    let (topology, mut ranks) = (list.build().unwrap(), Ranks::new(2));
    (0..2).for_each(|_| ranks.message(0, 1, MB));
    (0..2).for_each(|_| ranks.message(1, 0, MB));
    let simulation = Simulation::new(&topology).model(Model::Fluid).message_times(true);
    let times = simulation.run(&ranks.graph()).unwrap().message_times.unwrap();
    // 2 MB each way, at 50 and at 10 GB/s.
    let delivered: Vec<f64> = times.iter().map(|message| message.delivered.as_ns()).collect();
    assert_eq!(delivered, [40_500.0, 40_500.0, 202_000.0, 202_000.0]);
}

#[test]
fn empty_messages_take_their_latency_and_nothing_from_the_others() {
    let mut ranks = Ranks::new(3);
    ranks.message(0, 1, 0);
    ranks.message(0, 2, MB);
    ranks.message(0, 1, 0);
    assert_eq!(fluid(&switch(3), ranks), [21_000.0, 1_000.0, 21_000.0]);
}

#[test]
fn sizes_and_shares_at_the_limits() {
    // 2^63 − 1 bytes by two flows over 10^18 B/s, and 3 B by seven over 1 B/s.
    let link = |bandwidth: &str| {
        Topology::new([Dimension::ring(2, bandwidth.parse().unwrap(), "0 ns".parse().unwrap())]).unwrap()
    };
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, (1 << 63) - 1);
    ranks.message(0, 1, (1 << 63) - 1);
    // (2^64 − 2) / 10^18 s = 18,446,744,073.709551614 ns
    assert_eq!(fluid(&link("1000000 TB/s"), ranks), [18_446_744_073.71; 2]);
    let mut ranks = Ranks::new(2);
    (0..7).for_each(|_| ranks.message(0, 1, 3));
    // A seventh of 2^24 units is 2,396,745: 0.14 of 10^6 parts are lost.
    let times = fluid(&link("1 B/s"), ranks);
    assert!((times[0] - 21e9).abs() < 21e9 / 1e6, "{times:?}");
}

#[test]
fn under_the_conventions_of_astra_sim_it_is_refused() {
    let topology = switch(2);
    let simulation = Simulation::new(&topology).model(Model::Fluid).conventions(Conventions::AstraSim);
    assert_eq!(
        simulation.run(&Ranks::new(2).graph()).unwrap_err().to_string(),
        "fluid has no meaning under the astra-sim conventions: choose `--conventions exact`, or the model analytical or \
         link-queue"
    );
}
