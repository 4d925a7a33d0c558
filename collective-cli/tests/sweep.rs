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

    let configuration = text(at.path(), "nccl_tuner.conf");
    let lines = tuner_lines(&configuration);
    assert!(configuration.contains("which NCCL does not have"), "{configuration}");
    // For each size the first line that is for it has the fastest of what NCCL has, and the next begins where it ends.
    succeeds(at.path(), "sweep best.toml -o best.jsonl");
    let rows: Vec<Value> = text(at.path(), "best.jsonl").lines().map(json).collect();
    let of_nccl = |row: &&Value| match row["algorithm"].as_str().expect("a name") {
        "allreduce_ring" | "allreduce_rotated_rings" => row["time_ns"].is_number().then_some("ring"),
        "allreduce_double_binary_tree" => row["time_ns"].is_number().then_some("tree"),
        _ => None,
    };
    for size in fastest.iter().map(|fastest| &fastest["size_bytes"]) {
        let of_size = rows.iter().filter(|row| row["size_bytes"] == *size && of_nccl(row).is_some());
        let time = |row: &&Value| row["time_ns"].as_f64().expect("a time");
        let best = of_size.clone().map(|row| time(&row)).fold(f64::INFINITY, f64::min);
        let bytes = size.as_u64().expect("bytes");
        let line = lines.iter().find(|line| (line.min..=line.max).contains(&bytes)).expect("a line");
        let mut winners = of_size.filter(|row| time(row) == best);
        assert!(winners.any(|row| of_nccl(&row) == Some(line.algorithm.as_str())), "{size}: {configuration}");
        assert_eq!(
            (line.collective.as_str(), line.protocol.as_str(), line.ranks),
            ("allreduce", "simple", 8)
        );
    }
    assert_eq!(lines[0].min, 1024);
    assert!(lines.windows(2).all(|two| two[0].max + 1 == two[1].min), "{configuration}");

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
        ("sweep.toml -o all.txt", "all.txt: expected a table with the ending .csv, .jsonl or .parquet"),
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

/// A line of NCCL's example tuner plugin.
struct TunerLine {
    collective: String,
    min: u64,
    max: u64,
    algorithm: String,
    protocol: String,
    ranks: i64,
}

/// Reads a configuration as `plugins/tuner/example/plugin.c` of NCCL 2.30 does, but for words that it does not know: those the plugin takes for
/// allreduce, ring and simple without a word, here they are mistakes.
fn tuner_lines(text: &str) -> Vec<TunerLine> {
    let mut lines = Vec::new();
    // It reads at most 255 bytes at once, the end of the line among them.
    for line in text.split_inclusive('\n') {
        assert!(line.len() <= 255 && line.ends_with('\n'), "{line}");
        if line.starts_with('#') || line == "\n" {
            continue;
        }
        // Empty fields would be none.
        let cells: Vec<&str> = line.trim_end_matches('\n').split(',').map(str::trim).collect();
        assert!((8..=10).contains(&cells.len()) && cells.iter().all(|cell| !cell.is_empty()), "{line}");
        assert!(
            ["broadcast", "reduce", "allgather", "reducescatter", "allreduce"].contains(&cells[0]),
            "{line}"
        );
        let algorithms = ["tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"];
        assert!(algorithms.contains(&cells[3]), "{line}");
        assert!(["ll", "ll128", "simple"].contains(&cells[4]), "{line}");
        let number = |at: usize| -> i64 { cells[at].parse().unwrap_or_else(|_| panic!("{line}")) };
        let (min, max) = (cells[1].parse().expect(line), cells[2].parse().expect(line));
        assert!(min <= max, "{line}");
        let (channels, nodes, operations, registered) = (number(5), number(6), number(8), number(9));
        assert!(
            (channels == -1 || channels > 0) && (nodes, operations, registered) == (-1, -1, -1),
            "{line}"
        );
        lines.push(TunerLine {
            collective: cells[0].to_owned(),
            min,
            max,
            algorithm: cells[3].to_owned(),
            protocol: cells[4].to_owned(),
            ranks: number(7),
        });
    }
    lines
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_a_table_to_go_on_with() {
    use std::process::{Command, Stdio};
    use std::thread;
    use std::time::Duration;

    let at = tempfile::tempdir().expect("a directory");
    let spec = "algorithms = \"all\"\ncollectives = \"all_reduce\"\nsizes = \"1 KiB..256 MiB x4\"\n\
        [[topology]]\nname = \"a\"\n[[topology.dimension]]\nkind = \"ring\"\nsize = 16\nbandwidth = \"50 GB/s\"\nlatency = \"1 us\"\n";
    fs::write(at.path().join("sweep.toml"), spec).expect("a file");
    let arguments = "sweep sweep.toml -o all.csv --threads 1 --json-summary";
    let partial = at.path().join("all.csv.partial");
    for wait in (0..40).map(|round| 60 + 40 * round) {
        let _ = fs::remove_file(&partial);
        let mut command = Command::new(env!("CARGO_BIN_EXE_collective"));
        command
            .current_dir(at.path())
            .args(arguments.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().expect("the command");
        thread::sleep(Duration::from_millis(wait));
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
        assert!(kill.success());
        let output = child.wait_with_output().expect("its end");
        let stderr = String::from_utf8(output.stderr).expect("text");
        match output.status.code() {
            // Before the command watches for it, or after its end.
            None | Some(0) => continue,
            code => assert_eq!(code, Some(130), "{stderr}"),
        }
        // It may have been met before it had a table.
        let lines = fs::read_to_string(&partial).map_or(0, |table| table.lines().count());
        if lines < 2 {
            continue;
        }
        assert!(!at.path().join("all.csv").exists());
        assert!(stderr.contains("go on with: collective sweep sweep.toml -o all.csv --resume"), "{stderr}");
        let said = json(&String::from_utf8(output.stdout).expect("text"));
        assert_eq!(
            (&said["done"], &said["is_whole"]),
            (&Value::from(lines - 1), &Value::from(false)),
            "{said}"
        );
        let said = json(&succeeds(at.path(), "sweep sweep.toml -o all.csv --resume --json-summary"));
        assert_eq!(
            (&said["found"], &said["is_whole"]),
            (&Value::from(lines - 1), &Value::from(true)),
            "{said}"
        );
        assert!(!partial.exists());
        succeeds(at.path(), "sweep sweep.toml -o at-once.csv");
        assert!(text(at.path(), "all.csv") == text(at.path(), "at-once.csv"));
        return;
    }
    panic!("the sweep was never met while it ran");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_the_feature_a_parquet_table_names_it() {
    let at = at();
    let stderr = fails(at.path(), 2, "sweep sweep.toml -o all.parquet");
    assert!(stderr.contains("all.parquet: ") && stderr.contains("--features parquet"), "{stderr}");
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_table_has_types_and_says_what_the_others_say() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    let at = at();
    succeeds(at.path(), "sweep sweep.toml -o all.parquet");
    succeeds(at.path(), "sweep sweep.toml -o all.jsonl");
    let file = fs::File::open(at.path().join("all.parquet")).expect("a file");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let lines = text(at.path(), "all.jsonl");
    let mut rows = reader.get_row_iter(None).expect("rows");
    for line in lines.lines() {
        let (expected, row) = (json(line), rows.next().expect("a row").expect("a row"));
        let expected = expected.as_object().expect("an object");
        assert_eq!(row.get_column_iter().count(), expected.len() + 1);
        for (name, field) in row.get_column_iter() {
            let value = match field {
                Field::Null => Value::Null,
                Field::ULong(number) => Value::from(*number),
                Field::Double(number) => Value::from(*number),
                Field::Str(text) => Value::from(text.clone()),
                other => panic!("{name}: {other}"),
            };
            match name.as_str() {
                // In JSON an object.
                "parameters" => {}
                "time_ps" => {
                    let exact = expected["time_ns"].as_f64().map(|time| (time * 1000.0).round() as u64);
                    assert_eq!(value, exact.map_or(Value::Null, Value::from), "{line}");
                }
                // Of JSON a whole number has no point.
                "time_ns" => assert_eq!(value.as_f64(), expected[name].as_f64(), "{line}"),
                _ => assert_eq!(&value, &expected[name], "{name}: {line}"),
            }
        }
    }
    assert!(rows.next().is_none());
    // Left alone when whole, and enough to say what is best.
    let before = fs::read(at.path().join("all.parquet")).expect("a file");
    let of = |ending: &str| {
        json(&succeeds(
            at.path(),
            &format!("sweep sweep.toml -o all.{ending} --resume --best --json-summary"),
        ))["best"]
            .clone()
    };
    assert_eq!(of("parquet"), of("jsonl"));
    assert!(fs::read(at.path().join("all.parquet")).expect("a file") == before);
    // A part of it goes on, shares make the whole.
    succeeds(at.path(), "sweep sweep.toml -o all.csv");
    let csv = text(at.path(), "all.csv");
    fs::write(at.path().join("cut.parquet.partial"), &csv.as_bytes()[..csv.len() / 2]).expect("a file");
    succeeds(at.path(), "sweep sweep.toml -o cut.parquet --resume");
    assert!(fs::read(at.path().join("cut.parquet")).expect("a file") == before);
    assert!(!at.path().join("cut.parquet.partial").exists());
    for index in 1..=3 {
        succeeds(at.path(), &format!("sweep sweep.toml -o part{index}.parquet --shard {index}/3"));
    }
    succeeds(at.path(), "sweep -o joined.parquet --merge part1.parquet part2.parquet part3.parquet");
    assert!(fs::read(at.path().join("joined.parquet")).expect("a file") == before);
    fs::write(at.path().join("wrong.parquet"), "PAR1").expect("a file");
    let stderr = fails(at.path(), 2, "sweep -o joined.parquet --merge wrong.parquet");
    assert!(stderr.contains("wrong.parquet: "), "{stderr}");
}

/// Runs a script of `examples/cluster` with stand-ins of `collective` and the variables of its scheduler, and gives the lines that it
/// would have run.
#[cfg(unix)]
fn lines_of(script: &str, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    let at = tempfile::tempdir().expect("a directory");
    let stand_in = at.path().join("collective");
    fs::write(&stand_in, "#!/bin/sh\necho \"collective $*\"\n").expect("a file");
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).expect("a program");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/cluster").join(script);
    let path = format!("{}:{}", at.path().display(), std::env::var("PATH").expect("a path"));
    let mut command = Command::new("bash");
    command.arg(script).args(arguments).current_dir(at.path()).env("PATH", path);
    command.envs(variables.iter().copied());
    let output = command.output().expect("bash");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[cfg(unix)]
#[test]
fn the_scripts_give_each_task_its_share() {
    use std::process::Command;

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/cluster");
    for script in ["sweep.slurm.sh", "sweep.hq.sh"] {
        assert!(Command::new("bash").arg("-n").arg(folder.join(script)).status().expect("bash").success());
        let usage = Command::new("bash").arg(folder.join(script)).output().expect("bash");
        assert_eq!(usage.status.code(), Some(2), "{script}");
        assert!(String::from_utf8_lossy(&usage.stderr).contains("Usage: "), "{script}");
    }
    // Arrays may begin anywhere: a task is the one of its place, from 1 on, whatever its number.
    for (first, count, task, share) in
        [(1, 16, 3, "3/16"), (0, 4, 0, "1/4"), (0, 4, 3, "4/4"), (5, 2, 6, "2/2")]
    {
        let [first, count, task] = [first, count, task].map(|number: u32| number.to_string());
        let said = lines_of(
            "sweep.slurm.sh",
            &["spec.toml", "out.csv"],
            &[
                ("SLURM_ARRAY_TASK_MIN", &first),
                ("SLURM_ARRAY_TASK_COUNT", &count),
                ("SLURM_ARRAY_TASK_ID", &task),
                ("SLURM_CPUS_PER_TASK", "2"),
            ],
        );
        let number: u32 = share.split('/').next().expect("a number").parse().expect("a number");
        let part = format!("out.csv.parts/{number:04}-of-{:04}.csv", count.parse::<u32>().expect("a number"));
        let expected = format!("collective sweep spec.toml -o {part} --resume --threads 2 --shard {share}\n");
        assert_eq!(said, expected);
    }
    let said =
        lines_of("sweep.hq.sh", &["--task", "spec.toml", "out.jsonl", "8", "2"], &[("HQ_TASK_ID", "8")]);
    let expected =
        "collective sweep spec.toml -o out.jsonl.parts/0008-of-0008.jsonl --resume --threads 2 --shard 8/8\n";
    assert_eq!(said, expected);
}
