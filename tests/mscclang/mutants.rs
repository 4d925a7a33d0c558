//! No wrong mutant of these programs passes the verifier.

use collective::{Schedule, lower};

use crate::figures::{ROWS, Row, Verdict};
use crate::judge::assert_agreement;
use crate::judge::mutation::Tally;
use crate::{compiled, trace};

/// Right programs of up to so many steps: each is run once for each of its steps.
fn right_programs(most_steps: usize) -> impl Iterator<Item = (&'static Row, Schedule)> {
    let right = ROWS.iter().filter(|row| row.verdict != Verdict::Wrong && row.reference.steps <= 1500);
    let compiled = right.map(|row| (row, compiled(row).unwrap()));
    compiled.filter(move |(_, schedule)| schedule.step_count() <= most_steps)
}

#[test]
fn verifier_and_executor_agree_on_every_program() {
    let (mut right, mut wrong) = (0, 0);
    for row in ROWS.iter().filter(|row| row.reference.steps <= 1500) {
        let Ok(schedule) = trace(row).and_then(|trace| lower(&trace)) else { continue };
        if schedule.step_count() <= 400 {
            let agreed = assert_agreement(&row.to_string(), &schedule, schedule.protocol.slots());
            assert_eq!(agreed, row.verdict != Verdict::Wrong, "{row}");
            if agreed { right += 1 } else { wrong += 1 }
        }
    }
    assert!(right >= 30 && wrong >= 2, "{right} right, {wrong} wrong");
}

#[test]
fn no_wrong_mutant_passes() {
    let mut tally = Tally::default();
    for (row, schedule) in right_programs(400) {
        tally.add(&row.to_string(), &schedule);
    }
    println!("{tally}");
    tally.assert_sound(20_000);
}
