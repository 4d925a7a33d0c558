//! What the event engine and the models share: events in their order, and the messages under way.
//!
//! Engine and models both build on it and so need not know each other: the engine issues nodes, a
//! [`Network`](crate::model::network::Network) moves messages.

mod event;
mod message;
mod queue;

pub(crate) use event::{Event, MOST_NODES, MOST_RANKS};
pub(crate) use message::{Message, MessageId, Messages};
pub(crate) use queue::{EventQueue, Order, Ticket};
