//! What broadcast, reduce, gather, scatter and alltonext promise beyond their table entries.

use collective::algorithms::{self, Algorithm, *};
use collective::et::{self, EtOptions, NodeOrder};
use collective::sim::units::Picos;
use collective::sim::{Model, Simulation};
use collective::{CollectiveKind, Diagnostics, MemoryBuffer, Schedule, Size, Step, ThreadBlock};
use collective::{assert_correct, run};

/// The entries with a root.
fn rooted() -> impl Iterator<Item = &'static Algorithm> {
    algorithms::all().filter(|algorithm| algorithm.def.params.iter().any(|param| param.name == "root"))
}

/// The steps of a rank, each with its thread block.
fn steps(schedule: &Schedule, rank: usize) -> impl Iterator<Item = (&ThreadBlock, &Step)> {
    let blocks = &schedule.ranks[rank].thread_blocks;
    blocks.iter().flat_map(|block| block.steps.iter().map(move |step| (block, step)))
}

/// What a rank sends to whom, in chunks.
fn sends(schedule: &Schedule, rank: usize) -> impl Iterator<Item = (usize, u32)> {
    let sending = steps(schedule, rank).filter(|(_, step)| step.kind.sends());
    sending.filter_map(|(block, step)| Some((block.send?.index(), step.count)))
}

#[test]
fn any_rank_can_be_the_root() {
    assert_eq!(rooted().count(), 12);
    for algorithm in rooted().map(|algorithm| &algorithm.def) {
        for n in 1..=9 {
            assert_correct!(&algorithm.placed(true), ranks = n, root = 0..n);
            assert_correct!(&algorithm.placed(false), ranks = n, root = 0..n);
        }
    }
}

#[test]
fn a_root_that_is_no_rank_is_refused() {
    for algorithm in rooted().map(|algorithm| &algorithm.def) {
        let refusal = algorithm.compile_with(&[("ranks", 4), ("root", 4)]).unwrap_err().to_string();
        assert!(refusal.contains("the root 4 does not exist: ranks go from 0 to 3"), "{refusal}");
        assert!(algorithm.compile_with(&[("ranks", 0)]).is_err(), "{}", algorithm.name);
    }
}

/// A caller may need its input again.
#[test]
fn out_of_place_no_input_is_written() -> Result<(), Diagnostics> {
    for algorithm in rooted() {
        for ranks in [2, 5, 8, 11] {
            for values in algorithm.choices(ranks) {
                let schedule = algorithm.compile(false, &values)?;
                let all = (0..ranks).flat_map(|rank| steps(&schedule, rank));
                let mut writing = all.filter(|(_, step)| step.kind.writes_dst());
                let input = writing.find(|(_, step)| step.dst.buffer == MemoryBuffer::Input);
                assert!(input.is_none(), "{} {values:?}: {input:?}", algorithm.name());
            }
        }
    }
    Ok(())
}

/// Sanders, Speck and Träff: who has children in one tree is a leaf of the other.
#[test]
fn in_two_trees_nobody_sends_more_than_all_or_to_more_than_two() -> Result<(), Diagnostics> {
    for ranks in 2..=33 {
        let broadcast = broadcast_double_tree::compile(ranks, 1, 0)?;
        let reduce = reduce_double_tree::compile(ranks, 1, 0)?;
        let mut received = vec![0; ranks];
        for rank in 0..ranks {
            let down: Vec<_> = sends(&broadcast, rank).collect();
            assert!(down.len() <= 2, "{ranks} ranks: {rank} sends {down:?}");
            down.iter().for_each(|(to, chunks)| received[*to] += chunks);
            // One half up each tree.
            assert_eq!(sends(&reduce, rank).map(|(_, chunks)| chunks).sum::<u32>(), 2 * u32::from(rank > 0));
        }
        assert!(received[1..].iter().all(|chunks| *chunks == 2), "{ranks} ranks: {received:?}");
    }
    Ok(())
}

/// Nothing is stored on the way: each rank between has one thread block with a step a segment.
#[test]
fn chains_pass_segments_on_in_one_step() -> Result<(), Diagnostics> {
    for schedule in [broadcast_chain::compile(6, 5, 2)?, reduce_chain::compile(6, 5, 2)?] {
        for rank in [0, 3, 4, 5] {
            let blocks = &schedule.ranks[rank].thread_blocks;
            assert_eq!(blocks.iter().map(|block| block.steps.len()).collect::<Vec<_>>(), [5], "rank {rank}");
        }
        assert!(schedule.ranks.iter().all(|rank| rank.scratch_chunks == 0));
    }
    Ok(())
}

/// From rank 0 and to rank 0 every block lies as the output wants it: no rank but those inside the tree stores anything else.
#[test]
fn a_gather_to_rank_0_copies_nothing_there() -> Result<(), Diagnostics> {
    for ranks in [1, 2, 7, 8, 13] {
        let schedule = gather_binomial::compile(ranks, 0)?;
        assert_eq!(schedule.ranks[0].scratch_chunks, 0, "{ranks} ranks");
    }
    Ok(())
}

/// All messages share the root's port.
#[test]
fn linear_gather_and_scatter_on_a_switch_take_the_time_of_the_roots_port() -> Result<(), Diagnostics> {
    let (bandwidth, latency) = ("50 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
    for ranks in [2, 5, 16] {
        for schedule in [gather_linear::compile(ranks, 1)?, scatter_linear::compile(ranks, 1)?] {
            let size = run::one_element_a_chunk(&schedule.collective) * 50_000;
            let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(Size::bytes(size)) };
            let graph = et::graph(&schedule, &options).unwrap();
            let switch = algorithms::Network::Switch.topology(&[ranks], bandwidth, latency).unwrap();
            let time = Simulation::new(&switch).model(Model::Fluid).run(&graph).unwrap().makespan;
            // 2 · 500 ns, and S·(n − 1)/n at 50 bytes a nanosecond.
            let port = size / ranks as u64 * (ranks as u64 - 1) * 1_000 / 50;
            assert_eq!(time, Picos(1_000_000 + port), "{ranks} ranks");
        }
    }
    Ok(())
}

#[test]
fn alltonext_uses_every_card_alike() -> Result<(), Diagnostics> {
    for (nodes, gpus) in [(2, 1), (2, 3), (3, 4), (4, 8)] {
        let schedule = alltonext::compile(nodes * gpus, gpus)?;
        assert_eq!(schedule.collective.kind(), CollectiveKind::Custom);
        for rank in 0..nodes * gpus {
            let over_card: u32 = sends(&schedule, rank)
                .filter(|(to, _)| to / gpus != rank / gpus)
                .map(|(_, chunks)| chunks)
                .sum();
            // One of the `gpus` shares, to the counterpart; nothing from the last node.
            assert_eq!(over_card, u32::from(rank + gpus < nodes * gpus), "{nodes} nodes, rank {rank}");
            assert!(sends(&schedule, rank).all(|(to, _)| to / gpus == rank / gpus || to == rank + gpus));
        }
    }
    assert_correct!(alltonext, ranks = 1..=5, gpus = 1);
    for gpus in 2..=5 {
        assert_correct!(alltonext, ranks = [gpus, 2 * gpus, 3 * gpus], gpus = gpus);
    }
    Ok(())
}
