//! The executor as a judge of schedules: what it says of them in many orders.
#![allow(dead_code, reason = "each test binary uses a part")]

pub(crate) mod mutation;

use collective::run::{self, Order, RunOptions};
use collective::verify::verify;
use collective::{ElementType, Rule, Schedule};

fn options(schedule: &Schedule, slots: Option<u32>, orders: Vec<Order>) -> RunOptions {
    // 64-bit integers that differ in all their bits: a wrong sum is never the right one by chance.
    let elements = run::one_element_a_chunk(&schedule.collective);
    RunOptions { elements, element_type: ElementType::I64, slots, orders, ..RunOptions::default() }
}

fn judged(schedule: &Schedule, slots: Option<u32>, orders: Vec<Order>) -> Result<(), String> {
    let report = run::run(schedule, &options(schedule, slots, orders)).map_err(|error| error.to_string())?;
    match (report.comparison.first, report.wrong_order) {
        (Some(first), Some(order)) => Err(format!("{first} (run {order})")),
        _ => Ok(()),
    }
}

/// Runs a schedule in `times` random orders and the extreme ones, with the slots of its protocol and with any number.
pub(crate) fn judge(schedule: &Schedule, times: u64) -> Result<(), String> {
    let extremes = [Order::InTurn, Order::LowestFirst, Order::HighestFirst, Order::RunAhead];
    for slots in [Some(schedule.protocol.slots()), None] {
        let orders = (0..times).map(Order::Random).chain(extremes).collect();
        judged(schedule, slots, orders).map_err(|error| format!("with slots {slots:?}: {error}"))?;
    }
    Ok(())
}

/// Runs a schedule in every order that could show a mistake: with the slots given once, because whether it gets stuck does
/// not depend on the order; with any number of slots, so that no full connection hides a race, with each rank, each thread
/// block and each step last.
pub(crate) fn judge_thoroughly(schedule: &Schedule, slots: u32) -> Result<(), String> {
    judged(schedule, Some(slots), vec![Order::InTurn])?;
    let orders =
        Order::adverse(schedule).chain(Order::each_step_last(schedule)).chain((0..8).map(Order::Random));
    judged(schedule, None, orders.collect())
}

/// The verifier's verdict: the rule that its first finding breaks, and what it says.
pub(crate) fn verdict(schedule: &Schedule, slots: u32) -> Result<(), (Rule, String)> {
    verify(schedule, slots).map_err(|found| (found.findings[0].rule, found.to_string()))
}

/// The verifier and the executor agree that a schedule is right, or that it is wrong; which of the two it is.
#[track_caller]
pub(crate) fn assert_agreement(name: &str, schedule: &Schedule, slots: u32) -> bool {
    let (verdict, judged) = (verdict(schedule, slots), judge_thoroughly(schedule, slots));
    assert_eq!(
        verdict.is_ok(),
        judged.is_ok(),
        "{name}, {slots} slots: the verifier says {verdict:?}, the executor {judged:?}\n{schedule}"
    );
    verdict.is_ok()
}
