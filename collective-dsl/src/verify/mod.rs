//! Judges a schedule, whoever made it. Knows nothing of the passes in [`crate::lower`].
//!
//! # The rules
//!
//! By the name that messages and JSON use, in the order in which they make the verdict. All findings are listed, as
//! far as the broken rules before leave something to judge.
//!
//! * **malformed** — a peer or an awaited step that does not exist, a thread block that sends without a send peer
//!   ([`well_formed`]). Nothing else is judged then.
//! * **limit** — more of something than the runtime named by [`Settings::target`] can hold.
//! * **bounds** — a step reaches beyond its buffer, with its first chunk or its last; a computation produces what is no input. The others are judged as if it
//!   moved what is there.
//! * **ownership** — two thread blocks own one side of a connection (sender, receiver, channel): which of their messages is
//!   the k-th is left to chance, and no rule below can be judged.
//! * **unmatched** — the k-th send of a connection meets the k-th receive: a message without its receive, a receive without
//!   its message, or both of different length. What the schedule computes is not judged then.
//! * **deadlock** — steps that wait for each other, with the slots given; the cycle is listed step by step, "(1/4)" to
//!   "(4/4)". A message takes one slot, whatever its length; a deadlock that comes only where every chunk takes one is a
//!   warning. With 0 slots a send is complete only when its receive takes the message. Nothing below is judged then.
//! * **uninitialised** — a step reads a chunk that nobody has written yet, in every run; a chunk of the input that a computation
//!   of the rank produces is written by that.
//! * **race** — two accesses to one chunk, one of them a write, that nothing orders; also two writes of the same value.
//! * **wrong** — an output chunk does not end with exactly the contributions that the collective wants, each as often as it
//!   wants them.
//!
//! Warnings never make the verdict: **hasdep** — a file does not mark a step that others wait for ([`unflagged`]);
//! **input** — a step writes to the input out of place.
//!
//! # What orders two steps
//!
//! The order of a thread block, a dependence, and a message: a send comes before the receive that it meets; and all this
//! through any number of steps, also of other ranks. A step is one event, which reads before it writes: what a fused step
//! receives, writes and sends on belongs to one moment. That a sender had to wait for a slot is no order, neither is a
//! rendezvous: with more slots it would be gone. Names of one chunk in place (`i` and `o` of an all-reduce) are one cell.
//!
//! # How
//!
//! One run without data (`progress.rs`) decides on deadlock, as no process has a choice, and gives an order in which all
//! steps can happen. In this order every chunk is followed as the multiset of the contributions in it (`execute.rs`,
//! `values.rs`), and every cell's accesses are compared with those before (`race.rs`): with vector clocks over the thread
//! blocks of the rank (`clocks.rs`), and, for pairs that these do not order, through other ranks (`reach.rs`). So the cost
//! grows with the number of chunks that steps move, not with the number of pairs of steps.

mod clocks;
mod deadlock;
mod ends;
mod execute;
mod layout;
mod matching;
mod places;
mod plan;
mod postcondition;
mod progress;
mod race;
mod reach;
mod reduction;
mod report;
mod values;
mod well_formed;

pub use ends::{Ends, ends};
pub use reduction::Reductions;
pub use report::{PostCondition, Report, Settings, Slots, Verdict};
pub use well_formed::well_formed;

use crate::diagnostic::{Diagnostic, Diagnostics, Rule, Severity};
use crate::msccl::{Imported, limits};
use crate::schedule::Schedule;
use execute::execute;
use plan::Plan;
use progress::{Progress, Unit};
use report::Found;
use values::{Value, Values};

/// The most findings that a compiler reports for one schedule.
const MAX_FINDINGS: usize = 5;

/// Judges a schedule by all rules.
///
/// ```
/// use collective_dsl::verify::{PostCondition, Settings, Slots, Verdict, check};
/// use collective_dsl::{Rule, msccl};
/// // Both ranks send before they receive.
/// let text = r#"<algo name="pair" ngpus="2" nchunksperloop="2" nchannels="1" coll="allgather" inplace="1">
///   <gpu id="0"> <tb id="0" send="1" recv="1" chan="0">
///     <step s="0" type="s" srcbuf="i" srcoff="0"/> <step s="1" type="r" dstbuf="o" dstoff="1"/>
///   </tb> </gpu>
///   <gpu id="1"> <tb id="0" send="0" recv="0" chan="0">
///     <step s="0" type="s" srcbuf="o" srcoff="1"/> <step s="1" type="r" dstbuf="o" dstoff="0"/>
///   </tb> </gpu>
/// </algo>"#;
/// let schedule = msccl::read(text, "pair.xml")?.schedule;
/// let report = check(&schedule, &Settings::default());
/// assert_eq!((report.verdict(), report.post_condition), (Verdict::Pass, PostCondition::Holds));
/// assert_eq!((report.slots, report.min_slots), (Some(2), Some(1)));
/// let report = check(&schedule, &Settings { slots: Slots::Limited(0), ..Settings::default() });
/// assert_eq!(report.verdict(), Verdict::Broken(Rule::Deadlock));
/// assert_eq!(report.findings[0].message, "(1/2) rank 0, tb0, step 0 (s) waits for rank 1 to take its message");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn check(schedule: &Schedule, settings: &Settings) -> Report {
    judge(schedule, settings, true)
}

/// Checks all rules with `slots` slots a connection, as a compiler does: no warnings, and of what is wrong only
/// the first findings.
///
/// Where nothing states a post-condition ([`crate::Collective::is_unspecified`]) none is checked: say so with the
/// verdict.
///
/// # Errors
/// What is wrong, the first violated rule of the module's list first.
pub fn verify(schedule: &Schedule, slots: u32) -> Result<(), Diagnostics> {
    let settings = Settings { slots: Slots::Limited(slots), ..Settings::default() };
    match judge(schedule, &settings, false).errors() {
        Some(mut found) => {
            found.findings = brief(found.findings);
            Err(found)
        }
        None => Ok(()),
    }
}

/// Checks only that the schedule runs to its end with `slots` slots a connection.
///
/// # Errors
/// What keeps it from doing so.
pub fn progress(schedule: &Schedule, slots: u32) -> Result<(), Diagnostics> {
    let refused = |findings: Vec<Diagnostic>| {
        let (name, sites) = (schedule.name.clone(), schedule.sites.clone());
        if findings.is_empty() { Ok(()) } else { Err(Diagnostics { name, findings: brief(findings), sites }) }
    };
    refused(well_formed(schedule))?;
    let plan = Plan::new(schedule);
    refused(plan.ownership.clone())?;
    let matching = matching::check(&plan);
    if !matching.complete {
        return refused(matching.found.list);
    }
    let run = Progress::run(&plan, slots, Unit::Message, false);
    if run.finished() { Ok(()) } else { refused(deadlock::explain(&plan, &run).concat()) }
}

/// The smallest number of slots a connection, 1 or more, with which the schedule runs to its end; `None` if none is
/// enough.
#[must_use]
pub fn smallest_slots(schedule: &Schedule) -> Option<u32> {
    if !well_formed(schedule).is_empty() {
        return None;
    }
    let plan = Plan::new(schedule);
    let runs = plan.ownership.is_empty() && matching::check(&plan).complete;
    runs.then(|| progress::smallest_slots(&plan)).flatten()
}

/// The steps of a file that others wait for although its `hasdep` does not say so: a runtime would wait for ever. The
/// schedule that was read has the dependences all the same. To be added to the report of the schedule.
#[must_use]
pub fn unflagged(imported: &Imported) -> Vec<Diagnostic> {
    let finding = |at: &crate::msccl::Unflagged| {
        let step = &imported.schedule.ranks[at.rank.index()].thread_blocks[at.thread_block.index()].steps
            [at.step as usize];
        let message = format!(
            "rank {}, {}, step {} ({}) is awaited but its hasdep is 0, so that a runtime would wait for ever: read as 1",
            at.rank.0,
            at.thread_block,
            at.step,
            step.kind.name()
        );
        let location = crate::diagnostic::Location::step(at.rank, at.thread_block, at.step);
        Diagnostic::new(Rule::Hasdep, Some(step.site), message).at(location).as_warning()
    };
    imported.unflagged.iter().map(finding).collect()
}

/// `thorough` for everything that a report has, else only what a compiler needs to know.
fn judge(schedule: &Schedule, settings: &Settings, thorough: bool) -> Report {
    let slots = settings.slots.number(schedule.protocol);
    let mut report = Report::new(schedule, slots);
    report.add(well_formed(schedule));
    if !report.findings.is_empty() {
        return report;
    }
    if let Some(target) = settings.target {
        report.add(limits::check(schedule, target));
    }
    let plan = Plan::new(schedule);
    let (beyond, input) = places::check(&plan);
    report.add_found(beyond);
    report.add_found(input);
    if !plan.ownership.is_empty() {
        report.add(plan.ownership.iter().cloned());
        return report;
    }
    let matching = matching::check(&plan);
    let all_match = matching.found.is_empty();
    report.add_found(matching.found);
    if !matching.complete {
        return report;
    }
    let run = Progress::run(&plan, slots, Unit::Message, all_match);
    if !run.finished() {
        report.min_slots = progress::smallest_slots(&plan);
        report.add(stuck(&plan, &run, report.min_slots));
        return report;
    }
    if thorough {
        report.min_slots = progress::smallest_slots(&plan);
        if all_match {
            report.add(chunk_by_chunk(&plan, slots));
        }
    }
    if all_match {
        follow(&plan, &run.order(), settings, thorough, &mut report);
    }
    report
}

/// The cycles of a deadlock, and what number of slots would do.
fn stuck(plan: &Plan<'_>, run: &Progress<'_>, min_slots: Option<u32>) -> Vec<Diagnostic> {
    let mut cycles = deadlock::explain(plan, run);
    let advice = match min_slots {
        Some(1) => "; 1 slot a connection is enough".to_owned(),
        Some(slots) => format!("; {slots} slots a connection are enough"),
        None => "; no number of slots is enough".to_owned(),
    };
    if let Some(last) = cycles.first_mut().and_then(|cycle| cycle.last_mut()) {
        last.message.push_str(&advice);
    }
    cycles.concat()
}

/// Warns of a deadlock that comes only where every chunk takes a slot.
fn chunk_by_chunk(plan: &Plan<'_>, slots: u32) -> Vec<Diagnostic> {
    let all = plan.schedule.ranks.iter().flat_map(|rank| &rank.thread_blocks).flat_map(|block| &block.steps);
    if slots == u32::MAX || all.clone().all(|step| step.count == 1) {
        return Vec::new();
    }
    let run = Progress::run(plan, slots, Unit::Chunk, false);
    let first = if run.finished() { None } else { deadlock::explain(plan, &run).into_iter().next() };
    let warn = |mut finding: Diagnostic| {
        finding.message = format!("if every chunk took a slot of its own: {}", finding.message);
        finding.as_warning()
    };
    first.into_iter().flatten().map(warn).collect()
}

/// The rules about data.
fn follow(plan: &Plan<'_>, order: &[plan::At], settings: &Settings, thorough: bool, report: &mut Report) {
    let run = execute(plan, order, Values::default());
    let races = race::check(plan, order, &run.early);
    let races_free = races.races.is_empty();
    report.add_found(races.uninitialised);
    report.add_found(races.races);
    if settings.reductions && races_free {
        report.reductions = Reductions::of(plan, order);
    }
    if plan.schedule.collective.is_unspecified() {
        return;
    }
    let mut fails = false;
    // What comes of reading what is not there follows from a finding above.
    let explained = report.findings.iter().any(|finding| finding.severity == Severity::Error);
    let wrong = postcondition::wrong(plan, &run)
        .inspect(|_| fails = true)
        .filter(|wrong| !(explained && wrong.value == Value::Undefined));
    if thorough {
        let mut found = Found::default();
        for wrong in wrong {
            // Looking for what is wanted elsewhere goes over all memory: not for every one.
            let elsewhere = found.list.len() < MAX_FINDINGS;
            found.push(|| postcondition::describe(plan, &run, &wrong, elsewhere));
        }
        report.add_found(found);
    } else {
        let found = postcondition::by_line(plan, &run, wrong);
        report.add(found);
    }
    report.post_condition = match (fails, races_free) {
        (true, _) => PostCondition::Fails,
        (false, true) => PostCondition::Holds,
        (false, false) => PostCondition::NotChecked,
    };
}

/// The first findings; a deadlock is one finding in as many parts as there are steps in it.
fn brief(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let deadlock = findings.iter().position(|finding| finding.rule == Rule::Deadlock);
    match deadlock {
        Some(0) => {
            let others = findings.iter().skip(1);
            let next_cycle = others.take_while(|finding| !finding.message.starts_with("(1/")).count() + 1;
            findings.truncate(next_cycle);
        }
        _ => findings.truncate(MAX_FINDINGS),
    }
    findings
}
