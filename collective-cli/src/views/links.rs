//! How much of their bandwidth links used, over time.

use std::cmp::Reverse;

use collective::sim::units::Picos;

use super::words;
use crate::picture::{HeatMap, HeatRow};
use crate::recording::{Crossing, Link, Recording};

/// So many links can be read.
const MOST_LINKS: usize = 48;
/// Intervals that the run is divided into.
const CELLS: usize = 180;

/// The links over time.
pub(crate) fn links(recording: &Recording, title: &str, subtitle: &str) -> HeatMap {
    let mut notes = Vec::new();
    let mut chosen: Vec<usize> = (0..recording.links.len()).collect();
    let mut rows = Vec::new();
    if chosen.len() > MOST_LINKS {
        rows = classes(recording);
        let load = |link: usize| (recording.links[link].busy, recording.links[link].bytes);
        chosen.sort_by_key(|link| (Reverse(load(*link)), *link));
        chosen.truncate(MOST_LINKS);
        chosen.sort_unstable();
        notes.push(format!(
            "first the links of each bandwidth and latency together, then the {MOST_LINKS} busiest of {} that carried anything",
            recording.links.len()
        ));
    }
    let end = recording.makespan;
    rows.extend(chosen.into_iter().map(|link| {
        let crossings = recording.crossings_of(link as u32);
        row(&recording.links[link], shares(&recording.links[link], crossings, end, CELLS), end)
    }));
    notes.push("links that carried nothing are not shown".to_owned());
    notes.extend(words::of_links(recording.model).map(str::to_owned));
    let of = "of the link's bandwidth".to_owned();
    HeatMap { title: title.to_owned(), subtitle: subtitle.to_owned(), end, of, rows, notes }
}

fn row(link: &Link, cells: Vec<f64>, end: Picos) -> HeatRow {
    let could = link.bandwidth.bytes_per_s() * end.0 as f64 / 1e12;
    let share = if could > 0.0 { link.bytes.0 as f64 / could } else { 0.0 };
    HeatRow { label: link.name.clone(), cells, total: crate::picture::size(link.bytes.0), share }
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

/// The links of one bandwidth and latency together, on average.
fn classes(recording: &Recording) -> Vec<HeatRow> {
    let mut classes: Vec<(&Link, Vec<usize>)> = Vec::new();
    for (at, link) in recording.links.iter().enumerate() {
        let alike = |known: &Link| (known.bandwidth, known.latency) == (link.bandwidth, link.latency);
        match classes.iter_mut().find(|(known, _)| alike(known)) {
            Some((_, members)) => members.push(at),
            None => classes.push((link, vec![at])),
        }
    }
    let end = recording.makespan;
    let one = |(first, members): (&Link, Vec<usize>)| {
        let mut sum = vec![0.0; CELLS];
        let (mut share, mut bytes) = (0.0, 0u64);
        for member in &members {
            let link = &recording.links[*member];
            let cells = shares(link, recording.crossings_of(*member as u32), end, CELLS);
            sum.iter_mut().zip(cells).for_each(|(sum, cell)| *sum += cell);
            share += row(link, Vec::new(), end).share;
            bytes = bytes.saturating_add(link.bytes.0);
        }
        let count = members.len() as f64;
        HeatRow {
            label: format!("{} links, {}, {}", members.len(), first.bandwidth, first.latency),
            cells: sum.into_iter().map(|sum| sum / count).collect(),
            total: crate::picture::size(bytes),
            share: share / count,
        }
    };
    classes.into_iter().map(one).collect()
}
