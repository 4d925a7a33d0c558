//! [`Program::compute`] and what it returns.

use std::fmt;
use std::panic::Location;

use super::{ChunkRef, Program, Work};
use crate::buffer::Buffer;
use crate::compute::Cost;

impl Program {
    /// A computation of a rank, such as a tile of a product of matrices. [`Compute::reads`] and [`Compute::writes`] say
    /// which chunks it needs and which it produces; they follow at once, before any other operation.
    ///
    /// The computations of one rank run one at a time, in the order of the program, beside its messages. What one writes are
    /// chunks of the rank's *input*: they are its contribution to the collective, and are not there before, so that to send
    /// one earlier is an error. A chunk of the input that no computation writes is there from the start. What one reads
    /// may lie in any buffer of the rank.
    ///
    /// ```
    /// use collective_dsl::{Buffer::{Input, Output}, Collective, Cost, Program, compile};
    ///
    /// // Reduce-scatter between two ranks of what two tiles of a product give: the other's tile first.
    /// let p = Program::new(Collective::reduce_scatter(2)?);
    /// for rank in 0..2 {
    ///     let other = 1 - rank;
    ///     let tile = p.compute(rank, Cost::micros(10)).writes(Input, other, 1);
    ///     tile.copy_to(other, Output, 0);
    /// }
    /// for rank in 0..2 {
    ///     let own = p.compute(rank, Cost::micros(10)).writes(Input, rank, 1);
    ///     p.chunk(rank, Output, 0).reduce(own);
    /// }
    /// assert_eq!(compile(&p.finish("overlapped")?)?.message_count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn compute(&self, rank: usize, cost: Cost) -> Compute<'_> {
        let work = self.with(Location::caller(), |tracer, site| tracer.compute(rank, cost, site));
        Compute { program: self, work }
    }
}

/// A computation whose chunks are being stated; see [`Program::compute`].
#[derive(Clone, Copy)]
pub struct Compute<'p> {
    program: &'p Program,
    work: Work,
}

impl fmt::Debug for Compute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.work.fmt(f)
    }
}

impl<'p> Compute<'p> {
    /// States that the computation needs these chunks: it begins when they are there, and they stay as they are until it
    /// ends. May be called several times.
    #[track_caller]
    pub fn reads(self, chunks: ChunkRef<'p>) -> Self {
        let same_program = std::ptr::eq(self.program, chunks.program);
        let work = self.program.with(Location::caller(), |tracer, site| {
            if same_program {
                return tracer.compute_reads(self.work, chunks.handle, site);
            }
            tracer.foreign(site);
            self.work
        });
        Self { work, ..self }
    }

    /// States that the computation produces the chunks `index..index + count` of its rank's input, by whatever name;
    /// returns them. For several runs of chunks keep the computation: `let tile = p.compute(…)`, and then `tile.writes(…)`
    /// for each.
    #[track_caller]
    pub fn writes(self, buffer: Buffer<'_>, index: usize, count: usize) -> ChunkRef<'p> {
        let at = Location::caller();
        let handle = self
            .program
            .with(at, |tracer, site| tracer.compute_writes(self.work, buffer, index, count, site));
        ChunkRef { program: self.program, handle }
    }
}
