//! What single algorithms promise beyond their table entry: thread blocks, messages, refusals.

use collective::CollectiveKind::{AllGather, AllReduce, ReduceScatter};
use collective::algorithms::*;
use collective::{CollectiveKind, Diagnostics, Program, Schedule, Setting, assert_correct, compile};

/// The rank counts that every algorithm is tried on.
fn rank_counts() -> impl Iterator<Item = usize> {
    (1..=17).chain([32, 64])
}

fn build(
    kind: CollectiveKind,
    in_place: bool,
    ranks: usize,
    chunks: usize,
    program: impl FnOnce(&Program),
) -> Result<Schedule, Diagnostics> {
    let setting = Setting { in_place, chunks: Some(chunks), ..Setting::new("test", kind, ranks) };
    compile(&setting.trace("", program)?)
}

/// Chunks sent by the busiest rank.
fn busiest(schedule: &Schedule) -> u64 {
    let of_rank = |rank: &collective::RankSchedule| {
        let steps = rank.thread_blocks.iter().flat_map(|block| &block.steps);
        steps.filter(|step| step.kind.sends()).map(|step| u64::from(step.count)).sum()
    };
    schedule.ranks.iter().map(of_rank).max().unwrap_or(0)
}

#[test]
fn ring_all_reduce_is_right_in_and_out_of_place() -> Result<(), Diagnostics> {
    for n in rank_counts() {
        for channels in [1, 2, 3] {
            for in_place in [true, false] {
                let schedule =
                    build(AllReduce, in_place, n, n * channels, |p| allreduce_ring(p, n, channels))?;
                // Every rank sends 2(n − 1) of the n chunks of each channel: Patarasuk and Yuan's optimum.
                assert_eq!(busiest(&schedule), (2 * (n - 1) * channels) as u64, "{n} ranks");
                assert_eq!(schedule.message_count(), 2 * n * (n - 1) * channels);
            }
        }
    }
    Ok(())
}

#[test]
fn a_ring_needs_one_thread_block_a_channel_in_place() -> Result<(), Diagnostics> {
    // s, then 2n − 3 fused steps, then r: what MSCCLang gives for its ring.
    for n in [2, 3, 8, 17] {
        let schedule = build(AllReduce, true, n, 2 * n, |p| allreduce_ring(p, n, 2))?;
        for rank in &schedule.ranks {
            let steps: Vec<usize> = rank.thread_blocks.iter().map(|block| block.steps.len()).collect();
            assert_eq!(steps, [2 * n - 1, 2 * n - 1], "{n} ranks");
        }
    }
    Ok(())
}

#[test]
fn hierarchical_all_reduce_is_right_for_every_node_size() -> Result<(), Diagnostics> {
    for n in rank_counts() {
        for gpus in (1..=n).filter(|gpus| n % gpus == 0) {
            for in_place in [true, false] {
                let schedule =
                    build(AllReduce, in_place, n, n, |p| allreduce_hierarchical(p, n, gpus, 0, 1))?;
                assert_eq!(busiest(&schedule), 2 * (n as u64 - 1), "{n} ranks, {gpus} GPUs a node");
            }
        }
    }
    Ok(())
}

#[test]
fn rotated_rings_are_right_for_every_node_size() -> Result<(), Diagnostics> {
    for n in rank_counts() {
        for gpus in (1..=n).filter(|gpus| n % gpus == 0) {
            let schedule = build(AllReduce, true, n, n * gpus, |p| allreduce_rotated_rings(p, n, gpus))?;
            assert_eq!(busiest(&schedule), (2 * (n - 1) * gpus) as u64, "{n} ranks, {gpus} GPUs a node");
        }
    }
    Ok(())
}

#[test]
fn recursive_halving_doubling_is_right_for_powers_of_two_and_refuses_the_rest() {
    for n in rank_counts() {
        for in_place in [true, false] {
            let built = build(AllReduce, in_place, n, n, |p| allreduce_recursive_halving_doubling(p, n));
            if n.is_power_of_two() {
                assert_eq!(busiest(&built.unwrap()), 2 * (n as u64 - 1));
            } else {
                let refusal = built.unwrap_err().to_string();
                assert!(refusal.contains("the number of ranks must be a power of two"), "{refusal}");
            }
        }
    }
}

#[test]
fn ring_all_gather_and_reduce_scatter_are_right_in_and_out_of_place() -> Result<(), Diagnostics> {
    for n in rank_counts() {
        for channels in [1, 3] {
            for in_place in [true, false] {
                let gather = build(AllGather, in_place, n, channels, |p| allgather_ring(p, n, channels))?;
                let scatter =
                    build(ReduceScatter, in_place, n, channels, |p| reduce_scatter_ring(p, n, channels))?;
                let least = ((n - 1) * channels) as u64;
                assert_eq!((busiest(&gather), busiest(&scatter)), (least, least), "{n} ranks");
            }
        }
    }
    Ok(())
}

/// Verified by all rules, and run on integers in several orders with several sizes.
#[test]
fn every_algorithm_computes_what_it_promises() {
    assert_correct!(allgather_ring, ranks = 1..=17, channels = [1, 2]);
    assert_correct!(reduce_scatter_ring, ranks = 1..=17, channels = [1, 2]);
    assert_correct!(allreduce_ring, ranks = 1..=17, channels = [1, 2]);
    assert_correct!(allreduce_recursive_halving_doubling, ranks = [1, 2, 4, 8, 16, 32]);
    for gpus in 1..=4 {
        assert_correct!(allreduce_hierarchical, ranks = [gpus, 2 * gpus, 3 * gpus], gpus = gpus);
        assert_correct!(allreduce_rotated_rings, ranks = [gpus, 2 * gpus, 3 * gpus], gpus = gpus);
    }
}
