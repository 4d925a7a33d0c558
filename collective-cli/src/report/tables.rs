//! Tables that a reader can sort.

use std::cmp::Reverse;

use collective::Schedule;
use collective::sim::report::Shares;
use collective::sim::units::Picos;

use super::flow::Flow;
use super::html::Html;
use super::{Run, SizeRow, words};
use crate::json::nanoseconds;
use crate::recording::{Kind, Recording};

/// Rows that a table has at most.
const MOST_ROWS: usize = 512;

/// A cell of a table.
enum Cell {
    Text(String),
    /// What it is sorted by, without a unit, and what is read.
    Figure(String, String),
    /// Nothing is known.
    None,
}

impl Cell {
    fn count(number: impl Into<u64>) -> Self {
        let number = number.into().to_string();
        Self::Figure(number.clone(), number)
    }

    /// Sorted by nanoseconds, as JSON has them.
    fn time(time: Picos) -> Self {
        Self::Figure(nanoseconds(time).to_string(), words::time(time))
    }

    fn bytes(bytes: u64) -> Self {
        Self::Figure(bytes.to_string(), words::bytes(bytes))
    }

    fn share(share: f64) -> Self {
        Self::Figure(share.to_string(), words::percent(share))
    }

    fn bandwidth(gigabytes: Option<f64>) -> Self {
        gigabytes.map_or(Self::None, |value| {
            Self::Figure(value.to_string(), format!("{} GB/s", words::decimals(value, 3)))
        })
    }

    fn optional(number: Option<u32>) -> Self {
        number.map_or(Self::None, Self::count)
    }
}

/// A table. Heads that begin with `#` are of figures.
struct Table {
    id: &'static str,
    caption: String,
    heads: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    /// What to know of the rows.
    note: String,
}

impl Table {
    fn write(&self, html: &mut Html) {
        let most = self.rows.len().min(MOST_ROWS);
        html.open("div", &[("class", if most > 24 { "scroll long" } else { "scroll" }), ("tabindex", "0")]);
        html.open("table", &[("class", "sortable"), ("id", self.id)]);
        html.element("caption", &[], &self.caption);
        html.own("<thead><tr>");
        let is_figure = |head: &str| head.starts_with('#');
        for head in &self.heads {
            let class = if is_figure(head) { "n" } else { "" };
            html.element("th", &[("scope", "col"), ("class", class)], head.trim_start_matches('#'));
        }
        html.own("</tr></thead>\n<tbody>\n");
        for row in self.rows.iter().take(most) {
            html.own("<tr>");
            for (head, cell) in self.heads.iter().zip(row) {
                let class = if is_figure(head) { "n" } else { "" };
                match cell {
                    Cell::Text(text) => html.element("td", &[("class", class)], text),
                    Cell::Figure(value, text) => {
                        html.element("td", &[("class", class), ("data-v", value)], text)
                    }
                    Cell::None => html.element("td", &[("class", class)], "-"),
                }
            }
            html.own("</tr>\n");
        }
        html.own("</tbody></table></div>\n");
        if most < self.rows.len() {
            let note = format!("The first {most} of {} rows are shown.", self.rows.len());
            html.element("p", &[("class", "note")], &note);
        }
        if !self.note.is_empty() {
            html.element("p", &[("class", "note")], &self.note);
        }
    }
}

/// Time and bandwidths of each size.
pub(super) fn sizes(html: &mut Html, sizes: &[SizeRow]) {
    let row = |it: &SizeRow| {
        vec![
            Cell::bytes(it.size.0),
            Cell::time(it.time),
            Cell::bandwidth(it.algbw),
            Cell::bandwidth(it.busbw),
        ]
    };
    let table = Table {
        id: "table-sizes",
        caption: "Sizes".to_owned(),
        heads: vec!["#size", "#time", "#algbw", "#busbw"],
        rows: sizes.iter().map(row).collect(),
        note: String::new(),
    };
    table.write(html);
}

/// What each rank has to do, and when it has done it.
pub(super) fn ranks(html: &mut Html, run: &Run<'_>, schedule: Option<&Schedule>) {
    #[derive(Clone, Default)]
    struct Sums {
        sent: (u64, u64),
        received: (u64, u64),
        critical: u64,
    }
    let mut sums = vec![Sums::default(); run.report.finish.len()];
    for step in &run.recording.steps {
        let Some(of_rank) = sums.get_mut(step.rank as usize) else { continue };
        of_rank.critical += u64::from(step.is_critical);
        let (count, bytes) = match step.kind {
            Kind::Send { .. } => &mut of_rank.sent,
            Kind::Receive { .. } => &mut of_rank.received,
            _ => continue,
        };
        *count += 1;
        *bytes = bytes.saturating_add(step.bytes.0);
    }
    let blocks = |rank: usize| {
        let own = schedule.and_then(|schedule| schedule.ranks.get(rank))?;
        u32::try_from(own.thread_blocks.len()).ok()
    };
    let row = |(rank, (finish, sums)): (usize, (&Picos, &Sums))| {
        vec![
            Cell::count(rank as u64),
            Cell::time(*finish),
            Cell::count(sums.sent.0),
            Cell::bytes(sums.sent.1),
            Cell::count(sums.received.0),
            Cell::bytes(sums.received.1),
            Cell::optional(blocks(rank)),
            Cell::count(sums.critical),
        ]
    };
    let table = Table {
        id: "table-ranks",
        caption: "Ranks".to_owned(),
        heads: vec![
            "#rank",
            "#finish",
            "#messages sent",
            "#bytes sent",
            "#messages received",
            "#bytes received",
            "#thread blocks",
            "#steps on the critical path",
        ],
        rows: run.report.finish.iter().zip(&sums).enumerate().map(row).collect(),
        note: String::new(),
    };
    table.write(html);
}

/// What the links carried, those first that were busy longest.
pub(super) fn links(html: &mut Html, recording: &Recording) {
    if recording.links.is_empty() {
        return;
    }
    let mut links: Vec<&crate::recording::Link> = recording.links.iter().collect();
    links.sort_by_key(|link| Reverse((link.busy, link.bytes)));
    let row = |link: &&crate::recording::Link| {
        let seconds = recording.makespan.0 as f64 / 1e12;
        let could = link.bandwidth.bytes_per_s() * seconds;
        let share = |of: f64, whole: f64| if whole > 0.0 { Cell::share(of / whole) } else { Cell::None };
        vec![
            Cell::Text(link.name.clone()),
            Cell::Figure(link.bandwidth.bytes_per_s().to_string(), link.bandwidth.to_string()),
            Cell::Figure(link.latency.to_picos().0.to_string(), link.latency.to_string()),
            Cell::bytes(link.bytes.0),
            Cell::time(link.busy),
            share(link.busy.0 as f64, recording.makespan.0 as f64),
            share(link.bytes.0 as f64, could),
        ]
    };
    let table = Table {
        id: "table-links",
        caption: "Links".to_owned(),
        heads: vec!["link", "#bandwidth", "#latency", "#bytes", "#in use", "#in use, of the time", "#of its bandwidth"],
        rows: links.iter().map(row).collect(),
        note: "Links that carried nothing are left out. The last column is what a link carried as a share of what it could have \
               carried in the time of the run."
            .to_owned(),
    };
    table.write(html);
}

/// What the time went into, by source line.
pub(super) fn path(html: &mut Html, recording: &Recording) {
    if !recording.has_path() {
        return;
    }
    let total = recording.path.shares.total();
    let row = |name: String, shares: &Shares| {
        let Shares { latency, bandwidth, queueing, waiting, computing, .. } = *shares;
        let share = shares.total().0 as f64 / total.0.max(1) as f64;
        let mut row = vec![Cell::Text(name), Cell::time(shares.total()), Cell::share(share)];
        row.extend([latency, bandwidth, queueing, waiting, computing].map(Cell::time));
        row
    };
    let lines = recording.path.lines.iter();
    let mut rows: Vec<Vec<Cell>> =
        lines.map(|line| row(format!("{}:{}", line.file, line.line), &line.shares)).collect();
    let known: u64 = recording.path.lines.iter().map(|line| line.shares.total().0).sum();
    if known < total.0 {
        let mut rest = recording.path.shares;
        for line in &recording.path.lines {
            for (of, known) in [
                (&mut rest.latency, line.shares.latency),
                (&mut rest.bandwidth, line.shares.bandwidth),
                (&mut rest.queueing, line.shares.queueing),
                (&mut rest.waiting, line.shares.waiting),
                (&mut rest.computing, line.shares.computing),
            ] {
                of.0 = of.0.saturating_sub(known.0);
            }
        }
        rows.push(row("without a source line".to_owned(), &rest));
    }
    let table = Table {
        id: "table-path",
        caption: "Critical path, by source line".to_owned(),
        heads: vec![
            "line",
            "#time",
            "#share",
            "#latency",
            "#bandwidth",
            "#queueing",
            "#waiting",
            "#computing",
        ],
        rows,
        note: String::new(),
    };
    table.write(html);
}

/// What each thread block does.
pub(super) fn blocks(html: &mut Html, schedule: &Schedule, flow: &Flow, recording: Option<&Recording>) {
    let mut rounds = std::collections::HashMap::<(u32, u32), (u32, u32)>::new();
    for message in &flow.messages {
        let of = rounds.entry((message.src, message.sent_by.0)).or_insert((message.round, message.round));
        of.1 = of.1.max(message.round);
    }
    // Steps come by rank and thread block.
    let mut ends = std::collections::HashMap::<(u32, u32), Picos>::new();
    for step in recording.map_or(&[][..], |recording| &recording.steps) {
        let end = ends.entry((step.rank, step.thread_block)).or_default();
        *end = (*end).max(step.finish);
    }
    let mut rows = Vec::new();
    for (rank, own) in (0u32..).zip(&schedule.ranks) {
        for (number, block) in (0u32..).zip(&own.thread_blocks) {
            let count = |is: fn(collective::StepKind) -> bool| {
                block.steps.iter().filter(|step| is(step.kind)).count() as u64
            };
            let mut row = vec![
                Cell::count(rank),
                Cell::count(number),
                Cell::count(block.channel.0),
                Cell::optional(block.send.map(|peer| peer.0)),
                Cell::optional(block.recv.map(|peer| peer.0)),
                Cell::count(block.steps.len() as u64),
                Cell::count(count(|kind| kind.sends())),
                Cell::count(count(|kind| kind.receives())),
                Cell::count(count(|kind| kind.reduces())),
                Cell::optional(rounds.get(&(rank, number)).map(|of| of.0 + 1)),
                Cell::optional(rounds.get(&(rank, number)).map(|of| of.1 + 1)),
            ];
            if recording.is_some() {
                row.push(ends.get(&(rank, number)).map_or(Cell::None, |end| Cell::time(*end)));
            }
            rows.push(row);
        }
    }
    let mut heads = vec![
        "#rank",
        "#thread block",
        "#channel",
        "#sends to",
        "#receives from",
        "#steps",
        "#sends",
        "#receives",
        "#adds",
        "#first round",
        "#last round",
    ];
    if recording.is_some() {
        heads.push("#ends");
    }
    let caption = "Thread blocks".to_owned();
    let note = "Rounds are those in which it sends.".to_owned();
    Table { id: "table-blocks", caption, heads, rows, note }.write(html);
}

/// The messages of each source line.
pub(super) fn lines(html: &mut Html, schedule: &Schedule, flow: &Flow) {
    #[derive(Default)]
    struct Sums {
        messages: u64,
        chunks: u64,
        adds: u64,
        first: u32,
        last: u32,
    }
    let mut lines = std::collections::BTreeMap::<(&str, u32), Sums>::new();
    for message in &flow.messages {
        let Some(site) = schedule.sites.get(message.site) else { continue };
        let new = || Sums { first: message.round, ..Sums::default() };
        let sums = lines.entry((&site.file, site.line)).or_insert_with(new);
        sums.messages += 1;
        sums.chunks += u64::from(message.chunks);
        sums.adds += u64::from(message.receive.is_some_and(|kind| kind.reduces()));
        // Messages come by round.
        sums.last = message.round;
    }
    if lines.is_empty() {
        return;
    }
    let row = |((file, line), sums): (&(&str, u32), &Sums)| {
        vec![
            Cell::Text(format!("{file}:{line}")),
            Cell::count(sums.messages),
            Cell::count(sums.chunks),
            Cell::count(sums.adds),
            Cell::count(sums.first + 1),
            Cell::count(sums.last + 1),
        ]
    };
    let table = Table {
        id: "table-lines",
        caption: "Messages by source line".to_owned(),
        heads: vec!["line", "#messages", "#chunks", "#added by the receiver", "#first round", "#last round"],
        rows: lines.iter().map(row).collect(),
        note: String::new(),
    };
    table.write(html);
}
