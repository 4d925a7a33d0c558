//! Programs that the reference compiler compiles wrong, hangs on, or reports without a place. Here each is compiled right,
//! which is held by executing its schedule on numbers in random orders, or refused with its source line. The limits of
//! runtimes are checked where a schedule is written for one.

use collective_dsl::Buffer::{Input, Output, Scratch};
use collective_dsl::msccl::{self, Target, XmlOptions};
use collective_dsl::{
    CollectiveKind, Options, Program, Protocol, Replication, Rule, Schedule, Setting, StepKind, compile,
};

use crate::judge::judge;

fn all_reduce(ranks: usize, chunks: usize) -> Setting<'static> {
    Setting {
        in_place: true,
        chunks: Some(chunks),
        ..Setting::new("fault", CollectiveKind::AllReduce, ranks)
    }
}

fn custom(ranks: usize, inputs: usize, outputs: usize) -> Setting<'static> {
    let setting = Setting::new("fault", CollectiveKind::Custom, ranks);
    Setting { chunks: Some(inputs), outputs: Some(outputs), ..setting }
}

fn right(setting: &Setting<'_>, program: impl FnOnce(&Program)) -> Schedule {
    let schedule = compile(&setting.trace("", program).unwrap()).unwrap();
    judge(&schedule, 20).unwrap_or_else(|error| panic!("{error}:\n{schedule}"));
    schedule
}

/// Checks that the first finding breaks the rule on the line given.
fn refused(setting: &Setting<'_>, rule: Rule, line: u32, program: impl FnOnce(&Program)) {
    let error = setting.trace("", program).and_then(|trace| compile(&trace)).unwrap_err();
    let first = &error.findings[0];
    let site =
        first.site.and_then(|site| error.sites.get(site)).unwrap_or_else(|| panic!("no line:\n{error}"));
    assert_eq!((first.rule, site.file.as_str(), site.line), (rule, file!(), line), "{error}");
}

fn kinds(schedule: &Schedule) -> Vec<StepKind> {
    let blocks = schedule.ranks.iter().flat_map(|rank| &rank.thread_blocks);
    blocks.flat_map(|block| &block.steps).map(|step| step.kind).collect()
}

/// A reduction between ranks whose source and destination have different indices: the local operand is the one that
/// is there.
#[test]
fn rrc_offset() {
    right(&custom(2, 2, 1), |p| {
        let sum = p.chunk(1, Input, 1).copy_to(1, Output, 0);
        sum.reduce(p.chunk(0, Input, 0));
        p.expect(1, 0, 0, 0);
        p.expect(1, 0, 1, 1);
    });
}

/// A program whose first operation is a local reduction is not lost.
#[test]
fn first_local_reduce() {
    let schedule = right(&custom(2, 2, 1), |p| {
        let sum = p.chunk(0, Input, 0).reduce(p.chunk(0, Input, 1));
        sum.copy_to(1, Output, 0);
        (0..2).for_each(|chunk| p.expect(1, 0, 0, chunk));
    });
    assert_eq!(kinds(&schedule), [StepKind::Reduce, StepKind::Send, StepKind::Recv]);
}

/// A sum of two chunks is passed on and only one of the two is overwritten: the other is kept.
#[test]
fn rrs_partial() {
    let schedule = right(&custom(3, 2, 2), |p| {
        let own = p.chunks(1, Input, 0, 2).copy_to(1, Output, 0);
        own.reduce(p.chunks(0, Input, 0, 2)).copy_to(2, Output, 0);
        p.chunk(2, Input, 0).copy_to(1, Output, 0);
        for (rank, from) in [(1, 0), (1, 1), (2, 0), (2, 1)] {
            p.expect(rank, 1, from, 1);
        }
        p.expect(1, 0, 2, 0);
    });
    assert!(!kinds(&schedule).contains(&StepKind::RecvReduceSend));
}

/// What is received in one run and sent in another that overlaps it is not fused.
#[test]
fn rcs_overlap() {
    right(&custom(3, 3, 3), |p| {
        p.chunk(1, Input, 2).copy_to(1, Scratch("s"), 2);
        p.chunks(0, Input, 0, 2).copy_to(1, Scratch("s"), 0);
        p.chunks(1, Scratch("s"), 1, 2).copy_to(2, Output, 1);
        p.expect(2, 1, 0, 1);
        p.expect(2, 2, 1, 2);
    });
}

/// Scratch that lies at different offsets on two ranks: a fused step stores where its own rank has it.
#[test]
fn scratch_offset_of_a_fused_step() {
    let schedule = right(&custom(4, 2, 2), |p| {
        p.chunks(2, Input, 0, 2).copy_to(2, Scratch("own"), 0);
        let relayed = p.chunk(0, Input, 0).copy_to(1, Scratch("relay"), 0);
        relayed.copy_to(2, Scratch("relay"), 0).copy_to(3, Output, 0);
        p.chunk(1, Scratch("relay"), 0).copy_to(1, Output, 0);
        p.chunk(2, Scratch("own"), 1).copy_to(2, Output, 1);
        for (rank, index, from, chunk) in [(3, 0, 0, 0), (1, 0, 0, 0), (2, 1, 2, 1)] {
            p.expect(rank, index, from, chunk);
        }
    });
    assert_eq!(kinds(&schedule).iter().filter(|kind| **kind == StepKind::RecvCopySend).count(), 2);
}

/// Interleaved instances of operations on several chunks do not mix.
#[test]
fn interleaved_operations_on_several_chunks() {
    let options = Options { instances: 2, replication: Replication::Interleaved, ..Options::default() };
    right(&Setting { options, ..all_reduce(2, 4) }, |p| {
        for rank in 0..2 {
            let half = p.chunks(1 - rank, Input, 2 * rank, 2).copy_to(rank, Scratch("s"), 0);
            p.chunks(rank, Input, 2 * rank, 2).reduce(half).copy_to(1 - rank, Input, 2 * rank);
        }
    });
}

/// A wait for several steps never moves in front of its own cause.
#[test]
fn waits_before_their_cause() {
    let options = Options { protocol: Protocol::Ll, ..Options::default() };
    right(&Setting { options, ..all_reduce(3, 1) }, |p| {
        // Rank 0 collects; its last addend was made from what it sent out first.
        let first = p.chunk(0, Input, 0).copy_to(1, Scratch("s"), 0);
        let doubled = p.chunk(1, Input, 0).copy_to(1, Scratch("sum"), 0).reduce(first);
        let a = doubled.on_recv_block(0).copy_to(0, Scratch("a"), 0);
        let b = p.chunk(2, Input, 0).on_recv_block(1).copy_to(0, Scratch("b"), 0);
        let sum = b.on_send_block(0).reduce(a);
        (0..3).for_each(|rank| _ = sum.copy_to(rank, Input, 0));
    });
}

/// Twenty messages both ways, sends before receives: ordered so that two slots are enough.
#[test]
fn more_messages_than_slots() {
    let exchange = Setting { chunks: Some(20), ..Setting::new("fault", CollectiveKind::AllToAll, 2) };
    right(&exchange, |p| {
        for rank in 0..2 {
            for chunk in 0..20 {
                let peer = 1 - rank;
                let sent = p.chunk(rank, Input, 20 * peer + chunk).on_send_block(0).on_recv_block(0);
                sent.copy_to(peer, Output, 20 * rank + chunk);
                p.chunk(rank, Input, 20 * rank + chunk).copy_to(rank, Output, 20 * rank + chunk);
            }
        }
    });
}

/// One thread block with a message on channel 1 and one without a channel: it is not moved silently.
#[test]
fn manual_channel_reset() {
    refused(&custom(2, 2, 2), Rule::Ownership, line!() + 2, |p| {
        p.chunk(0, Input, 0).on_channel(1).on_send_block(0).on_recv_block(0).copy_to(1, Output, 0);
        p.chunk(0, Input, 1).on_send_block(0).on_recv_block(0).copy_to(1, Output, 1);
    });
}

/// Two thread blocks on one connection.
#[test]
fn two_owners_of_a_connection() {
    refused(&custom(2, 2, 2), Rule::Ownership, line!() + 2, |p| {
        p.chunk(0, Input, 0).on_send_block(0).copy_to(1, Output, 0);
        p.chunk(0, Input, 1).on_send_block(1).copy_to(1, Output, 1);
    });
}

/// Input and output of an all-to-all in place are one buffer: what overwrites waits for what reads.
#[test]
fn all_to_all_in_place_alias() {
    let swap = Setting { in_place: true, ..Setting::new("fault", CollectiveKind::AllToAll, 2) };
    right(&swap, |p| {
        let kept = p.chunk(1, Input, 0).copy_to(1, Scratch("kept"), 0);
        p.chunk(0, Input, 1).copy_to(1, Output, 0);
        kept.copy_to(0, Output, 1);
    });
    // Without the copy the chunk is lost before it is sent.
    refused(&swap, Rule::Wrong, line!() + 2, |p| {
        p.chunk(0, Input, 1).copy_to(1, Output, 0);
        p.chunk(1, Input, 0).copy_to(0, Output, 1);
    });
}

/// A rank below zero, as unsigned arithmetic makes it.
#[test]
fn negative_destination() {
    refused(&custom(2, 1, 1), Rule::Bounds, line!() + 1, |p| {
        p.chunk(0, Input, 0).copy_to(0_usize.wrapping_sub(1), Output, 0);
    });
}

/// An index below zero.
#[test]
fn negative_index() {
    refused(&custom(2, 1, 1), Rule::Bounds, line!() + 1, |p| {
        p.chunk(0, Input, 0).copy_to(1, Output, 0_usize.wrapping_sub(1));
    });
}

#[test]
fn reduction_onto_itself() {
    refused(&all_reduce(2, 1), Rule::Malformed, line!() + 2, |p| {
        let chunk = p.chunk(0, Input, 0);
        chunk.reduce(chunk);
    });
}

#[test]
fn overlapping_copy() {
    refused(&all_reduce(2, 3), Rule::Malformed, line!() + 1, |p| {
        p.chunks(0, Input, 0, 2).copy_to(0, Input, 1);
    });
}

#[test]
fn stale_reference() {
    refused(&all_reduce(2, 2), Rule::Stale, line!() + 3, |p| {
        let old = p.chunk(0, Input, 0);
        p.chunk(1, Input, 0).copy_to(0, Input, 0);
        old.copy_to(1, Input, 1);
    });
}

#[test]
fn group_with_a_gap() {
    refused(&all_reduce(2, 3), Rule::Malformed, line!() + 1, |p| {
        p.chunk(0, Input, 0).group(p.chunk(0, Input, 2)).copy_to(1, Scratch("s"), 0);
    });
}

/// An index without a buffer is no call here; one beyond the buffer is refused, not taken for scratch.
#[test]
fn index_beyond_the_buffer() {
    refused(&all_reduce(2, 2), Rule::Bounds, line!() + 1, |p| {
        p.chunk(0, Input, 0).copy_to(1, Input, 2);
    });
}

/// The output of an in-place reduce-scatter is the destination's share, not the source's.
#[test]
fn reduce_scatter_output_of_another_rank() {
    let reduce_scatter =
        Setting { in_place: true, ..Setting::new("fault", CollectiveKind::ReduceScatter, 2) };
    right(&reduce_scatter, |p| {
        for rank in 0..2 {
            // Both sums are made on rank 0, then sent to their owners' output.
            let sum = p.chunk(0, Input, rank).reduce(p.chunk(1, Input, rank));
            sum.copy_to(rank, Output, 0);
        }
    });
}

/// Data that is there only in the first chunk of a run.
#[test]
fn uninitialised_after_the_first_chunk() {
    refused(&all_reduce(2, 3), Rule::Uninitialised, line!() + 2, |p| {
        p.chunk(0, Input, 0).copy_to(1, Scratch("s"), 0);
        p.chunks(1, Scratch("s"), 0, 2).copy_to(0, Input, 0);
    });
}

/// A reduction into a chunk that nobody has written.
#[test]
fn reduction_into_a_hole() {
    refused(&custom(2, 2, 2), Rule::Uninitialised, line!() + 2, |p| {
        p.chunk(0, Input, 0).copy_to(1, Output, 1);
        p.chunks(1, Output, 0, 2).reduce(p.chunks(1, Input, 0, 2));
    });
}

/// What `microsoft/msccl` cannot hold is refused where a schedule is written for it, with the limit.
fn not_for_msccl(schedule: &Schedule, limit: &str) {
    let said = msccl::write(schedule, &XmlOptions::new(Target::Msccl)).unwrap_err().to_string();
    assert!(said.contains(limit), "wanted \"{limit}\", got: {said}");
}

/// More steps in a thread block than a runtime runs.
#[test]
fn too_many_steps() {
    let exchange = Setting { chunks: Some(257), ..Setting::new("fault", CollectiveKind::SendRecv, 2) };
    let schedule = right(&exchange, |p| {
        (0..257).for_each(|chunk| _ = p.chunk(0, Input, chunk).copy_to(1, Output, chunk));
    });
    not_for_msccl(&schedule, "has 257 steps (those that only wait included); msccl has at most 256");
}

/// More chunks in a step than a runtime moves.
#[test]
fn too_many_chunks_in_a_step() {
    let exchange = Setting { chunks: Some(72), ..Setting::new("fault", CollectiveKind::SendRecv, 2) };
    let schedule = right(&exchange, |p| _ = p.chunks(0, Input, 0, 72).copy_to(1, Output, 0));
    not_for_msccl(&schedule, "moves 72 chunks; msccl moves at most 71");
}

/// More channels, by instances, than a runtime has.
#[test]
fn too_many_channels() {
    let options = Options { instances: 11, ..Options::default() };
    let schedule = right(&Setting { options, ..all_reduce(2, 1) }, |p| {
        let sum = p.chunk(0, Input, 0).on_channel(2).copy_to(1, Scratch("s"), 0);
        p.chunk(1, Input, 0).reduce(sum).on_channel(1).copy_to(0, Input, 0);
    });
    not_for_msccl(&schedule, "there are 33 channels; msccl has at most 32");
}

/// All pairs of 64 ranks on one channel: more thread blocks that send on it than a runtime has.
#[test]
fn too_many_connections_on_a_channel() {
    let schedule = right(&Setting::new("fault", CollectiveKind::Broadcast, 64), |p| {
        (0..64).for_each(|rank| _ = p.chunk(0, Input, 0).copy_to(rank, Output, 0));
    });
    not_for_msccl(&schedule, "rank 0 has 63 thread blocks that send on channel 0; msccl has at most 32");
}
