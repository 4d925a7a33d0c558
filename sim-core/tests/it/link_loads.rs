//! Bytes on links without times: what theory says of algorithms on a bidirectional ring.

use sim_core::topology::{Dimension, Topology};
use sim_core::units::Bytes;

/// A round: (source, destination, bytes).
type Round = Vec<(u32, u32, u64)>;

/// The bytes of the whole vector, a multiple of every number of chunks below.
const S: u64 = 16 * 9;

/// The sum over the rounds of the most loaded link.
fn most_loaded(ranks: u32, rounds: impl IntoIterator<Item = Round>) -> u64 {
    let ring =
        Topology::new([Dimension::ring(ranks, "50 GB/s".parse().unwrap(), "0 ns".parse().unwrap())]).unwrap();
    let of_round = |round: Round| {
        let messages = round.into_iter().map(|(src, dst, bytes)| (src, dst, Bytes(bytes)));
        ring.link_loads(messages).unwrap().into_iter().map(|(_, bytes)| bytes.0).max().unwrap()
    };
    rounds.into_iter().map(of_round).sum()
}

/// Every rank sends `bytes` to the rank that `peer` says.
fn round(ranks: u32, bytes: u64, peer: impl Fn(u32) -> u32) -> Round {
    (0..ranks).map(|rank| (rank, peer(rank), bytes)).collect()
}

/// Forth and, in the same rounds, back.
fn twice(rounds: Vec<Round>) -> impl Iterator<Item = Round> {
    rounds.clone().into_iter().chain(rounds.into_iter().rev())
}

#[test]
fn a_ring_loads_every_link_alike() {
    for p in [2, 3, 8, 9, 16] {
        let rounds = (0..2 * (p - 1)).map(|_| round(p, S / u64::from(p), |rank| (rank + 1) % p));
        // 2 (p − 1) / p.
        assert_eq!(most_loaded(p, rounds), 2 * u64::from(p - 1) * S / u64::from(p), "{p}");
    }
}

#[test]
fn halving_and_doubling_pay_for_distance() {
    for (p, farthest_first, nearest_first) in [(8u32, (21, 4), (3, 1)), (16, (85, 8), (4, 1))] {
        let steps = p.ilog2();
        let far: Vec<Round> =
            (0..steps).map(|k| round(p, S >> (k + 1), |rank| rank ^ p >> (k + 1))).collect();
        assert_eq!(most_loaded(p, twice(far)), S * farthest_first.0 / farthest_first.1, "{p}");
        let near: Vec<Round> = (0..steps).map(|k| round(p, S >> (k + 1), |rank| rank ^ 1 << k)).collect();
        assert_eq!(most_loaded(p, twice(near)), S * nearest_first.0 / nearest_first.1, "{p}");
    }
    // Recursive doubling of the whole vector: 1 + 2 + 4.
    let doubling = (0..3).map(|k| round(8, S, |rank| rank ^ 1 << k));
    assert_eq!(most_loaded(8, doubling), 7 * S);
}

#[test]
fn bruck_sends_far_and_the_last_round_the_short_way() {
    for (p, expected) in [(8u32, (21, 8)), (9, (22, 9))] {
        let rounds = (0..p.next_power_of_two().ilog2()).map(|k| {
            let blocks = (1 << k).min(p - (1 << k));
            round(p, S / u64::from(p) * u64::from(blocks), |rank| (rank + p - (1 << k)) % p)
        });
        assert_eq!(most_loaded(p, rounds), S * expected.0 / expected.1, "{p}");
    }
}

#[test]
fn swing_stays_near() {
    // Partners at 1, −1, 3, −5: (1 − (−2)^(k+1)) / 3, up for even ranks and down for odd ones.
    for (p, expected) in [(8i64, (2, 1)), (16, (19, 8))] {
        let steps: Vec<Round> = (0..p.ilog2())
            .map(|k| {
                let distance = (1 - (-2i64).pow(k + 1)) / 3;
                round(p as u32, S >> (k + 1), |rank| {
                    let rank = i64::from(rank);
                    (if rank % 2 == 0 { rank + distance } else { rank - distance }).rem_euclid(p) as u32
                })
            })
            .collect();
        assert_eq!(most_loaded(p as u32, twice(steps)), S * expected.0 / expected.1, "{p}");
    }
}
