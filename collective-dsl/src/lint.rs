//! What is right but hardly meant: data that nobody reads, scratch that nobody uses, channels that no runtime has.
//!
//! These are warnings: a program with them passes the verifier. They look at the trace, so that they name the
//! program's own operations.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::buffer::Space;
use crate::collective::CollectiveKind;
use crate::compute::ChunkRun;
use crate::diagnostic::{Diagnostic, Rule};
use crate::ids::{RankId, SiteId};
use crate::msccl::Target;
use crate::trace::{Op, OpKind, Slice, Trace};

/// Warnings about a program, in the order of its operations; each source line is named once a rule.
///
/// Channels are held against the limit of `target`, or, where there is none, of the runtime with the most.
///
/// ```
/// use collective_dsl::{Buffer::{Output, Scratch}, Collective, CollectiveKind, Program, lint};
/// let p = Program::new(Collective::new(CollectiveKind::Broadcast, 2, 1)?.in_place()?);
/// let c = p.chunk(0, Output, 0).copy_to(1, Output, 0);
/// c.copy_to(1, Scratch("spare"), 0);
/// let found = lint::warnings(&p.finish("wasteful")?, None);
/// assert_eq!(found.len(), 1);
/// assert!(found[0].message.contains("chunk 0 of scratch \"spare\" of rank 1 is written here, but nobody reads it"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn warnings(trace: &Trace, target: Option<Target>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // The chunks of a barrier are signals, which nobody has to read.
    if trace.collective.kind() != CollectiveKind::Barrier {
        found.extend(unread(trace));
    }
    found.extend(unused_scratch(trace));
    found.extend(channels(trace, target));
    found
}

/// What an operation wrote that nobody read.
#[derive(Clone, Copy, Debug, Default)]
struct Waste {
    chunks: u32,
    /// The first chunk at its destination.
    first: u32,
    /// The operation that overwrote that chunk.
    by: Option<SiteId>,
}

/// Writes whose data nobody reads before it is overwritten, or at all, and which the collective does not want.
fn unread(trace: &Trace) -> Vec<Diagnostic> {
    // The operation, counted from 1, that wrote a chunk which nobody has read since.
    let mut cells: FxHashMap<(RankId, Space), Vec<u32>> = FxHashMap::default();
    let mut wasted = vec![Waste::default(); trace.ops.len()];
    let waste = |wasted: &mut Vec<Waste>, writer: u32, index: u32, by: Option<SiteId>| {
        let Some(waste) = (writer as usize).checked_sub(1).and_then(|op| wasted.get_mut(op)) else { return };
        if waste.chunks == 0 || index < waste.first {
            (waste.first, waste.by) = (index, by);
        }
        waste.chunks += 1;
    };
    for (i, op) in trace.ops.iter().enumerate() {
        let mut visit = |run: ChunkRun<Slice>, act: &mut dyn FnMut(u32, &mut u32)| {
            let slice = run.first;
            let size = trace.space_chunks(slice.rank, slice.space);
            let cells = cells.entry((slice.rank, slice.space)).or_insert_with(|| vec![0; size]);
            for index in slice.index..slice.index + run.count {
                if let Some(cell) = cells.get_mut(index as usize) {
                    act(index, cell);
                }
            }
        };
        trace.sources(op).for_each(|run| visit(run, &mut |_, writer| *writer = 0));
        for run in trace.destinations(op) {
            visit(run, &mut |index, writer| {
                if op.kind == OpKind::Copy {
                    waste(&mut wasted, *writer, index, Some(op.site));
                }
                *writer = i as u32 + 1;
            });
        }
    }
    let wanted = wanted(trace);
    for (&(rank, space), writers) in &cells {
        for (index, writer) in (0..).zip(writers) {
            if *writer != 0 && !wanted.contains(&(rank, space, index)) {
                waste(&mut wasted, *writer, index, None);
            }
        }
    }
    by_site(trace.ops.iter().zip(wasted).filter(|(_, waste)| waste.chunks > 0), |op, waste, more| {
        let place = place(trace, op, waste.first);
        let end = match waste.by {
            Some(_) => " and is overwritten before anybody reads it",
            None => ", but nobody reads it",
        };
        let message = format!("{place} is written here{end}{more}: remove this operation, or read its data");
        let finding = Diagnostic::new(Rule::Unused, Some(op.site), message).as_warning();
        match waste.by {
            Some(by) => finding.with_related(by, "it is overwritten here"),
            None => finding,
        }
    })
}

/// The chunks that the collective wants at its end.
fn wanted(trace: &Trace) -> FxHashSet<(RankId, Space, u32)> {
    let collective = &trace.collective;
    let mut wanted = FxHashSet::default();
    for rank in (0..collective.ranks() as u32).map(RankId) {
        for index in 0..collective.output_chunks_of(rank) as u32 {
            let (space, at) = collective.locate_output(rank, index);
            wanted.insert((rank, space, at));
        }
    }
    wanted
}

/// Scratch buffers that are declared and in which nothing is ever written.
fn unused_scratch(trace: &Trace) -> Option<Diagnostic> {
    let mut used: FxHashSet<(RankId, Space)> = FxHashSet::default();
    for op in &trace.ops {
        used.insert((op.dst.rank, op.dst.space));
    }
    let mut unused = (0..).map(RankId).zip(&trace.scratch).flat_map(|(rank, buffers)| {
        let used = &used;
        (0..).map(Space::Scratch).zip(buffers).filter_map(move |(space, buffer)| {
            (!used.contains(&(rank, space))).then_some((rank, &buffer.name))
        })
    });
    let (rank, name) = unused.next()?;
    let more = likewise(unused.count() as u32, "buffer");
    let message =
        format!("scratch \"{name}\" of rank {} is declared, but nothing is written to it{more}", rank.0);
    Some(Diagnostic::new(Rule::Unused, None, message).as_warning())
}

/// Operations on channels that a runtime does not have.
fn channels(trace: &Trace, target: Option<Target>) -> Vec<Diagnostic> {
    let most = |target: Target| target.limits().channels;
    let limit = target.map_or_else(|| Target::ALL.into_iter().map(most).max().unwrap_or(u32::MAX), most);
    let runtime = match target {
        Some(target) => format!("{target} has"),
        None => "any runtime has".to_owned(),
    };
    let beyond = trace.ops.iter().filter(|op| op.channel.is_some_and(|channel| channel.0 >= limit));
    by_site(beyond.map(|op| (op, Waste { chunks: op.count, ..Waste::default() })), |op, _, _| {
        let channel = op.channel.map_or(0, |channel| channel.0);
        let message = format!(
            "channel {channel} is more than {runtime}: channels go from 0 to {}",
            limit.saturating_sub(1)
        );
        Diagnostic::new(Rule::Limit, Some(op.site), message).as_warning()
    })
}

/// One finding for each source line, made of its first operation.
fn by_site<'t>(
    wasted: impl Iterator<Item = (&'t Op, Waste)>,
    finding: impl Fn(&Op, Waste, &str) -> Diagnostic,
) -> Vec<Diagnostic> {
    let mut firsts: Vec<(&Op, Waste, u32)> = Vec::new();
    let mut known: FxHashMap<SiteId, usize> = FxHashMap::default();
    for (op, waste) in wasted {
        match known.get(&op.site) {
            Some(at) => firsts[*at].2 += waste.chunks,
            None => {
                known.insert(op.site, firsts.len());
                firsts.push((op, waste, waste.chunks));
            }
        }
    }
    firsts.into_iter().map(|(op, waste, chunks)| finding(op, waste, &likewise(chunks - 1, "chunk"))).collect()
}

fn likewise(more: u32, what: &str) -> String {
    match more {
        0 => String::new(),
        1 => format!(" (likewise 1 more {what})"),
        more => format!(" (likewise {more} more {what}s)"),
    }
}

fn place(trace: &Trace, op: &Op, index: u32) -> String {
    let rank = op.dst.rank;
    let space = trace.destinations(op).next().map_or(op.dst.space, |run| run.first.space);
    let buffer = match space {
        Space::Input => "input".to_owned(),
        Space::Output => "output".to_owned(),
        Space::Scratch(id) => {
            let buffer = trace.scratch.get(rank.index()).and_then(|buffers| buffers.get(usize::from(id)));
            buffer.map_or_else(|| "scratch".to_owned(), |buffer| format!("scratch \"{}\"", buffer.name))
        }
    };
    format!("chunk {index} of {buffer} of rank {}", rank.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer::*, Collective, Program};

    fn messages(program: Program, target: Option<Target>) -> Vec<(Rule, String)> {
        let trace = program.finish("test").unwrap();
        warnings(&trace, target).into_iter().map(|finding| (finding.rule, finding.message)).collect()
    }

    fn collective(kind: CollectiveKind, ranks: usize) -> Collective {
        Collective::new(kind, ranks, 1).unwrap()
    }

    fn broadcast() -> Program {
        Program::new(collective(CollectiveKind::Broadcast, 3).in_place().unwrap())
    }

    #[test]
    fn a_program_without_waste_has_no_warnings() {
        let p = broadcast();
        p.chunk(0, Output, 0).copy_to(2, Scratch("hop"), 0).copy_to(1, Output, 0).copy_to(2, Output, 0);
        assert_eq!(messages(p, None), []);
    }

    #[test]
    fn scratch_that_is_written_must_be_read() {
        let p = broadcast();
        for rank in 1..3 {
            p.chunk(0, Output, 0).copy_to(rank, Scratch("in"), 4);
            p.chunk(0, Output, 0).copy_to(rank, Output, 0);
        }
        let found = messages(p, None);
        let [(Rule::Unused, message)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            message,
            "chunk 4 of scratch \"in\" of rank 1 is written here, but nobody reads it (likewise 1 more chunk): remove \
             this operation, or read its data"
        );
    }

    #[test]
    fn what_is_overwritten_must_be_read_before() {
        let p = broadcast();
        p.chunk(0, Output, 0).copy_to(1, Output, 0).copy_to(2, Output, 0);
        p.chunk(0, Output, 0).copy_to(2, Output, 0);
        let trace = p.finish("test").unwrap();
        let found = warnings(&trace, None);
        assert_eq!(found.len(), 1);
        assert!(
            found[0]
                .message
                .contains("chunk 0 of output of rank 2 is written here and is overwritten before")
        );
        assert_eq!(found[0].site, Some(trace.ops[1].site));
        assert_eq!(found[0].related[0].0, trace.ops[2].site);
    }

    #[test]
    fn a_sum_reads_both_sides() {
        let p = Program::new(collective(CollectiveKind::Reduce, 2));
        let own = p.chunk(0, Input, 0).copy_to(0, Output, 0);
        own.reduce(p.chunk(1, Input, 0));
        assert_eq!(messages(p, None), []);
    }

    #[test]
    fn scratch_that_is_declared_must_be_used() {
        let p = broadcast();
        for rank in 0..3 {
            p.scratch(rank, "in", 2);
        }
        p.chunk(0, Output, 0).copy_to(1, Scratch("in"), 0).copy_to(1, Output, 0).copy_to(2, Output, 0);
        let found = messages(p, None);
        let [(Rule::Unused, message)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            message,
            "scratch \"in\" of rank 0 is declared, but nothing is written to it (likewise 1 more buffer)"
        );
    }

    #[test]
    fn channels_are_held_against_the_target() {
        let p = || {
            let p = broadcast();
            p.chunk(0, Output, 0).on_channel(40).copy_to(1, Output, 0);
            p.chunk(0, Output, 0).copy_to(2, Output, 0);
            p
        };
        assert_eq!(messages(p(), None), []);
        let found = messages(p(), Some(Target::Msccl));
        let [(Rule::Limit, message)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(message, "channel 40 is more than msccl has: channels go from 0 to 31");
    }

    #[test]
    fn the_signals_of_a_barrier_need_no_reader() {
        let p = Program::new(collective(CollectiveKind::Barrier, 2));
        for rank in 0..2 {
            p.chunk(rank, Input, 0).copy_to(1 - rank, Scratch("signal"), 0);
        }
        assert_eq!(messages(p, None), []);
    }
}
