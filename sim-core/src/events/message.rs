//! The messages under way, in places that are used again.

use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

use crate::error::Overflow;
use crate::units::Bytes;

/// The place of a message that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageId(NonZeroU32);

/// A message under way: 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) bytes: Bytes,
    /// The sending rank, and the SEND on it: the key of the message's events.
    pub(crate) rank: u32,
    pub(crate) node: u32,
    /// For the engine: what it belongs to.
    pub(crate) connection: u32,
    /// For the engine: which message of its connection it is, where that matters.
    pub(crate) sequence: u32,
    /// For the model: where the message is on its route.
    pub(crate) hop: u32,
    /// For the model: the next message in the same queue. Of a place not in use: the next such place.
    pub(crate) next: Option<MessageId>,
}

#[derive(Default)]
pub(crate) struct Messages {
    places: Vec<Message>,
    unused: Option<MessageId>,
}

impl Message {
    /// A message before its first hop.
    #[inline]
    pub(crate) fn new(bytes: Bytes, rank: u32, node: u32, connection: u32) -> Self {
        Self { bytes, rank, node, connection, sequence: 0, hop: 0, next: None }
    }
}

impl MessageId {
    pub(crate) fn new(index: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(index))
    }

    pub(crate) fn index(self) -> u32 {
        self.0.get() - 1
    }
}

impl Messages {
    #[inline]
    pub(crate) fn insert(&mut self, message: Message) -> Result<MessageId, Overflow> {
        if let Some(id) = self.unused {
            self.unused = std::mem::replace(&mut self[id], message).next;
            return Ok(id);
        }
        let index = u32::try_from(self.places.len()).ok().filter(|index| *index < u32::MAX - 1);
        self.places.push(message);
        index.map(MessageId::new).ok_or(Overflow::MESSAGES)
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: MessageId) -> Message {
        let message = self[id];
        self[id].next = self.unused.replace(id);
        message
    }
}

impl Index<MessageId> for Messages {
    type Output = Message;

    #[inline]
    fn index(&self, id: MessageId) -> &Message {
        &self.places[id.index() as usize]
    }
}

impl IndexMut<MessageId> for Messages {
    #[inline]
    fn index_mut(&mut self, id: MessageId) -> &mut Message {
        &mut self.places[id.index() as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again() {
        let mut messages = Messages::default();
        let message = |bytes| Message::new(Bytes(bytes), 0, 0, 0);
        let first = messages.insert(message(1)).unwrap();
        let second = messages.insert(message(2)).unwrap();
        assert_eq!((messages.remove(first).bytes, messages.remove(second).bytes), (Bytes(1), Bytes(2)));
        let third = messages.insert(message(3)).unwrap();
        let fourth = messages.insert(message(4)).unwrap();
        assert_eq!((third, fourth), (second, first));
        assert_eq!((messages[third].bytes, messages[fourth].next), (Bytes(3), None));
        assert_eq!((messages.places.len(), size_of::<Message>()), (2, 32));
    }
}
