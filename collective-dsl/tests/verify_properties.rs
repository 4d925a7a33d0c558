//! The verifier against slower ways to the same answer: all pairs of accesses, and all orders in which steps may run.

use std::collections::{BTreeSet, HashSet};

use collective_dsl::verify::{Settings, Slots, check};
use collective_dsl::{
    ChannelId, Collective, DataId, MemoryBuffer, Place, Program, RankId, RankSchedule, Rule, Schedule, Site,
    SiteTable, Step, StepId, StepKind, ThreadBlock, ThreadBlockId, lower,
};
use proptest::prelude::*;

const RANKS: usize = 2;
const BLOCKS: usize = 3;
const CELLS: u32 = 3;

/// A number below `n`, from bytes that a test draws.
struct Draw<'b>(&'b [u8], usize);

impl Draw<'_> {
    fn below(&mut self, n: usize) -> usize {
        let byte = self.0.get(self.1).copied().unwrap_or(0);
        self.1 += 1;
        usize::from(byte) % n
    }
}

fn place(index: u32) -> Place {
    Place { buffer: MemoryBuffer::Scratch, index }
}

/// Two ranks of three thread blocks; thread block t of both sends to thread block t of the other. Steps touch three chunks
/// of scratch, each step its own source line.
///
/// Steps are drawn in an order in which they can happen with enough slots, unless `shuffled`: then the steps of one
/// thread block may have swapped.
fn schedule(bytes: &[u8], steps: usize, shuffled: bool) -> Schedule {
    let mut draw = Draw(bytes, 0);
    let block = |rank: usize, t: usize| ThreadBlock {
        send: Some(RankId(1 - rank as u32)),
        recv: Some(RankId(1 - rank as u32)),
        channel: ChannelId(t as u32),
        steps: Vec::new(),
    };
    let rank = |rank| RankSchedule {
        thread_blocks: (0..BLOCKS).map(|t| block(rank, t)).collect(),
        scratch_chunks: CELLS,
    };
    let mut ranks: Vec<RankSchedule> = (0..RANKS).map(rank).collect();
    let mut made = 0;
    while made < steps {
        let (r, t) = (draw.below(RANKS), draw.below(BLOCKS));
        let count = 1 + u32::from(draw.below(4) == 0);
        let mut any = || place(draw.below((CELLS - count + 1) as usize) as u32);
        let (src, dst) = (any(), any());
        match draw.below(4) {
            0 | 1 => {
                // A message, which the other rank may pass on.
                let receives = [StepKind::Recv, StepKind::RecvReduceCopy][draw.below(2)];
                let last = ranks[r].thread_blocks[t].steps.last_mut();
                match last {
                    Some(step)
                        if step.count == count && step.kind == StepKind::Recv && draw.below(2) == 0 =>
                    {
                        step.kind = StepKind::RecvCopySend;
                    }
                    _ => {
                        push(&mut draw, &mut ranks[r], t, StepKind::Send, (src, src), count);
                        made += 1;
                    }
                }
                let src = if receives == StepKind::Recv { dst } else { src };
                push(&mut draw, &mut ranks[1 - r], t, receives, (src, dst), count);
            }
            2 if src != dst => push(&mut draw, &mut ranks[r], t, StepKind::Reduce, (src, dst), 1),
            _ if src != dst => push(&mut draw, &mut ranks[r], t, StepKind::Copy, (src, dst), 1),
            _ => push(&mut draw, &mut ranks[r], t, StepKind::RecvReduceCopy, (src, dst), 0),
        }
        made += 1;
    }
    // The last kind above stands for nothing: a step less.
    for block in ranks.iter_mut().flat_map(|rank| &mut rank.thread_blocks) {
        block.steps.retain(|step| step.count > 0);
        if shuffled && block.steps.len() > 1 {
            let at = draw.below(block.steps.len() - 1);
            block.steps.swap(at, at + 1);
        }
    }
    number(ranks, &mut draw)
}

fn push(
    _: &mut Draw<'_>,
    rank: &mut RankSchedule,
    t: usize,
    kind: StepKind,
    (src, dst): (Place, Place),
    count: u32,
) {
    rank.thread_blocks[t].steps.push(Step {
        kind,
        src,
        dst,
        count,
        data: DataId(0),
        depends: Default::default(),
        site: Default::default(),
        send_site: Default::default(),
        work: None,
    });
}

/// Gives each step a line of its own, and some of them a step of another thread block to wait for.
fn number(mut ranks: Vec<RankSchedule>, draw: &mut Draw<'_>) -> Schedule {
    let mut sites = SiteTable::default();
    let mut line = 0;
    for rank in &mut ranks {
        let lengths: Vec<usize> = rank.thread_blocks.iter().map(|block| block.steps.len()).collect();
        for (t, block) in rank.thread_blocks.iter_mut().enumerate() {
            for (s, step) in block.steps.iter_mut().enumerate() {
                line += 1;
                step.site = sites.push(Site { file: "s".to_owned(), line, column: 0 });
                step.send_site = step.site;
                let other = (t + 1 + draw.below(BLOCKS - 1)) % BLOCKS;
                if lengths[other] > 0 && draw.below(3) == 0 {
                    // Mostly an early one, so that few circles come of it.
                    let on = draw.below(lengths[other].min(s + 1));
                    step.depends.push(StepId { thread_block: ThreadBlockId(other as u32), step: on as u32 });
                }
            }
        }
    }
    let empty = Program::new(Collective::custom(RANKS, 1, 1).unwrap()).finish("random").unwrap();
    Schedule { ranks, sites, ..lower(&empty).unwrap() }
}

/// All steps, as (rank, thread block, step).
fn all_steps(schedule: &Schedule) -> Vec<(usize, usize, usize)> {
    let blocks = |r: usize| schedule.ranks[r].thread_blocks.iter().enumerate();
    (0..RANKS)
        .flat_map(|r| blocks(r).flat_map(move |(t, block)| (0..block.steps.len()).map(move |s| (r, t, s))))
        .collect()
}

/// For each two steps whether one comes before the other in every run, by closing the relation step by step.
fn closure(schedule: &Schedule) -> Vec<Vec<bool>> {
    let steps = all_steps(schedule);
    let find = |at: (usize, usize, usize)| steps.iter().position(|step| *step == at).unwrap();
    let mut before = vec![vec![false; steps.len()]; steps.len()];
    for (i, (r, t, s)) in steps.iter().enumerate() {
        let block = &schedule.ranks[*r].thread_blocks[*t];
        if *s > 0 {
            before[i - 1][i] = true;
        }
        for on in &block.steps[*s].depends {
            before[find((*r, on.thread_block.index(), on.step as usize))][i] = true;
        }
        if block.steps[*s].kind.receives() {
            let k = block.steps[..*s].iter().filter(|step| step.kind.receives()).count();
            let sends = schedule.ranks[1 - r].thread_blocks[*t].steps.iter().enumerate();
            let (at, _) = sends.filter(|(_, step)| step.kind.sends()).nth(k).unwrap();
            before[find((1 - r, *t, at))][i] = true;
        }
    }
    for k in 0..steps.len() {
        for i in 0..steps.len() {
            for j in 0..steps.len() {
                before[i][j] |= before[i][k] && before[k][j];
            }
        }
    }
    before
}

/// The chunks that a step reads and those that it writes.
fn accesses(step: &Step) -> (Vec<u32>, Vec<u32>) {
    let run = |place: Place| (place.index..place.index + step.count).collect::<Vec<u32>>();
    let mut reads = if step.kind.reads_src() { run(step.src) } else { Vec::new() };
    if step.kind == StepKind::Reduce {
        reads.extend(run(step.dst));
    }
    (reads, if step.kind.writes_dst() { run(step.dst) } else { Vec::new() })
}

/// A step by its line, and a chunk.
type Read = (u32, u32);

/// By all pairs: the pairs of lines that race, and the reads that come before every write.
fn all_pairs(schedule: &Schedule) -> (BTreeSet<(u32, u32)>, BTreeSet<Read>) {
    let (steps, before) = (all_steps(schedule), closure(schedule));
    let step = |i: usize| &schedule.ranks[steps[i].0].thread_blocks[steps[i].1].steps[steps[i].2];
    let line = |i: usize| schedule.sites.get(step(i).site).unwrap().line;
    let (mut races, mut early) = (BTreeSet::new(), BTreeSet::new());
    for i in 0..steps.len() {
        let (reads, writes) = accesses(step(i));
        if step(i).kind != StepKind::Reduce
            && reads != writes
            && reads.iter().any(|cell| writes.contains(cell))
        {
            races.insert((line(i), line(i)));
        }
        for j in (0..steps.len()).filter(|j| *j != i && steps[*j].0 == steps[i].0) {
            let other = accesses(step(j));
            let meet = |a: &[u32], b: &[u32]| a.iter().any(|cell| b.contains(cell));
            let conflict = meet(&writes, &other.0) || meet(&writes, &other.1) || meet(&reads, &other.1);
            if conflict && !before[i][j] && !before[j][i] {
                races.insert((line(i).min(line(j)), line(i).max(line(j))));
            }
        }
        for cell in reads {
            let mut writers = (0..steps.len())
                .filter(|j| *j != i && steps[*j].0 == steps[i].0 && accesses(step(*j)).1.contains(&cell));
            if writers.all(|j| before[i][j]) {
                early.insert((line(i), cell));
            }
        }
    }
    (races, early)
}

/// Whether some order of steps gets stuck: tries all. Without slots a fused step is a receive and then a send.
fn can_get_stuck(schedule: &Schedule, slots: usize) -> bool {
    #[derive(Clone, Copy, PartialEq)]
    enum Part {
        Local,
        Receive,
        Send,
        Both,
    }
    // By process the parts of its steps, each with the step.
    let parts: Vec<Vec<(Part, usize)>> = (0..RANKS * BLOCKS)
        .map(|p| {
            let steps = schedule.ranks[p / BLOCKS].thread_blocks[p % BLOCKS].steps.iter().enumerate();
            let parts = |(s, step): (usize, &Step)| match (step.kind.receives(), step.kind.sends()) {
                (true, true) if slots == 0 => vec![(Part::Receive, s), (Part::Send, s)],
                (true, true) => vec![(Part::Both, s)],
                (true, false) => vec![(Part::Receive, s)],
                (false, true) => vec![(Part::Send, s)],
                (false, false) => vec![(Part::Local, s)],
            };
            steps.flat_map(parts).collect()
        })
        .collect();
    let other = |p: usize| (1 - p / BLOCKS) * BLOCKS + p % BLOCKS;
    let done = |at: &[usize], p: usize, part: Part| {
        parts[p][..at[p]].iter().filter(|it| it.0 == part || it.0 == Part::Both).count()
    };
    let waits = |at: &[usize], p: usize| {
        let (_, s) = parts[p][at[p]];
        let step = &schedule.ranks[p / BLOCKS].thread_blocks[p % BLOCKS].steps[s];
        step.depends.iter().any(|on| {
            let q = p / BLOCKS * BLOCKS + on.thread_block.index();
            parts[q].get(at[q]).is_some_and(|next| next.1 <= on.step as usize)
        })
    };
    let mut open = vec![vec![0; RANKS * BLOCKS]];
    let mut seen: HashSet<Vec<usize>> = open.iter().cloned().collect();
    while let Some(at) = open.pop() {
        let mut moved = false;
        for p in (0..RANKS * BLOCKS).filter(|p| at[*p] < parts[*p].len()) {
            if waits(&at, p) {
                continue;
            }
            let (part, q) = (parts[p][at[p]].0, other(p));
            let mut next = at.clone();
            next[p] += 1;
            let can = if slots == 0 && part != Part::Local {
                // Both sides at once; found from the side of the sender.
                let meets = part == Part::Send
                    && parts[q].get(at[q]).is_some_and(|it| it.0 == Part::Receive)
                    && !waits(&at, q);
                next[q] += usize::from(meets);
                meets
            } else {
                let arrived = done(&at, q, Part::Send) - done(&at, p, Part::Receive);
                let filled = done(&at, p, Part::Send) - done(&at, q, Part::Receive);
                let receives = matches!(part, Part::Receive | Part::Both);
                let sends = matches!(part, Part::Send | Part::Both);
                (!receives || arrived > 0) && (!sends || filled < slots)
            };
            if can {
                moved = true;
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        if !moved && (0..RANKS * BLOCKS).any(|p| at[p] < parts[p].len()) {
            return true;
        }
    }
    false
}

fn report(schedule: &Schedule, slots: Slots) -> collective_dsl::verify::Report {
    check(schedule, &Settings { slots, ..Settings::default() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn races_and_early_reads_are_those_of_all_pairs(
        bytes in prop::collection::vec(any::<u8>(), 200),
        steps in 3_usize..16,
    ) {
        let schedule = schedule(&bytes, steps, false);
        let report = report(&schedule, Slots::Unlimited);
        let rules: BTreeSet<Rule> = report.findings.iter().map(|it| it.rule).collect();
        // Dependences may make circles, and swapped receives messages of unequal length.
        prop_assume!(!rules.contains(&Rule::Deadlock) && !rules.contains(&Rule::Unmatched));
        let (races, early) = all_pairs(&schedule);
        let line = |site| schedule.sites.get(site).unwrap().line;
        let mut found_races = BTreeSet::new();
        let mut found_early = BTreeSet::new();
        for finding in &report.findings {
            let here = line(finding.site.unwrap());
            match finding.rule {
                Rule::Race => {
                    let there = finding.related.first().map_or(here, |(site, _)| line(*site));
                    found_races.insert((here.min(there), here.max(there)));
                }
                Rule::Uninitialised => _ = found_early.insert((here, finding.at.index.unwrap())),
                _ => {}
            }
        }
        prop_assert!(found_races.is_subset(&races), "{found_races:?} of {races:?}\n{schedule}");
        prop_assert_eq!(found_races.is_empty(), races.is_empty(), "{:?}\n{}", races, schedule);
        prop_assert!(found_early.is_subset(&early), "{found_early:?} of {early:?}\n{schedule}");
        prop_assert_eq!(found_early.is_empty(), early.is_empty(), "{:?}\n{}", early, schedule);
    }

    #[test]
    fn a_deadlock_is_one_in_some_order_and_more_slots_never_make_one(
        bytes in prop::collection::vec(any::<u8>(), 120),
        steps in 2_usize..9,
    ) {
        let schedule = schedule(&bytes, steps, true);
        let mut passed = false;
        let mut smallest = None;
        for slots in 0..4 {
            let report = report(&schedule, Slots::Limited(slots));
            let is_stuck = report.findings.iter().any(|it| it.rule == Rule::Deadlock && it.severity == collective_dsl::Severity::Error);
            prop_assert_eq!(is_stuck, can_get_stuck(&schedule, slots as usize), "{} slots\n{}", slots, schedule);
            prop_assert!(!(passed && is_stuck), "{slots} slots\n{schedule}");
            passed |= !is_stuck;
            if passed && slots > 0 {
                smallest = smallest.or(Some(slots));
                prop_assert_eq!(report.min_slots, smallest, "{}", schedule);
            }
        }
    }
}
