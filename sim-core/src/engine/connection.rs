//! Matching: the k-th SEND issued with the k-th RECV issued on one connection.
//!
//! A connection is what must agree for a SEND and a RECV to match: source, destination and tag, under
//! ASTRA-sim's conventions source, destination, tag modulo 500,000,000 and size. Of each connection
//! either SENDs or RECVs wait, never both; they form a list through the nodes of their rank.

use super::node::{NONE, Ranks};
use crate::model::Conventions;

/// ASTRA-sim keeps the upper tags for itself.
const ASTRA_SIM_TAGS: u32 = 500_000_000;

/// What tells apart the connections that leave a rank, or those that end at one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    /// The rank at the other end.
    pub(super) peer: u32,
    tag: u32,
    /// 0 where sizes do not tell connections apart.
    bytes: u64,
}

impl Key {
    #[inline]
    pub(super) fn new(conventions: Conventions, peer: u32, tag: u32, bytes: u64) -> Self {
        match conventions {
            Conventions::Exact => Self { peer, tag, bytes: 0 },
            Conventions::AstraSim => Self { peer, tag: tag % ASTRA_SIM_TAGS, bytes },
        }
    }

    /// The same connection, seen from its other end.
    pub(super) fn seen_from(self, peer: u32) -> Self {
        Self { peer, ..self }
    }
}

pub(super) struct Connection {
    pub(super) src: u32,
    pub(super) dst: u32,
    /// Index into the pairs that the network knows.
    pub(super) pair: u32,
    /// The nodes that wait for a partner, first issued first.
    head: u32,
    tail: u32,
    side: Side,
    /// Whether the RECVs are elsewhere: then `head` is the number of the crossing and `tail` that of the next SEND.
    crosses: bool,
}

/// Marks the number of a crossing among the numbers of connections.
pub(super) const CROSSING: u32 = 1 << 31;

/// Which end of a connection a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Send,
    Recv,
}

impl Connection {
    pub(super) fn new(src: u32, dst: u32, pair: u32) -> Self {
        Self { src, dst, pair, head: NONE, tail: NONE, side: Side::Send, crosses: false }
    }

    /// Makes the connection one whose RECVs are elsewhere.
    pub(super) fn cross(&mut self, number: u32) {
        (self.head, self.tail, self.crosses) = (number, 0, true);
    }

    /// The number of the crossing, if it is one.
    #[inline]
    pub(super) fn crossing(&self) -> Option<u32> {
        self.crosses.then_some(self.head)
    }

    /// Issues a SEND of a crossing: its number.
    pub(super) fn next_of_crossing(&mut self) -> u32 {
        // A rank has fewer than 2^31 nodes.
        self.tail += 1;
        self.tail - 1
    }

    /// Issues a node at one side: its partner, if that was issued before, else the node waits.
    #[inline]
    pub(super) fn issue(&mut self, side: Side, node: u32, ranks: &mut Ranks) -> Option<u32> {
        if self.head != NONE && self.side != side {
            let partner = self.head;
            let partners = ranks.node(self.rank(self.side), partner);
            self.head = std::mem::replace(&mut partners.link, NONE);
            return Some(partner);
        }
        if self.head == NONE {
            (self.head, self.side) = (node, side);
        } else {
            ranks.node(self.rank(side), self.tail).link = node;
        }
        self.tail = node;
        None
    }

    #[inline]
    fn rank(&self, side: Side) -> u32 {
        match side {
            Side::Send => self.src,
            Side::Recv => self.dst,
        }
    }
}
