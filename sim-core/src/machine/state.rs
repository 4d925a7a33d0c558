//! Where thread blocks and connections stand.

use std::collections::VecDeque;

use crate::events::MessageId;
use crate::units::Picos;

/// What a thread block does, or waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It has not begun its step of this round, which may wait for others.
    Begin,
    /// It waits for a slice to receive.
    Data,
    /// It waits for a free slot.
    Slot,
    /// The overheads of the slice, until [`BlockState::until`].
    Overhead,
    /// It copies, reduces or computes within the rank, until [`BlockState::until`].
    Local,
    /// Its data are on the links.
    Flow,
    /// It waits until its data are delivered.
    Delivery,
    /// It has finished.
    Over,
}

/// A thread block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockState {
    /// The step that it is at, by its number among all.
    pub(super) step: u32,
    pub(super) round: u32,
    pub(super) slice: u32,
    /// The bytes of the step in this round.
    pub(super) data: u64,
    pub(super) phase: Phase,
    pub(super) until: Picos,
    /// What it sends at present.
    pub(super) message: Option<MessageId>,
}

/// A connection: slices in slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Fifo {
    /// Slices that were sent or are being sent and not yet taken out.
    pub(super) used: u32,
    /// Slices that the receiver sees and has not taken out.
    pub(super) visible: u32,
    /// When those come to be seen that were sent.
    pub(super) coming: VecDeque<Picos>,
}
