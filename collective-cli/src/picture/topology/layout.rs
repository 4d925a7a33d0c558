//! Where devices stand in a picture.

use std::f64::consts::TAU;

use collective::sim::topology::{Device, DeviceId, DeviceKind, DimensionKind, Topology};

use super::edges::{Edge, Edges};
use crate::picture::svg::text_width;

/// Places of the devices, from the upper left corner.
pub(super) struct Layout {
    pub(super) places: Vec<(f64, f64)>,
    pub(super) half_sizes: Vec<(f64, f64)>,
    pub(super) width: f64,
    pub(super) height: f64,
    shape: Shape,
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// Straight lines do.
    Circle,
    /// Neighbours in a row or column are joined straight, others in a bow.
    Grid,
    /// Devices of one layer are joined in a bow.
    Layers,
}

/// Between ranks, and between other devices.
const GAP: f64 = 10.0;
const APART: f64 = 14.0;
const LAYER: f64 = 110.0;

/// The text on a device, as short as it can be; its full name is shown beside the pointer.
pub(super) fn label(device: &Device) -> String {
    let mut words = device.name.split(" of ");
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match device.kind {
        DeviceKind::Rank(rank) => rank.to_string(),
        DeviceKind::Free => "–".to_owned(),
        // A rail or a node has one switch, mostly.
        DeviceKind::Switch if first == "switch" && !second.is_empty() => second.to_owned(),
        DeviceKind::Switch => match (first.split_once(' '), second.split_once(' ')) {
            (Some((what, number)), Some(("pod" | "group", of))) => {
                let what = if what == "aggregation" { "agg" } else { what };
                format!("{what} {of}.{number}")
            }
            _ => first.to_owned(),
        },
        DeviceKind::Card => first.to_owned(),
    }
}

fn half_size(device: &Device) -> (f64, f64) {
    match device.kind {
        DeviceKind::Rank(_) | DeviceKind::Free => {
            let radius = (text_width(&label(device), 12.0) / 2.0 + 4.0).max(13.0);
            (radius, radius)
        }
        DeviceKind::Card => (text_width(&label(device), 10.0) / 2.0 + 4.0, 9.0),
        DeviceKind::Switch => (text_width(&label(device), 12.0) / 2.0 + 7.0, 13.0),
    }
}

impl Layout {
    pub(super) fn of(topology: &Topology, edges: &Edges) -> Self {
        let devices: Vec<Device> =
            (0..topology.device_count()).filter_map(|id| topology.device(DeviceId(id))).collect();
        let half_sizes: Vec<(f64, f64)> = devices.iter().map(half_size).collect();
        let widest = half_sizes.iter().map(|(half, _)| *half).fold(13.0, f64::max);
        let ranks = topology.position_count() as usize;
        let among_switches = edges.list.iter().any(|edge| {
            let [from, to] = [edge.from, edge.to].map(|end| &devices[end as usize]);
            from.kind == DeviceKind::Switch && to.kind == DeviceKind::Switch && layer(from) == layer(to)
        });
        let (shape, places) = if devices.len() == ranks {
            match grid(topology, widest) {
                Some(places) => (Shape::Grid, places),
                None => (Shape::Circle, circle(ranks, widest)),
            }
        } else if among_switches {
            (Shape::Circle, two_circles(&devices, ranks, edges, &half_sizes))
        } else {
            (Shape::Layers, layers(&devices, edges, &half_sizes))
        };
        let bow = if shape == Shape::Circle { 0.0 } else { 30.0 };
        Self::fitted(shape, places, half_sizes, bow)
    }

    /// Moves everything so that it begins at the corner, with room for bows.
    fn fitted(shape: Shape, mut places: Vec<(f64, f64)>, half_sizes: Vec<(f64, f64)>, room: f64) -> Self {
        let boxes = || places.iter().zip(&half_sizes);
        let (mut left, mut top) = (f64::INFINITY, f64::INFINITY);
        let (mut right, mut bottom) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for ((x, y), (w, h)) in boxes() {
            (left, right) = (left.min(x - w), right.max(x + w));
            (top, bottom) = (top.min(y - h), bottom.max(y + h));
        }
        let (left, top) = (left - room, top - room);
        places.iter_mut().for_each(|place| *place = (place.0 - left, place.1 - top));
        Self { places, half_sizes, width: right + room - left, height: bottom + room - top, shape }
    }

    /// How far a line bows out to its left, so that it does not run through what stands between its ends.
    pub(super) fn bend(&self, edge: &Edge) -> f64 {
        let [from, to] = [edge.from, edge.to].map(|end| self.places[end as usize]);
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let aligned = dx.abs() < 1e-6 || dy.abs() < 1e-6;
        let between = (0..)
            .zip(&self.places)
            .any(|(device, place)| device != edge.from && device != edge.to && on_line(*place, from, to));
        let length = dx.hypot(dy);
        match self.shape {
            Shape::Circle => 0.0,
            Shape::Grid if between => 2.0 * 26.0,
            Shape::Layers if aligned && dy.abs() < 1e-6 && (between || length > 60.0) => {
                // To the side away from the switches: below the ranks.
                (0.5 * length).clamp(30.0, 80.0) * dx.signum()
            }
            _ => 0.0,
        }
    }
}

/// Whether a point is near a line, between its ends.
fn on_line(point: (f64, f64), from: (f64, f64), to: (f64, f64)) -> bool {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (px, py) = (point.0 - from.0, point.1 - from.1);
    let squared = dx * dx + dy * dy;
    let along = (px * dx + py * dy) / squared.max(1e-9);
    let away = (px * dy - py * dx).abs() / squared.sqrt().max(1e-9);
    (0.05..0.95).contains(&along) && away < 8.0
}

/// The i-th of n places on a circle, from the top, clockwise.
fn around(at: usize, of: usize, radius: f64) -> (f64, f64) {
    let angle = TAU * at as f64 / of.max(1) as f64;
    (radius * angle.sin(), -radius * angle.cos())
}

fn circle(devices: usize, widest: f64) -> Vec<(f64, f64)> {
    let radius = (devices as f64 * (2.0 * widest + 18.0) / TAU).max(110.0);
    (0..devices).map(|at| around(at, devices, radius)).collect()
}

/// Products of lines, rings and hypercubes of at least one line or two axes: axes to the right, down, and back.
fn grid(topology: &Topology, widest: f64) -> Option<Vec<(f64, f64)>> {
    use DimensionKind::{Hypercube, Line, OneWayRing, Ring};
    let mut axes = Vec::new();
    for dimension in topology.part_dimensions() {
        let dimension =
            dimension.filter(|dimension| matches!(dimension.kind, Ring | OneWayRing | Line | Hypercube))?;
        match dimension.kind {
            // A hypercube is a product of lines of two.
            Hypercube => axes.extend((0..dimension.size.ilog2()).map(|_| (2, Line))),
            kind => axes.push((dimension.size as usize, kind)),
        }
    }
    let long: Vec<_> = axes.iter().filter(|(size, _)| *size > 1).collect();
    if long.len() == 1 && long[0].1 != Line || long.is_empty() || long.len() > 4 {
        return None;
    }
    let step = 2.0 * widest + 34.0;
    // The third axis goes back in small steps within a cell, the fourth to the right by a whole picture.
    let size = |at: usize| long.get(at).map_or(1, |axis| axis.0) as f64;
    let deep = long.len() > 2;
    let back = (step * 0.62, -step * 0.5);
    let step = if deep {
        (step + back.0 * (size(2) - 1.0), step + back.1.abs() * (size(2) - 1.0))
    } else {
        (step, step)
    };
    let whole = size(0) * step.0 + step.0;
    let place = |rank: usize| {
        let (mut x, mut y, mut rest, mut axis) = (0.0, 0.0, rank, 0);
        for (size, _) in &axes {
            let coordinate = (rest % size) as f64;
            rest /= size;
            if *size == 1 {
                continue;
            }
            match axis {
                0 => x += coordinate * step.0,
                1 => y += coordinate * step.1,
                2 => (x, y) = (x + coordinate * back.0, y + coordinate * back.1),
                _ => x += coordinate * whole,
            }
            axis += 1;
        }
        (x, y)
    };
    Some((0..topology.position_count() as usize).map(place).collect())
}

/// Which layer a device is in; ranks are in layer 0, the devices within nodes below them.
fn layer(device: &Device) -> i64 {
    let tier = i64::from(device.tier);
    if device.within_node { -tier } else { tier }
}

/// The devices that each is joined to.
fn neighbours(devices: usize, edges: &Edges) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); devices];
    for edge in &edges.list {
        let (from, to) = (edge.from as usize, edge.to as usize);
        neighbours[from].push(to);
        neighbours[to].push(from);
    }
    neighbours
}

/// Layer over layer: ranks in a row, each further layer in the order of what its devices are joined to.
fn layers(devices: &[Device], edges: &Edges, half_sizes: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let neighbours = neighbours(devices.len(), edges);
    let mut places = vec![(0.0, 0.0); devices.len()];
    let mut levels: Vec<i64> = devices.iter().map(layer).collect();
    levels.sort_unstable();
    levels.dedup();
    // From the ranks outwards.
    levels.sort_by_key(|level| (level.abs(), *level));
    let mut ranks_width = 0.0;
    for level in levels {
        let mut members: Vec<usize> = (0..devices.len()).filter(|at| layer(&devices[*at]) == level).collect();
        let nearer = |at: usize| layer(&devices[at]).abs() < level.abs() && layer(&devices[at]) * level >= 0;
        let wished = |at: usize| {
            let below: Vec<f64> =
                neighbours[at].iter().filter(|other| nearer(**other)).map(|other| places[*other].0).collect();
            if below.is_empty() { 0.0 } else { below.iter().sum::<f64>() / below.len() as f64 }
        };
        let wishes: Vec<f64> = (0..devices.len()).map(wished).collect();
        if level == 0 {
            // Ranks that hang on one switch stand together.
            let home =
                |at: usize| neighbours[at].iter().copied().filter(|other| layer(&devices[*other]) != 0).min();
            // Where there are cards, ranks leave room for theirs.
            let cards: Vec<usize> =
                (0..devices.len()).filter(|at| devices[*at].kind == DeviceKind::Card).collect();
            let card = cards.iter().map(|at| half_sizes[*at].0).fold(0.0, f64::max);
            let room = (card + APART / 2.0) * (cards.len() as f64 / members.len().max(1) as f64).min(1.0)
                - GAP / 2.0;
            let half = |at: usize| half_sizes[at].0.max(room);
            let mut x = 0.0;
            for (index, at) in members.iter().enumerate() {
                if let Some(before) = index.checked_sub(1).map(|before| members[before]) {
                    let apart = if home(before) == home(*at) { 0.0 } else { 22.0 };
                    x += half(before) + half(*at) + GAP + apart;
                }
                places[*at] = (x, 0.0);
            }
            ranks_width = x;
            continue;
        }
        members.sort_by(|a, b| wishes[*a].total_cmp(&wishes[*b]).then(a.cmp(b)));
        // A few switches over many ranks keep apart, so that lines do not run flat.
        let widths: f64 = members.iter().map(|at| 2.0 * half_sizes[*at].0).sum();
        let apart = ((0.6 * ranks_width - widths) / members.len().max(1) as f64).max(APART);
        spread(&members, &wishes, apart, half_sizes, &mut places);
        // Wide pictures are higher too.
        let y = -level as f64 * (ranks_width / 12.0).clamp(LAYER, 2.0 * LAYER);
        members.iter().for_each(|at| places[*at].1 = y);
    }
    places
}

/// Devices from left to right, near where they wish to stand, without touching.
fn spread(
    members: &[usize],
    wishes: &[f64],
    apart: f64,
    half_sizes: &[(f64, f64)],
    places: &mut [(f64, f64)],
) {
    // Neighbours that push each other stand as a block around the mean of their wishes.
    struct Block {
        first: usize,
        last: usize,
        left: f64,
        width: f64,
        sum: f64,
        count: f64,
    }
    let mut blocks = Vec::<Block>::new();
    for (index, at) in members.iter().enumerate() {
        let width = 2.0 * half_sizes[*at].0 + apart;
        let mut block = Block {
            first: index,
            last: index,
            left: wishes[*at] - width / 2.0,
            width,
            sum: wishes[*at] - width / 2.0,
            count: 1.0,
        };
        while let Some(before) = blocks.pop_if(|before| before.left + before.width > block.left) {
            // Where the block's left end should be for each member, on average.
            let sum = before.sum + block.sum - before.width * block.count;
            let count = before.count + block.count;
            block = Block {
                first: before.first,
                last: block.last,
                left: sum / count,
                width: before.width + block.width,
                sum,
                count,
            };
        }
        blocks.push(block);
    }
    for block in blocks {
        let mut x = block.left;
        for at in &members[block.first..=block.last] {
            let half = half_sizes[*at].0 + apart / 2.0;
            places[*at].0 = x + half;
            x += 2.0 * half;
        }
    }
}

/// Switches that are joined among each other around a circle, and ranks around them.
fn two_circles(
    devices: &[Device],
    ranks: usize,
    edges: &Edges,
    half_sizes: &[(f64, f64)],
) -> Vec<(f64, f64)> {
    let neighbours = neighbours(devices.len(), edges);
    let switches = devices.len() - ranks;
    let widest =
        |range: std::ops::Range<usize>| half_sizes[range].iter().map(|(half, _)| *half).fold(0.0, f64::max);
    let home = |rank: usize| neighbours[rank].iter().copied().filter(|other| *other >= ranks).min();
    let mut order: Vec<usize> = (0..ranks).collect();
    order.sort_by_key(|rank| (home(*rank), *rank));
    let inner = (switches as f64 * (2.0 * widest(ranks..devices.len()) + 14.0) / TAU).max(90.0);
    let outer = (ranks as f64 * (2.0 * widest(0..ranks) + 8.0) / TAU).max(inner + 100.0);
    let mut places = vec![(0.0, 0.0); devices.len()];
    for (at, rank) in order.iter().enumerate() {
        places[*rank] = around(at, ranks, outer);
    }
    // A switch stands where its ranks are, in the mean; one without ranks where the others leave room: in the order of numbers.
    let angle = |switch: usize| {
        let own: Vec<usize> = order
            .iter()
            .enumerate()
            .filter(|(_, rank)| home(**rank) == Some(switch))
            .map(|(at, _)| at)
            .collect();
        match (own.first(), own.last()) {
            (Some(first), Some(last)) => Some((first + last) as f64 / 2.0 / ranks as f64),
            _ => None,
        }
    };
    let all_have = (ranks..devices.len()).all(|switch| angle(switch).is_some());
    for (at, place) in places[ranks..].iter_mut().enumerate() {
        let even = at as f64 / switches as f64;
        let turn = TAU * if all_have { angle(ranks + at).unwrap_or(even) } else { even };
        *place = (inner * turn.sin(), -inner * turn.cos());
    }
    places
}
