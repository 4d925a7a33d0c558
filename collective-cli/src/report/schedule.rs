//! The schedule as a picture: ranks below each other, rounds or time to the right, an arrow a message.
//!
//! The picture is whole without a script: rounds are its axis then, and what an arrow stands for is shown beside the pointer. The
//! script reads what it needs from attributes.

use collective::{Schedule, SiteId};

use super::drawing::drawing;
use super::flow::{Flow, Local, Message};
use super::html::Html;
use crate::recording::Recording;

/// So many ranks and arrows can be read, and so many marks of what ranks do on their own.
const MOST_RANKS: u32 = 64;
const LEAST_RANKS: u32 = 8;
const MOST_MESSAGES: usize = 2500;
const MOST_LOCAL: usize = 2000;
/// With more arrows a round they are thin.
const DENSE: usize = 48;
/// Colours of chunks, channels and source lines.
pub(super) const COLOURS: u32 = 12;

/// The section, which says what was left out of it.
pub(super) fn section(schedule: &Schedule, flow: &Flow, recording: Option<&Recording>) -> Html {
    let shown = Shown::of(flow);
    let mut html = Html::default();
    html.open("section", &[("id", "schedule")]);
    html.element("h2", &[], "Schedule, step by step");
    html.element(
        "p",
        &[],
        "An arrow is a message, from its sender to its receiver. A round is as long as one message: a message is in round k \
         if k−1 others have to come before it, one after the other. A square is what a rank does on its own.",
    );
    controls(&mut html, schedule, flow, &shown, recording.is_some());
    legends(&mut html, schedule, flow);
    let is_dense = shown.messages.len() > DENSE * shown.rounds as usize;
    let class = if is_dense { "scroll by-kind in-rounds dense" } else { "scroll by-kind in-rounds" };
    html.open("div", &[("id", "steps"), ("class", class), ("tabindex", "0")]);
    html.append(drawing(schedule, flow, &shown, recording));
    html.close("div");
    html.element("p", &[("id", "detail"), ("role", "status"), ("class", "note")], "");
    for note in &shown.notes {
        html.element("p", &[("class", "note")], note);
    }
    html.close("section");
    html
}

/// What is drawn of a flow.
pub(super) struct Shown<'a> {
    pub(super) ranks: u32,
    pub(super) rounds: u32,
    pub(super) messages: Vec<&'a Message>,
    pub(super) local: Vec<&'a Local>,
    notes: Vec<String>,
}

impl<'a> Shown<'a> {
    fn of(flow: &'a Flow) -> Self {
        let mut ranks = flow.ranks.min(MOST_RANKS);
        let of_ranks = |ranks: u32| {
            let touches = move |it: &&Message| it.src < ranks || it.dst < ranks;
            flow.messages.iter().filter(touches)
        };
        while ranks > LEAST_RANKS && of_ranks(ranks).count() > MOST_MESSAGES {
            ranks = (ranks / 2).max(LEAST_RANKS);
        }
        let messages: Vec<&Message> = of_ranks(ranks).take(MOST_MESSAGES).collect();
        let all = of_ranks(ranks).count();
        // Whole rounds, if one is whole.
        let cut = (messages.len() < all).then(|| messages.last().map_or(0, |last| last.round));
        let rounds = cut.map_or(flow.rounds, |cut| cut.max(1));
        let messages: Vec<&Message> = messages.into_iter().filter(|it| it.round < rounds).collect();
        let local: Vec<&Local> =
            flow.local.iter().filter(|it| it.rank < ranks && it.round <= rounds).take(MOST_LOCAL).collect();
        let mut notes = Vec::new();
        if ranks < flow.ranks {
            notes.push(format!(
                "{ranks} of {} ranks are shown; arrows from and to the others begin and end in the last row.",
                flow.ranks
            ));
        }
        if rounds < flow.rounds {
            notes.push(format!("The first {rounds} of {} rounds are shown.", flow.rounds));
        }
        let left_out = of_ranks(ranks).filter(|it| it.round < rounds).count() - messages.len();
        if left_out > 0 {
            notes.push(format!("{left_out} messages of these are not shown."));
        }
        let all_local = flow.local.iter().filter(|it| it.rank < ranks && it.round <= rounds).count();
        if local.len() < all_local {
            notes.push(format!("{} of the {all_local} steps of ranks on their own are shown.", local.len()));
        }
        if flow.never > 0 {
            notes.push(format!(
                "{} steps never begin, and are not shown: they wait for each other, or for a message that nobody sends.",
                flow.never
            ));
        }
        if flow.messages.is_empty() {
            notes.push("No rank sends anything.".to_owned());
        }
        Self { ranks, rounds, messages, local, notes }
    }

    /// Rows with the one of all other ranks.
    pub(super) fn rows(&self, flow: &Flow) -> u32 {
        self.ranks + u32::from(self.ranks < flow.ranks)
    }
}

fn select(html: &mut Html, name: &'static str, label: &str, all: &str, options: &[(String, String)]) {
    html.open("label", &[]);
    html.text(label);
    html.own(" ");
    html.open("select", &[("name", name)]);
    if !all.is_empty() {
        html.element("option", &[("value", "")], all);
    }
    for (value, text) in options {
        html.element("option", &[("value", value)], text);
    }
    html.close("select");
    html.close("label");
}

/// Shown by the script, without which they do nothing.
fn controls(html: &mut Html, schedule: &Schedule, flow: &Flow, shown: &Shown<'_>, is_timed: bool) {
    html.open("form", &[("id", "controls"), ("hidden", "")]);
    html.own("<button type=\"button\" name=\"play\">Play</button>\n");
    let most = shown.rounds.to_string();
    html.open("label", &[]);
    html.own("<span id=\"position\">all rounds</span> ");
    html.open(
        "input",
        &[
            ("type", "range"),
            ("name", "at"),
            ("min", "0"),
            ("max", &most),
            ("value", "0"),
            ("aria-label", "round"),
        ],
    );
    html.close("label");
    let numbers = |count: u32| -> Vec<(String, String)> {
        (0..count).map(|number| (number.to_string(), number.to_string())).collect()
    };
    if is_timed {
        let axes = [("rounds", "rounds"), ("time", "simulated time")];
        select(html, "axis", "axis", "", &axes.map(|(value, text)| (value.to_owned(), text.to_owned())));
    }
    let mut colours = vec![("kind", "what the receiver does"), ("chunk", "chunk"), ("channel", "channel")];
    if !schedule_lines(schedule, flow).is_empty() {
        colours.push(("line", "source line"));
    }
    let colours: Vec<(String, String)> =
        colours.into_iter().map(|(value, text)| (value.to_owned(), text.to_owned())).collect();
    select(html, "colour", "colour by", "", &colours);
    select(html, "rank", "rank", "all", &numbers(shown.ranks));
    select(html, "channel", "channel", "all", &numbers(schedule.channel_count()));
    // A list of thousands is no help.
    let chunks = u32::try_from(schedule.collective.logical_chunks()).unwrap_or(u32::MAX).min(1024);
    select(html, "chunk", "chunk", "all", &numbers(chunks));
    html.close("form");
}

/// The source lines of messages, in order, each with the number that it has for its colour.
pub(super) fn schedule_lines(schedule: &Schedule, flow: &Flow) -> Vec<String> {
    let mut ids: Vec<SiteId> = flow.messages.iter().map(|message| message.site).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut lines: Vec<(&str, u32)> = ids
        .into_iter()
        .filter_map(|id| schedule.sites.get(id))
        .map(|site| (site.file.as_str(), site.line))
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines.into_iter().map(|(file, line)| format!("{file}:{line}")).collect()
}

pub(super) fn line_of(schedule: &Schedule, site: SiteId) -> Option<String> {
    schedule.sites.get(site).map(|site| format!("{}:{}", site.file, site.line))
}

/// What colours mean, of which the style shows the one in use.
fn legends(html: &mut Html, schedule: &Schedule, flow: &Flow) {
    let chunks = u32::try_from(schedule.collective.logical_chunks()).unwrap_or(u32::MAX);
    let numbered = |what: &str, count: u32| -> Vec<(String, String)> {
        (0..count.min(COLOURS)).map(|at| (format!("c{at}"), format!("{what} {at}"))).collect()
    };
    let lines = schedule_lines(schedule, flow).into_iter().enumerate().take(COLOURS as usize);
    let lines: Vec<(String, String)> = lines.map(|(at, line)| (format!("c{at}"), line)).collect();
    let kinds = [("k0", "the receiver stores it"), ("k1", "the receiver adds it to what it has")];
    let kinds = kinds.map(|(class, text)| (class.to_owned(), text.to_owned())).to_vec();
    let channels = schedule.channel_count();
    for (name, entries, count) in [
        ("legend of-kind chosen", kinds, 2),
        ("legend of-chunk", numbered("chunk", chunks), chunks),
        ("legend of-channel", numbered("channel", channels), channels),
        ("legend of-line", lines.clone(), u32::try_from(lines.len()).unwrap_or(u32::MAX)),
    ] {
        html.open("ul", &[("class", name)]);
        for (class, text) in &entries {
            html.open("li", &[]);
            html.element("i", &[("class", class)], "");
            html.text(text);
            html.close("li");
        }
        if count > COLOURS {
            html.element("li", &[], "and so on: colours repeat");
        }
        html.close("ul");
    }
}
