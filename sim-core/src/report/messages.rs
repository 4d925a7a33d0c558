//! When each message was on its way.

use crate::units::{Bytes, Picos};

/// A message: from where to where, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageTime {
    /// The sending rank.
    pub src: u32,
    /// The receiving rank.
    pub dst: u32,
    /// The tag.
    pub tag: u32,
    /// The size.
    pub bytes: Bytes,
    /// The SEND, by its id in the trace of the sending rank.
    pub send: u64,
    /// The RECV, by its id in the trace of the receiving rank; None if there is none for it.
    pub receive: Option<u64>,
    /// When the SEND was issued.
    pub issued: Picos,
    /// When the message was at its destination, and the SEND finished.
    pub delivered: Picos,
}
