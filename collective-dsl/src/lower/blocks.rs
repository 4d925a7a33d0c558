//! Pass 4: which thread block owns which end of a connection.
//!
//! Each end of a connection belongs to exactly one thread block, of which it is the only sending or the only receiving
//! end. Ends go where the program's hints say. Of the others a sending and a receiving end of a rank share one where data
//! pass from one to the other, the pairs with the most such messages first; every end that is left gets a
//! thread block of its own, so that a rank sends and receives at the same time.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::order::{Key, NONE, Order};
use crate::diagnostic::{Diagnostic, Diagnostics, Rule};
use crate::ids::{ChannelId, RankId, SiteId, ThreadBlockId};
use crate::trace::Trace;

/// The peers and the channel of a thread block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockEnds {
    pub(super) send: Option<RankId>,
    pub(super) recv: Option<RankId>,
    pub(super) channel: ChannelId,
}

/// The thread blocks of all ranks.
pub(super) struct Blocks {
    /// Thread blocks of each rank: first those that hints name, in the order of their numbers there, then the others in
    /// the order of their first message; the position is the id. Where several could start at once, the
    /// one that the global order puts first then has the lowest number.
    pub(super) of_rank: Vec<Vec<BlockEnds>>,
    /// Thread block that owns the sending end of each connection, on the sending rank.
    pub(super) sender: Vec<u32>,
    /// Thread block that owns the receiving end of each connection, on the receiving rank.
    pub(super) receiver: Vec<u32>,
    /// From the number in a hint to the thread block.
    hinted: FxHashMap<(RankId, ThreadBlockId), u32>,
}

impl Blocks {
    /// The thread block that a hint names.
    pub(super) fn hinted(&self, rank: RankId, hint: ThreadBlockId) -> Option<ThreadBlockId> {
        self.hinted.get(&(rank, hint)).map(|id| ThreadBlockId(*id))
    }
}

/// A thread block to be: the connections whose ends it owns.
#[derive(Clone, Copy, Default)]
struct Draft {
    hint: Option<ThreadBlockId>,
    sends: Option<u32>,
    receives: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Send,
    Receive,
}

/// Divides the ends; `fuse` says whether ends may share a thread block for what passes between them.
pub(super) fn blocks(trace: &Trace, order: &Order, fuse: bool) -> Result<Blocks, Diagnostics> {
    let mut drafts: Vec<Vec<Draft>> = vec![Vec::new(); trace.collective.ranks()];
    let mut owners = Owners::new(order.connections.len());
    place_hinted(trace, order, &mut drafts, &mut owners)?;
    if fuse {
        place_partners(order, &mut drafts, &mut owners);
    }
    for (c, connection) in order.connections.iter().enumerate() {
        for (side, rank) in [(Side::Send, connection.src), (Side::Receive, connection.dst)] {
            if owners.get(c as u32, side).is_none() {
                let drafts = &mut drafts[rank.index()];
                drafts.push(Draft::default());
                own(&mut drafts[..], &mut owners, c as u32, side);
            }
        }
    }
    Ok(number(order, drafts))
}

/// Position of the draft that owns each end, on the end's rank.
struct Owners {
    sends: Vec<Option<u32>>,
    receives: Vec<Option<u32>>,
}

impl Owners {
    fn new(connections: usize) -> Self {
        Self { sends: vec![None; connections], receives: vec![None; connections] }
    }

    fn get(&self, connection: u32, side: Side) -> Option<u32> {
        match side {
            Side::Send => self.sends[connection as usize],
            Side::Receive => self.receives[connection as usize],
        }
    }

    fn set(&mut self, connection: u32, side: Side, owner: u32) {
        match side {
            Side::Send => self.sends[connection as usize] = Some(owner),
            Side::Receive => self.receives[connection as usize] = Some(owner),
        }
    }
}

/// Gives an end to the last draft.
fn own(drafts: &mut [Draft], owners: &mut Owners, connection: u32, side: Side) {
    let at = drafts.len() as u32 - 1;
    if let Some(last) = drafts.last_mut() {
        let end = if side == Side::Send { &mut last.sends } else { &mut last.receives };
        *end = Some(connection);
        owners.set(connection, side, at);
    }
}

/// Puts ends where the hints say.
fn place_hinted(
    trace: &Trace,
    order: &Order,
    drafts: &mut [Vec<Draft>],
    owners: &mut Owners,
) -> Result<(), Diagnostics> {
    // By rank and number, the position of the draft; made in the order of the numbers.
    let mut places: BTreeMap<(RankId, ThreadBlockId), u32> = BTreeMap::new();
    for op in &trace.ops {
        if op.is_remote() {
            places.extend(op.send_block.map(|hint| ((op.src.rank, hint), 0)));
            places.extend(op.recv_block.map(|hint| ((op.dst.rank, hint), 0)));
        } else {
            places.extend(op.send_block.or(op.recv_block).map(|hint| ((op.src.rank, hint), 0)));
        }
    }
    for ((rank, hint), place) in &mut places {
        let drafts = &mut drafts[rank.index()];
        *place = drafts.len() as u32;
        drafts.push(Draft { hint: Some(*hint), ..Draft::default() });
    }
    // Who asked first, for the message when somebody asks otherwise.
    let mut asked: FxHashMap<(u32, bool), SiteId> = FxHashMap::default();
    for (op, connection) in trace.ops.iter().zip(&order.connection_of) {
        if *connection == NONE {
            continue;
        }
        let sides = [(Side::Send, op.src.rank, op.send_block), (Side::Receive, op.dst.rank, op.recv_block)];
        for (side, rank, hint) in sides {
            let Some(hint) = hint else { continue };
            let place = places[&(rank, hint)];
            match owners.get(*connection, side) {
                Some(owner) if owner == place => continue,
                Some(owner) => {
                    let other = drafts[rank.index()][owner as usize].hint.unwrap_or_default();
                    let message = two_owners(order, *connection, side, rank, [other, hint]);
                    return refuse(trace, op.site, message, asked.get(&(*connection, side == Side::Send)));
                }
                None => {}
            }
            let draft = &mut drafts[rank.index()][place as usize];
            if let Err((message, earlier)) = fits(order, draft, *connection, side, rank, hint) {
                let earlier = asked.get(&(earlier.0, earlier.1 == Side::Send));
                return refuse(trace, op.site, message, earlier);
            }
            let end = if side == Side::Send { &mut draft.sends } else { &mut draft.receives };
            *end = Some(*connection);
            owners.set(*connection, side, place);
            asked.insert((*connection, side == Side::Send), op.site);
        }
    }
    Ok(())
}

fn refuse(trace: &Trace, site: SiteId, message: String, earlier: Option<&SiteId>) -> Result<(), Diagnostics> {
    let mut finding = Diagnostic::new(Rule::Ownership, Some(site), message);
    if let Some(earlier) = earlier {
        finding = finding.with_related(*earlier, "that was asked for here");
    }
    Err(Diagnostics { name: trace.name.clone(), findings: vec![finding], sites: trace.sites.clone() })
}

fn two_owners(
    order: &Order,
    connection: u32,
    side: Side,
    rank: RankId,
    blocks: [ThreadBlockId; 2],
) -> String {
    let connection = order.connections[connection as usize];
    let (verb, peer) = match side {
        Side::Send => ("send to", connection.dst),
        Side::Receive => ("receive from", connection.src),
    };
    let [first, second] = blocks;
    format!(
        "rank {}: thread blocks {} and {} would both {verb} rank {} on channel {}: only one may; use another channel",
        rank.0, first.0, second.0, peer.0, connection.channel.0
    )
}

/// Whether a thread block can own one more end; if not, why, and because of which other end.
fn fits(
    order: &Order,
    draft: &Draft,
    connection: u32,
    side: Side,
    rank: RankId,
    hint: ThreadBlockId,
) -> Result<(), (String, (u32, Side))> {
    let new = order.connections[connection as usize];
    let own = if side == Side::Send { draft.sends } else { draft.receives };
    if let Some(other) = own {
        let old = order.connections[other as usize];
        let (word, has, wants) = match side {
            Side::Send => ("send", old.dst, new.dst),
            Side::Receive => ("receive", old.src, new.src),
        };
        let message = if has == wants {
            format!(
                "rank {} thread block {}: channel {} already set, asked for {}; a thread block has one channel: use another \
                 thread block",
                rank.0, hint.0, old.channel.0, new.channel.0
            )
        } else {
            format!(
                "rank {} thread block {}: {word} peer {} already set, asked for {}; use another thread block",
                rank.0, hint.0, has.0, wants.0
            )
        };
        return Err((message, (other, side)));
    }
    let (other, other_side) =
        if side == Side::Send { (draft.receives, Side::Receive) } else { (draft.sends, Side::Send) };
    match other {
        Some(other) if order.connections[other as usize].channel != new.channel => {
            let message = format!(
                "rank {} thread block {}: channel {} already set, asked for {}; a thread block has one channel: use another \
                 thread block",
                rank.0, hint.0, order.connections[other as usize].channel.0, new.channel.0
            );
            Err((message, (other, other_side)))
        }
        _ => Ok(()),
    }
}

/// Puts a sending end beside the receiving end whose data it passes on.
fn place_partners(order: &Order, drafts: &mut [Vec<Draft>], owners: &mut Owners) {
    let mut passed_on: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for (i, from) in order.forwards.iter().enumerate() {
        if *from == NONE {
            continue;
        }
        let pair = (order.connection_of[*from as usize], order.connection_of[i]);
        let channel = |connection: u32| order.connections[connection as usize].channel;
        if channel(pair.0) == channel(pair.1) {
            *passed_on.entry(pair).or_insert(0) += 1;
        }
    }
    let mut pairs: Vec<((u32, u32), u32)> = passed_on.into_iter().collect();
    pairs.sort_unstable_by_key(|(pair, count)| (std::cmp::Reverse(*count), *pair));
    for ((receiving, sending), _) in pairs {
        let drafts = &mut drafts[order.connections[sending as usize].src.index()];
        match (owners.get(receiving, Side::Receive), owners.get(sending, Side::Send)) {
            (None, None) => {
                drafts.push(Draft::default());
                own(drafts, owners, receiving, Side::Receive);
                own(drafts, owners, sending, Side::Send);
            }
            (Some(at), None) if drafts[at as usize].sends.is_none() => {
                drafts[at as usize].sends = Some(sending);
                owners.set(sending, Side::Send, at);
            }
            (None, Some(at)) if drafts[at as usize].receives.is_none() => {
                drafts[at as usize].receives = Some(receiving);
                owners.set(receiving, Side::Receive, at);
            }
            _ => {}
        }
    }
}

/// Numbers the thread blocks of each rank.
fn number(order: &Order, drafts: Vec<Vec<Draft>>) -> Blocks {
    let mut first_use: Vec<Option<Key>> = vec![None; order.connections.len()];
    for (connection, key) in order.connection_of.iter().zip(&order.keys) {
        if *connection != NONE {
            let first = first_use[*connection as usize].get_or_insert(*key);
            *first = (*key).min(*first);
        }
    }
    let connections = order.connections.len();
    let mut blocks = Blocks {
        of_rank: Vec::with_capacity(drafts.len()),
        sender: vec![NONE; connections],
        receiver: vec![NONE; connections],
        hinted: FxHashMap::default(),
    };
    for (rank, mut drafts) in drafts.into_iter().enumerate() {
        let peer = |connection: Option<u32>| connection.map(|c| order.connections[c as usize]);
        drafts.sort_by_key(|draft| {
            let ends = [draft.sends, draft.receives];
            let first = ends.into_iter().flatten().filter_map(|c| first_use[c as usize]).min();
            let (send, recv) = (peer(draft.sends), peer(draft.receives));
            let channel = send.or(recv).map(|connection| connection.channel);
            // Hinted ones first, by their numbers; what has no number or no peer comes last, not first.
            (draft.hint.is_none(), draft.hint, first, channel, send.map(|c| c.dst), recv.map(|c| c.src))
        });
        for (id, draft) in drafts.iter().enumerate() {
            if let Some(sends) = draft.sends {
                blocks.sender[sends as usize] = id as u32;
            }
            if let Some(receives) = draft.receives {
                blocks.receiver[receives as usize] = id as u32;
            }
            if let Some(hint) = draft.hint {
                blocks.hinted.insert((RankId(rank as u32), hint), id as u32);
            }
        }
        let ends = drafts.iter().map(|draft| {
            let (send, recv) = (peer(draft.sends), peer(draft.receives));
            let channel = send.or(recv).map(|connection| connection.channel).unwrap_or_default();
            BlockEnds { send: send.map(|c| c.dst), recv: recv.map(|c| c.src), channel }
        });
        blocks.of_rank.push(ends.collect());
    }
    blocks
}
