//! What the event engine and the models share: events in their order, and the messages under way.
//!
//! Engine and models both build on it and so need not know each other: the engine issues nodes, a
//! [`Network`](crate::model::network::Network) moves messages.

mod message;
mod queue;

pub(crate) use message::{MessageId, Messages};
pub(crate) use queue::{Event, EventQueue, Ticket};
