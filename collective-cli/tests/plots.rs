//! As somebody who designs algorithms I want to see where the time goes, and put the picture into a paper.

mod support;

use std::fs;
use std::path::Path;

use roxmltree::Document;
use support::{fails, json, succeeds, with_ring};

const SWITCH: &str =
    "[[dimension]]\nkind = \"switch\"\nsize = 8\nbandwidth = \"50 GB/s\"\nlatency = \"500 ns\"\n";

fn at() -> tempfile::TempDir {
    let at = with_ring();
    fs::write(at.path().join("switch.toml"), SWITCH).unwrap();
    at
}

/// The texts of a picture, which must be well formed and within its borders.
fn texts(at: &Path, name: &str) -> Vec<String> {
    let svg = fs::read_to_string(at.join(name)).unwrap();
    let document = Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
    let root = document.root_element();
    let [width, height] =
        ["width", "height"].map(|side| root.attribute(side).unwrap().parse::<f64>().unwrap());
    for node in document.descendants().filter(|node| node.is_element()) {
        let number = |name: &str| node.attribute(name).and_then(|text| text.parse::<f64>().ok());
        assert!(number("x").is_none_or(|x| (0.0..=width).contains(&x)), "{node:?}");
        assert!(number("y").is_none_or(|y| (0.0..=height).contains(&y)), "{node:?}");
        assert!(number("width").is_none_or(|wide| wide >= 0.0), "{node:?}");
    }
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or_default().to_owned()).collect()
}

#[track_caller]
fn holds(texts: &[String], wanted: &[&str]) {
    for text in wanted {
        assert!(texts.iter().any(|found| found.contains(text)), "{text}: {texts:?}");
    }
}

#[test]
fn a_run_is_drawn_as_bars_as_links_and_as_a_path() {
    let at = at();
    let at = at.path();
    let run = "simulate allreduce_ring --topology switch.toml --model link-queue --size 8MiB";
    let plain = succeeds(at, run);
    // The picture changes nothing of the answer.
    assert_eq!(succeeds(at, &format!("{run} --svg gantt.svg")), plain);
    let title = "allreduce_ring channels=1, 8 MiB, 8 ranks";
    let gantt = texts(at, "gantt.svg");
    holds(
        &gantt,
        &[title, "on switch.toml (link-queue", "rank 0", "rank 7", "tb 0", "links", "on the critical path"],
    );
    succeeds(at, &format!("{run} --svg links.svg --plot links"));
    holds(&texts(at, "links.svg"), &[title, "of the link's bandwidth", "whole run", "MiB"]);
    succeeds(at, &format!("{run} --svg path.svg --plot path"));
    holds(&texts(at, "path.svg"), &[title, "latency: ", "bandwidth: ", "by source line", "ring.rs:"]);
    for name in ["gantt", "links", "path"] {
        let plot = if name == "gantt" { String::new() } else { format!("--plot {name}") };
        succeeds(at, &format!("{run} --svg again.svg {plot}"));
        let [one, again] =
            [format!("{name}.svg"), "again.svg".to_owned()].map(|name| fs::read(at.join(name)).unwrap());
        assert_eq!(one, again, "{name}: the same bytes again");
    }
}

#[test]
fn whatever_can_be_simulated_can_be_drawn() {
    let at = at();
    let at = at.path();
    fs::write(at.join("one.toml"), SWITCH.replace("size = 8", "size = 1")).unwrap();
    fs::write(at.join("slow.toml"), SWITCH.replace("50 GB/s", "1 KB/s").replace("500 ns", "1 s")).unwrap();
    fs::write(at.join("large.toml"), SWITCH.replace("size = 8", "size = 256")).unwrap();
    for arguments in [
        "allreduce_ring --model loggp --ranks 4 --size 1MiB",
        "allreduce_ring --topology ring.yml --model analytical --compat astra-sim --size 1MiB",
        "allreduce_ring --topology ring.yml --model link-queue --size 1MiB",
        "allreduce_ring --topology switch.toml --model fluid --size 0",
        "allreduce_ring --topology one.toml --model fluid --size 1MiB",
        "allreduce_ring --topology slow.toml --model link-queue --size 1MiB",
        "allreduce_ring --topology large.toml --model link-queue --size 1MiB --order dataflow",
        "allreduce_allpairs_two_shot --topology switch.toml --model fluid --order dataflow --straggler 3=+10us \
         --send-overhead 1us --reduce-bandwidth 100GB/s",
    ] {
        for plot in ["gantt", "path", "links"] {
            let command = format!("simulate {arguments} --svg out.svg --plot {plot}");
            if plot == "links" && arguments.contains("loggp") {
                assert!(fails(at, 2, &command).contains("loggp knows no links"));
                continue;
            }
            succeeds(at, &command);
            let texts = texts(at, "out.svg");
            assert!(texts.iter().any(|text| text.contains(" rank")), "{command}: {texts:?}");
            assert!(fs::metadata(at.join("out.svg")).unwrap().len() < 3_000_000, "{command}");
        }
    }
}

#[test]
fn a_timeline_of_one_collective_opens_in_perfetto() {
    let at = at();
    let at = at.path();
    succeeds(
        at,
        "simulate allreduce_ring --topology switch.toml --model link-queue --size 8MiB --timeline run.json",
    );
    let timeline = json(&fs::read_to_string(at.join("run.json")).unwrap());
    let events = timeline["traceEvents"].as_array().unwrap();
    let complete: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
    // A ring of 8 sends 14 messages from each rank, each over two links.
    let count = |category: &str| complete.iter().filter(|event| event["cat"] == category).count();
    assert_eq!(count("link"), 8 * 14 * 2);
    assert!(count("step") >= 8 * 14 * 2);
    let names: Vec<&str> = events.iter().filter_map(|event| event["args"]["name"].as_str()).collect();
    assert!(names.contains(&"rank 7") && names.contains(&"links"), "{names:?}");
    succeeds(at, "simulate allreduce_ring --model loggp --ranks 4 --size 1MiB --timeline loggp.json");
}

const COMPARE: &str = "compare --collective all-reduce --topology switch.toml --sizes 1KiB..64MiB:4";

#[test]
fn curves_are_drawn_of_comparisons_and_sweeps_alike() {
    let at = at();
    let at = at.path();
    let said = succeeds(at, &format!("{COMPARE} --json --svg time.svg"));
    fs::write(at.join("all.json"), &said).unwrap();
    let time = texts(at, "time.svg");
    holds(
        &time,
        &["all-reduce: time by size", "8 ranks, ", "1 KiB", "64 MiB", "10 us", "allreduce_ring(channels=1)"],
    );
    // The same of what was written, with the same title and lines.
    succeeds(at, "plot all.json -o again.svg");
    assert_eq!(fs::read(at.join("time.svg")).unwrap(), fs::read(at.join("again.svg")).unwrap());
    succeeds(at, &format!("{COMPARE} --plot busbw --svg busbw.svg"));
    holds(&texts(at, "busbw.svg"), &["all-reduce: bus bandwidth by size", "bus bandwidth, GB/s"]);
    let spec = "algorithms = [\"allreduce_ring\", \"allreduce_recursive_doubling\"]\nsizes = [\"1 KiB..1 MiB x4\"]\n\
                models = [\"fluid\", \"link-queue\"]\ntopologies = [\"switch.toml\"]\n";
    fs::write(at.join("spec.toml"), spec).unwrap();
    succeeds(at, "sweep spec.toml -o out.csv --svg sweep.svg");
    holds(&texts(at, "sweep.svg"), &["all-reduce: time by size", "model fluid", "model link-queue"]);
    assert!(
        fails(at, 2, "sweep spec.toml --best --svg sweep.svg").contains("--svg draws a table: expected -o")
    );
    succeeds(at, "plot out.csv --where model=fluid --y busbw -o fluid.svg");
    let fluid = texts(at, "fluid.svg");
    holds(&fluid, &["model fluid"]);
    assert!(fluid.iter().all(|text| !text.contains("link-queue")), "{fluid:?}");
    // Two files over each other: each line says where it comes from.
    fs::copy(at.join("out.csv"), at.join("other.csv")).unwrap();
    succeeds(at, "plot out.csv other.csv --where model=fluid -o two.svg");
    holds(&texts(at, "two.svg"), &["out, allreduce_ring", "other, allreduce_ring"]);
}

#[test]
fn without_a_file_curves_are_drawn_on_the_terminal() {
    let at = at();
    let at = at.path();
    fs::write(at.join("all.json"), succeeds(at, &format!("{COMPARE} --json"))).unwrap();
    let text = succeeds(at, "plot all.json");
    for part in ["all-reduce: time by size", "10 us ┤", "1 KiB", "\nA allreduce_", "further from the best"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().take(26).all(|line| line.chars().count() <= 112), "{text}");
}

#[test]
fn what_cannot_be_drawn_is_said_with_what_can() {
    let at = at();
    let at = at.path();
    let table = "algorithm,ranks,size_bytes,topology,time_ns\n\
                 a,8,1024,x,10\na,8,2048,x,20\na,8,1024,y,11\nb,8,1024,x,\n";
    fs::write(at.join("t.csv"), table).unwrap();
    fs::write(at.join("none.csv"), "algorithm,size_bytes,time_ns\n").unwrap();
    fs::write(at.join("void.csv"), "").unwrap();
    fs::write(at.join("broken.csv"), "a,b\n1,2,3\n").unwrap();
    fs::write(at.join("broken.jsonl"), "{\"size_bytes\":1,\"time_ns\":2}\n{\"size").unwrap();
    fs::write(at.join("other.csv"), "a,b\n1,2\n").unwrap();
    for (arguments, why) in [
        (
            "t.csv --where colour=red",
            "no column \"colour\": there are algorithm, ranks, size_bytes, topology, time_ns",
        ),
        ("t.csv --by colour", "no column \"colour\""),
        ("t.csv --where topology=z", "no row has topology=z; there are x, y"),
        ("t.csv --where topology=y --where size=2KiB", "no row has all of topology=y, size_bytes=2KiB"),
        ("t.csv --by algorithm", "they differ in topology (x, y); choose one by --where topology=x"),
        ("t.csv --where algorithm=b", "none of the 1 rows has a time_ns"),
        ("t.csv --y busbw", "none of the 4 rows has a busbw_gb_per_s"),
        ("none.csv", "none.csv: it has no rows"),
        ("void.csv", "void.csv: it is empty"),
        ("broken.csv", "broken.csv: "),
        ("broken.jsonl", "broken.jsonl: object 2"),
        ("other.csv", "no column \"size_bytes\": there are a, b"),
        ("missing.csv", "missing.csv"),
        ("t.csv --where topology", "expected COLUMN=VALUE"),
    ] {
        let said = fails(at, 2, &format!("plot {arguments} -o out.svg"));
        assert!(said.contains(why), "{arguments}: {said}");
    }
    assert!(
        fails(at, 2, "plot t.csv -o out.pdf").contains("expected a picture with the ending .svg or .png")
    );
    assert!(fails(at, 2, "plot t.csv --where topology=x -o no/such.svg").contains("no/such.svg"));
    let run = "simulate allreduce_ring --topology switch.toml --model fluid";
    assert!(fails(at, 2, &format!("{run} --plot path")).contains("where to: --svg FILE.svg"));
    assert!(fails(at, 2, "simulate --workload x --topology switch.toml --svg a.svg").contains("--timeline"));
    // A table is not replaced by its picture.
    fs::copy(at.join("t.csv"), at.join("t.svg")).unwrap();
    assert!(fails(at, 2, "plot t.svg -o t.svg").contains("would replace a table"));
}

#[test]
fn names_of_a_table_are_text() {
    let at = at();
    let at = at.path();
    let name = "<script>&\"quoted\", 'and' commas";
    let table =
        format!("algorithm,size_bytes,time_ns\n\"{}\",1024,10\nplain,1024,20\n", name.replace('"', "\"\""));
    fs::write(at.join("t.csv"), table).unwrap();
    succeeds(at, "plot t.csv -o t.svg");
    assert!(texts(at, "t.svg").iter().any(|text| text == name));
}

#[cfg(feature = "png")]
#[test]
fn a_png_is_twice_as_large_as_its_svg_and_not_blank() {
    use resvg::tiny_skia::Pixmap;

    let at = at();
    let at = at.path();
    let run = "simulate allreduce_ring --topology switch.toml --model link-queue --size 64KiB --plot path";
    succeeds(at, &format!("{run} --svg path.svg --png path.png"));
    let svg = fs::read_to_string(at.join("path.svg")).unwrap();
    let document = Document::parse(&svg).unwrap();
    let side = |name: &str| document.root_element().attribute(name).unwrap().parse::<u32>().unwrap();
    let bytes = fs::read(at.join("path.png")).unwrap();
    let map = Pixmap::decode_png(&bytes).unwrap();
    assert_eq!((map.width(), map.height()), (2 * side("width"), 2 * side("height")));
    let dark = map.pixels().iter().filter(|pixel| pixel.red() < 80).count();
    assert!(dark > 5_000, "{dark}");
    succeeds(at, &format!("{run} --png again.png"));
    assert_eq!(bytes, fs::read(at.join("again.png")).unwrap());
}
