//! Computations: what they read must be there, what they write is the rank's contribution, and is not there before.

use rustc_hash::FxHashMap;

use super::{EMPTY, MAX_OPS, Tracer, chunk_words};
use crate::buffer::{Buffer, Space};
use crate::compute::{ChunkRun, Computation, Cost};
use crate::diagnostic::{Diagnostic, Rule};
use crate::ids::{DataId, RankId, SiteId};
use crate::program::handle::{Handle, Named, Work};
use crate::trace::{Op, OpKind, Slice};

/// Chunks of the input that computations produce, each with the operation that does.
pub(super) type Produced = FxHashMap<(RankId, Space, u32), u32>;

impl Tracer {
    /// Records a computation of a rank; what it reads and writes is stated right after.
    pub fn compute(&mut self, rank: usize, cost: Cost, site: SiteId) -> Work {
        let Ok(id) = self.position(rank, site) else { return Work::void() };
        let message = if self.ops.len() >= MAX_OPS {
            format!("the program has more than {MAX_OPS} operations")
        } else if let Some((value, unit)) = [(cost.flops, "operations"), (cost.bytes, "bytes")]
            .into_iter()
            .find(|(n, _)| *n > i64::MAX as u64)
        {
            format!("a computation of {value} {unit} is more than a trace can say: {} at most", i64::MAX)
        } else {
            let number = self.computations.len() as u32;
            self.computations.push(Computation { cost, reads: Vec::new(), writes: Vec::new() });
            let nowhere = Slice { rank: id, space: Space::Input, index: 0 };
            self.ops.push(Op {
                kind: OpKind::Compute(number),
                src: nowhere,
                dst: nowhere,
                count: 0,
                channel: None,
                send_block: None,
                recv_block: None,
                data: DataId(0),
                site,
            });
            return Work { rank: id, op: self.ops.len() as u32 - 1, void: false };
        };
        self.fail(Rule::Malformed, site, message);
        Work::void()
    }

    /// States that a computation reads chunks of its rank.
    pub fn compute_reads(&mut self, work: Work, chunks: Handle, site: SiteId) -> Work {
        if work.void || chunks.void || !self.is_latest(work, site) {
            return work;
        }
        if chunks.slice.rank != work.rank {
            let (of, by) = (chunks.rank(), work.rank.0);
            let message = format!(
                "a computation of rank {by} cannot read {} of rank {of}: copy it to rank {by} first",
                chunk_words(chunks.named.index, chunks.count())
            );
            self.fail(Rule::Malformed, site, message);
            return work;
        }
        let now = work.op + 1;
        let run = ChunkRun { first: chunks.slice, count: chunks.count };
        if self.run(run.first, run.count).unwrap_or_default().iter().any(|cell| cell.written == now) {
            let message = "a computation cannot read what it produces itself".to_owned();
            self.fail(Rule::Malformed, site, message);
            return work;
        }
        if self.check_fresh(chunks, site)
            && let Some(computation) = self.computation_mut(work)
        {
            computation.reads.push(run);
        }
        work
    }

    /// States that a computation produces chunks of its rank's input; returns them.
    pub fn compute_writes(
        &mut self,
        work: Work,
        buffer: Buffer<'_>,
        index: usize,
        count: usize,
        site: SiteId,
    ) -> Handle {
        let rank = work.rank.index();
        if work.void || !self.is_latest(work, site) {
            return Handle::void(site).or_void(rank, count);
        }
        self.produced_chunks(work, buffer, index, count, site).or_void(rank, count)
    }

    fn produced_chunks(
        &mut self,
        work: Work,
        buffer: Buffer<'_>,
        index: usize,
        count: usize,
        site: SiteId,
    ) -> Handle {
        const ADVICE: &str = "a computation produces chunks of its rank's input, which the collective's messages then carry; \
             it may read chunks of any buffer";
        let rank = work.rank;
        if let Buffer::Scratch(_) = buffer {
            return self.fail(Rule::Malformed, site, format!("{buffer} cannot be computed: {ADVICE}"));
        }
        let name = self.member(rank);
        let slice = match self.locate(name, buffer, index, count, site) {
            Ok(slice) => slice,
            Err(void) => return void,
        };
        let run = ChunkRun { first: slice, count: count as u32 };
        let is_input = |at: u32| self.collective.input_at(rank, slice.space, at).is_some();
        if let Some(other) = (slice.index..slice.index + run.count).find(|at| !is_input(*at)) {
            let at = index + (other - slice.index) as usize;
            let message = format!(
                "chunk {at} of {buffer} of rank {name} cannot be computed, as the collective says what it holds: {ADVICE}"
            );
            return self.fail(Rule::Malformed, site, message);
        }
        let written = self.run(slice, run.count).unwrap_or_default().iter().map(|cell| cell.written);
        if let Some((i, before)) = written.enumerate().find(|(_, before)| *before != 0 && *before != EMPTY) {
            let before = self.ops[before as usize - 1];
            let (what, related) = match before.kind {
                OpKind::Compute(_) => ("is produced twice", "it is produced here already"),
                _ => ("is overwritten before it is produced", "it is overwritten here"),
            };
            let message = format!("chunk {} of {buffer} of rank {name} {what}", index + i);
            self.report(
                Diagnostic::new(Rule::Malformed, Some(site), message).with_related(before.site, related),
            );
            return Handle::void(site);
        }
        let now = work.op + 1;
        for at in slice.index..slice.index + run.count {
            self.produced.insert((rank, slice.space, at), work.op);
        }
        for cell in self.run_mut(slice, run.count) {
            cell.written = now;
        }
        if let Some(computation) = self.computation_mut(work) {
            computation.writes.push(run);
        }
        self.handle(slice, Named::new(buffer, index), run.count, None, site)
    }

    /// Whether a computation is the latest operation, so that no other has seen it half stated.
    fn is_latest(&mut self, work: Work, site: SiteId) -> bool {
        let (computed, latest) = (self.ops[work.op as usize].site, self.ops.len() as u32 - 1);
        if work.op == latest {
            return true;
        }
        let next = self.ops[work.op as usize + 1].site;
        let message =
            "what a computation reads and writes is stated before the next operation of the program";
        self.report(
            Diagnostic::new(Rule::Malformed, Some(site), message)
                .with_related(computed, "the computation is here")
                .with_related(next, "the next operation is here"),
        );
        false
    }

    fn computation_mut(&mut self, work: Work) -> Option<&mut Computation<Slice>> {
        match self.ops[work.op as usize].kind {
            OpKind::Compute(number) => self.computations.get_mut(number as usize),
            _ => None,
        }
    }

    /// Reports what is used of the input before it is produced: that it will be is known only at the end.
    pub(super) fn check_produced(&mut self) {
        if self.produced.is_empty() {
            return;
        }
        let mut found = Vec::new();
        let mut produced = std::mem::take(&mut self.produced);
        for (i, op) in (0..).zip(&self.ops) {
            let added_to = (op.kind == OpKind::Reduce)
                .then_some((ChunkRun { first: op.dst, count: op.count }, "added to"));
            let verb = match op.kind {
                OpKind::Compute(_) => "read by a computation",
                _ if op.is_remote() => "sent",
                OpKind::Copy => "copied",
                OpKind::Reduce => "added",
            };
            let computed = self.computation_of(op);
            let moved = (op.count > 0).then_some(ChunkRun { first: op.src, count: op.count });
            let reads = moved.into_iter().chain(computed.iter().flat_map(|work| work.reads.iter().copied()));
            for (run, verb) in reads.map(|run| (run, verb)).chain(added_to) {
                let Slice { rank, space, index } = run.first;
                for at in index..index + run.count {
                    let Some(by) = produced.get(&(rank, space, at)).copied().filter(|by| *by > i) else {
                        continue;
                    };
                    // One mistake, one message.
                    produced.remove(&(rank, space, at));
                    let chunk = self.collective.input_at(rank, space, at).unwrap_or(at);
                    let message = format!(
                        "chunk {chunk} of input of rank {} is {verb} before it is produced: state the computation first, \
                         and go on with the reference that `writes` returns",
                        rank.0
                    );
                    let by = self.ops[by as usize].site;
                    found.push(
                        Diagnostic::new(Rule::Uninitialised, Some(op.site), message)
                            .with_related(by, "it is produced here"),
                    );
                }
            }
        }
        // The same slip usually does it on every rank: a line is named once.
        let mut lines: Vec<SiteId> = Vec::new();
        for finding in found {
            let site = finding.site.unwrap_or_default();
            if !lines.contains(&site) {
                lines.push(site);
                self.report(finding);
            }
        }
    }

    fn computation_of(&self, op: &Op) -> Option<&Computation<Slice>> {
        match op.kind {
            OpKind::Compute(number) => self.computations.get(number as usize),
            _ => None,
        }
    }
}
