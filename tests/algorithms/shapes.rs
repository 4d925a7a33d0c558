//! What single algorithms promise beyond their table entry: thread blocks, messages, refusals.

use collective::CollectiveKind::{AllGather, AllReduce, ReduceScatter};
use collective::algorithms::*;
use collective::{CollectiveKind, Diagnostics, Program, Schedule, Setting, assert_correct, compile, verify};

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
fn recursive_halving_doubling_is_right_for_all_ranks() {
    for n in rank_counts() {
        let core = 1 << n.ilog2();
        for in_place in [true, false] {
            let program = |p: &Program| allreduce_recursive_halving_doubling(p, n);
            let schedule = build(AllReduce, in_place, n, core, program).unwrap();
            // Rabenseifner: twice all but one of the chunks; a rank that takes in a neighbour gives it all the sums.
            let unfolded = if n == core { 0 } else { core };
            assert_eq!(busiest(&schedule), (2 * (core - 1) + unfolded) as u64, "{n} ranks");
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
    assert_correct!(allreduce_recursive_halving_doubling, ranks = 1..=17);
    for gpus in 1..=4 {
        assert_correct!(allreduce_hierarchical, ranks = [gpus, 2 * gpus, 3 * gpus], gpus = gpus);
        assert_correct!(allreduce_rotated_rings, ranks = [gpus, 2 * gpus, 3 * gpus], gpus = gpus);
    }
}

/// Whether all ranks add in the same order, and so end with the same bits.
fn same_bits(schedule: &Schedule) -> bool {
    let settings = verify::Settings { reductions: true, ..verify::Settings::default() };
    verify::check(schedule, &settings).reductions.expect("a right schedule").same_everywhere()
}

#[test]
fn all_ranks_end_with_the_same_bits() -> Result<(), Diagnostics> {
    for n in 1..=17 {
        assert!(same_bits(&allreduce_allpairs_one_shot::compile(n)?), "one-shot, {n} ranks");
        assert!(same_bits(&allreduce_recursive_doubling::compile(n)?), "recursive doubling, {n} ranks");
        assert!(same_bits(&allreduce_swing_bandwidth::compile(2 * n)?), "Swing, {n} ranks");
        // The authors' MPICH does not use Bine's butterflies for floating-point numbers, for more than 7 ranks.
        assert_eq!(same_bits(&allreduce_bine::compile(n)?), n <= 7, "Bine, {n} ranks");
    }
    assert!(!same_bits(&allreduce_trivance::compile(9)?));
    Ok(())
}

/// The ranks that a rank sends to.
fn peers(schedule: &Schedule, rank: usize) -> Vec<usize> {
    let blocks = schedule.ranks[rank].thread_blocks.iter();
    let mut peers: Vec<usize> = blocks.filter_map(|block| Some(block.send?.index())).collect();
    peers.sort_unstable();
    peers.dedup();
    peers
}

#[test]
fn swing_goes_from_one_side_to_the_other() -> Result<(), Diagnostics> {
    // 1 to the right, 1 to the left, 3, 5, 11, and in the mirror for odd ranks.
    for schedule in [allreduce_swing::compile(32)?, allreduce_bine_bandwidth::compile(32)?] {
        assert_eq!(peers(&schedule, 12), [7, 11, 13, 15, 23]);
        assert_eq!(peers(&schedule, 15), [4, 12, 14, 16, 20]);
    }
    let six = allreduce_swing_bandwidth::compile(6)?;
    assert_eq!((peers(&six, 0), peers(&six, 1)), (vec![1, 3, 5], vec![0, 2, 4]));
    Ok(())
}

#[test]
fn one_shot_keeps_what_arrives_apart() -> Result<(), Diagnostics> {
    for n in rank_counts() {
        let schedule = allreduce_allpairs_one_shot::compile(n)?;
        assert!(schedule.ranks.iter().all(|rank| rank.scratch_chunks as usize == n - 1), "{n} ranks");
        assert_eq!(schedule.message_count(), n * (n - 1));
    }
    Ok(())
}

#[test]
fn two_trees_share_the_work() -> Result<(), Diagnostics> {
    // NCCL's trees of 8: inside are 0, 2, 4, 6 in the first, and in the mirror 7, 5, 3, 1.
    let eight = allreduce_double_binary_tree::compile(8, 1)?;
    assert_eq!(peers(&eight, 0), [1, 4]);
    assert_eq!(peers(&eight, 4), [0, 2, 5, 6]);
    // Of 5, the second is the first turned by one rank: 1 ▸ 0 ▸ 3 ▸ 2, 4.
    let five = allreduce_double_binary_tree::compile(5, 1)?;
    assert_eq!(peers(&five, 0), [1, 3, 4]);
    for n in rank_counts() {
        let schedule = allreduce_double_binary_tree::compile(n, 3)?;
        assert_eq!(schedule.message_count(), 2 * 2 * 3 * (n - 1), "{n} ranks");
        // No rank sends more than twice the data, of 6 chunks.
        assert!(busiest(&schedule) <= 2 * 6, "{n} ranks");
    }
    Ok(())
}

#[test]
fn more_segments_hide_the_depth_of_the_trees() {
    let tree = find("allreduce_double_binary_tree").unwrap();
    let rounds = |ranks, segments| tree.cost(&[ranks, segments]).rounds();
    // Two ranks are each the root of one tree: all segments of both halves go both ways.
    assert_eq!([1, 2, 8].map(|segments| rounds(2, segments)), [2, 4, 16]);
    for n in [4, 5, 16, 33, 64, 100] {
        let depth = rounds(n, 1) / 2;
        assert!(depth <= u64::from(n.next_power_of_two().ilog2()), "{n} ranks");
        for segments in [2, 8, 32] {
            // A connection that both trees use carries every segment twice.
            let (fewest, most) = (2 * depth + segments as u64 - 1, 2 * (depth + segments as u64));
            assert!((fewest..=most).contains(&rounds(n, segments)), "{n} ranks, {segments} segments");
        }
    }
}

#[test]
fn no_ranks_and_no_data_are_refused() {
    for algorithm in all() {
        for ranks in [0, usize::MAX] {
            assert!(
                algorithm.def.compile_with(&[("ranks", ranks)]).is_err(),
                "{}, {ranks}",
                algorithm.name()
            );
        }
    }
    for segments in [0, usize::MAX] {
        let set = [("ranks", 4), ("segments", segments)];
        assert!(allreduce_double_binary_tree::DEF.compile_with(&set).is_err());
    }
}
