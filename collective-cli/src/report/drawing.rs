//! The picture of a schedule: rows, axes, arrows, and what the script reads of each.

use std::collections::HashMap;
use std::fmt::Write;

use collective::sim::units::Picos;
use collective::{DataId, Schedule, SiteId};

use super::flow::{Flow, Local, Message};
use super::html::{Html, escaped};
use super::schedule::{COLOURS, Shown, line_of, schedule_lines};
use super::words;
use crate::json::nanoseconds;
use crate::recording::{Kind, Recording};

const LEFT: f64 = 84.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const WIDTH: f64 = 1200.0;

/// Where things are.
struct Layout {
    column: f64,
    row: f64,
    rows: u32,
    channels: u32,
    width: f64,
    height: f64,
}

impl Layout {
    fn new(rounds: u32, rows: u32, channels: u32) -> Self {
        let column = ((WIDTH - LEFT - RIGHT) / f64::from(rounds.max(1))).clamp(24.0, 420.0);
        let row = (520.0 / f64::from(rows.max(1))).clamp(16.0, 44.0);
        let width = (LEFT + RIGHT + column * f64::from(rounds.max(1))).max(WIDTH);
        let height = TOP + row * f64::from(rows.max(1)) + 12.0;
        Self { column, row, rows, channels, width, height }
    }

    fn x(&self, round: u32) -> f64 {
        LEFT + self.column * f64::from(round)
    }

    /// The middle of a rank's row; channels lie beside each other.
    fn y(&self, rank: u32, channel: u32) -> f64 {
        let middle = TOP + self.row * (f64::from(rank.min(self.rows.saturating_sub(1))) + 0.5);
        let gap = (self.row * 0.6 / f64::from(self.channels.max(1))).min(4.0);
        middle + (f64::from(channel) - f64::from(self.channels.saturating_sub(1)) / 2.0) * gap
    }
}

pub(super) fn drawing(
    schedule: &Schedule,
    flow: &Flow,
    shown: &Shown<'_>,
    recording: Option<&Recording>,
) -> Html {
    let layout = Layout::new(shown.rounds, shown.rows(flow), schedule.channel_count());
    let end = recording.map_or(Picos::ZERO, |recording| recording.makespan);
    let mut text = format!(
        "<svg width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\" role=\"img\" aria-label=\"who sends what to whom\" \
         data-left=\"{LEFT}\" data-right=\"{:.0}\" data-end=\"{}\">\n",
        layout.width - RIGHT,
        nanoseconds(end),
        w = layout.width,
        h = layout.height,
    );
    axes(&mut text, &layout, shown, flow, end);
    let drawer = Drawer {
        schedule,
        layout: &layout,
        chunks: schedule.collective.logical_chunks(),
        lines: schedule_lines(schedule, flow),
        times: times(recording),
    };
    for local in &shown.local {
        drawer.local(&mut text, local);
    }
    for message in &shown.messages {
        drawer.message(&mut text, message);
    }
    text.push_str("</svg>\n");
    let mut html = Html::default();
    html.picture(&text);
    html
}

/// Rows with their names, and both axes.
fn axes(text: &mut String, layout: &Layout, shown: &Shown<'_>, flow: &Flow, end: Picos) {
    let bottom = layout.height - 12.0;
    let right = layout.width - RIGHT;
    // Writing to a string cannot fail.
    for row in 0..layout.rows {
        let y = TOP + layout.row * (f64::from(row) + 0.5);
        let name = if row < shown.ranks { format!("rank {row}") } else { "others".to_owned() };
        let _ = writeln!(
            text,
            "<path class=\"row\" d=\"M{LEFT} {y:.1}H{right:.1}\"/><text class=\"rank\" x=\"{:.0}\" y=\"{:.1}\">{name}</text>",
            LEFT - 10.0,
            y + 4.0
        );
    }
    text.push_str("<g class=\"rounds\">\n");
    // Numbers that would touch are left out.
    let every = (30.0 / layout.column).ceil().max(1.0) as u32;
    for round in 0..=shown.rounds {
        let x = layout.x(round);
        let _ = writeln!(text, "<path class=\"grid\" d=\"M{x:.1} {:.0}V{bottom:.1}\"/>", TOP - 6.0);
        if round < shown.rounds && (round + 1).is_multiple_of(every) {
            let middle = x + layout.column / 2.0;
            let _ = writeln!(
                text,
                "<text class=\"tick\" x=\"{middle:.1}\" y=\"{:.0}\">{}</text>",
                TOP - 12.0,
                round + 1
            );
        }
    }
    let _ = writeln!(
        text,
        "<text class=\"rank\" x=\"{:.0}\" y=\"{:.0}\">round</text></g>",
        LEFT - 10.0,
        TOP - 12.0
    );
    if flow.ranks > 0 && end.0 > 0 {
        text.push_str("<g class=\"times\">\n");
        for part in 0..=4u32 {
            let x = LEFT + (right - LEFT) * f64::from(part) / 4.0;
            let time = words::time(Picos((u128::from(end.0) * u128::from(part) / 4) as u64));
            let class = if part == 4 { "tick last" } else { "tick" };
            let _ = writeln!(
                text,
                "<path class=\"grid\" d=\"M{x:.1} {:.0}V{bottom:.1}\"/><text class=\"{class}\" x=\"{x:.1}\" y=\"{:.0}\">{time}</text>",
                TOP - 6.0,
                TOP - 12.0
            );
        }
        text.push_str("</g>\n");
    }
}

/// When the step of a rank's thread block sent, or did something on its own; and with how many bytes.
type Times = HashMap<(u32, u32, u32, bool), (Picos, Picos, u64)>;

fn times(recording: Option<&Recording>) -> Times {
    let steps = recording.map_or(&[][..], |recording| &recording.steps);
    let mut times = Times::new();
    for step in steps {
        let Some(number) = step.number else { continue };
        let is_send = match step.kind {
            Kind::Send { .. } => true,
            Kind::Receive { .. } => continue,
            _ => false,
        };
        times
            .insert((step.rank, step.thread_block, number, is_send), (step.start, step.finish, step.bytes.0));
    }
    times
}

struct Drawer<'a> {
    schedule: &'a Schedule,
    layout: &'a Layout,
    chunks: usize,
    lines: Vec<String>,
    times: Times,
}

impl Drawer<'_> {
    /// The attributes that filters and colours need, and the time.
    fn begin(&self, text: &mut String, kind: &str, it: &Place, time: Option<&(Picos, Picos, u64)>) {
        let first = self.schedule.data.chunks(it.data).next().unwrap_or(0);
        let line = line_of(self.schedule, it.site).and_then(|line| self.lines.binary_search(&line).ok());
        let _ = write!(
            text,
            "<g class=\"{kind} c{} h{} l{}\" data-r=\"{}\" data-s=\"{}\" data-d=\"{}\" data-h=\"{}\" data-c=\"{}\"",
            first % COLOURS,
            it.channel % COLOURS,
            line.unwrap_or(0) % COLOURS as usize,
            it.round + 1,
            it.src,
            it.dst,
            it.channel,
            words::runs(self.schedule.data.chunks(it.data)),
        );
        if let Some((start, finish, _)) = time {
            let _ = write!(text, " data-t=\"{},{}\"", nanoseconds(*start), nanoseconds(*finish));
        }
        text.push('>');
    }

    /// The lines that all have: chunks, source line, bytes and time.
    fn end(
        &self,
        text: &mut String,
        mut said: String,
        it: &Place,
        count: u32,
        time: Option<&(Picos, Picos, u64)>,
    ) {
        if self.chunks > 0 && count > 0 {
            let name = if count == 1 { "chunk" } else { "chunks" };
            let _ = write!(said, "\n{name} {}", words::runs(self.schedule.data.chunks(it.data)));
        }
        if let Some((start, finish, bytes)) = time {
            let _ = write!(
                said,
                ", {}\n{} to {}",
                words::bytes(*bytes),
                words::time(*start),
                words::time(*finish)
            );
        }
        if let Some(line) = line_of(self.schedule, it.site) {
            let _ = write!(said, "\n{line}");
        }
        let _ = writeln!(text, "<title>{}</title></g>", escaped(&said));
    }

    fn message(&self, text: &mut String, message: &Message) {
        let Message { round, src, dst, channel, sent_by, data, site, .. } = *message;
        let time = self.times.get(&(src, sent_by.0, sent_by.1, true));
        let adds = message.receive.is_some_and(|kind| kind.reduces());
        let place = Place { round, src, dst, channel, data, site };
        self.begin(text, if adds { "m k1" } else { "m k0" }, &place, time);
        let (layout, end) = (self.layout, self.layout.column);
        let from = (layout.x(round) + 3.0, layout.y(src, channel));
        let to = (layout.x(round) + end - 3.0, layout.y(dst, channel));
        let _ = write!(text, "<path d=\"{}\"/>", arrow(from, to));
        let receiver = match (message.received_by, message.receive) {
            (Some((block, step)), Some(kind)) => {
                let does = if adds { "added" } else { "stored" };
                format!("received by thread block {block}, step {step} ({}), and {does}", kind.name())
            }
            _ => "nobody receives it".to_owned(),
        };
        let said = format!(
            "rank {src} → rank {dst}, round {}, channel {channel}\nsent by thread block {}, step {} ({}); {receiver}",
            round + 1,
            sent_by.0,
            sent_by.1,
            message.send.name(),
        );
        self.end(text, said, &place, message.chunks, time);
    }

    fn local(&self, text: &mut String, local: &Local) {
        let Local { round, rank, by, kind, channel, chunks, data, site } = *local;
        let time = self.times.get(&(rank, by.0, by.1, false));
        let place = Place { round, src: rank, dst: rank, channel, data, site };
        self.begin(text, if kind.reduces() { "m own k1" } else { "m own k0" }, &place, time);
        let (x, y) = (self.layout.x(round), self.layout.y(rank, channel));
        let _ = write!(text, "<path d=\"M{:.1} {:.1}h5v5h-5z\"/>", x - 2.5, y - 2.5);
        let what = match kind {
            collective::StepKind::Copy => "copies",
            collective::StepKind::Reduce => "adds",
            _ => "computes",
        };
        let said = format!(
            "rank {rank} {what} before round {}\nthread block {}, step {} ({})",
            round + 1,
            by.0,
            by.1,
            kind.name()
        );
        self.end(text, said, &place, chunks, time);
    }
}

/// What a message and a step of its own have alike.
struct Place {
    round: u32,
    src: u32,
    dst: u32,
    channel: u32,
    data: DataId,
    site: SiteId,
}

/// A line with a head; the script makes the same of other ends.
fn arrow(from: (f64, f64), to: (f64, f64)) -> String {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1e-9);
    let (dx, dy) = (dx / length * 7.0, dy / length * 7.0);
    let (a, b) = ((to.0 - dx - dy * 0.5, to.1 - dy + dx * 0.5), (to.0 - dx + dy * 0.5, to.1 - dy - dx * 0.5));
    format!(
        "M{:.1} {:.1}L{:.1} {:.1}M{:.1} {:.1}L{2:.1} {3:.1}L{:.1} {:.1}",
        from.0, from.1, to.0, to.1, a.0, a.1, b.0, b.1
    )
}
