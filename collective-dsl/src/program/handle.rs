//! Handles: chunks as they were at one moment of a program.

use crate::buffer::{Buffer, Space};
use crate::ids::{ChannelId, RankId, SiteId, ThreadBlockId};
use crate::trace::Slice;

/// A handle on a run of chunks as they were at one moment of the program.
///
/// A handle that was obtained by a mistake (which is already recorded) is *void*: operations on it do
/// nothing, so that one mistake gives one message. It has the rank and the number of chunks that were asked
/// for, so that a program which computes with them goes on as it would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    pub(super) slice: Slice,
    /// The place as the program named it, before aliases were resolved.
    pub(super) named: Named,
    pub(super) count: u32,
    /// Number of operations before this handle was made: a later write makes it stale.
    pub(super) made: u32,
    /// Where the handle was made.
    pub(super) site: SiteId,
    pub(super) channel: Option<ChannelId>,
    /// Thread blocks for the next operation: at the source, at the destination.
    pub(super) blocks: (Option<ThreadBlockId>, Option<ThreadBlockId>),
    pub(super) void: bool,
}

/// A buffer and an index in it, in the program's words; scratch buffers are not told apart, as only input and
/// output have aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) buffer: NamedBuffer,
    pub(super) index: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedBuffer {
    Input,
    Output,
    Scratch,
}

impl NamedBuffer {
    pub(super) fn word(self) -> &'static str {
        match self {
            NamedBuffer::Input => "input",
            NamedBuffer::Output => "output",
            NamedBuffer::Scratch => "scratch",
        }
    }
}

impl Named {
    pub(super) fn new(buffer: Buffer<'_>, index: usize) -> Self {
        let buffer = match buffer {
            Buffer::Input => NamedBuffer::Input,
            Buffer::Output => NamedBuffer::Output,
            Buffer::Scratch(_) => NamedBuffer::Scratch,
        };
        Self { buffer, index }
    }
}

impl Handle {
    pub(super) fn void(site: SiteId) -> Self {
        let slice = Slice { rank: RankId(0), space: Space::Input, index: 0 };
        let named = Named::new(Buffer::Input, 0);
        Self { slice, named, count: 0, made: 0, site, channel: None, blocks: (None, None), void: true }
    }

    /// The same, unless it is void: then with what was asked for.
    pub(super) fn or_void(self, rank: usize, count: usize) -> Self {
        if !self.void {
            return self;
        }
        let number = |asked: usize| u32::try_from(asked).unwrap_or(u32::MAX);
        let slice = Slice { rank: RankId(number(rank)), ..self.slice };
        Self { slice, count: number(count), ..self }
    }

    /// The rank that holds the chunks.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.slice.rank.index()
    }

    /// Number of chunks.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The thread blocks asked for: at the source, at the destination.
    #[must_use]
    pub fn thread_blocks(&self) -> (Option<ThreadBlockId>, Option<ThreadBlockId>) {
        self.blocks
    }

    /// The same chunks, with thread blocks for the next operation only: one of the rank that sends (or does it
    /// alone), one of the rank that receives.
    #[must_use]
    pub fn on_thread_blocks(mut self, send: Option<ThreadBlockId>, recv: Option<ThreadBlockId>) -> Self {
        self.blocks = (send, recv);
        self
    }

    /// The same chunks, with a channel for the operations that move them.
    #[must_use]
    pub fn on_channel(mut self, channel: ChannelId) -> Self {
        self.channel = Some(channel);
        self
    }
}

/// A computation whose reads and writes are being stated.
///
/// One that was obtained by a mistake is *void*, as a [`Handle`] may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub(super) rank: RankId,
    /// Its position among the operations.
    pub(super) op: u32,
    pub(super) void: bool,
}

impl Work {
    pub(super) fn void() -> Self {
        Self { rank: RankId(0), op: 0, void: true }
    }
}
