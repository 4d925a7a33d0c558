//! A picture of a topology, as SVG.
//!
//! Devices first get their places ([`layout`]): rings and meshes as such, layers of switches as layers, everything else around
//! a circle. Then come links, as thick as their bandwidth. Large topologies get a summary instead. The same topology gives the
//! same bytes.

mod edges;
mod layout;
mod summary;

use collective::sim::topology::{DeviceId, DeviceKind, Topology};

use edges::{Edge, Edges};
use layout::Layout;

use super::svg::{self, Anchor, Svg, TextStyle};

/// What is drawn device by device; more cannot be read.
const MOST_DEVICES: u64 = 400;
const MOST_LINKS: u64 = 4000;

const MARGIN: f64 = 24.0;
const TITLE: f64 = 34.0;
const LEGEND_LINE: f64 = 22.0;

/// The picture.
pub(crate) fn draw(topology: &Topology, title: &str) -> String {
    if topology.device_count() > MOST_DEVICES || topology.link_count() > MOST_LINKS {
        return summary::draw(topology, title);
    }
    let edges = Edges::of(topology);
    let layout = Layout::of(topology, &edges);
    let legend = edges.legend(topology);
    let wide = legend.iter().map(|line| svg::text_width(&line.text, 13.0) + 60.0).fold(0.0, f64::max);
    let width = (layout.width + 2.0 * MARGIN)
        .max(wide + 2.0 * MARGIN)
        .max(svg::bold_width(title, 15.0) + 2.0 * MARGIN);
    let below = TITLE + MARGIN + layout.height + MARGIN;
    let height = below + LEGEND_LINE * legend.len() as f64 + MARGIN / 2.0;
    let mut svg = Svg::new(width, height);
    svg.text((MARGIN, TITLE - 8.0), title, TextStyle { size: 15.0, bold: true, ..TextStyle::default() });

    let (left, top) = ((width - layout.width) / 2.0, TITLE + MARGIN);
    let place = |device: u64| {
        let (x, y) = layout.places[device as usize];
        (x + left, y + top)
    };
    for edge in &edges.list {
        draw_edge(&mut svg, edge, &edges, place(edge.from), place(edge.to), layout.bend(edge));
    }
    for device in 0..topology.device_count() {
        draw_device(&mut svg, topology, &layout, device, place(device));
    }
    for (at, line) in legend.iter().enumerate() {
        let y = below + LEGEND_LINE * (at as f64 + 0.5);
        svg.line((MARGIN, y), (MARGIN + 40.0, y), line.colour, line.width);
        svg.text((MARGIN + 52.0, y + 4.5), &line.text, TextStyle { size: 13.0, ..TextStyle::default() });
    }
    svg.finish()
}

fn draw_edge(svg: &mut Svg, edge: &Edge, edges: &Edges, from: (f64, f64), to: (f64, f64), bend: f64) {
    let style = edges.style(edge.class);
    // One way of two that differ, or the only one: beside the middle, with an arrow.
    let aside = if edge.both_ways { 0.0 } else { 4.0 };
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1e-9);
    let (nx, ny) = (-dy / length, dx / length);
    let shift = |(x, y): (f64, f64)| (x + nx * aside, y + ny * aside);
    let (from, to) = (shift(from), shift(to));
    let control = ((from.0 + to.0) / 2.0 + nx * bend, (from.1 + to.1) / 2.0 + ny * bend);
    if bend == 0.0 {
        svg.line(from, to, style.colour, style.width);
    } else {
        svg.curve(from, control, to, style.colour, style.width);
    }
    if !edge.both_ways {
        // At two thirds of the way, where no device hides it.
        let at = |t: f64| {
            let u = 1.0 - t;
            let of = |a: f64, b: f64, c: f64| u * u * a + 2.0 * u * t * b + t * t * c;
            (of(from.0, control.0, to.0), of(from.1, control.1, to.1))
        };
        svg.arrow_head(at(0.58), at(0.66), style.colour);
    }
}

fn draw_device(svg: &mut Svg, topology: &Topology, layout: &Layout, device: u64, at: (f64, f64)) {
    let Some(known) = topology.device(DeviceId(device)) else { return };
    let label = layout::label(&known);
    let (half_width, half_height) = layout.half_sizes[device as usize];
    let size = if known.kind == DeviceKind::Card { 10.0 } else { 12.0 };
    let style = TextStyle { size, anchor: Anchor::Middle, ..TextStyle::default() };
    match known.kind {
        DeviceKind::Rank(_) => svg.circle(at, half_width, "#dbeafe", "#1e40af"),
        DeviceKind::Free => svg.circle(at, half_width, "#ffffff", "#9ca3af"),
        DeviceKind::Card => svg.rectangle(at, half_width, half_height, 2.0, "#fef3c7", "#92400e"),
        DeviceKind::Switch => svg.rectangle(at, half_width, half_height, 5.0, "#e5e7eb", "#374151"),
    }
    svg.text((at.0, at.1 + size * 0.36), &label, style);
    svg.title(&known.name);
}
