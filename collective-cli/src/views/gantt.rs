//! Thread blocks and links as bars.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::words;
use crate::picture::{Bar, Gantt, Group, Row};
use crate::recording::{Kind, Recording, Step};

/// So many rows of thread blocks can be read, and so many of links.
const MOST_ROWS: usize = 72;
const MOST_LINKS: usize = 24;
/// So many bars a file can hold, of thread blocks and of links; of a row no more than so many can be told apart.
const MOST_BARS: usize = 8000;
const MOST_CROSSINGS: usize = 4000;
const MOST_IN_ROW: usize = 800;
/// Steps of a thread block at once; more are left out.
const MOST_LANES: usize = 12;

const CROSSING: usize = 4;

/// The steps of thread blocks, with the critical path, and what crossed the links.
pub(crate) fn gantt(recording: &Recording, title: &str, subtitle: &str) -> Gantt {
    let mut notes = Vec::new();
    let (mut groups, left_out) = thread_blocks(recording);
    if left_out.ranks > 0 {
        notes.push(format!(
            "{} of {} ranks are shown: those with the most steps on the critical path, then the first ones",
            recording.ranks as usize - left_out.ranks,
            recording.ranks
        ));
    }
    if left_out.steps > 0 {
        notes.push(format!(
            "{} steps are not shown: they ran at the same time as {MOST_LANES} others of their thread block",
            left_out.steps
        ));
    }
    groups.extend(links(recording, &mut notes));
    notes.extend(words::of_links(recording.model).map(str::to_owned));
    let kind = |colour, text: &str| (colour, text.to_owned());
    let local = |kind: Kind, name: &str| {
        let mut steps = recording.steps.iter().filter(|step| step.kind == kind).peekable();
        let is_free = steps.peek().is_some() && steps.all(|step| step.start == step.finish);
        if is_free { format!("{name}, which takes no time here") } else { name.to_owned() }
    };
    let mut kinds = vec![
        kind("#0072b2", "send, until it is delivered"),
        kind("#56b4e9", "receive, from when it is waited for"),
        kind("#009e73", &local(Kind::Reduce, "reduce")),
        kind("#e69f00", &local(Kind::Copy, "copy")),
    ];
    if !recording.links.is_empty() {
        kinds.push(kind("#6b7280", "a message on a link"));
    }
    if recording.has_path() {
        kinds.push(kind("outline #d5260b", "on the critical path"));
    }
    Gantt {
        title: title.to_owned(),
        subtitle: subtitle.to_owned(),
        end: recording.makespan,
        kinds,
        groups,
        notes,
    }
}

#[derive(Default)]
struct LeftOut {
    ranks: usize,
    steps: usize,
}

fn thread_blocks(recording: &Recording) -> (Vec<Group>, LeftOut) {
    let mut left_out = LeftOut::default();
    // By rank that does anything: its rows, and how much of the critical path is its.
    let mut ranks: Vec<(u32, Vec<Row>, usize)> = Vec::new();
    for of_rank in recording.steps.chunk_by(|one, next| one.rank == next.rank) {
        let Some(first) = of_rank.first() else { continue };
        let mut rows = Vec::new();
        for of_block in of_rank.chunk_by(|one, next| one.thread_block == next.thread_block) {
            let lanes = lanes(of_block, |step| (step.start.0, step.finish.0));
            left_out.steps += lanes.iter().skip(MOST_LANES).map(Vec::len).sum::<usize>();
            for (at, lane) in lanes.iter().take(MOST_LANES).enumerate() {
                let label = if at == 0 { format!("tb {}", of_block[0].thread_block) } else { String::new() };
                rows.push(Row { label, bars: lane.iter().map(|step| bar(recording, step)).collect() });
            }
        }
        let critical = of_rank.iter().filter(|step| step.is_critical).count();
        ranks.push((first.rank, rows, critical));
    }
    let bars = |rows: &[Row]| rows.iter().map(|row| row.bars.len().min(MOST_IN_ROW)).sum::<usize>();
    let all: (usize, usize) =
        ranks.iter().fold((0, 0), |(count, sum), (_, rows, _)| (count + rows.len(), sum + bars(rows)));
    if all.0 > MOST_ROWS || all.1 > MOST_BARS {
        ranks.sort_by_key(|(rank, _, critical)| (Reverse(*critical), *rank));
        let (mut sum, before) = ((0, 0), ranks.len());
        let fits = |(_, rows, _): &&(u32, Vec<Row>, usize)| {
            sum = (sum.0 + rows.len(), sum.1 + bars(rows));
            sum.0 <= MOST_ROWS && sum.1 <= MOST_BARS
        };
        // One at least, however large.
        let keep = ranks.iter().take_while(fits).count().max(1);
        ranks.truncate(keep);
        left_out.ranks = before - keep;
        ranks.sort_by_key(|(rank, ..)| *rank);
    }
    let group = |(rank, rows, _)| Group { label: format!("rank {rank}"), rows };
    (ranks.into_iter().map(group).collect(), left_out)
}

fn bar(recording: &Recording, step: &Step) -> Bar {
    let (kind, text) = match step.kind {
        Kind::Send { peer, .. } => (0, format!("→{peer}")),
        Kind::Receive { peer, .. } => (1, format!("←{peer}")),
        Kind::Reduce => (2, String::new()),
        Kind::Copy => (3, String::new()),
    };
    Bar {
        start: step.start,
        finish: step.finish,
        kind,
        text,
        tooltip: words::step(recording, step),
        is_critical: step.is_critical,
    }
}

/// Some of the links, in the order of the topology.
fn links(recording: &Recording, notes: &mut Vec<String>) -> Option<Group> {
    if recording.links.is_empty() {
        return None;
    }
    // Those first that messages of the critical path may take.
    let critical: BTreeSet<u32> = recording.path.steps.iter().map(|step| step.rank).collect();
    let is_near = |link: u32| {
        let mut crossings = recording.crossings_of(link).iter();
        crossings.any(|crossing| critical.contains(&crossing.src))
    };
    let most = (0..recording.links.len() as u32)
        .map(|link| recording.crossings_of(link).len().min(MOST_IN_ROW))
        .max();
    let most = (MOST_CROSSINGS / most.unwrap_or(0).max(1)).min(MOST_LINKS);
    let chosen = super::links::chosen(recording, most, is_near);
    if chosen.len() < recording.links.len() {
        notes.push(format!(
            "{} of {} links that carried anything are shown: of each bandwidth those of ranks on the critical path, the busiest first",
            chosen.len(),
            recording.links.len()
        ));
    }
    let mut rows = Vec::new();
    for link in chosen {
        let lanes = lanes(recording.crossings_of(link), |crossing| (crossing.start.0, crossing.finish.0));
        for (at, lane) in lanes.iter().take(4).enumerate() {
            let label = if at == 0 { recording.links[link as usize].name.clone() } else { String::new() };
            let bar = |crossing: &&crate::recording::Crossing| Bar {
                start: crossing.start,
                finish: crossing.finish,
                kind: CROSSING,
                text: format!("{}→{}", crossing.src, crossing.dst),
                tooltip: words::crossing(crossing),
                is_critical: false,
            };
            rows.push(Row { label, bars: lane.iter().map(bar).collect() });
        }
    }
    Some(Group { label: "links".to_owned(), rows })
}

/// Lanes in each of which one span begins when the one before it has ended; `spans` in the order in which they begin.
fn lanes<T>(spans: &[T], ends: impl Fn(&T) -> (u64, u64)) -> Vec<Vec<&T>> {
    let mut lanes: Vec<(u64, Vec<&T>)> = Vec::new();
    for span in spans {
        let (start, finish) = ends(span);
        match lanes.iter_mut().find(|(free, _)| *free <= start) {
            Some((free, lane)) => {
                *free = finish;
                lane.push(span);
            }
            None => lanes.push((finish, vec![span])),
        }
    }
    lanes.into_iter().map(|(_, lane)| lane).collect()
}
