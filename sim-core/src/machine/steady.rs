//! Jumps over rounds that repeat.
//!
//! The loop over a large buffer is periodic after a few rounds. What comes depends on nothing but the state: where each
//! thread block stands, what lies in the slots and on the links, and how long each of that still takes. If the state at the
//! beginning of a round is that of some rounds before, all of it counted from that round and that moment, so is everything that follows,
//! up to the last round, whose data are fewer. So as many of these periods are left out as there is room for, and the time that they
//! take is added: exactly what simulating them would give, because all arithmetic is in whole numbers.

use super::engine::Engine;
use super::program::Program;
use super::rounds::Rounds;
use super::state::{BlockState, Phase};
use crate::error::{Overflow, SimError};
use crate::model::network::Network;
use crate::units::Picos;

/// The longest period that is found, in rounds.
const LONGEST: usize = 12;

/// Below so many rounds it is not worth while.
const FEWEST: u32 = 4;

pub(super) struct Steady {
    rounds: u32,
    /// The states of the last rounds, the latest at the end.
    states: Vec<State>,
    /// How long links were busy in what was left out.
    pub(super) busy: Vec<Picos>,
}

struct State {
    round: u32,
    at: Picos,
    words: Vec<u64>,
    busy: Vec<Picos>,
}

impl Steady {
    pub(super) fn new(rounds: Rounds) -> Self {
        let rounds = if rounds.jumps { rounds.count } else { 0 };
        Self { rounds, states: Vec::new(), busy: Vec::new() }
    }

    /// Whether a block that begins a step is the one whose rounds count, and this is a round of it.
    pub(super) fn is_due(&self, number: u32, state: &BlockState, program: &Program) -> bool {
        self.rounds >= FEWEST
            && number == 0
            && state.step == program.blocks[0].first_step
            && state.round > 0
            && state.round + 2 < self.rounds
    }

    /// Compares the state with those before, and jumps.
    pub(super) fn look(engine: &mut Engine<'_>) -> Result<(), SimError> {
        let now = engine.queue.now();
        let round = engine.blocks[0].round;
        let words = words(engine, round, now);
        let loads = engine.network.link_loads().unwrap_or_default();
        let busy = loads.into_iter().map(|load| load.busy).collect();
        let state = State { round, at: now, words, busy };
        let found = engine.steady.states.iter().rev().find(|before| before.words == state.words);
        if let Some(before) = found {
            let period = round - before.round;
            let furthest = engine.blocks.iter().map(|block| block.round).max().unwrap_or(round);
            // The last round is another one; and nobody may be in it after the jump.
            let times = (engine.rounds.count - 1).saturating_sub(furthest + 1) / period;
            if times > 0 {
                let span = u128::from(now.0 - before.at.0) * u128::from(times);
                let span = u64::try_from(span).map_err(|_| Overflow::TIME)?;
                let mut busy = Vec::with_capacity(state.busy.len());
                for (now, before) in state.busy.iter().zip(&before.busy) {
                    let more = (now.0 - before.0).checked_mul(u64::from(times));
                    busy.push(Picos(more.ok_or(Overflow::TIME)?));
                }
                engine.jump(times * period);
                engine.times.skip(Picos(span))?;
                engine.steady.busy = busy;
                engine.steady.states.clear();
                // Once is enough: less than a period is left.
                engine.steady.rounds = 0;
                return Ok(());
            }
        }
        let states = &mut engine.steady.states;
        if states.len() == LONGEST {
            states.remove(0);
        }
        states.push(state);
        Ok(())
    }
}

impl Engine<'_> {
    /// All thread blocks are so many rounds further.
    fn jump(&mut self, rounds: u32) {
        for block in &mut self.blocks {
            block.round += rounds;
        }
        for done in &mut self.done {
            *done += rounds;
        }
    }
}

/// The state, counted from a round and a moment.
fn words(engine: &mut Engine<'_>, round: u32, now: Picos) -> Vec<u64> {
    let mut words = Vec::with_capacity(4 * engine.blocks.len() + 3 * engine.fifos.len());
    let mut put = |word: u64| words.push(word);
    for number in 0..engine.blocks.len() {
        let BlockState { step, round: own, slice, phase, until, message, .. } = engine.blocks[number];
        put(u64::from(step) << 32 | u64::from(slice));
        // A block may be behind.
        put((i64::from(own) - i64::from(round)) as u64);
        put(phase as u64);
        match (phase, message) {
            (Phase::Overhead | Phase::Local, _) => put(until.0.saturating_sub(now.0)),
            (Phase::Flow, Some(message)) => {
                let pair = engine.pair_of(&engine.program.steps[step as usize]);
                let (left, alone) = engine.network.left(pair, message, engine.messages[message].bytes, now);
                put(left as u64);
                put((left >> 64) as u64);
                put(u64::from(alone));
            }
            _ => {}
        }
    }
    for fifo in &engine.fifos {
        put(u64::from(fifo.used) << 32 | u64::from(fifo.visible));
        put(fifo.coming.len() as u64);
        for at in &fifo.coming {
            put(at.0.saturating_sub(now.0));
        }
    }
    words
}
