//! Pass 2: which thread block owns which end of a connection.
//!
//! Each end of a connection belongs to exactly one thread block. A sending and a receiving end of a rank share
//! one where data pass from one to the other, the pairs with the most such messages first; every
//! other end gets a thread block of its own, so that a rank sends and receives at the same time.

use rustc_hash::FxHashMap;

use super::order::{NONE, Order};
use crate::ids::{ChannelId, RankId};

/// The peers and the channel of a thread block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockEnds {
    pub(super) send: Option<RankId>,
    pub(super) recv: Option<RankId>,
    pub(super) channel: ChannelId,
}

/// The thread blocks of all ranks.
pub(super) struct Blocks {
    /// Thread blocks of each rank in the order of their first message; the position is the id. Where several
    /// could start at once, the one that the global order puts first then has the lowest number.
    pub(super) of_rank: Vec<Vec<BlockEnds>>,
    /// Thread block that owns the sending end of each connection, on the sending rank.
    pub(super) sender: Vec<u32>,
    /// Thread block that owns the receiving end of each connection, on the receiving rank.
    pub(super) receiver: Vec<u32>,
}

/// Divides the ends; `fuse` says whether ends may share a thread block.
pub(super) fn blocks(order: &Order, ranks: usize, fuse: bool) -> Blocks {
    let partner = if fuse { partners(order) } else { vec![NONE; order.connections.len()] };
    let mut sends_with: Vec<u32> = vec![NONE; order.connections.len()];
    for (recv, send) in partner.iter().enumerate() {
        if *send != NONE {
            sends_with[*send as usize] = recv as u32;
        }
    }
    let mut first_use = vec![None; order.connections.len()];
    for (i, connection) in order.connection_of.iter().enumerate() {
        if *connection != NONE {
            let first = first_use[*connection as usize].get_or_insert(order.keys[i]);
            *first = order.keys[i].min(*first);
        }
    }
    let first_use = |connection: u32| first_use.get(connection as usize).copied().flatten();
    // A thread block with both ends is entered once, by its receiving end.
    let mut ends: Vec<Vec<(BlockEnds, u32, u32)>> = vec![Vec::new(); ranks];
    for (c, connection) in order.connections.iter().enumerate() {
        let c = c as u32;
        let channel = connection.channel;
        let onward = partner[c as usize];
        let send = (onward != NONE).then(|| order.connections[onward as usize].dst);
        let receiving = BlockEnds { send, recv: Some(connection.src), channel };
        ends[connection.dst.index()].push((receiving, onward, c));
        if sends_with[c as usize] == NONE {
            let sending = BlockEnds { send: Some(connection.dst), recv: None, channel };
            ends[connection.src.index()].push((sending, c, NONE));
        }
    }
    let mut blocks = Blocks {
        of_rank: Vec::with_capacity(ranks),
        sender: vec![NONE; order.connections.len()],
        receiver: vec![NONE; order.connections.len()],
    };
    for mut of_rank in ends {
        of_rank.sort_unstable_by_key(|(ends, sends, receives)| {
            // A connection that is not there comes last, not first.
            let first = [first_use(*sends), first_use(*receives)].into_iter().flatten().min();
            (first, ends.channel, ends.send, ends.recv)
        });
        for (id, (_, sends, receives)) in of_rank.iter().enumerate() {
            if *sends != NONE {
                blocks.sender[*sends as usize] = id as u32;
            }
            if *receives != NONE {
                blocks.receiver[*receives as usize] = id as u32;
            }
        }
        blocks.of_rank.push(of_rank.into_iter().map(|(ends, ..)| ends).collect());
    }
    blocks
}

/// For each connection, the one that its receiving end shares a thread block with, or `NONE`.
fn partners(order: &Order) -> Vec<u32> {
    let mut passed_on: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for (i, from) in order.forwards.iter().enumerate() {
        if *from != NONE {
            let pair = (order.connection_of[*from as usize], order.connection_of[i]);
            *passed_on.entry(pair).or_insert(0) += 1;
        }
    }
    let mut pairs: Vec<((u32, u32), u32)> = passed_on.into_iter().collect();
    pairs.sort_unstable_by_key(|(pair, count)| (std::cmp::Reverse(*count), *pair));
    let mut partner = vec![NONE; order.connections.len()];
    let mut taken = vec![false; order.connections.len()];
    for ((recv, send), _) in pairs {
        if partner[recv as usize] == NONE && !taken[send as usize] {
            partner[recv as usize] = send;
            taken[send as usize] = true;
        }
    }
    partner
}
