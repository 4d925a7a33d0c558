//! What happened when: for pictures of a run.

use chakra_et::workload::CollectiveKind;

use crate::topology::LinkId;
use crate::units::{Bytes, Picos};

/// Takes note of what happens in a run: on each track in the order in which it ends, and of different tracks too, but that a link which
/// a message occupied is told when the message has come to the end of it, a latency later.
pub trait Timeline {
    /// Something has ended.
    fn span(&mut self, span: &Span<'_>);
}

/// Something that lasted from a time to a time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Span<'a> {
    /// Where.
    pub track: Track<'a>,
    /// What.
    pub what: What<'a>,
    /// Since when.
    pub start: Picos,
    /// Until when.
    pub finish: Picos,
}

/// Where something happens. Spans of one track may overlap where that says so.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Track<'a> {
    /// A stream of a rank's GPU.
    Gpu {
        /// The rank.
        rank: u32,
        /// The stream.
        stream: u32,
    },
    /// A thread of a rank's CPU.
    Cpu {
        /// The rank.
        rank: u32,
        /// The thread.
        thread: u32,
    },
    /// Loads and stores of a rank.
    Memory {
        /// The rank.
        rank: u32,
    },
    /// The collectives of a group on a rank.
    Group {
        /// The rank.
        rank: u32,
        /// The group's name.
        group: &'a str,
    },
    /// Messages of a rank outside collectives; they may overlap.
    Messages {
        /// The rank.
        rank: u32,
    },
    /// A thread block of an algorithm on a rank; where collectives of several groups run at once they may overlap.
    ThreadBlock {
        /// The rank.
        rank: u32,
        /// The group's name.
        group: &'a str,
        /// The thread block; 0 where the algorithm does not say.
        thread_block: u32,
    },
    /// A link. Under `link-queue` messages follow one another; under the other models each flows over all links of its route
    /// until it is delivered, and they may overlap.
    Link {
        /// The link.
        link: LinkId,
    },
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum What<'a> {
    /// A node of the workload that computes or accesses memory.
    Node {
        /// Its id.
        id: u64,
        /// Its name.
        name: &'a str,
        /// Of a computation that was divided, which of how many parts.
        part: Option<(u32, u32)>,
    },
    /// A rank's share in a collective.
    Collective {
        /// The node's id.
        id: u64,
        /// Its name.
        name: &'a str,
        /// What it does.
        kind: CollectiveKind,
        /// Its `comm_size`.
        bytes: Bytes,
        /// The algorithm that carried it out.
        algorithm: &'a str,
    },
    /// A SEND or RECV of the workload.
    Message {
        /// The node's id.
        id: u64,
        /// Its name.
        name: &'a str,
        /// Whether it sends.
        sends: bool,
        /// The other rank.
        peer: u32,
        /// The size.
        bytes: Bytes,
        /// A number that only the SEND and the RECV of one message have.
        flow: Option<u64>,
    },
    /// A node of an algorithm.
    Step {
        /// The node's id in the algorithm.
        id: u64,
        /// The name of the collective's node on the rank; empty if it has none.
        collective: &'a str,
        /// What it does.
        step: Step,
        /// The size of its message, or what it computes on.
        bytes: Bytes,
        /// Of a SEND and its RECV, a number that no other two have.
        flow: Option<u64>,
    },
    /// A message that crosses a link.
    Crossing {
        /// From which rank.
        src: u32,
        /// To which.
        dst: u32,
        /// The size.
        bytes: Bytes,
    },
}

/// What a node of an algorithm does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Sends to a rank of the workload.
    Send(u32),
    /// Receives from a rank of the workload.
    Receive(u32),
    /// Reduces or copies.
    Compute,
}
