//! The language: a [`Program`] and the [`ChunkRef`]s that it hands out.

mod compute;
mod handle;
mod tracer;

pub use compute::Compute;
pub use handle::{Handle, Work};
pub use tracer::Tracer;

use std::cell::RefCell;
use std::fmt;
use std::panic::Location;

use rustc_hash::FxHashMap;

use crate::buffer::Buffer;
use crate::collective::Collective;
use crate::diagnostic::{Diagnostic, Diagnostics, Rule};
use crate::ids::{ChannelId, SiteId, ThreadBlockId};
use crate::options::Options;
use crate::site::Site;
use crate::trace::Trace;

/// A collective algorithm in the making: one program for all ranks.
///
/// Every call records an operation together with its source line. Mistakes (a rank that does not exist, a
/// chunk that nobody has written) are collected, and [`Program::finish`] returns them; the call itself
/// goes on, so that a program needs no `?`.
///
/// ```
/// use collective_dsl::{Buffer::Input, Collective, Program};
///
/// // All-reduce between two ranks: each adds the other's half, then gives its own back.
/// let p = Program::new(Collective::all_reduce(2)?.in_place()?);
/// for rank in 0..2 {
///     let other = 1 - rank;
///     let sum = p.chunk(rank, Input, rank).reduce(p.chunk(other, Input, rank));
///     sum.copy_to(other, Input, rank);
/// }
/// let trace = p.finish("exchange")?;
/// assert_eq!(trace.ops.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Program {
    recorder: RefCell<Recorder>,
    collective: Collective,
}

struct Recorder {
    tracer: Tracer,
    sites: FxHashMap<(&'static str, u32, u32), SiteId>,
    source_root: String,
}

impl Recorder {
    fn site(&mut self, at: &'static Location<'static>) -> SiteId {
        let key = (at.file(), at.line(), at.column());
        if let Some(id) = self.sites.get(&key) {
            return *id;
        }
        let file = at.file().strip_prefix(&self.source_root).unwrap_or(at.file()).to_owned();
        let id = self.tracer.add_site(Site { file, line: at.line(), column: at.column() });
        self.sites.insert(key, id);
        id
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("collective", &self.collective).finish_non_exhaustive()
    }
}

impl Program {
    /// An empty program for a collective.
    #[must_use]
    pub fn new(collective: Collective) -> Self {
        Self::with_source_root(collective, "")
    }

    /// The same; `source_root` is what the compiler puts before the crate-relative path of a source file,
    /// and is left out of the program's source places.
    #[must_use]
    pub fn with_source_root(collective: Collective, source_root: &str) -> Self {
        let tracer = Tracer::new(collective.clone());
        let recorder = Recorder { tracer, sites: FxHashMap::default(), source_root: source_root.to_owned() };
        Self { recorder: RefCell::new(recorder), collective }
    }

    /// The collective that the program is for.
    #[must_use]
    pub fn collective(&self) -> &Collective {
        &self.collective
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.collective.ranks()
    }

    /// Chunks of a rank's input.
    #[must_use]
    pub fn input_chunks(&self) -> usize {
        self.collective.input_chunks()
    }

    /// Chunks of a rank's output.
    #[must_use]
    pub fn output_chunks(&self) -> usize {
        self.collective.output_chunks()
    }

    /// One chunk of a buffer, as it is now.
    #[track_caller]
    pub fn chunk(&self, rank: usize, buffer: Buffer<'_>, index: usize) -> ChunkRef<'_> {
        self.chunks_at(rank, buffer, index, 1, Location::caller())
    }

    /// The chunks `index..index + count` of a buffer, as they are now.
    #[track_caller]
    pub fn chunks(&self, rank: usize, buffer: Buffer<'_>, index: usize, count: usize) -> ChunkRef<'_> {
        self.chunks_at(rank, buffer, index, count, Location::caller())
    }

    /// Refuses the program's parameters unless `condition` holds, with a message that says which would do.
    /// Returns the condition.
    #[track_caller]
    pub fn require(&self, condition: bool, message: &str) -> bool {
        if !condition {
            let at = Location::caller();
            self.with(at, |tracer, site| {
                tracer.report(Diagnostic::new(Rule::Malformed, Some(site), message));
            });
        }
        condition
    }

    /// Gives a scratch buffer of a rank a fixed number of chunks; writing beyond it is then an error. Without
    /// this a scratch buffer grows with what is written.
    #[track_caller]
    pub fn scratch(&self, rank: usize, name: &str, chunks: usize) {
        self.with(Location::caller(), |tracer, site| tracer.declare_scratch(rank, name, chunks, site));
    }

    /// States what a custom collective wants: `output[index]` of `rank` must end with `input[from_index]` of
    /// `from_rank`. Stated several times for one output chunk, it must end with the sum. Output chunks of
    /// which nothing is stated may end with anything.
    #[track_caller]
    pub fn expect(&self, rank: usize, index: usize, from_rank: usize, from_index: usize) {
        let (at, from) = ((rank, index), (from_rank, from_index));
        self.with(Location::caller(), |tracer, site| tracer.expect(at, from, site));
    }

    /// Sets protocol, instances and replication.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.recorder.get_mut().tracer.set_options(options);
        self
    }

    /// Makes the program one for some ranks of a larger job: it calls them by the numbers given, and they take
    /// part in that order. The collective has as many ranks as there are members.
    #[must_use]
    #[track_caller]
    pub fn among(self, members: &[usize]) -> Self {
        self.with(Location::caller(), |tracer, site| tracer.set_members(members, site));
        self
    }

    /// The traced program.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn finish(self, name: impl Into<String>) -> Result<Trace, Diagnostics> {
        self.recorder.into_inner().tracer.finish(name)
    }

    fn chunks_at(
        &self,
        rank: usize,
        buffer: Buffer<'_>,
        index: usize,
        count: usize,
        at: &'static Location<'static>,
    ) -> ChunkRef<'_> {
        let handle = self.with(at, |tracer, site| tracer.chunks(rank, buffer, index, count, site));
        ChunkRef { program: self, handle }
    }

    fn with<R>(&self, at: &'static Location<'static>, act: impl FnOnce(&mut Tracer, SiteId) -> R) -> R {
        let mut recorder = self.recorder.borrow_mut();
        let site = recorder.site(at);
        act(&mut recorder.tracer, site)
    }
}

/// Chunks of one rank, as they were when the reference was made.
///
/// References are copied freely. Using one after its data was overwritten is an error that names both
/// places: use the reference that the overwriting operation returned.
#[derive(Clone, Copy)]
pub struct ChunkRef<'p> {
    program: &'p Program,
    handle: Handle,
}

impl fmt::Debug for ChunkRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.fmt(f)
    }
}

impl<'p> ChunkRef<'p> {
    /// The rank that holds the chunks.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.handle.rank()
    }

    /// Number of chunks.
    #[must_use]
    pub fn count(&self) -> usize {
        self.handle.count()
    }

    /// Asks that operations on these chunks use a channel; the references that they return ask for it too.
    #[must_use]
    pub fn on_channel(self, channel: usize) -> Self {
        // A number beyond u32 cannot be a channel of any runtime; it is kept as the largest there is.
        let channel = ChannelId(u32::try_from(channel).unwrap_or(u32::MAX));
        Self { handle: self.handle.on_channel(channel), ..self }
    }

    /// Asks that the next operation on these chunks runs on a thread block of the sending rank. For an operation
    /// within a rank this is its thread block.
    #[must_use]
    pub fn on_send_block(self, id: usize) -> Self {
        let (_, recv) = self.handle.thread_blocks();
        Self { handle: self.handle.on_thread_blocks(Some(block(id)), recv), ..self }
    }

    /// Asks that the next operation on these chunks runs on a thread block of the receiving rank.
    #[must_use]
    pub fn on_recv_block(self, id: usize) -> Self {
        let (send, _) = self.handle.thread_blocks();
        Self { handle: self.handle.on_thread_blocks(send, Some(block(id))), ..self }
    }

    /// Joins these chunks and neighbouring ones of the same buffer.
    #[track_caller]
    pub fn group(self, other: ChunkRef<'p>) -> ChunkRef<'p> {
        let same_program = std::ptr::eq(self.program, other.program);
        let handle = self.program.with(Location::caller(), |tracer, site| {
            if same_program { tracer.group(self.handle, other.handle, site) } else { tracer.foreign(site) }
        });
        Self { handle, ..self }
    }

    /// Copies the chunks to `buffer[index..]` of a rank; returns them there.
    #[track_caller]
    pub fn copy_to(self, rank: usize, buffer: Buffer<'_>, index: usize) -> ChunkRef<'p> {
        let at = Location::caller();
        let handle =
            self.program.with(at, |tracer, site| tracer.copy(self.handle, rank, buffer, index, site));
        Self { handle, ..self }
    }

    /// Adds the chunks of `src` to these, one by one; returns the sums, which replace these.
    #[track_caller]
    pub fn reduce(self, src: ChunkRef<'p>) -> ChunkRef<'p> {
        let at = Location::caller();
        let same_program = std::ptr::eq(self.program, src.program);
        let handle = self.program.with(at, |tracer, site| {
            if same_program { tracer.reduce(self.handle, src.handle, site) } else { tracer.foreign(site) }
        });
        Self { handle, ..self }
    }

    /// Divides the chunks into `parts` equal consecutive runs.
    #[track_caller]
    #[must_use]
    pub fn split(self, parts: usize) -> Vec<ChunkRef<'p>> {
        let at = Location::caller();
        let handles = self.program.with(at, |tracer, site| tracer.split(self.handle, parts, site));
        handles.into_iter().map(|handle| Self { handle, ..self }).collect()
    }
}

/// A number beyond u32 cannot be a thread block of any runtime; it is kept as the largest there is.
fn block(id: usize) -> ThreadBlockId {
    ThreadBlockId(u32::try_from(id).unwrap_or(u32::MAX))
}
