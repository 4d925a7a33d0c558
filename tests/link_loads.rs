//! As someone who compares algorithms I want what theory counts: rounds, and the most loaded link of each on a ring.

use collective::algorithms::{
    allgather_ring, allreduce_recursive_halving_doubling, allreduce_ring, reduce_scatter_ring,
};
use collective::et::{self, EtOptions};
use collective::sim::link_loads::{LinkLoads, link_loads};
use collective::sim::topology::{Dimension, Topology};
use collective::{Schedule, Size};

/// Bytes of one share: every size below is a multiple of it, so that counts in shares are whole.
const SHARE: u64 = 4096;

fn on_a_ring(schedule: &Schedule, shares: u64) -> LinkLoads {
    let graph = et::graph(schedule, &EtOptions::new(Size::bytes(shares * SHARE))).unwrap();
    let ranks = schedule.ranks.len() as u32;
    let link = ("50 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
    link_loads(&Topology::new([Dimension::ring(ranks, link.0, link.1)]).unwrap(), &graph).unwrap()
}

/// Rounds, and the sum of the largest link loads in shares.
fn rounds_and_load(schedule: &Schedule, shares: u64) -> (usize, u64) {
    let loads = on_a_ring(schedule, shares);
    let sum = loads.sum_of_largest().unwrap().0;
    assert!(sum.is_multiple_of(SHARE));
    (loads.rounds.len(), sum / SHARE)
}

#[test]
fn rings_load_each_link_with_one_chunk_a_round() {
    for p in 2..=16 {
        let (ranks, rounds) = (p as usize, p as usize - 1);
        // S is p shares, so a chunk is one.
        assert_eq!(
            rounds_and_load(&allreduce_ring::compile(ranks, 1).unwrap(), p),
            (2 * rounds, 2 * (p - 1))
        );
        assert_eq!(rounds_and_load(&allgather_ring::compile(ranks, 1).unwrap(), p), (rounds, p - 1));
        assert_eq!(rounds_and_load(&reduce_scatter_ring::compile(ranks, 1).unwrap(), p), (rounds, p - 1));
    }
}

#[test]
fn halving_and_doubling_load_the_middle_links_of_a_ring_more_the_farther_the_partners_are() {
    // By shortest paths, S times 1, 5/2, 21/4, 85/8; here S is 2p shares.
    for (p, rounds, load) in [(2, 2, 4), (4, 4, 20), (8, 6, 84), (16, 8, 340)] {
        let schedule = allreduce_recursive_halving_doubling::compile(p as usize).unwrap();
        assert_eq!(rounds_and_load(&schedule, 2 * p), (rounds, load), "{p} ranks");
    }
}

#[test]
fn each_round_lists_every_link_that_carries_something() {
    let loads = on_a_ring(&allreduce_ring::compile(5, 1).unwrap(), 5);
    for links in &loads.rounds {
        assert_eq!(links.len(), 5);
        assert!(links.iter().all(|(_, bytes)| bytes.0 == SHARE));
        assert!(links.is_sorted_by(|a, b| a.0 < b.0));
    }
    assert_eq!(loads.largest().map(|bytes| bytes.0).collect::<Vec<_>>(), [SHARE; 8]);
}
