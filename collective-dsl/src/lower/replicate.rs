//! Pass 2: instances. The program is replicated as a program, before anything is ordered, so that all later passes
//! and the verifier see an ordinary one.
//!
//! Every chunk is divided into as many parts as there are instances. Interleaved, instance i works on part i of each
//! chunk, so an operation on several chunks becomes one operation for each. Blocked, it works on a run of its own
//! within each rank's part of the data, so operations within one part stay whole. A computation is one of all instances:
//! it reads and writes the parts of all of them.

use crate::buffer::Space;
use crate::collective::{CollectiveKind, Expectations};
use crate::compute::{ChunkRun, Computation};
use crate::diagnostic::{Diagnostics, Rule};
use crate::ids::{ChannelId, DataId, ThreadBlockId};
use crate::options::Replication;
use crate::trace::{DataTable, MixedReduction, Op, OpKind, ScratchBuffer, Slice, Trace};

/// Replicates a program as its options say.
///
/// # Errors
/// Options that make no sense, or more chunks than can be tracked.
pub(super) fn replicate(trace: &Trace) -> Result<Option<Trace>, Diagnostics> {
    let instances = trace.options.instances;
    let refuse = |message: String| Err(Diagnostics::without_site(&trace.name, Rule::Malformed, message));
    match (instances, trace.options.replication, trace.collective.kind()) {
        (0, ..) => return refuse("a program needs at least one instance".to_owned()),
        (1, ..) => return Ok(None),
        (_, _, CollectiveKind::Barrier) => {
            return refuse("a barrier has no data to divide among instances".to_owned());
        }
        (_, Replication::Blocked, CollectiveKind::AllToAllV) => {
            return refuse("the parts of all-to-all-v differ in length: replicate it interleaved".to_owned());
        }
        _ => {}
    }
    let collective = match trace.collective.refined(instances) {
        Ok(collective) => collective,
        Err(error) => return refuse(error.to_string()),
    };
    let channels =
        trace.ops.iter().filter_map(|op| op.channel).map(|channel| channel.0 + 1).max().unwrap_or(1);
    if channels.checked_mul(instances).is_none_or(|channels| channels > u32::from(u16::MAX)) {
        return refuse(format!(
            "{instances} instances of {channels} channels are more than {} channels",
            u16::MAX
        ));
    }
    let copy = Replicas { trace, instances, channels };
    let mut data = DataTable::new(collective.logical_chunks());
    let mut ops = Vec::with_capacity(trace.ops.len() * instances as usize);
    for op in &trace.ops {
        if let OpKind::Compute(_) = op.kind {
            ops.push(*op);
            continue;
        }
        for instance in 0..instances {
            copy.push(op, instance, &mut data, &mut ops);
        }
    }
    let mut mixed = Vec::new();
    for reduction in &trace.mixed {
        for instance in 0..instances {
            let MixedReduction { into, from, site } = *reduction;
            let (into, from) = (copy.data(into, instance, &mut data), copy.data(from, instance, &mut data));
            mixed.push(MixedReduction { into, from, site });
        }
    }
    let scratch = trace.scratch.iter().map(|buffers| {
        let times =
            |buffer: &ScratchBuffer| ScratchBuffer { chunks: buffer.chunks * instances, ..buffer.clone() };
        buffers.iter().map(times).collect()
    });
    let collective = match trace.collective.expected() {
        None => collective,
        Some(expected) => collective.expecting(copy.expected(expected)),
    };
    Ok(Some(Trace {
        name: trace.name.clone(),
        collective,
        options: trace.options,
        ops,
        computations: trace.computations.iter().map(|computation| copy.computation(computation)).collect(),
        scratch: scratch.collect(),
        data,
        mixed,
        sites: trace.sites.clone(),
    }))
}

struct Replicas<'t> {
    trace: &'t Trace,
    instances: u32,
    channels: u32,
}

impl Replicas<'_> {
    fn push(&self, op: &Op, instance: u32, data: &mut DataTable, ops: &mut Vec<Op>) {
        let channel = Some(ChannelId(op.channel.unwrap_or_default().0 + instance * self.channels));
        let block = |block: ThreadBlockId| {
            ThreadBlockId(block.0.saturating_mul(self.instances).saturating_add(instance))
        };
        let copy =
            Op { channel, send_block: op.send_block.map(block), recv_block: op.recv_block.map(block), ..*op };
        // The longest runs that stay whole: within one part of both buffers and of the data.
        let chunks: Vec<u32> = self.trace.data.chunks(op.data).collect();
        let place = |at: usize| {
            let shifted =
                |slice: Slice| self.slice(Slice { index: slice.index + at as u32, ..slice }, instance);
            (shifted(op.src), shifted(op.dst), self.chunk(chunks[at], self.part(Space::Input), instance))
        };
        let mut from = 0;
        while from < chunks.len() {
            let (src, dst, first) = place(from);
            let mut run = vec![first];
            while let Some(next) = (from + run.len() < chunks.len()).then(|| place(from + run.len())) {
                let length = run.len() as u32;
                if next.0.index != src.index + length || next.1.index != dst.index + length {
                    break;
                }
                run.push(next.2);
            }
            let (count, data) = (run.len() as u32, data.intern(&run));
            ops.push(Op { src, dst, count, data, ..copy });
            from += run.len();
        }
    }

    fn computation(&self, computation: &Computation<Slice>) -> Computation<Slice> {
        let all = |runs: &[ChunkRun<Slice>]| runs.iter().flat_map(|run| self.runs(*run)).collect();
        Computation {
            cost: computation.cost,
            reads: all(&computation.reads),
            writes: all(&computation.writes),
        }
    }

    /// The parts of all instances of a run of chunks, as few runs.
    fn runs(&self, run: ChunkRun<Slice>) -> Vec<ChunkRun<Slice>> {
        let chunks = (0..run.count).map(|at| Slice { index: run.first.index + at, ..run.first });
        let parts = chunks
            .flat_map(|chunk| (0..self.instances).map(move |instance| self.slice(chunk, instance).index));
        let mut parts: Vec<u32> = parts.collect();
        parts.sort_unstable();
        let runs = parts.chunk_by(|a, b| a + 1 == *b);
        runs.map(|run_of| ChunkRun {
            first: Slice { index: run_of[0], ..run.first },
            count: run_of.len() as u32,
        })
        .collect()
    }

    /// Length of a rank's part in a buffer.
    fn part(&self, space: Space) -> u32 {
        match (self.trace.collective.kind(), space) {
            (CollectiveKind::Custom, Space::Output) => self.trace.collective.output_chunks() as u32,
            _ => self.trace.collective.chunks() as u32,
        }
    }

    /// Where an instance has its share of a chunk, in a buffer whose parts are `part` chunks long.
    fn chunk(&self, chunk: u32, part: u32, instance: u32) -> u32 {
        match self.trace.options.replication {
            Replication::Interleaved => chunk * self.instances + instance,
            Replication::Blocked => chunk / part * part * self.instances + instance * part + chunk % part,
        }
    }

    fn slice(&self, slice: Slice, instance: u32) -> Slice {
        let part = match slice.space {
            Space::Scratch(id) => self.trace.scratch[slice.rank.index()][usize::from(id)].chunks,
            space => self.part(space),
        };
        Slice { index: self.chunk(slice.index, part, instance), ..slice }
    }

    fn data(&self, id: DataId, instance: u32, data: &mut DataTable) -> DataId {
        let part = self.part(Space::Input);
        let chunks: Vec<u32> =
            self.trace.data.chunks(id).map(|chunk| self.chunk(chunk, part, instance)).collect();
        data.intern(&chunks)
    }

    fn expected(&self, expected: &Expectations) -> Expectations {
        let mut all = Expectations::new();
        for ((rank, index), contributions) in expected {
            for instance in 0..self.instances {
                let at = (*rank, self.chunk(*index, self.part(Space::Output), instance));
                let from = |(chunk, rank): &(u32, u32)| {
                    (self.chunk(*chunk, self.part(Space::Input), instance), *rank)
                };
                all.insert(at, contributions.iter().map(from).collect());
            }
        }
        all
    }
}
