//! Pictures show what was recorded, and nothing else.

use collective::sim::Model;
use roxmltree::Document;

use super::*;
use crate::picture;
use crate::recording::tests::ring_of_four;

#[test]
fn bars_are_as_long_as_what_they_stand_for() {
    let recording = ring_of_four(Model::LinkQueue);
    let gantt = gantt(&recording, "a ring", "");
    let length = |kind: usize| -> u64 {
        let rows = gantt.groups.iter().flat_map(|group| &group.rows);
        let bars = rows.flat_map(|row| &row.bars).filter(|bar| bar.kind == kind);
        bars.map(|bar| bar.finish.0 - bar.start.0).sum()
    };
    // 4 ranks send 3 chunks for 20.5 us each; 4 links are busy for 20 us with each.
    assert_eq!((length(0), length(4)), (12 * 20_500_000, 12 * 20_000_000));
    // No bar begins before the one before it in its row ends.
    for row in gantt.groups.iter().flat_map(|group| &group.rows) {
        assert!(row.bars.windows(2).all(|two| two[0].finish <= two[1].start), "{}", row.label);
    }
    // In the picture the link's bars have the same part of the axis: 60 of 61.5 us, up to the gaps between bars.
    let svg = picture::gantt(&gantt);
    let document = Document::parse(&svg).unwrap();
    let wide = |colour: &str| -> f64 {
        let bars = document
            .descendants()
            .filter(|node| node.attribute("fill") == Some(colour) && node.has_children());
        bars.filter_map(|node| node.attribute("width")?.parse::<f64>().ok()).sum()
    };
    let background = document.descendants().find(|node| node.attribute("fill") == Some("#f3f4f6")).unwrap();
    let axis: f64 = background.attribute("width").unwrap().parse().unwrap();
    let part = (wide("#6b7280") + 12.0 * 0.5) / (4.0 * axis);
    assert!((part - 60.0 / 61.5).abs() < 0.001, "{part}");
}

#[test]
fn the_cells_of_a_link_hold_its_bytes() {
    for model in [Model::LinkQueue, Model::Fluid, Model::Analytical] {
        let recording = ring_of_four(model);
        for cells in [1, 7, 180] {
            for (at, link) in (0..).zip(&recording.links) {
                let end = recording.makespan;
                let shares = links::shares(link, recording.crossings_of(at), end, cells);
                let of_a_cell = link.bandwidth.bytes_per_s() * end.0 as f64 / 1e12 / cells as f64;
                let bytes: f64 = shares.iter().map(|share| share * of_a_cell).sum();
                assert!((bytes - link.bytes.0 as f64).abs() < 1.0, "{model} {cells}: {bytes}");
                // It never carries more than it can.
                assert!(shares.iter().all(|share| (0.0..1.0 + 1e-9).contains(share)), "{model}: {shares:?}");
            }
        }
    }
}

#[test]
fn the_parts_of_the_path_fill_the_time() {
    let recording = ring_of_four(Model::LinkQueue);
    let chain = path(&recording, "a ring", "");
    let total: u64 = chain.steps.iter().flat_map(|step| &step.shares).map(|time| time.0).sum();
    assert_eq!(total, 61_500_000);
    // Three latencies, and 60 us of bytes.
    let sum = |cause: usize| chain.steps.iter().map(|step| step.shares[cause].0).sum::<u64>();
    assert_eq!((sum(2), sum(3)), (1_500_000, 60_000_000));
}

#[test]
fn names_are_text_and_pictures_are_the_same_each_time() {
    let draw = |title: &str| {
        let recording = ring_of_four(Model::Fluid);
        [
            picture::gantt(&gantt(&recording, title, title)),
            picture::heat_map(&links(&recording, title, title)),
            picture::chain(&path(&recording, title, title)),
        ]
    };
    let title = "<a> & \"b\" ]]> 'c'";
    for (svg, again) in draw(title).iter().zip(draw(title)) {
        assert_eq!(*svg, again);
        let document = Document::parse(svg).unwrap();
        assert!(document.descendants().any(|node| node.text() == Some(title)));
    }
}
