//! Links as they are drawn: both directions as one where they are alike, and how thick.

use std::collections::BTreeMap;

use collective::sim::topology::{LinkId, LinkSpec, Topology};

/// One line of the picture.
pub(super) struct Edge {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) both_ways: bool,
    /// Index into the classes.
    pub(super) class: usize,
}

pub(super) struct Edges {
    pub(super) list: Vec<Edge>,
    /// The different links, the widest first.
    classes: Vec<LinkSpec>,
}

#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) colour: &'static str,
    pub(super) width: f64,
}

/// A line of the legend.
pub(super) struct LegendLine {
    pub(super) text: String,
    pub(super) colour: &'static str,
    pub(super) width: f64,
}

/// Told apart in print and by the colour-blind (Okabe and Ito).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b7280"];

impl Edges {
    pub(super) fn of(topology: &Topology) -> Self {
        let mut classes = Vec::<LinkSpec>::new();
        let mut links = BTreeMap::new();
        for id in (0..topology.link_count()).map(LinkId) {
            let (bandwidth, latency) = topology.link_timing(id);
            let link = LinkSpec::new(bandwidth, latency);
            let Some((from, to)) = topology.link_ends(id) else { continue };
            if !classes.contains(&link) {
                classes.push(link);
            }
            links.entry((from.0, to.0)).or_insert_with(Vec::new).push(link);
        }
        let order = |a: &LinkSpec, b: &LinkSpec| {
            let by_bandwidth = b.bandwidth.bytes_per_s().total_cmp(&a.bandwidth.bytes_per_s());
            by_bandwidth.then(a.latency.as_ns().total_cmp(&b.latency.as_ns()))
        };
        classes.sort_by(order);
        let class = |link: &LinkSpec| classes.iter().position(|known| known == link).unwrap_or(0);
        let mut list = Vec::new();
        for ((from, to), specs) in &links {
            let back = links.get(&(*to, *from));
            let both_ways = back == Some(specs);
            if both_ways && from > to {
                continue;
            }
            let edge = |link| Edge { from: *from, to: *to, both_ways, class: class(link) };
            list.extend(specs.iter().map(edge));
        }
        Self { list, classes }
    }

    pub(super) fn style(&self, class: usize) -> Style {
        let bandwidth = |link: &LinkSpec| link.bandwidth.bytes_per_s().log2();
        let all = self.classes.iter().map(bandwidth);
        let (least, most) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), b| (l.min(b), m.max(b)));
        let share = match self.classes.get(class) {
            // Twice the bandwidth is seen, but is not made to look like more.
            Some(link) if most > least => (bandwidth(link) - least) / (most - least).max(3.0),
            _ => 0.2,
        };
        Style { colour: COLOURS[class.min(COLOURS.len() - 1)], width: 1.2 + 3.6 * share }
    }

    pub(super) fn legend(&self, topology: &Topology) -> Vec<LegendLine> {
        /// More do not help.
        const MOST: usize = 12;
        let groups = topology.link_groups();
        let mut lines: Vec<LegendLine> = (0..)
            .zip(&self.classes)
            .take(MOST)
            .map(|(class, link)| {
                let mut counts = Vec::<(&str, u64)>::new();
                for group in groups.iter().filter(|group| group.link == *link) {
                    match counts.iter_mut().find(|(what, _)| *what == group.what) {
                        Some((_, count)) => *count += group.count,
                        None => counts.push((&group.what, group.count)),
                    }
                }
                let plural = |count| if count == 1 { "" } else { "s" };
                let whats: Vec<String> = counts
                    .into_iter()
                    .map(|(what, count)| format!("{count} {what}{}", plural(count)))
                    .collect();
                let text = format!("{}, {}: {}", link.bandwidth, link.latency, whats.join(", "));
                let Style { colour, width } = self.style(class);
                LegendLine { text, colour, width }
            })
            .collect();
        if let Some(more) = self.classes.len().checked_sub(MOST).filter(|more| *more > 0) {
            lines.push(LegendLine {
                text: format!("and {more} more sorts of links"),
                colour: "#ffffff",
                width: 0.0,
            });
        }
        lines
    }
}
