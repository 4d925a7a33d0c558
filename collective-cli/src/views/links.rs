//! How much of their bandwidth links used, over time.

use std::cmp::Reverse;

use collective::sim::units::{Bytes, Picos};

use super::words;
use crate::picture::{HeatMap, HeatRow};
use crate::recording::{Crossing, Link, Recording};
use crate::units_shown;

/// So many links can be read.
const MOST_LINKS: usize = 40;
/// Intervals that the run is divided into.
const CELLS: usize = 180;

/// The links over time.
pub(crate) fn links(recording: &Recording, title: &str, subtitle: &str) -> HeatMap {
    let mut notes = Vec::new();
    let chosen = chosen(recording, MOST_LINKS, |_| true);
    let mut rows = Vec::new();
    if chosen.len() < recording.links.len() {
        rows = means(recording);
        notes.push(format!(
            "first the links of each bandwidth and latency together, then {} of {} that carried anything: the busiest of each",
            chosen.len(),
            recording.links.len()
        ));
    }
    let end = recording.makespan;
    rows.extend(chosen.into_iter().map(|link| {
        let of = &recording.links[link as usize];
        row(of, shares(of, recording.crossings_of(link), end, CELLS), end)
    }));
    notes.push("links that carried nothing are not shown".to_owned());
    notes.extend(words::of_links(recording.model).map(str::to_owned));
    let of = "of the link's bandwidth".to_owned();
    HeatMap { title: title.to_owned(), subtitle: subtitle.to_owned(), end, of, rows, notes }
}

fn row(link: &Link, cells: Vec<f64>, end: Picos) -> HeatRow {
    let could = link.bandwidth.bytes_per_s() * end.0 as f64 / 1e12;
    let share = if could > 0.0 { link.bytes.0 as f64 / could } else { 0.0 };
    HeatRow { label: link.name.clone(), cells, total: units_shown::size(link.bytes), share }
}

/// By interval, the bytes that a link carried in it, as a share of what it could have carried.
///
/// The bytes of a message are spread evenly from its start to its finish: under `link-queue` that is what the link does.
pub(crate) fn shares(link: &Link, crossings: &[Crossing], end: Picos, cells: usize) -> Vec<f64> {
    let mut bytes = vec![0.0; cells];
    if end.0 == 0 || cells == 0 {
        return bytes;
    }
    let wide = end.0 as f64 / cells as f64;
    for crossing in crossings {
        let (start, finish) = (crossing.start.0 as f64 / wide, crossing.finish.0 as f64 / wide);
        let (first, last) = ((start as usize).min(cells - 1), (finish as usize).min(cells - 1));
        if first == last {
            bytes[first] += crossing.bytes.0 as f64;
            continue;
        }
        let rate = crossing.bytes.0 as f64 / (finish - start);
        for (cell, sum) in (first..=last).zip(&mut bytes[first..=last]) {
            let covered = finish.min(cell as f64 + 1.0) - start.max(cell as f64);
            *sum += rate * covered.max(0.0);
        }
    }
    let could = link.bandwidth.bytes_per_s() * wide / 1e12;
    bytes.into_iter().map(|bytes| if could > 0.0 { bytes / could } else { 0.0 }).collect()
}

/// At most so many links, in the order of the topology: of each bandwidth and latency as many, those that are preferred first and
/// then the busiest; what one has too few of, others have.
pub(super) fn chosen(recording: &Recording, most: usize, is_preferred: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut classes: Vec<Vec<u32>> = classes(recording).into_iter().map(|(_, members)| members).collect();
    for members in &mut classes {
        members.sort_by_cached_key(|link| {
            let load = &recording.links[*link as usize];
            (!is_preferred(*link), Reverse((load.busy, load.bytes)), *link)
        });
    }
    // Those with few members first, so that what they leave is divided among the others.
    classes.sort_by_key(Vec::len);
    let (mut left, count, mut chosen) = (most, classes.len(), Vec::new());
    for (at, members) in classes.into_iter().enumerate() {
        let share = left.div_ceil(count - at).min(members.len());
        chosen.extend(members.into_iter().take(share));
        left -= share;
    }
    chosen.sort_unstable();
    chosen
}

/// The links of each bandwidth and latency, with the first of them.
fn classes(recording: &Recording) -> Vec<(&Link, Vec<u32>)> {
    let mut classes: Vec<(&Link, Vec<u32>)> = Vec::new();
    for (at, link) in (0..).zip(&recording.links) {
        let alike = |known: &Link| (known.bandwidth, known.latency) == (link.bandwidth, link.latency);
        match classes.iter_mut().find(|(known, _)| alike(known)) {
            Some((_, members)) => members.push(at),
            None => classes.push((link, vec![at])),
        }
    }
    classes
}

/// The links of one bandwidth and latency together, on average.
fn means(recording: &Recording) -> Vec<HeatRow> {
    let end = recording.makespan;
    let one = |(first, members): (&Link, Vec<u32>)| {
        let mut sum = vec![0.0; CELLS];
        let (mut share, mut bytes) = (0.0, 0u64);
        for member in &members {
            let link = &recording.links[*member as usize];
            let cells = shares(link, recording.crossings_of(*member), end, CELLS);
            sum.iter_mut().zip(cells).for_each(|(sum, cell)| *sum += cell);
            share += row(link, Vec::new(), end).share;
            bytes = bytes.saturating_add(link.bytes.0);
        }
        let count = members.len() as f64;
        HeatRow {
            label: format!("{} links, {}, {}", members.len(), first.bandwidth, first.latency),
            cells: sum.into_iter().map(|sum| sum / count).collect(),
            total: units_shown::size(Bytes(bytes)),
            share: share / count,
        }
    };
    classes(recording).into_iter().map(one).collect()
}
