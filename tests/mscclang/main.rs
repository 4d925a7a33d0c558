//! The example programs of MSCCLang in this language: see `docs/mscclang.md`, which a test here writes.

mod common;
mod document;
mod faults;
mod figures;
#[path = "../judge/mod.rs"]
mod judge;
mod mutants;

mod allgather_a100_pcie;
mod allgather_allpairs;
mod allgather_recursive_doubling;
mod allgather_ring;
mod allreduce_1step;
mod allreduce_a100_allpairs;
mod allreduce_a100_allpairs_v2;
mod allreduce_a100_multinode_allpairs;
mod allreduce_a100_ncv4;
mod allreduce_a100_ncv4_v2;
mod allreduce_a100_pcie_hierarchical;
mod allreduce_recursive_doubling_halving;
mod allreduce_ring;
mod alltoall_a100_three_step;
mod alltoall_a100_two_step;
mod alltoall_allpairs;
mod alltonext;
mod hierarchical_allreduce;
mod pipeline;
mod simple_custom_collective;

use collective_dsl::{Diagnostics, Rule, Schedule, compile};

use common::Traced;
use figures::{Figures, ROWS, Row, Verdict};

fn trace(row: &Row) -> Traced {
    match row.program {
        "allgather_a100_pcie" => allgather_a100_pcie::trace(row),
        "allgather_allpairs" => allgather_allpairs::trace(row),
        "allgather_recursive_doubling" => allgather_recursive_doubling::trace(row),
        "allgather_ring" => allgather_ring::trace(row),
        "allreduce_1step" => allreduce_1step::trace(row),
        "allreduce_a100_allpairs" | "programs_allreduce_allpairs" => allreduce_a100_allpairs::trace(row),
        "allreduce_a100_allpairs_v2" => allreduce_a100_allpairs_v2::trace(row),
        "allreduce_a100_multinode_allpairs" => allreduce_a100_multinode_allpairs::trace(row),
        "allreduce_a100_ncv4" => allreduce_a100_ncv4::trace(row),
        "allreduce_a100_ncv4_v2" => allreduce_a100_ncv4_v2::trace(row),
        "allreduce_a100_pcie_hierarchical" => allreduce_a100_pcie_hierarchical::trace(row),
        "allreduce_a100_ring" | "programs_allreduce_a100_ring" | "simple_allreduce_ring" => {
            allreduce_ring::trace(row)
        }
        "allreduce_recursive_doubling_halving" => allreduce_recursive_doubling_halving::trace(row),
        "alltoall_a100_three_step" | "programs_alltoall_a100_8kp1" => alltoall_a100_three_step::trace(row),
        "alltoall_a100_two_step" | "programs_alltoall_a100_yifan" => alltoall_a100_two_step::trace(row),
        "alltoall_allpairs" => alltoall_allpairs::trace(row),
        "alltonext_forward" | "alltonext_backward" => alltonext::trace(row),
        "hierarchical_allreduce" => hierarchical_allreduce::trace(row),
        "pipeline_a100_allpairs" | "pipeline_a100_ring" => pipeline::trace(row),
        "simple_custom_collective" => simple_custom_collective::trace(row),
        other => unreachable!("no program {other}"),
    }
}

fn figures(schedule: &Schedule) -> Figures {
    let blocks = schedule.ranks.iter().flat_map(|rank| &rank.thread_blocks);
    let steps = blocks.clone().flat_map(|block| &block.steps);
    // A step waits for one other; every further dependence takes a nop.
    let nops = steps.clone().map(|step| step.depends.len().saturating_sub(1)).sum::<usize>();
    let sending = steps.filter(|step| step.kind.sends());
    let collective = &schedule.collective;
    Figures {
        blocks: blocks.count() as u64,
        steps: (schedule.step_count() + nops) as u64,
        channels: schedule.channel_count().into(),
        messages: schedule.message_count() as u64,
        sent: sending.map(|step| u64::from(step.count)).sum(),
        chunks: collective.input_chunks().max(collective.output_chunks()) as u64,
    }
}

/// Chunk volume, so that two schedules with different numbers of chunks compare.
fn volume(figures: &Figures, other: &Figures) -> u64 {
    figures.sent * other.chunks
}

#[test]
fn right_programs_compile_right_and_no_worse() {
    for row in ROWS.iter().filter(|row| row.verdict != Verdict::Wrong) {
        let schedule = compiled(row).unwrap_or_else(|error| panic!("{row}:\n{error}"));
        if schedule.step_count() < 1500 {
            judge::judge(&schedule, 2).unwrap_or_else(|error| panic!("{row}: {error}"));
        }
        let (ours, theirs) = (figures(&schedule), row.reference);
        if row.verdict == Verdict::Miscompiled {
            continue;
        }
        for (what, ours, theirs) in [
            ("thread blocks", ours.blocks, theirs.blocks),
            ("steps", ours.steps, theirs.steps),
            ("channels", ours.channels, theirs.channels),
            ("messages", ours.messages, theirs.messages),
            ("volume", volume(&ours, &theirs), volume(&theirs, &ours)),
        ] {
            assert!(ours <= theirs, "{row}: {ours} {what}, the reference has {theirs}");
        }
    }
}

#[test]
fn wrong_programs_are_refused_with_the_first_wrong_cell() {
    for row in ROWS.iter().filter(|row| row.verdict == Verdict::Wrong) {
        let first = compiled(row).unwrap_err().findings.swap_remove(0);
        assert!(first.rule == Rule::Wrong && first.message.contains("rank 0, chunk 0 "), "{row}: {first:?}");
        // A cell that the program writes names the line; one that it never writes has none.
        assert_eq!(
            first.site.is_none(),
            first.message.contains("nothing is ever written"),
            "{row}: {first:?}"
        );
    }
}

#[test]
fn schedules_do_not_depend_on_threads_or_runs() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let pools = [pool(1), pool(2), pool(2)];
    for row in ROWS.iter().filter(|row| row.verdict != Verdict::Wrong) {
        let [first, others @ ..] = pools.each_ref().map(|pool| pool.install(|| compiled(row).unwrap()));
        for other in others {
            assert!(first == other, "{row}: schedules differ");
            assert!(
                row.reference.steps > 2000 || first.to_string() == other.to_string(),
                "{row}: texts differ"
            );
        }
    }
}

fn compiled(row: &Row) -> Result<Schedule, Diagnostics> {
    compile(&trace(row)?)
}
