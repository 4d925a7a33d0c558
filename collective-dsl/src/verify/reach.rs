//! Whether one step comes before another on the same rank in every run, also through other ranks: by the order of
//! thread blocks, by dependences, and because a send comes before the receive that it meets.
//!
//! Asked only about pairs that [`super::clocks`] cannot answer. A pass over the steps, in an order in which they can
//! happen, carries along how many steps of a few thread blocks are certainly complete.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::plan::{At, Plan};

/// Thread blocks that one pass asks about.
const COLUMNS: usize = 8;

/// How many steps of each of them are complete.
type Clock = [u32; COLUMNS];

/// Two steps, by their positions in the order; the earlier first.
pub(super) type Pair = (u32, u32);

/// For each pair, in the order given, whether the first comes before the second in every run.
pub(super) fn ordered(plan: &Plan<'_>, order: &[At], pairs: &[Pair]) -> Vec<bool> {
    let mut answers = vec![false; pairs.len()];
    if pairs.is_empty() {
        return answers;
    }
    let awaited = awaited(plan);
    // By the thread block of the first step, so that one pass answers as many as possible.
    let source = |pair: u32| order[pairs[pair as usize].0 as usize].process;
    let mut by_source: Vec<u32> = (0..pairs.len() as u32).collect();
    by_source.sort_by_key(|pair| (source(*pair), pairs[*pair as usize]));
    let mut rest = &by_source[..];
    while let Some(first) = rest.first() {
        let mut columns = vec![source(*first)];
        let mut end = 0;
        while end < rest.len() {
            let process = source(rest[end]);
            if columns.last() != Some(&process) {
                if columns.len() == COLUMNS {
                    break;
                }
                columns.push(process);
            }
            end += 1;
        }
        pass(plan, order, pairs, &rest[..end], &columns, &awaited, &mut answers);
        rest = &rest[end..];
    }
    answers
}

/// The steps that others wait for, numbered.
fn awaited(plan: &Plan<'_>) -> FxHashMap<At, u32> {
    let mut awaited = FxHashMap::default();
    for process in 0..plan.processes.len() as u32 {
        for on in plan.steps(process).iter().flat_map(|step| &step.depends) {
            let at = At { process: plan.neighbour(process, on.thread_block), step: on.step };
            let number = awaited.len() as u32;
            awaited.entry(at).or_insert(number);
        }
    }
    awaited
}

fn pass(
    plan: &Plan<'_>,
    order: &[At],
    pairs: &[Pair],
    asked: &[u32],
    columns: &[u32],
    awaited: &FxHashMap<At, u32>,
    answers: &mut [bool],
) {
    // Nothing before the first of the earlier steps matters, nor anything after the last of the later ones.
    let begin = asked.iter().map(|pair| pairs[*pair as usize].0).min().unwrap_or(0);
    let mut questions: Vec<(u32, u32)> = asked.iter().map(|pair| (pairs[*pair as usize].1, *pair)).collect();
    questions.sort_unstable();
    let mut questions = questions.into_iter().peekable();
    let mut complete: Vec<Clock> = vec![[0; COLUMNS]; plan.processes.len()];
    let mut messages: Vec<VecDeque<Clock>> = vec![VecDeque::new(); plan.connections.len()];
    let mut after: Vec<Clock> = vec![[0; COLUMNS]; awaited.len()];
    // The messages that are on their way when the pass begins carry nothing.
    for at in &order[..begin as usize] {
        let (process, step) = (&plan.processes[at.process as usize], plan.step(*at));
        if let Some(connection) = process.receives.filter(|_| step.kind.receives()) {
            messages[connection as usize].pop_front();
        }
        if let Some(connection) = process.sends.filter(|_| step.kind.sends()) {
            messages[connection as usize].push_back([0; COLUMNS]);
        }
    }
    for (position, at) in (0_u32..).zip(order).skip(begin as usize) {
        if questions.peek().is_none() {
            return;
        }
        let (process, step) = (&plan.processes[at.process as usize], plan.step(*at));
        let mut clock = complete[at.process as usize];
        for on in &step.depends {
            let on = At { process: plan.neighbour(at.process, on.thread_block), step: on.step };
            if let Some(number) = awaited.get(&on) {
                join(&mut clock, &after[*number as usize]);
            }
        }
        if let Some(connection) = process.receives.filter(|_| step.kind.receives())
            && let Some(message) = messages[connection as usize].pop_front()
        {
            join(&mut clock, &message);
        }
        while let Some((_, pair)) = questions.next_if(|question| question.0 == position) {
            let first = order[pairs[pair as usize].0 as usize];
            let column = columns.iter().position(|process| *process == first.process);
            answers[pair as usize] = column.is_some_and(|column| clock[column] > first.step);
        }
        if let Some(column) = columns.iter().position(|process| *process == at.process) {
            clock[column] = at.step + 1;
        }
        if let Some(connection) = process.sends.filter(|_| step.kind.sends()) {
            messages[connection as usize].push_back(clock);
        }
        if let Some(number) = awaited.get(at) {
            after[*number as usize] = clock;
        }
        complete[at.process as usize] = clock;
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    for (mine, other) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*other);
    }
}
