//! Who sends what to whom, and in which round.
//!
//! The k-th send of a connection meets the k-th receive of it. A step begins when the step before it in its thread block, those it
//! waits for, and the message that it receives have come; a send takes one round, everything else no time. So the number of rounds is
//! that of the messages that follow one another.

use std::collections::HashMap;

use collective::{DataId, Schedule, SiteId, Step, StepKind};

/// The messages of a schedule, and what ranks do on their own.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) ranks: u32,
    pub(super) rounds: u32,
    /// By round, sender, thread block, step.
    pub(super) messages: Vec<Message>,
    /// Copies, reductions and computations, in the same order.
    pub(super) local: Vec<Local>,
    /// Steps that wait for each other, or for a message that nobody sends.
    pub(super) never: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    pub(super) round: u32,
    pub(super) src: u32,
    pub(super) dst: u32,
    pub(super) channel: u32,
    /// Thread block and step.
    pub(super) sent_by: (u32, u32),
    /// Of a message without its receive: none.
    pub(super) received_by: Option<(u32, u32)>,
    pub(super) send: StepKind,
    pub(super) receive: Option<StepKind>,
    pub(super) chunks: u32,
    pub(super) data: DataId,
    pub(super) site: SiteId,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Local {
    pub(super) round: u32,
    pub(super) rank: u32,
    pub(super) by: (u32, u32),
    pub(super) kind: StepKind,
    pub(super) channel: u32,
    pub(super) chunks: u32,
    pub(super) data: DataId,
    pub(super) site: SiteId,
}

/// A step with its place.
struct Placed<'a> {
    step: &'a Step,
    rank: u32,
    block: u32,
    number: u32,
    channel: u32,
    send: Option<u32>,
    recv: Option<u32>,
}

impl Flow {
    pub(super) fn of(schedule: &Schedule) -> Self {
        let (steps, first) = placed(schedule);
        let partner = partners(&steps);
        let before = before(schedule, &steps, &first, &partner);
        let begin = begins(&steps, &before);
        let mut flow = Self { ranks: schedule.ranks.len() as u32, ..Self::default() };
        for (at, placed) in steps.iter().enumerate() {
            let Some(round) = begin[at] else {
                flow.never += 1;
                continue;
            };
            let Placed { step, rank, block, number, channel, .. } = *placed;
            if step.kind.sends()
                && let Some(dst) = placed.send
            {
                flow.rounds = flow.rounds.max(round + 1);
                let receiver = partner[at].map(|at| &steps[at]);
                flow.messages.push(Message {
                    round,
                    src: rank,
                    dst,
                    channel,
                    sent_by: (block, number),
                    received_by: receiver.map(|it| (it.block, it.number)),
                    send: step.kind,
                    receive: receiver.map(|it| it.step.kind),
                    chunks: step.count,
                    data: step.data,
                    site: if step.kind.receives() { step.send_site } else { step.site },
                });
            } else if !step.kind.receives() {
                let (kind, chunks, data, site) = (step.kind, step.count, step.data, step.site);
                flow.local.push(Local {
                    round,
                    rank,
                    by: (block, number),
                    kind,
                    channel,
                    chunks,
                    data,
                    site,
                });
            }
        }
        flow.messages.sort_by_key(|it| (it.round, it.src, it.sent_by));
        flow.local.sort_by_key(|it| (it.round, it.rank, it.by));
        flow
    }
}

/// All steps, and by rank and thread block the number of its first.
fn placed(schedule: &Schedule) -> (Vec<Placed<'_>>, Vec<Vec<usize>>) {
    let (mut steps, mut first) = (Vec::new(), Vec::new());
    for (rank, own) in (0..).zip(&schedule.ranks) {
        let mut of_rank = Vec::new();
        for (block, of_block) in (0..).zip(&own.thread_blocks) {
            of_rank.push(steps.len());
            for (number, step) in (0..).zip(&of_block.steps) {
                let (send, recv) = (of_block.send.map(|peer| peer.0), of_block.recv.map(|peer| peer.0));
                steps.push(Placed { step, rank, block, number, channel: of_block.channel.0, send, recv });
            }
        }
        first.push(of_rank);
    }
    (steps, first)
}

/// By step that sends, the one that receives its message, and the other way round.
fn partners(steps: &[Placed<'_>]) -> Vec<Option<usize>> {
    // Only looked up.
    let mut receives: HashMap<(u32, u32, u32), Vec<usize>> = HashMap::new();
    for (at, placed) in steps.iter().enumerate().filter(|(_, placed)| placed.step.kind.receives()) {
        if let Some(src) = placed.recv {
            receives.entry((src, placed.rank, placed.channel)).or_default().push(at);
        }
    }
    let mut taken: HashMap<(u32, u32, u32), usize> = HashMap::new();
    let mut partner = vec![None; steps.len()];
    for (at, placed) in steps.iter().enumerate().filter(|(_, placed)| placed.step.kind.sends()) {
        let Some(dst) = placed.send else { continue };
        let key = (placed.rank, dst, placed.channel);
        let next = taken.entry(key).or_default();
        if let Some(receiver) = receives.get(&key).and_then(|list| list.get(*next)) {
            partner[at] = Some(*receiver);
        }
        *next += 1;
    }
    partner
}

/// By step, those that must be over before it begins; usize::MAX for what there is not.
fn before(
    schedule: &Schedule,
    steps: &[Placed<'_>],
    first: &[Vec<usize>],
    partner: &[Option<usize>],
) -> Vec<Vec<usize>> {
    let mut before: Vec<Vec<usize>> = Vec::with_capacity(steps.len());
    for (at, placed) in steps.iter().enumerate() {
        let mut list = Vec::new();
        if placed.number > 0 {
            list.push(at - 1);
        }
        for on in &placed.step.depends {
            let block = schedule.ranks[placed.rank as usize].thread_blocks.get(on.thread_block.index());
            let exists = block.is_some_and(|block| (on.step as usize) < block.steps.len());
            let there = first[placed.rank as usize].get(on.thread_block.index());
            list.push(there.filter(|_| exists).map_or(usize::MAX, |first| first + on.step as usize));
        }
        before.push(list);
    }
    let mut met = vec![false; steps.len()];
    for (sender, receiver) in partner.iter().enumerate() {
        if let Some(receiver) = receiver {
            before[*receiver].push(sender);
            met[*receiver] = true;
        }
    }
    for (at, placed) in steps.iter().enumerate() {
        if placed.step.kind.receives() && !met[at] {
            before[at].push(usize::MAX);
        }
    }
    before
}

/// The round in which each step begins; none of what never does.
fn begins(steps: &[Placed<'_>], before: &[Vec<usize>]) -> Vec<Option<u32>> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    let mut missing: Vec<usize> = before.iter().map(Vec::len).collect();
    for (at, list) in before.iter().enumerate() {
        for earlier in list {
            // What does not exist is never over.
            if let Some(later) = after.get_mut(*earlier) {
                later.push(at);
            }
        }
    }
    let mut begin = vec![0u32; steps.len()];
    let mut known = vec![None; steps.len()];
    let mut ready: Vec<usize> = (0..steps.len()).filter(|at| missing[*at] == 0).collect();
    while let Some(at) = ready.pop() {
        known[at] = Some(begin[at]);
        let end = begin[at] + u32::from(steps[at].step.kind.sends());
        for later in &after[at] {
            begin[*later] = begin[*later].max(end);
            missing[*later] -= 1;
            if missing[*later] == 0 {
                ready.push(*later);
            }
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use collective::algorithms;
    use collective::msccl;

    use super::*;

    #[test]
    fn rounds_are_the_messages_that_follow_one_another() {
        // By theory: 2(n - 1) around the ring, log n by doubling, 1 from each to each.
        for (name, values, rounds) in [
            ("allreduce_ring", vec![8, 1], 14),
            ("allreduce_ring", vec![1, 1], 0),
            ("allreduce_ring", vec![5, 2], 8),
            ("allgather_recursive_doubling", vec![16], 4),
            ("allgather_allpairs", vec![5], 1),
        ] {
            let algorithm = algorithms::find(name).unwrap();
            let schedule = algorithm.compile(algorithm.def.in_place, &values).unwrap();
            let flow = Flow::of(&schedule);
            assert_eq!((flow.rounds, flow.never), (rounds, 0), "{name}");
            assert_eq!(flow.messages.len(), schedule.message_count(), "{name}");
            assert!(flow.messages.iter().all(|message| message.received_by.is_some()));
        }
    }

    #[test]
    fn a_ring_passes_each_chunk_on() {
        let schedule = algorithms::allreduce_ring::compile(4, 1).unwrap();
        let flow = Flow::of(&schedule);
        for message in &flow.messages {
            assert_eq!(message.dst, (message.src + 1) % 4);
            // What a rank sends it has received in the round before.
            let came = |other: &Message| {
                other.dst == message.src && other.round + 1 == message.round && other.data == message.data
            };
            assert!(message.round == 0 || flow.messages.iter().any(came), "{message:?}");
        }
    }

    #[test]
    fn what_never_begins_is_counted() {
        // Both wait for the other.
        let text = r#"<algo name="pair" ngpus="2" nchunksperloop="2" nchannels="1" coll="allgather" inplace="1">
  <gpu id="0"> <tb id="0" send="1" recv="1" chan="0">
    <step s="0" type="r" dstbuf="o" dstoff="1"/> <step s="1" type="s" srcbuf="i" srcoff="0"/>
  </tb> </gpu>
  <gpu id="1"> <tb id="0" send="0" recv="0" chan="0">
    <step s="0" type="r" dstbuf="o" dstoff="0"/> <step s="1" type="s" srcbuf="o" srcoff="1"/>
  </tb> </gpu>
</algo>"#;
        let flow = Flow::of(&msccl::read(text, "pair.xml").unwrap().schedule);
        assert_eq!((flow.messages.len(), flow.rounds, flow.never), (0, 0, 4));
    }
}
