//! Pass 1: channels for what the program leaves open, where that lets more receives and sends become one step.
//!
//! A receive and the send that passes its data on are fused only if one thread block owns both ends, and a thread block
//! has one peer to receive from and one to send to. Where a rank passes data from one peer on to two others, or to one
//! from two others, one channel can serve only one of these pairs. So *chains* of messages that pass the same data on,
//! hop by hop, are laid on channels such that on each of them every end has one partner: each chain on the lowest
//! channel that it fits, those with the most common pairs first. A program in which all chains fit channel 0 (a
//! ring, say) is left as it is.
//!
//! Chains that run side by side over the same connections can keep each other from being fused: a fused step needs a
//! free slot of its connection while it holds the message that came in. So, as a second way, chains with messages of one
//! level between the same ranks are kept [`Together::Never`].

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::order::{NONE, Order};
use crate::ids::{ChannelId, RankId};
use crate::trace::Trace;

/// Channels that every runtime has.
const CHANNELS: u32 = 32;

/// Whether chains with messages of one level between the same ranks may share a channel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Together {
    Sometimes,
    Never,
}

/// The program on several channels; `None` if all of it fits one, or the program chooses all channels itself.
pub(super) fn spread(trace: &Trace, order: &Order, together: Together) -> Option<Trace> {
    let free = |op: u32| trace.ops[op as usize].channel.is_none();
    // The message that passes on what another brings.
    let mut next = vec![NONE; trace.ops.len()];
    for (i, from) in order.forwards.iter().enumerate() {
        if *from != NONE && free(*from) == free(i as u32) {
            next[*from as usize] = i as u32;
        }
    }
    let links = || (0..next.len() as u32).filter(|op| next[*op as usize] != NONE);
    let edges = edges(order);
    let edge = |op: u32| edges[order.connection_of[op as usize] as usize];
    let mut pairs = Pairs::default();
    // Usually all agree. This is told without looking anything up in a map.
    let mut partners = vec![(NONE, NONE); order.connections.len()];
    let agree = together == Together::Sometimes
        && links().all(|op| {
            let (from, to) = (edge(op), edge(next[op as usize]));
            let (onward, back) = (partners[from as usize].0, partners[to as usize].1);
            partners[from as usize].0 = to;
            partners[to as usize].1 = from;
            !free(op) || (onward == NONE || onward == to) && (back == NONE || back == from)
        });
    if agree {
        return None;
    }

    let mut common: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for op in links() {
        let to = next[op as usize];
        *common.entry((edge(op), edge(to))).or_insert(0) += 1;
        if !free(op) {
            pairs.add(trace.ops[op as usize].channel.unwrap_or_default().0, edge(op), edge(to));
        }
    }
    // Chains begin where nobody passes anything on.
    let mut is_head = vec![true; next.len()];
    links().for_each(|op| is_head[next[op as usize] as usize] = false);
    let mut chains: Vec<(Reverse<u32>, u32)> = Vec::new();
    for head in links().filter(|op| is_head[*op as usize] && free(*op)) {
        let mut rarest = u32::MAX;
        let mut op = head;
        while next[op as usize] != NONE {
            rarest = rarest.min(common[&(edge(op), edge(next[op as usize]))]);
            op = next[op as usize];
        }
        chains.push((Reverse(rarest), head));
    }
    chains.sort_unstable();

    let limit = (CHANNELS / trace.options.instances.max(1)).max(1);
    let mut channel_of: Vec<u32> = vec![0; trace.ops.len()];
    let mut busy: FxHashSet<(u32, u32, u32)> = FxHashSet::default();
    let mut chain = Vec::new();
    for (_, head) in chains {
        let mut op = head;
        while op != NONE {
            // As far as the chain can lie on one channel at all; then what is left of it.
            chain.clear();
            chain.push(op);
            let mut own = Pairs::default();
            while next[op as usize] != NONE && own.fits(0, edge(op), edge(next[op as usize])) {
                own.add(0, edge(op), edge(next[op as usize]));
                op = next[op as usize];
                chain.push(op);
            }
            op = next[op as usize];
            let links = || chain.windows(2).map(|link| (edge(link[0]), edge(link[1])));
            let messages = || chain.iter().map(|op| (edge(*op), order.keys[*op as usize].level));
            let channel = (0..limit).find(|channel| {
                links().all(|(from, to)| pairs.fits(*channel, from, to))
                    && (together == Together::Sometimes
                        || messages().all(|(edge, level)| !busy.contains(&(*channel, edge, level))))
            });
            if let Some(channel) = channel {
                if together == Together::Never {
                    busy.extend(messages().map(|(edge, level)| (channel, edge, level)));
                }
                links().for_each(|(from, to)| pairs.add(channel, from, to));
                chain.iter().for_each(|op| channel_of[*op as usize] = channel);
            }
        }
    }
    if channel_of.iter().all(|channel| *channel == 0) {
        return None;
    }
    let mut trace = trace.clone();
    for (op, channel) in trace.ops.iter_mut().zip(channel_of) {
        if channel != 0 {
            op.channel = Some(ChannelId(channel));
        }
    }
    Some(trace)
}

/// For each connection, a number that is the same for all channels between two ranks.
fn edges(order: &Order) -> Vec<u32> {
    let mut numbers: FxHashMap<(RankId, RankId), u32> = FxHashMap::default();
    let number = |connection: &super::order::Connection| {
        let count = numbers.len() as u32;
        *numbers.entry((connection.src, connection.dst)).or_insert(count)
    };
    order.connections.iter().map(number).collect()
}

/// Which end passes data on to which, on each channel.
#[derive(Default)]
struct Pairs {
    onward: FxHashMap<(u32, u32), u32>,
    back: FxHashMap<(u32, u32), u32>,
}

impl Pairs {
    fn fits(&self, channel: u32, from: u32, to: u32) -> bool {
        self.onward.get(&(channel, from)).is_none_or(|known| *known == to)
            && self.back.get(&(channel, to)).is_none_or(|known| *known == from)
    }

    fn add(&mut self, channel: u32, from: u32, to: u32) {
        self.onward.insert((channel, from), to);
        self.back.insert((channel, to), from);
    }
}
