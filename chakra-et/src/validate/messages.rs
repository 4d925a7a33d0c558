//! Rules about messages: that each finds its other end.

use rustc_hash::FxHashMap;

use super::finding::{Finding, NodeRef};
use super::node::{Act, Message};
use super::rules;
use super::{Context, Peers, RankSurvey, Survey};

/// An end of a message. Sorted, the ends of one key are together: the sends in the order in which they run, then
/// the receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct End {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) tag: u32,
    pub(crate) receives: bool,
    /// Place in the order of the rank's nodes; those that never run are last.
    place: u32,
    pub(crate) node: u32,
    bytes: Option<u64>,
}

impl End {
    /// The rank that it is on.
    pub(crate) fn rank(&self) -> usize {
        (if self.receives { self.dst } else { self.src }) as usize
    }

    fn key(&self) -> (u32, u32, u32) {
        (self.src, self.dst, self.tag)
    }

    fn at(&self, context: &Context<'_>) -> NodeRef {
        context.survey.ranks[self.rank()].node_ref(self.node)
    }

    fn named(&self, context: &Context<'_>) -> String {
        let rank = self.rank();
        format!("{} of rank {rank}", context.survey.ranks[rank].named(self.node))
    }
}

/// The messages of a trace.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    /// All ends with sound peers, sorted.
    pub(crate) ends: Vec<End>,
    /// Sends and the receives that they meet, as indices into `ends`.
    pub(crate) met: Vec<(usize, usize)>,
}

/// Whether the trace has one rank only, which is not alone: its files are not all there.
pub(crate) fn is_one_of_several(survey: &Survey) -> bool {
    let [rank] = &survey.ranks[..] else { return false };
    rank.items.iter().any(|item| match item.act {
        Act::Send(message) | Act::Recv(message) => message.peer as usize != rank.rank,
        _ => false,
    })
}

/// Checks all messages. Without the other ranks only the node itself can be judged.
pub(crate) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) -> Pairs {
    let mut pairs = Pairs::default();
    // Ranks with sends or receives whose other end is not known: what seems unmatched may belong to these.
    let mut broken = vec![false; context.survey.ranks.len()];
    for (at, rank) in context.survey.ranks.iter().enumerate() {
        for (node, item) in rank.items.iter().enumerate() {
            let (message, receives) = match item.act {
                Act::Send(message) => (message, false),
                Act::Recv(message) => (message, true),
                Act::Broken => {
                    broken[at] = true;
                    continue;
                }
                _ => continue,
            };
            match end(context, rank, node as u32, message, receives, findings) {
                Some(end) => pairs.ends.push(end),
                None => broken[at] = true,
            }
        }
    }
    if !context.whole {
        return pairs;
    }
    pairs.ends.sort_unstable();
    let mut begin = 0;
    while let Some(first) = pairs.ends.get(begin) {
        let same = |end: &&End| end.key() == first.key();
        let length = pairs.ends[begin..].iter().take_while(same).count();
        matches(context, &pairs.ends, begin..begin + length, &broken, &mut pairs.met, findings);
        begin += length;
    }
    pairs
}

/// The members of the group of a node, if that is how its peers count.
fn members<'a>(context: &'a Context<'_>, rank: &RankSurvey, node: u32) -> Option<&'a [u64]> {
    (context.peers == Peers::InGroup)
        .then(|| rank.group(node))
        .flatten()
        .and_then(|group| context.groups.members(group))
}

fn end(
    context: &Context<'_>,
    rank: &RankSurvey,
    node: u32,
    message: Message,
    receives: bool,
    findings: &mut Vec<Finding>,
) -> Option<End> {
    let item = &rank.items[node as usize];
    let mut add = |rule, message: String| {
        let message = format!("{}: {message}", rank.named(node));
        findings.push(Finding::of_node(rule, rank.node_ref(node), node as usize, message));
    };
    let (verb, own_name) = if receives { ("receives from", "comm_dst") } else { ("sends to", "comm_src") };
    let members = members(context, rank, node);
    let global = |number: u32| match members {
        Some(members) => members.get(number as usize).and_then(|&rank| u32::try_from(rank).ok()),
        None => Some(number),
    };
    let own = u32::try_from(rank.rank).ok()?;
    if let Some(stated) = item.own
        && global(stated) != Some(own)
    {
        let in_group = if members.is_some() { " of its group" } else { "" };
        add(&rules::FOREIGN_END, format!("its {own_name} is {stated}{in_group}, but it is on rank {own}"));
        // What else is odd comes from that.
        return None;
    }
    let ranks = context.survey.ranks.len();
    let peer = match global(message.peer) {
        None => {
            let size = members.map_or(0, <[u64]>::len);
            let stated = message.peer;
            add(&rules::PEER_RANGE, format!("it {verb} position {stated} of a group of {size}"));
            return None;
        }
        Some(peer) if context.whole && peer as usize >= ranks => {
            add(&rules::PEER_RANGE, format!("it {verb} rank {peer}, but the trace has {ranks} rank(s)"));
            return None;
        }
        Some(peer) => peer,
    };
    if peer == own {
        add(&rules::SELF_MESSAGE, format!("it {verb} its own rank {own}"));
        return None;
    }
    let (src, dst) = if receives { (peer, own) } else { (own, peer) };
    let place = rank.order.place.get(node as usize).copied().unwrap_or(u32::MAX);
    Some(End { src, dst, tag: message.tag, receives, place, node, bytes: message.bytes })
}

/// Matches the ends of one key: those of equal size first come, first served, then what is left in order.
fn matches(
    context: &Context<'_>,
    ends: &[End],
    range: std::ops::Range<usize>,
    broken: &[bool],
    met: &mut Vec<(usize, usize)>,
    findings: &mut Vec<Finding>,
) {
    let first_recv = range.clone().find(|&at| ends[at].receives).unwrap_or(range.end);
    let (sends, recvs) = (range.start..first_recv, first_recv..range.end);
    let in_step = |(send, recv): (usize, usize)| {
        let (send, recv) = (ends[send].bytes, ends[recv].bytes);
        send == recv || send.is_none() || recv.is_none()
    };
    if sends.len() == recvs.len() && sends.clone().zip(recvs.clone()).all(in_step) {
        met.extend(sends.zip(recvs));
        return;
    }
    let counts = [sends.len(), recvs.len()];
    let (pairs, left_sends, left_recvs) = by_size(ends, sends, recvs);
    if left_sends.is_empty() && left_recvs.is_empty() {
        size_order(context, ends, &pairs, findings);
    }
    met.extend(pairs);
    let common = left_sends.len().min(left_recvs.len());
    for (&send, &recv) in left_sends.iter().zip(&left_recvs) {
        met.push((send, recv));
        let (send, recv) = (&ends[send], &ends[recv]);
        let size = |end: &End| end.bytes.map_or("an unknown number of".to_owned(), |bytes| bytes.to_string());
        let message = format!(
            "{} sends {} bytes to rank {} with tag {}, but {} expects {}",
            context.survey.ranks[send.rank()].named(send.node),
            size(send),
            send.dst,
            send.tag,
            recv.named(context),
            size(recv),
        );
        let at = send.at(context);
        let finding = Finding::of_node(&rules::SIZE_MISMATCH, at, send.node as usize, message);
        findings.push(finding.with_related(vec![recv.at(context)]));
    }
    for &left in left_sends[common..].iter().chain(&left_recvs[common..]) {
        unmatched(context, &ends[left], counts, broken, findings);
    }
}

type Matched = (Vec<(usize, usize)>, Vec<usize>, Vec<usize>);

/// Pairs of one size, then the sends and receives that are left.
fn by_size(ends: &[End], sends: std::ops::Range<usize>, recvs: std::ops::Range<usize>) -> Matched {
    let mut waiting: FxHashMap<Option<u64>, std::collections::VecDeque<usize>> = FxHashMap::default();
    for recv in recvs.clone() {
        waiting.entry(ends[recv].bytes).or_default().push_back(recv);
    }
    let mut pairs = Vec::new();
    let mut left_sends = Vec::new();
    let mut taken = vec![false; recvs.len()];
    for send in sends {
        match waiting.get_mut(&ends[send].bytes).and_then(std::collections::VecDeque::pop_front) {
            Some(recv) => {
                taken[recv - recvs.start] = true;
                pairs.push((send, recv));
            }
            None => left_sends.push(send),
        }
    }
    let left_recvs = recvs.clone().filter(|recv| !taken[recv - recvs.start]).collect();
    (pairs, left_sends, left_recvs)
}

fn size_order(context: &Context<'_>, ends: &[End], pairs: &[(usize, usize)], findings: &mut Vec<Finding>) {
    // Sends are in order, so the receives should be.
    let Some(crossed) = pairs.windows(2).find(|pair| pair[1].1 < pair[0].1) else { return };
    let (send, recv) = (&ends[crossed[0].0], &ends[crossed[0].1]);
    let message = format!(
        "{} sends {} bytes to rank {} with tag {} before other sizes, but {} receives them after those",
        context.survey.ranks[send.rank()].named(send.node),
        send.bytes.unwrap_or(0),
        send.dst,
        send.tag,
        recv.named(context),
    );
    let finding = Finding::of_node(&rules::SIZE_ORDER, send.at(context), send.node as usize, message);
    findings.push(finding.with_related(vec![recv.at(context)]));
}

fn unmatched(
    context: &Context<'_>,
    end: &End,
    [sends, recvs]: [usize; 2],
    broken: &[bool],
    findings: &mut Vec<Finding>,
) {
    let other = (if end.receives { end.src } else { end.dst }) as usize;
    // One mistake gives one message.
    if broken.get(other).copied().unwrap_or(false) {
        return;
    }
    let (rule, what) = if end.receives {
        (&rules::UNMATCHED_RECV, format!("waits for a message from rank {other}"))
    } else {
        (&rules::UNMATCHED_SEND, format!("sends a message to rank {other}"))
    };
    let counts = match (end.receives, sends, recvs) {
        (true, 0, _) => "which never sends it".to_owned(),
        (false, _, 0) => "which never receives it".to_owned(),
        _ => format!("of which {sends} are sent and {recvs} received"),
    };
    let size = end.bytes.map_or(String::new(), |bytes| format!(" and {bytes} bytes"));
    let message = format!(
        "{} {what} with tag {}{size}, {counts}",
        context.survey.ranks[end.rank()].named(end.node),
        end.tag
    );
    findings.push(Finding::of_node(rule, end.at(context), end.node as usize, message));
}
