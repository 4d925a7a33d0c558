//! A page on one collective: what its algorithm does, and how a network takes it.
//!
//! Values in, one HTML text out: nothing is simulated or read here, and the page loads nothing. The same values give the same bytes.
//! Styles and the script are files beside this one; without the script everything is there, but not sorted or stepped through.

mod drawing;
mod flow;
mod head;
mod html;
mod schedule;
mod tables;
mod words;

use collective::algorithms::Cost;
use collective::sim::topology::Topology;
use collective::sim::units::{Bytes, Picos};
use collective::verify;
use collective::{Schedule, sim};

use flow::Flow;
use html::Html;

use crate::picture::{self, Axis, Curves, Line, Unit};
use crate::recording::Recording;
use crate::views;

/// What a page is made of.
pub(crate) struct Page<'a> {
    /// The algorithm.
    pub(crate) name: &'a str,
    /// What it does, in a sentence; may be empty.
    pub(crate) summary: &'a str,
    /// As JSON names it.
    pub(crate) collective: Option<&'a str>,
    /// Those of a built-in algorithm, in words.
    pub(crate) parameters: String,
    pub(crate) ranks: usize,
    pub(crate) size: Option<Bytes>,
    /// None for traces that do not say it.
    pub(crate) schedule: Option<&'a Schedule>,
    pub(crate) verdict: Option<&'a verify::Report>,
    pub(crate) theory: Option<&'a Cost>,
    /// The machine of the model machine, as it was named.
    pub(crate) machine: Option<&'a str>,
    /// The network, and what it is called.
    pub(crate) topology: Option<(&'a Topology, &'a str)>,
    pub(crate) run: Option<Run<'a>>,
    pub(crate) sizes: Vec<SizeRow>,
    /// What to know, one sentence each.
    pub(crate) notes: Vec<String>,
    /// The command line that makes the page.
    pub(crate) command: String,
}

/// A simulation.
pub(crate) struct Run<'a> {
    pub(crate) report: &'a sim::Report,
    pub(crate) recording: &'a Recording,
    pub(crate) algbw: Option<f64>,
    pub(crate) busbw: Option<f64>,
}

/// The same algorithm at another size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeRow {
    pub(crate) size: Bytes,
    pub(crate) time: Picos,
    pub(crate) algbw: Option<f64>,
    pub(crate) busbw: Option<f64>,
}

/// The page.
pub(crate) fn page(page: &Page<'_>) -> String {
    let flow = page.schedule.map(Flow::of);
    let mut html = Html::default();
    html.own("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.own("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    // Nothing is loaded, not even by mistake.
    html.own(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src \
         'unsafe-inline'\">\n",
    );
    html.element("title", &[], &format!("{}, {} ranks", page.name, page.ranks));
    html.own("<style>\n");
    html.own(include_str!("page.css"));
    html.own("</style>\n</head>\n<body>\n");
    head::write(&mut html, page, flow.as_ref().map(|flow| flow.rounds));
    html.open("main", &[]);
    if let (Some(schedule), Some(flow)) = (page.schedule, &flow) {
        html.append(schedule::section(schedule, flow, page.run.as_ref().map(|run| run.recording)));
    }
    sizes(&mut html, page);
    pictures(&mut html, page);
    html.open("section", &[("id", "tables")]);
    html.element("h2", &[], "Tables");
    if let Some(run) = &page.run {
        tables::path(&mut html, run.recording);
        tables::links(&mut html, run.recording);
        tables::ranks(&mut html, run, page.schedule);
    }
    if let (Some(schedule), Some(flow)) = (page.schedule, &flow) {
        tables::lines(&mut html, schedule, flow);
        tables::blocks(&mut html, schedule, flow, page.run.as_ref().map(|run| run.recording));
    }
    html.close("section");
    html.close("main");
    html.open("footer", &[]);
    html.own("<p>Made by <code>");
    html.text(&page.command);
    html.own("</code></p>\n");
    html.element("p", &[], &format!("collective {}", env!("CARGO_PKG_VERSION")));
    html.close("footer");
    html.own("<script>\n");
    html.own(include_str!("page.js"));
    html.own("</script>\n</body>\n</html>\n");
    html.finish()
}

/// Larger pictures make a page that opens slowly.
const MOST_PICTURE: usize = 800_000;

fn figure(html: &mut Html, class: &str, svg: &str) {
    if svg.len() > MOST_PICTURE {
        let note = "A picture is left out here: it has more in it than a page can hold.";
        html.element("p", &[("class", "note")], note);
        return;
    }
    // Wide pictures are scrolled through on a narrow screen, by keys too.
    html.open("figure", &[("class", class), ("tabindex", "0")]);
    html.picture(svg);
    html.close("figure");
}

/// Time and bandwidth against the size.
fn sizes(html: &mut Html, page: &Page<'_>) {
    if page.sizes.is_empty() {
        return;
    }
    html.open("section", &[("id", "sizes")]);
    html.element("h2", &[], "Sizes");
    let size = || Axis { label: "size".to_owned(), unit: Unit::Bytes, is_log: true };
    let curve = |title: &str, y: Axis, more_is_better: bool, points: Vec<(f64, f64)>| Curves {
        title: title.to_owned(),
        subtitle: String::new(),
        x: size(),
        y,
        lines: vec![Line { label: page.name.to_owned(), points }],
        more_is_better,
        notes: Vec::new(),
    };
    let rows = || page.sizes.iter();
    let times = rows().map(|row| (row.size.0 as f64, row.time.0 as f64 / 1000.0)).collect();
    let time = Axis { label: "time".to_owned(), unit: Unit::Nanoseconds, is_log: true };
    figure(html, "", &picture::curves(&curve("Time against size", time, false, times)));
    let bandwidths: Vec<(f64, f64)> =
        rows().filter_map(|row| Some((row.size.0 as f64, row.busbw?))).collect();
    if !bandwidths.is_empty() {
        let label = "busbw (GB/s)".to_owned();
        let busbw = Axis { label, unit: Unit::GigabytesPerSecond, is_log: false };
        figure(html, "", &picture::curves(&curve("Bus bandwidth against size", busbw, true, bandwidths)));
    }
    tables::sizes(html, &page.sizes);
    html.close("section");
}

/// The network, and what happened on it.
fn pictures(html: &mut Html, page: &Page<'_>) {
    if let Some((topology, name)) = page.topology {
        html.open("section", &[("id", "topology")]);
        html.element("h2", &[], "Topology");
        figure(html, "own-size", &picture::topology(topology, name));
        html.close("section");
    }
    let Some(run) = &page.run else { return };
    html.open("section", &[("id", "time")]);
    html.element("h2", &[], "Thread blocks and links in time");
    figure(html, "", &picture::gantt(&views::gantt(run.recording, "Thread blocks and links", "")));
    if !run.recording.links.is_empty() {
        let map = views::links(run.recording, "How much of their bandwidth links used", "");
        figure(html, "", &picture::heat_map(&map));
    }
    html.close("section");
    if !run.recording.has_path() {
        return;
    }
    html.open("section", &[("id", "path")]);
    html.element("h2", &[], "Critical path");
    html.element("p", &[], "What the time went into: the chain of steps back from the last rank to finish.");
    figure(html, "", &picture::chain(&views::path(run.recording, "Critical path", "")));
    html.close("section");
}
