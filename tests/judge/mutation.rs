//! Mutants: schedules with one mistake, of the kinds that people make.
//!
//! Mutants that neither verifier nor executor refuses mean the same as the program:
//!
//! * `ShortenFifo`: the program needs fewer slots than its protocol has.
//! * `DropDependence`: the wait is implied through another rank. Halving-doubling over four ranks has on rank 1 the step tb0.1,
//!   which receives i[2..4] from rank 3 after tb1.0 has sent them there. Without that wait: rank 3 sends by tb1.1, after tb2.2 and so
//!   after tb2.0, which waits for tb0.0, which has taken the message of rank 1's tb1.0.
//! * `ChangeCount`: a local copy takes one chunk too many, over which its own thread block writes later; or a message brings one
//!   that is there, or comes there, anyway (broadcast by scatter and all-gather).
//! * `DropStep`: the binomial broadcast fills its port once more with what lies in it.
//! * `SwapOffsets`: two `rcs` keep what they forward in each other's scratch, which nobody reads.
//!
//! Races that the verifier refuses although no execution ends wrong are two unordered writes to one place: which comes last is
//! open, so they stay refused. In alltonext nobody reads the place; in the three-step all-to-all a copy of one chunk too many
//! writes what another thread block copies there as well. In the barrier a token may be sent before or after another is added to
//! it, as nothing but "heard of" is asked for.

use std::fmt;

use collective::{RankId, Schedule, Step, StepId, ThreadBlock};

use super::{judge_thoroughly, verdict};

/// A kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Mistake {
    SwapOffsets,
    DropStep,
    DropDependence,
    ChangePeer,
    SwapSends,
    ChangeCount,
    ShortenFifo,
}
use Mistake::*;

const MISTAKES: [Mistake; 7] =
    [SwapOffsets, DropStep, DropDependence, ChangePeer, SwapSends, ChangeCount, ShortenFifo];

/// Where a mistake is made: a step of a thread block of a rank, and which of several there.
#[derive(Clone, Copy, Debug)]
struct At {
    rank: usize,
    block: usize,
    step: usize,
    variant: usize,
}

/// A schedule with a mistake.
pub(crate) struct Mutant {
    pub(crate) mistake: Mistake,
    at: At,
    pub(crate) schedule: Schedule,
    pub(crate) slots: u32,
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let At { rank, block, step, variant } = self.at;
        match self.mistake {
            ShortenFifo => write!(f, "ShortenFifo to {}", self.slots),
            mistake => write!(f, "{mistake:?} rank {rank}, tb{block}, step {step}, variant {variant}"),
        }
    }
}

/// All mutants of every kind.
fn mutants(schedule: &Schedule) -> impl Iterator<Item = Mutant> {
    MISTAKES.into_iter().flat_map(move |mistake| {
        places(schedule, mistake).into_iter().map(move |at| {
            let slots = schedule.protocol.slots();
            let mut mutant = Mutant { mistake, at, schedule: schedule.clone(), slots };
            mutant.apply();
            mutant
        })
    })
}

fn places(schedule: &Schedule, mistake: Mistake) -> Vec<At> {
    let mut found = Vec::new();
    if mistake == ShortenFifo {
        // From one slot less than the protocol has down to none.
        let places = (0..schedule.protocol.slots()).rev();
        return places.map(|slots| At { rank: 0, block: 0, step: 0, variant: slots as usize }).collect();
    }
    for (rank, of_rank) in schedule.ranks.iter().enumerate() {
        for (block, steps) in of_rank.thread_blocks.iter().enumerate() {
            if mistake == ChangePeer {
                let sides = [steps.send, steps.recv];
                let changeable = |side: &usize| sides[*side].is_some() && schedule.ranks.len() > 2;
                found.extend((0..2).filter(changeable).map(|variant| At { rank, block, step: 0, variant }));
                continue;
            }
            for (number, step) in steps.steps.iter().enumerate() {
                let variants = match mistake {
                    // Reads, then writes.
                    SwapOffsets => 2,
                    DropDependence => step.depends.len(),
                    ChangeCount => 1 + usize::from(step.count > 1),
                    _ => 1,
                };
                let at = (0..variants).map(|variant| At { rank, block, step: number, variant });
                found.extend(at.filter(|at| match mistake {
                    SwapOffsets => partner(schedule, *at).is_some(),
                    SwapSends => next_send(steps, number).is_some(),
                    _ => true,
                }));
            }
        }
    }
    found
}

/// The next step of the rank that reads (writes) the same buffer at another index.
fn partner(schedule: &Schedule, at: At) -> Option<(usize, usize)> {
    let blocks = &schedule.ranks[at.rank].thread_blocks;
    let place = |step: &Step| match at.variant {
        0 => step.kind.reads_src().then_some(step.src),
        _ => step.kind.writes_dst().then_some(step.dst),
    };
    let own = place(&blocks[at.block].steps[at.step])?;
    let steps = blocks.iter().enumerate().flat_map(|(b, block)| (0..block.steps.len()).map(move |s| (b, s)));
    steps.skip_while(|position| *position <= (at.block, at.step)).find(|(b, s)| {
        place(&blocks[*b].steps[*s])
            .is_some_and(|other| other.buffer == own.buffer && other.index != own.index)
    })
}

/// The next step of a thread block that sends, after one that does.
fn next_send(block: &ThreadBlock, step: usize) -> Option<usize> {
    if !block.steps[step].kind.sends() {
        return None;
    }
    (step + 1..block.steps.len()).find(|next| block.steps[*next].kind.sends())
}

impl Mutant {
    fn apply(&mut self) {
        let At { rank, block, step, variant } = self.at;
        let ranks = self.schedule.ranks.len() as u32;
        if self.mistake == ShortenFifo {
            self.slots = variant as u32;
            return;
        }
        let swapped = partner(&self.schedule, self.at);
        let following = next_send(&self.schedule.ranks[rank].thread_blocks[block], step);
        let blocks = &mut self.schedule.ranks[rank].thread_blocks;
        match self.mistake {
            SwapOffsets => {
                let Some((other_block, other_step)) = swapped else { return };
                let read = |step: &Step| if variant == 0 { step.src.index } else { step.dst.index };
                let (own, other) =
                    (read(&blocks[block].steps[step]), read(&blocks[other_block].steps[other_step]));
                let set = |step: &mut Step, index| {
                    if variant == 0 { step.src.index = index } else { step.dst.index = index }
                };
                set(&mut blocks[block].steps[step], other);
                set(&mut blocks[other_block].steps[other_step], own);
            }
            DropStep => {
                blocks[block].steps.remove(step);
                // Who waited for it waits for the one before, and later steps have moved up.
                let gone =
                    StepId { thread_block: collective::ThreadBlockId(block as u32), step: step as u32 };
                for waiting in blocks.iter_mut().flat_map(|block| &mut block.steps) {
                    waiting.depends.retain(|on| *on != gone || on.step > 0);
                    for on in &mut waiting.depends {
                        if on.thread_block == gone.thread_block && on.step >= gone.step {
                            on.step -= 1;
                        }
                    }
                }
            }
            DropDependence => _ = blocks[block].steps[step].depends.remove(variant),
            ChangePeer => {
                let peer = if variant == 0 { &mut blocks[block].send } else { &mut blocks[block].recv };
                let own = RankId(rank as u32);
                let next = |peer: RankId| RankId((peer.0 + 1) % ranks);
                *peer = peer.map(next).map(|peer| if peer == own { next(peer) } else { peer });
            }
            SwapSends => {
                let steps = &mut blocks[block].steps;
                if let Some(other) = following {
                    steps.swap(step, other);
                }
            }
            ChangeCount => {
                let count = &mut blocks[block].steps[step].count;
                *count = if variant == 0 { *count + 1 } else { *count - 1 };
            }
            ShortenFifo => {}
        }
    }
}

/// What became of the mutants of a program.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) mutants: usize,
    /// Those that the executor finds wrong.
    pub(crate) changed: usize,
    /// Those of them that the verifier lets pass.
    pub(crate) missed: Vec<String>,
    /// Those that the verifier refuses although no execution goes wrong.
    pub(crate) alarms: Vec<String>,
    /// Those that mean the same as the program: neither finds anything.
    pub(crate) equivalent: Vec<String>,
}

impl Tally {
    /// Judges the mutants of a program.
    pub(crate) fn add(&mut self, name: &str, schedule: &Schedule) {
        for mutant in mutants(schedule) {
            self.mutants += 1;
            let judged = judge_thoroughly(&mutant.schedule, mutant.slots);
            let verdict = verdict(&mutant.schedule, mutant.slots);
            match (judged, verdict) {
                (Err(_), Err(_)) => self.changed += 1,
                (Err(why), Ok(())) => {
                    self.changed += 1;
                    self.missed.push(format!("{name}: {mutant}: {why}"));
                }
                (Ok(()), Err((rule, why))) => {
                    self.alarms.push(format!("{name}: {mutant}: {}: {why}", rule.name()));
                }
                (Ok(()), Ok(())) => self.equivalent.push(format!("{name}: {mutant}")),
            }
        }
    }
}

impl Tally {
    /// No wrong mutant passed, and nothing but races was refused without need: at least `changed` were wrong.
    #[track_caller]
    pub(crate) fn assert_sound(&self, changed: usize) {
        let needless: Vec<_> = self.alarms.iter().filter(|alarm| !alarm.contains(": race: ")).collect();
        assert!(self.missed.is_empty() && needless.is_empty(), "{needless:#?}\n{self}");
        assert!(self.changed >= changed, "{self}");
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mutants, changed, missed, alarms, equivalent } = self;
        writeln!(
            f,
            "{mutants} mutants: {changed} mean something else, {} of them missed; {} refused without need; {} equivalent",
            missed.len(),
            alarms.len(),
            equivalent.len()
        )?;
        for (what, list) in [("missed", missed), ("refused without need", alarms), ("equivalent", equivalent)]
        {
            for mutant in list {
                writeln!(f, "{what}: {mutant}")?;
            }
        }
        Ok(())
    }
}
