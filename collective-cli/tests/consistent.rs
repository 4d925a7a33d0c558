//! What all subcommands have in common: exit codes, where what is printed, help, JSON, colours.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::{collective, fails, json, succeeds};
use tempfile::TempDir;

/// A folder with what the examples of the help need: the examples of the repository.
fn repository() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let to = directory.path().join("examples");
    fs::create_dir(&to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let is_data = path
            .extension()
            .is_some_and(|ending| ["toml", "yml", "xml", "json", "csv", "log"].iter().any(|e| ending == *e));
        if is_data {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
    directory
}

/// The subcommands, as the help lists them.
fn subcommands() -> Vec<String> {
    let at = tempfile::tempdir().unwrap();
    let help = succeeds(at.path(), "--help");
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\nOptions").next().unwrap();
    let names = list.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let names: Vec<String> = names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect();
    assert!(names.len() > 10 && names.contains(&"simulate".to_owned()), "{names:?}");
    names
}

/// The command lines in the help of the command, or of a subcommand.
fn examples(at: &Path, help: &str) -> Vec<String> {
    let text = succeeds(at, help);
    text.lines().filter_map(|line| line.strip_prefix("  collective ")).map(str::to_owned).collect()
}

#[test]
fn every_example_of_every_help_works() {
    let directory = repository();
    let at = directory.path();
    let mut lines = examples(at, "--help");
    assert!(lines.len() >= 3);
    for name in subcommands().iter().filter(|name| *name != "help") {
        let of_one = examples(at, &format!("{name} --help"));
        assert!(of_one.len() >= 2, "{name}: {of_one:?}");
        assert!(of_one.iter().any(|line| line.starts_with(name.as_str())), "{name}: {of_one:?}");
        lines.extend(of_one);
    }
    for line in lines {
        // What a shell does with the result is not what is shown here.
        let (arguments, file) = line.split_once(" > ").unwrap_or((&line, ""));
        let printed = succeeds(at, arguments);
        assert!(!printed.trim().is_empty(), "{line} printed nothing");
        if !file.is_empty() {
            fs::write(at.join(file), printed).unwrap();
        }
    }
}

#[test]
fn exit_codes_are_the_same_everywhere() {
    let directory = repository();
    let at = directory.path();
    fs::create_dir(at.join("folder")).unwrap();
    fs::create_dir(at.join("folder.xml")).unwrap();
    fs::create_dir(at.join("folder.toml")).unwrap();
    fs::write(at.join("bad.toml"), "[[dimension]\n").unwrap();
    fs::write(at.join("bad.yml"), "topology: [ Ring\n").unwrap();
    fs::write(at.join("bad.xml"), "<algo>\n<gpu").unwrap();
    fs::write(at.join("bad.et"), "\u{1}").unwrap();
    fs::write(at.join("bad.0.et"), "\u{1}").unwrap();
    let network = "--topology examples/cluster.toml --model fluid";
    for line in [
        // Arguments.
        "algorithms --no-such",
        "compile --no-such",
        "convert --no-such",
        "inspect --no-such",
        "verify --no-such",
        "run --no-such",
        "simulate --no-such",
        "compare --no-such",
        "sweep --no-such",
        "topology --no-such",
        "completions --no-such",
        "man --no-such",
        "no-such",
        "completions cobol",
        "algorithms --quiet --verbose",
        "algorithms --color sometimes",
        // Names and files that are not there.
        "algorithms nothing",
        "compile nothing --ranks 4 -o a",
        "convert nothing.xml -o a",
        "convert nothing -o a.jsonl",
        "inspect nothing",
        "verify nothing",
        "verify nothing.xml",
        "run nothing --ranks 4",
        "run nothing.xml",
        &format!("simulate nothing {network}"),
        &format!("simulate nothing.xml {network}"),
        "simulate allreduce_ring --topology nothing.toml --model fluid",
        "compare --collective all-reduce --topology nothing.toml",
        "compare --collective nothing --topology examples/cluster.toml",
        "sweep nothing.toml -o a.csv",
        "topology nothing.toml",
        "topology nothing.yml",
        // A folder instead of a file.
        "run folder.xml",
        &format!("simulate folder.xml {network}"),
        &format!("simulate folder {network}"),
        "simulate allreduce_ring --topology folder.toml --model fluid",
        "sweep folder.toml -o a.csv",
        "topology folder.toml",
        "verify folder",
        "inspect folder",
        // What cannot be written.
        "compile allreduce_ring --ranks 4 -o examples/ring.yml/a",
        "compile allreduce_ring --ranks 4 --to schedule -o nowhere/a",
        "compile allreduce_ring --ranks 4 --to schedule -o folder",
        "sweep examples/sweep.toml -o nowhere/a.csv",
        "topology examples/cluster.toml --svg nowhere/a.svg",
        &format!("simulate allreduce_ring {network} --messages nowhere/a.csv"),
        "man examples/ring.yml/a",
        // What makes no sense.
        "topology bad.toml",
        "topology bad.yml",
        "sweep bad.toml -o a.csv",
        "verify bad.xml",
        "run bad.xml",
        "convert bad.xml -o a",
        "inspect bad.et",
        "inspect bad",
        "convert bad -o a.jsonl",
        &format!("simulate bad {network}"),
        &format!("simulate bad.xml {network}"),
        "simulate allreduce_ring --topology bad.yml --model fluid",
        "compare --collective all-reduce --topology bad.toml",
    ] {
        let said = fails(at, 2, line);
        assert!(said.starts_with("error: "), "{line}: {said}");
    }
    // The answer is no.
    fs::write(at.join("wrong.xml"), WRONG).unwrap();
    for line in ["verify wrong.xml", "run wrong.xml", "convert wrong.xml -o a"] {
        assert!(fails(at, 1, line).starts_with("error: "), "{line}");
    }
}

/// An all-reduce of two ranks in which nobody sends anything.
const WRONG: &str = "<algo name='wrong' proto='Simple' nchannels='1' nchunksperloop='1' ngpus='2' coll='allreduce' inplace='1'>
<gpu id='0' i_chunks='1' o_chunks='0' s_chunks='0'/>
<gpu id='1' i_chunks='1' o_chunks='0' s_chunks='0'/>
</algo>
";

#[cfg(unix)]
#[test]
fn nobody_who_reads_is_no_failure() {
    let directory = repository();
    for line in [
        "algorithms",
        "--help",
        "simulate --help",
        "compile allreduce_ring --ranks 16 --to schedule",
        "verify allreduce_ring --ranks 4",
        "run allreduce_ring --ranks 4",
        "simulate allreduce_ring --topology examples/cluster.toml --model fluid",
        "compare --collective barrier --topology examples/cluster.toml --sizes 0",
        "topology examples/cluster.toml --json",
        "completions bash",
        "man",
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_collective"));
        command.current_dir(directory.path()).args(line.split_whitespace());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.as_ref()), (Some(0), ""), "{line}");
    }
}

#[test]
fn what_is_piped_has_no_colours_unless_they_are_asked_for() {
    let directory = repository();
    let at = directory.path();
    fs::write(at.join("wrong.xml"), WRONG).unwrap();
    let run = |line: &str, set: Option<(&str, &str)>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_collective"));
        command
            .current_dir(at)
            .args(line.split_whitespace())
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE");
        let output = command.envs(set).output().unwrap();
        [output.stdout, output.stderr].map(|bytes| bytes.contains(&0x1b))
    };
    for line in ["verify wrong.xml", "run wrong.xml", "simulate --help", "nothing", "topology nothing.toml"] {
        assert_eq!(run(line, None), [false, false], "{line}");
        assert_eq!(
            run(&format!("{line} --color never"), Some(("CLICOLOR_FORCE", "1"))),
            [false, false],
            "{line}"
        );
    }
    assert_eq!(run("verify wrong.xml --color always", None), [true, true]);
    assert_eq!(run("verify wrong.xml", Some(("CLICOLOR_FORCE", "1"))), [true, true]);
    assert_eq!(run("--color always simulate --help", Some(("NO_COLOR", "1"))), [true, false]);
    assert_eq!(run("nothing --color=always", None), [false, true]);
    // JSON never has any.
    assert_eq!(run("verify wrong.xml --json --color always", None), [false, true]);
}

#[test]
fn quiet_says_nothing_beside_the_result_and_verbose_all() {
    let directory = repository();
    let at = directory.path();
    let line = "simulate allreduce_ring --topology examples/ring.yml --model analytical";
    let usual = succeeds(at, line);
    assert!(usual.contains("note: "), "{usual}");
    let quiet = succeeds(at, &format!("{line} -q"));
    assert!(!quiet.contains("note: ") && usual.starts_with(quiet.trim_end()), "{quiet}");
    let output = collective(at, &format!("--verbose {line}"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), usual, "the result is the same");
    for wanted in ["reading examples/ring.yml", "model analytical", "astra-sim conventions", "simulating: "] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert!(said.lines().all(|line| line.starts_with("info: ")), "{said}");
    // A warning is one to those who want it.
    fs::write(
        at.join("odd.yml"),
        "colour: [ 1 ]\ntopology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n",
    )
    .unwrap();
    let warned = |line: &str| String::from_utf8(collective(at, line).stderr).unwrap();
    assert!(warned("topology odd.yml").starts_with("warning: odd.yml: line 1: "));
    assert_eq!(warned("topology odd.yml --quiet"), "");
}

#[test]
fn what_was_written_is_said_as_json() {
    let directory = repository();
    let at = directory.path();
    let files = |line: &str| {
        let said = json(&succeeds(at, line));
        let one = said.get(0).unwrap_or(&said).clone();
        let files: Vec<String> = serde_json::from_value(one["files"].clone()).unwrap();
        files.iter().for_each(|file| assert!(at.join(file).is_file(), "{line}: {file}"));
        files
    };
    assert_eq!(files("compile allreduce_ring --ranks 2 -o ring --json"), ["ring.0.et", "ring.1.et"]);
    assert_eq!(files("compile allreduce_ring --ranks 2 --to msccl-xml -o ring.xml --json"), ["ring.xml"]);
    assert_eq!(files("convert ring ring.jsonl --json"), ["ring.0.jsonl", "ring.1.jsonl"]);
    assert_eq!(files("convert ring.0.et one.et.gz --json"), ["one.et.gz"]);
    assert_eq!(files("convert ring.xml -o again --json"), ["again.0.et", "again.1.et"]);
    assert_eq!(files("convert ring -o again.xml --json"), ["again.xml"]);
    assert_eq!(files("man pages --json").len(), subcommands().len());
    let text = json(&succeeds(at, "compile allreduce_ring --ranks 2 --to trace --json"));
    assert_eq!(
        (&text["to"], text["text"].as_str().map(|text| text.contains("reduce r1"))),
        (&Value::from("trace"), Some(true))
    );
}

#[test]
fn help_teaches() {
    let directory = repository();
    let at = directory.path();
    assert!(fails(at, 2, "").contains("Usage: collective"));
    assert!(fails(at, 2, "simulat").contains("'simulate'"));
    assert!(fails(at, 2, "simulate --topologie x").contains("'--topology'"));
    assert!(fails(at, 2, "compile alreduce_ring --ranks 4").contains("did you mean allreduce_ring"));
    assert!(succeeds(at, "help simulate").contains("Examples:\n"));
    let help = succeeds(at, "simulate --help");
    for heading in ["Algorithm and data:", "Network:", "Output:", "Workloads:", "Global options:"] {
        assert!(help.contains(heading), "{heading}");
    }
    // A unit that is not known is refused with those that are.
    let said =
        fails(at, 2, "simulate allreduce_ring --topology examples/cluster.toml --model fluid --size 64kibi");
    assert!(said.contains("KiB, MiB"), "{said}");
    let said = fails(at, 2, "compile allreduce_ring --ranks 4 --reduce-rate 50 -o a");
    assert!(said.contains("GB/s"), "{said}");
}

#[test]
fn units_go_with_and_without_a_space() {
    let directory = repository();
    let run = |size: &str, rate: &str, late: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_collective"));
        command.current_dir(directory.path()).args([
            "simulate",
            "allreduce_ring",
            "--model",
            "fluid",
            "--json",
        ]);
        command.args(["--topology", "examples/cluster.toml", "--size", size, "--reduce-bandwidth", rate]);
        let output = command.args(["--send-overhead", late]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        json(&String::from_utf8(output.stdout).unwrap())
    };
    let one = run("64KiB", "400Gb/s", "1.5us");
    for other in [run("64 KiB", "400 Gb/s", "1.5 us"), run("65536", "50 GB/s", "1500ns")] {
        assert_eq!(one, other);
    }
}

#[cfg(unix)]
#[test]
fn completions_and_pages_know_subcommands_and_algorithms() {
    let directory = repository();
    let at = directory.path();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = succeeds(at, &format!("completions {shell}"));
        assert!(script.contains("simulate") && script.contains("critical-path"), "{shell}");
        // The scripts of the others complete no values.
        let has_values = ["bash", "zsh", "fish"].contains(&shell);
        assert!(!has_values || script.contains("allreduce_ring"), "{shell}");
    }
    // Where there is a bash, it takes the script, and offers what there is.
    let script = succeeds(at, "completions bash");
    fs::write(at.join("collective.bash"), script).unwrap();
    let line = "source ./collective.bash && COMP_WORDS=(collective verify allreduce_ri) COMP_CWORD=2 && \
                _collective collective allreduce_ri verify && echo ${COMPREPLY[@]}";
    if let Ok(output) = Command::new("bash").current_dir(at).args(["-c", line]).output() {
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(said.trim(), "allreduce_ring", "{}", String::from_utf8_lossy(&output.stderr));
    }
    succeeds(at, "man pages");
    let page = fs::read_to_string(at.join("pages/collective-simulate.1")).unwrap();
    assert!(page.contains(".TH collective-simulate 1") && page.contains("Examples:"), "{page}");
    assert!(succeeds(at, "man").contains(".TH collective 1"));
}
