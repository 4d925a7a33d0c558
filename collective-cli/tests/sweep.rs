//! As a researcher I want a table of thousands of simulations, in several processes, and not to lose it by Ctrl-C.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{RING_YAML, fails, json, succeeds};

const SPEC: &str = r#"
algorithms = ["allreduce_recursive_halving_doubling", { name = "allreduce_ring", set = { channels = [1, 2] } }]
sizes = ["4 KiB..1 MiB x16", 6]
ranks = [8, 4]
topologies = ["ring.yml"]
models = ["link-queue", "fluid"]

[[topology]]
name = "a switch, \"fast\""
[[topology.dimension]]
kind = "switch"
size = 8
bandwidth = "50 GB/s"
latency = "500 ns"

[[conditions]]
name = "plain"

[[conditions]]
name = "late"
stragglers = ["3=+10us"]
reduce_bandwidth = "100 GB/s"
"#;

fn at() -> tempfile::TempDir {
    let at = tempfile::tempdir().expect("a directory");
    fs::write(at.path().join("sweep.toml"), SPEC).expect("a file");
    fs::write(at.path().join("ring.yml"), RING_YAML).expect("a file");
    at
}

fn text(at: &Path, name: &str) -> String {
    fs::read_to_string(at.join(name)).expect(name)
}

#[test]
fn the_rows_are_what_simulate_says() {
    let at = at();
    succeeds(at.path(), "sweep sweep.toml -o all.jsonl");
    let rows: Vec<Value> = text(at.path(), "all.jsonl").lines().map(json).collect();
    // 3 algorithms with parameters × 2 numbers of ranks × 4 sizes × 2 topologies × 2 models × 2 conditions.
    assert_eq!(rows.len(), 192);
    let mut compared = 0;
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(row["point"], number);
        let status = row["status"].as_str().expect("a status");
        if row["ranks"] == 4 {
            assert_eq!(status, "topology", "{row}");
        } else if row["size_bytes"] == 6 {
            assert_eq!(status, "size", "{row}");
        }
        if status != "ok" {
            assert!(row["time_ns"].is_null() && row["reason"].is_string(), "{row}");
        } else if row["topology"] == "ring.yml" {
            let (channels, late) = (&row["parameters"]["channels"], row["conditions"] == "late");
            let set =
                channels.as_u64().map(|channels| format!("--set channels={channels}")).unwrap_or_default();
            let conditions = if late { "--straggler 3=+10us --reduce-bandwidth 100GB/s" } else { "" };
            let said = json(&succeeds(
                at.path(),
                &format!(
                    "simulate {} {set} --size {} --topology ring.yml --model {} --conventions {} --order dataflow {conditions} --json",
                    row["algorithm"].as_str().expect("a name"),
                    row["size_bytes"],
                    row["model"].as_str().expect("a model"),
                    row["conventions"].as_str().expect("conventions"),
                ),
            ));
            for column in ["collective", "time_ns", "algbw_gb_per_s", "busbw_gb_per_s", "messages", "bytes"] {
                assert_eq!(said[column], row[column], "{column}: {row}");
            }
            compared += 1;
        }
    }
    // Under ASTRA-sim's conventions, those of link-queue on a YAML file, there are no late ranks.
    assert_eq!(compared, 3 * 3 * 3);
}

#[test]
fn both_formats_have_the_same_and_no_thread_changes_a_byte() {
    let at = at();
    for threads in [1, 2, 8] {
        succeeds(at.path(), &format!("sweep sweep.toml -o {threads}.csv --threads {threads}"));
    }
    let csv = text(at.path(), "1.csv");
    assert!(csv == text(at.path(), "2.csv") && csv == text(at.path(), "8.csv"));
    succeeds(at.path(), "sweep sweep.toml -o all.jsonl");
    let json_lines = text(at.path(), "all.jsonl");
    assert_eq!(csv.lines().count(), json_lines.lines().count() + 1);
    let header: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
    let first: Value = json(json_lines.lines().next().expect("a row"));
    assert_eq!(header.len(), first.as_object().expect("a row").len());
    // A name with a comma and quotes, as RFC 4180 has it.
    assert!(csv.contains(",\"a switch, \"\"fast\"\"\","), "{csv}");
}

#[test]
fn a_table_goes_on_wherever_it_was_cut() {
    let at = at();
    let small =
        SPEC.replace("\"4 KiB..1 MiB x16\", 6", "6, 4096").replace("[8, 4]", "8").replace("[1, 2]", "1");
    fs::write(at.path().join("sweep.toml"), small).expect("a file");
    for ending in ["csv", "jsonl"] {
        succeeds(at.path(), &format!("sweep sweep.toml -o whole.{ending}"));
        let whole = text(at.path(), &format!("whole.{ending}"));
        let partial = at.path().join(format!("cut.{ending}.partial"));
        // The bytes around each end of a line, and some within.
        let ends = whole.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(index, _)| index);
        let mut cuts: Vec<usize> = ends.flat_map(|end| [end, end + 1, end + 2]).chain([0, 1]).collect();
        cuts.extend((0..whole.len()).step_by(997));
        for cut in cuts.into_iter().filter(|cut| *cut <= whole.len()) {
            fs::write(&partial, &whole.as_bytes()[..cut]).expect("a file");
            succeeds(at.path(), &format!("sweep sweep.toml -o cut.{ending} --resume"));
            assert_eq!(text(at.path(), &format!("cut.{ending}")), whole, "cut at {cut}");
            assert!(!partial.exists());
        }
        // A whole table is left alone.
        let said =
            json(&succeeds(at.path(), &format!("sweep sweep.toml -o cut.{ending} --resume --json-summary")));
        assert_eq!((&said["found"], &said["done"]), (&said["points"], &said["points"]));
    }
}

#[test]
fn shares_make_the_whole() {
    let at = at();
    for ending in ["csv", "jsonl"] {
        succeeds(at.path(), &format!("sweep sweep.toml -o whole.{ending}"));
        let mut files = String::new();
        for index in (1..=3).rev() {
            succeeds(at.path(), &format!("sweep sweep.toml -o part{index}.{ending} --shard {index}/3"));
            files.push_str(&format!(" part{index}.{ending}"));
        }
        succeeds(at.path(), &format!("sweep -o joined.{ending} --merge{files}"));
        assert_eq!(text(at.path(), &format!("joined.{ending}")), text(at.path(), &format!("whole.{ending}")));
        let missing =
            fails(at.path(), 1, &format!("sweep -o no.{ending} --merge part1.{ending} part3.{ending}"));
        assert!(missing.contains("is in none of the files"), "{missing}");
        let twice = fails(at.path(), 2, &format!("sweep -o no.{ending} --merge part1.{ending}{files}"));
        assert!(twice.contains("was there before"), "{twice}");
        assert!(!at.path().join(format!("no.{ending}")).exists());
    }
    // The table that was joined says what is best without another simulation.
    let said = json(&succeeds(at.path(), "sweep sweep.toml -o joined.csv --resume --best --json-summary"));
    assert_eq!(said["found"], said["points"]);
    assert!(!said["best"].as_array().expect("fields").is_empty());
}

#[test]
fn the_best_are_those_of_compare_and_go_to_the_runtimes() {
    let at = at();
    let spec = "algorithms = 'all'\ncollectives = 'all_reduce'\nsizes = '1KiB..64MiB x8'\ntopologies = 'switch.toml'\n";
    let switch =
        "[[dimension]]\nkind = \"switch\"\nsize = 8\nbandwidth = \"50 GB/s\"\nlatency = \"500 ns\"\n";
    fs::write(at.path().join("best.toml"), spec).expect("a file");
    fs::write(at.path().join("switch.toml"), switch).expect("a file");
    let command = "sweep best.toml --best --best-nccl nccl_tuner.conf --best-xml xml --json-summary";
    let said = json(&succeeds(at.path(), command));
    let field = &said["best"][0];
    let compared = json(&succeeds(
        at.path(),
        "compare --collective all-reduce --topology switch.toml --sizes 1KiB..64MiB:8 --json",
    ));
    let (fastest, expected) =
        (field["fastest"].as_array().expect("sizes"), compared["fastest"].as_array().expect("sizes"));
    assert_eq!(fastest.len(), expected.len());
    for (found, expected) in fastest.iter().zip(expected) {
        assert_eq!(
            (&found["time_ns"], &found["size_bytes"]),
            (&expected["time_ns"], &expected["size_bytes"])
        );
        let label = expected["algorithm"].as_str().expect("a name");
        assert!(label.starts_with(found["algorithm"].as_str().expect("a name")), "{label}");
    }

    // Each line as the plugin reads it: ten fields, a size range that follows on the one before.
    let configuration = text(at.path(), "nccl_tuner.conf");
    assert!(configuration.lines().all(|line| line.len() < 255), "{configuration}");
    let mut next = 1024;
    for line in configuration.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!((cells.len(), cells[0], cells[4], cells[7]), (10, "allreduce", "simple", "8"), "{line}");
        assert!(["ring", "tree"].contains(&cells[3]), "{line}");
        assert_eq!(cells[1].parse(), Ok(next), "{line}");
        next = cells[2].parse::<u64>().expect("a size") + 1;
    }
    assert!(next > 1024, "{configuration}");
    assert!(configuration.contains("which NCCL does not have"), "{configuration}");

    // The XML files cover the sizes without gaps, and are right.
    let mut ranges = Vec::new();
    for entry in fs::read_dir(at.path().join("xml")).expect("a folder") {
        let path = entry.expect("a file").path();
        let content = fs::read_to_string(&path).expect("a file");
        let number = |name: &str| -> u64 {
            let after = content.split_once(&format!("{name}=\"")).expect(name).1;
            after.split_once('"').expect(name).0.parse().expect(name)
        };
        ranges.push((number("minBytes"), number("maxBytes")));
        succeeds(at.path(), &format!("verify {}", path.display()));
    }
    ranges.sort_unstable();
    assert_eq!(ranges.len(), field["stretches"].as_array().expect("stretches").len());
    assert_eq!(ranges[0].0, 1024);
    assert!(ranges.windows(2).all(|two| two[0].1 + 1 == two[1].0), "{ranges:?}");
}

#[test]
fn what_cannot_be_is_said() {
    let at = at();
    let cases = [
        ("sweep.toml", "expected a table to write"),
        ("sweep.toml -o all.txt", "all.txt: expected a table with the ending .csv or .jsonl"),
        ("none.toml -o all.csv", "none.toml: "),
        ("sweep.toml -o all.csv --shard 4/3", "is no share"),
        ("sweep.toml -o all.csv --shard 1/3 --best", "a share does not know what is best"),
        ("sweep.toml --best --resume", "--resume goes on with a table"),
        ("sweep.toml --best-nccl x.conf", "the sweep has more than one network"),
        ("sweep.toml -o no/all.csv", "no/all.csv.partial: "),
        ("-o all.csv --merge ring.yml", "expected a table with the ending"),
        ("-o all.csv --merge no.csv", "no.csv: "),
    ];
    for (arguments, message) in cases {
        let stderr = fails(at.path(), 2, &format!("sweep {arguments}"));
        assert!(stderr.contains(message), "{arguments}: {stderr}");
    }
    // An unfinished table is neither lost nor taken for that of another sweep or share.
    succeeds(at.path(), "sweep sweep.toml -o all.csv");
    fs::rename(at.path().join("all.csv"), at.path().join("all.csv.partial")).expect("a name");
    let stderr = fails(at.path(), 2, "sweep sweep.toml -o all.csv");
    assert!(stderr.contains("all.csv.partial: there is an unfinished table"), "{stderr}");
    let stderr = fails(at.path(), 2, "sweep sweep.toml -o all.csv --resume --shard 2/2");
    assert!(stderr.contains("all.csv.partial:2: the row is of point 0, expected 8"), "{stderr}");
    fs::write(at.path().join("sweep.toml"), format!("{SPEC}# changed\n")).expect("a file");
    let stderr = fails(at.path(), 2, "sweep sweep.toml -o all.csv --resume");
    assert!(stderr.contains("all.csv.partial:2: the table is of another sweep"), "{stderr}");
}
