//! What the engine asks of a model.

use crate::error::Overflow;
use crate::events::{EventQueue, MessageId, Messages};
use crate::report::LinkLoad;
use crate::units::{Bytes, Picos};

/// Two ranks between which messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) src: u32,
    pub(crate) dst: u32,
}

/// A model at work: it moves messages by scheduling events, and says when they are delivered.
///
/// A network is made for the pairs of ranks of one run, so that it can prepare its routes.
pub(crate) trait Network {
    /// Takes over a message of the `pair`-th pair at the current time.
    fn inject(
        &mut self,
        message: MessageId,
        pair: u32,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow>;

    /// The message is at the end of a hop. True if it is delivered, else it was sent on.
    fn arrive(
        &mut self,
        message: MessageId,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<bool, Overflow>;

    /// A link that the model asked to be told about is free.
    fn link_free(
        &mut self,
        link: u32,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow>;

    /// What a message of the `pair`-th pair takes that has its links for itself: latency and serialisation. None
    /// if the model does not tell them apart.
    fn parts(&self, _pair: u32, _size: Bytes) -> Option<(Picos, Picos)> {
        None
    }

    /// What the links carried, if the model knows links.
    fn link_loads(&self) -> Option<Vec<LinkLoad>>;
}
