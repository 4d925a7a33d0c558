//! When steps begin and end, as far as it is asked for.

use super::program::Program;
use crate::error::Overflow;
use crate::units::Picos;

/// Times of the whole run, also of what was not simulated because it repeats.
pub(super) struct Times {
    /// How much later everything is than the queue says, by what was left out.
    skipped: Picos,
    /// By step: when it ended last.
    ended: Vec<Picos>,
    /// By step: when it began first, and when its data were delivered last; empty if not asked for.
    begun: Vec<Picos>,
    delivered: Vec<Picos>,
}

impl Times {
    pub(super) fn new(program: &Program, all: bool) -> Self {
        let steps = program.steps.len();
        let of_steps = || vec![Picos::ZERO; if all { steps } else { 0 }];
        Self {
            skipped: Picos::ZERO,
            ended: vec![Picos::ZERO; steps],
            begun: of_steps(),
            delivered: of_steps(),
        }
    }

    pub(super) fn absolute(&self, now: Picos) -> Result<Picos, Overflow> {
        self.skipped.checked_add(now).ok_or(Overflow::TIME)
    }

    pub(super) fn skip(&mut self, span: Picos) -> Result<(), Overflow> {
        self.skipped = self.skipped.checked_add(span).ok_or(Overflow::TIME)?;
        Ok(())
    }

    pub(super) fn begin(&mut self, step: u32, round: u32, now: Picos) -> Result<(), Overflow> {
        if round == 0 && !self.begun.is_empty() {
            self.begun[step as usize] = self.absolute(now)?;
        }
        Ok(())
    }

    pub(super) fn end(&mut self, step: u32, now: Picos) -> Result<(), Overflow> {
        self.ended[step as usize] = self.absolute(now)?;
        Ok(())
    }

    /// The data of a step will have been delivered.
    pub(super) fn delivered(&mut self, step: u32, at: Picos) -> Result<(), Overflow> {
        if !self.delivered.is_empty() {
            self.delivered[step as usize] = self.absolute(at)?;
        }
        Ok(())
    }

    /// By step: from when to when; the first is 0 if not asked for.
    pub(super) fn of(&self, step: u32) -> (Picos, Picos) {
        let begun = self.begun.get(step as usize).copied().unwrap_or_default();
        (begun, self.ended[step as usize])
    }

    /// When the data of a step were delivered.
    pub(super) fn delivery(&self, step: u32) -> Picos {
        self.delivered.get(step as usize).copied().unwrap_or_default()
    }

    /// By rank: when its last step ended.
    pub(super) fn finish(&self, program: &Program) -> Vec<Picos> {
        let mut finish = vec![Picos::ZERO; program.ranks as usize];
        for block in &program.blocks {
            let ended = &self.ended[block.first_step as usize..block.end_step as usize];
            let of_rank = &mut finish[block.rank as usize];
            *of_rank = ended.iter().copied().fold(*of_rank, Picos::max);
        }
        if program.folded {
            let of_first = finish.first().copied().unwrap_or_default();
            finish.fill(of_first);
        }
        finish
    }
}
