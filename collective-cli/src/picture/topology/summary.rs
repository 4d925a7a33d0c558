//! What is drawn of a topology with too many devices to be seen: a box for each part.

use collective::sim::topology::Topology;

use super::{MARGIN, TITLE};
use crate::picture::svg::{Anchor, Svg, TextStyle, bold_width, text_width};

const LINE: f64 = 22.0;

pub(super) fn draw(topology: &Topology, title: &str) -> String {
    let diameter = topology.diameter();
    let bound = if diameter.exact { "" } else { "at most " };
    let whole = format!(
        "{} ranks, {} switches and cards, {} directed links, longest route {bound}{} hops",
        topology.position_count(),
        topology.device_count() - u64::from(topology.position_count()),
        topology.link_count(),
        diameter.hops
    );
    let groups = topology.link_groups();
    let labels = topology.part_labels();
    // The last part is outermost, and stands on top.
    let boxes: Vec<(String, Vec<String>)> = labels
        .into_iter()
        .enumerate()
        .map(|(at, label)| {
            let lines = groups.iter().filter(|group| group.part == at).map(|group| {
                format!("{} × {}: {}, {}", group.count, group.what, group.link.bandwidth, group.link.latency)
            });
            (format!("dimension {at}: {label}"), lines.collect())
        })
        .rev()
        .collect();
    let notes = topology.notes();
    let texts = boxes.iter().flat_map(|(label, lines)| std::iter::once(label).chain(lines));
    let widest = texts.map(|text| bold_width(text, 13.0) + 40.0).fold(420.0, f64::max);
    let aside = std::iter::once(whole.as_str()).chain(notes.iter().map(String::as_str));
    let aside = aside.map(|text| text_width(text, 13.0)).fold(bold_width(title, 15.0), f64::max);
    let width = widest.max(aside) + 2.0 * MARGIN;
    let tall = |lines: &[String]| LINE * (lines.len() as f64 + 1.0) + 20.0;
    let boxes_height: f64 = boxes.iter().map(|(_, lines)| tall(lines) + 34.0).sum();
    let height = TITLE + LINE * 2.0 + boxes_height + 40.0 + LINE * notes.len() as f64 + MARGIN;

    let mut svg = Svg::new(width, height);
    let style = TextStyle { size: 13.0, ..TextStyle::default() };
    svg.text((MARGIN, TITLE - 8.0), title, TextStyle { size: 15.0, bold: true, ..style });
    svg.text((MARGIN, TITLE + LINE - 8.0), &whole, style);
    let centre = MARGIN + widest / 2.0;
    let mut y = TITLE + LINE * 1.5;
    for (label, lines) in &boxes {
        let tall = tall(lines);
        svg.rectangle((centre, y + tall / 2.0), widest / 2.0, tall / 2.0, 8.0, "#e5e7eb", "#374151");
        svg.text((MARGIN + 20.0, y + LINE), label, TextStyle { bold: true, ..style });
        for (at, line) in (2..).zip(lines) {
            svg.text((MARGIN + 20.0, y + LINE * f64::from(at)), line, style);
        }
        y += tall;
        for share in [0.25, 0.5, 0.75] {
            let x = MARGIN + widest * share;
            svg.line((x, y), (x, y + 34.0), "#0072b2", 3.0);
        }
        y += 34.0;
    }
    svg.rectangle((centre, y + 18.0), widest / 2.0, 18.0, 18.0, "#dbeafe", "#1e40af");
    let ranks = format!("{} ranks", topology.position_count());
    svg.text((centre, y + 23.0), &ranks, TextStyle { anchor: Anchor::Middle, bold: true, ..style });
    y += 40.0;
    for (at, note) in (1..).zip(&notes) {
        svg.text((MARGIN, y + LINE * f64::from(at)), note, style);
    }
    svg.finish()
}
