//! What cannot be simulated, and what is said of it.

use std::fs;

use chakra_et::graph::{Op, Origin};
use chakra_et::workload::{CollectiveKind, WorkloadBuilder};
use chakra_et::{RankWriter, metadata, view};
use serde_json::json;

use super::steps::{self, write};
use super::support::{collective, fails, json, succeeds};

#[test]
fn arguments_that_do_not_go_together_are_named() {
    let directory = steps::directory();
    let at = directory.path();
    steps::training(at);
    let line = |arguments: &str, wanted: &str| {
        let stderr = fails(at, 2, arguments);
        assert!(stderr.contains(wanted), "{arguments}: wanted {wanted:?} in: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    };
    let run = "simulate --workload t/training --topology ring2.toml";
    for (argument, name) in [
        ("--ranks 2", "--ranks"),
        ("--set channels=2", "--set"),
        ("--size 1MiB", "--size"),
        ("--type f32", "--type"),
        ("--collective all_reduce", "--collective"),
        ("--loggp L=1ns,o=1ns,g=1ns,G=1ns/B", "--loggp"),
        ("--no-fold", "--no-fold"),
        ("--messages m.csv", "--messages"),
        ("--svg a.svg --plot path", "--svg"),
        ("--png a.png", "--png"),
        ("--plot path", "--plot"),
        ("allreduce_ring", "INPUT"),
    ] {
        line(&format!("{run} {argument}"), &format!("{name} does not go with --workload"));
    }
    let alone = "simulate allreduce_ring --topology ring2.toml --model fluid";
    for argument in [
        "--groups g.json",
        "--rules r.toml",
        "--memory 1ns,1GB/s",
        "--remote-memory 1ns,1GB/s",
        "--per-rank",
        "--per-group",
        "--dry-run",
        "--drop-dangling",
        "--replicate 2",
        "--join all",
        "--shard all",
        "--copy all",
        "--write-workload t/x",
    ] {
        let name = argument.split(' ').next().unwrap();
        line(&format!("{alone} {argument}"), &format!("{name} goes with --workload PREFIX"));
    }
    line("simulate --topology ring2.toml --model fluid", "nothing to simulate");
    line("simulate allreduce_ring --topology ring2.toml", "--model is needed");
    line("simulate --workload t/training", "--workload needs --topology FILE");
    line(&format!("{run} --model loggp"), "analytical, link-queue or fluid");
    line("simulate --workload t/none --topology ring2.toml", "t/none");
    line("simulate --workload t/training --topology none.toml", "none.toml");
    line(&format!("{run} --groups none.json"), "none.json");
    line(&format!("{run} --rules none.toml"), "none.toml");
    line(
        "simulate --workload t/training --topology ring4.toml",
        "the workload has 2 ranks but the topology has 4; `--placement identity`",
    );
    line(&format!("{run} --straggler 9=+1us"), "no rank 9");
    assert!(fails(at, 2, &format!("{run} --roofline 900")).contains("PEAK,BANDWIDTH"));
    assert!(fails(at, 2, &format!("{run} --memory fast")).contains("LATENCY,BANDWIDTH"));
    // A trace of a workload where one of an algorithm is expected.
    line("simulate t/training --topology ring2.toml --model fluid", "--workload simulates traces");
    let placed = "simulate --workload t/training --topology ring4.toml --placement identity --json";
    assert_eq!(json(&succeeds(at, placed))["time_ns"], json!(126_000));
}

#[test]
fn an_unknown_group_is_named_with_its_file() {
    let directory = steps::directory();
    let at = directory.path();
    steps::mixed(at);
    let stderr = fails(at, 2, "simulate --workload t/mixed --topology ring4.toml");
    assert!(stderr.contains("mixed.0.et") && stderr.contains("\"1\""), "{stderr}");
    fs::write(at.join("bad.json"), "{\"1\": 3}").unwrap();
    let stderr = fails(at, 2, "simulate --workload t/mixed --topology ring4.toml --groups bad.json");
    assert!(stderr.contains("bad.json"), "{stderr}");
}

#[test]
fn recorded_traces_may_depend_on_what_is_not_there() {
    let directory = steps::directory();
    let at = directory.path();
    let rank = || {
        let mut writer = RankWriter::new(&metadata::write(None, &[]).unwrap()).unwrap();
        let product = Op::Comp { micros: 7, ops: 0, bytes: 0 };
        writer.node(&view::node(3, "product", product, vec![1], Origin::default()).unwrap()).unwrap();
        writer.finish()
    };
    chakra_et::write_trace(at.join("t/recorded"), 2, |_| Ok::<_, std::convert::Infallible>(rank())).unwrap();
    let run = "simulate --workload t/recorded --topology ring2.toml";
    let stderr = fails(at, 2, run);
    assert!(stderr.contains("recorded.0.et") && stderr.contains("dependence on id 1"), "{stderr}");
    assert!(stderr.ends_with("; --drop-dangling leaves out such dependences\n"), "{stderr}");
    let output = collective(at, &format!("{run} --drop-dangling --json"));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("dropped-dependence") && stderr.contains("likewise in one more file"),
        "{stderr}"
    );
    assert_eq!(json(&String::from_utf8(output.stdout).unwrap())["time_ns"], json!(7_000));
}

#[test]
fn groups_in_opposite_order_are_a_deadlock_with_its_circle() {
    let directory = steps::directory();
    let at = directory.path();
    steps::opposite(at);
    let run = "simulate --workload t/opposite --topology ring2.toml --groups opposite.json";
    let stderr = fails(at, 1, run);
    assert!(stderr.starts_with("error: t/opposite: it cannot run:\n  deadlock: "), "{stderr}");
    assert!(stderr.contains("on rank 0") && stderr.contains("on rank 1"), "{stderr}");
    let output = collective(at, &format!("{run} --json"));
    assert_eq!(output.status.code(), Some(1));
    let report = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((&report["verdict"], &report["workload"]), (&json!("deadlock"), &json!("t/opposite")));
    assert_eq!(report["findings"][0]["level"], json!("error"));
    // A dry run finds it as well.
    assert!(fails(at, 1, &format!("{run} --dry-run")).contains("deadlock"));
    let output = collective(at, &format!("{run} --dry-run --json"));
    let report = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((output.status.code(), &report["verdict"]), (Some(1), &json!("deadlock")));
}

#[test]
fn what_only_astra_sim_cannot_finish_is_a_circle_step_by_step() {
    let directory = steps::directory();
    let at = directory.path();
    steps::independent(at);
    let run = "simulate --workload t/independent --topology ring2.toml --groups independent.json";
    succeeds(at, run);
    let stderr = fails(at, 1, &format!("{run} --compat astra-sim --timeline line.json"));
    assert!(stderr.starts_with("error: t/independent: deadlock at "), "{stderr}");
    assert!(stderr.contains("\n  rank 0, node ") && stderr.contains("\n  rank 1, node "), "{stderr}");
    let output = collective(at, &format!("{run} --compat astra-sim --json"));
    assert_eq!(output.status.code(), Some(1));
    let report = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((&report["verdict"], &report["is_deadlock"]), (&json!("stuck"), &json!(true)));
    assert!(report["waits"].as_array().unwrap().len() >= 2, "{report}");
    // What had happened until then is there to be looked at.
    json(&fs::read_to_string(at.join("line.json")).unwrap());
}

#[test]
fn ranks_that_disagree_are_a_verdict() {
    let directory = steps::directory();
    let at = directory.path();
    let mut step = WorkloadBuilder::new(2);
    for rank in 0..2 {
        let size = 1000 + u64::from(rank);
        step.collective(rank, "sum", CollectiveKind::AllReduce, size, 0, &[]).unwrap();
    }
    write(at, "disagree", step);
    let stderr = fails(at, 1, "simulate --workload t/disagree --topology ring2.toml");
    assert!(stderr.contains("collectives-differ") && stderr.contains("1001"), "{stderr}");
}

#[test]
fn a_timeline_that_cannot_be_written_is_named_and_nothing_is_left() {
    let directory = steps::directory();
    let at = directory.path();
    steps::training(at);
    let run = "simulate --workload t/training --topology ring2.toml --timeline";
    assert!(fails(at, 2, &format!("{run} nowhere/line.json")).contains("nowhere/line.json"));
    // A run that gives no result leaves no file.
    fails(at, 2, &format!("{run} line.json --straggler 9=+1us"));
    let left: Vec<_> = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("line.json")), "{left:?}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_workload_with_what_is_known() {
    use std::process::{Command, Stdio};
    use std::thread;
    use std::time::Duration;

    let directory = steps::directory();
    let at = directory.path();
    // Sums of two groups of 32 ranks at once, one after the other, in 1984 messages each: a second or more, unless it is ended.
    fs::write(at.join("ring.toml"), steps::topology("ring", 64)).unwrap();
    let mut step = WorkloadBuilder::new(64);
    let groups = [0, 1].map(|odd| step.group((1 + odd).to_string(), (0..32).map(|i| 2 * i + odd)).unwrap());
    for rank in 0..64 {
        let (mut last, group) = (Vec::new(), groups[rank as usize % 2]);
        for _ in 0..5000 {
            let kind = CollectiveKind::AllReduce;
            last =
                vec![step.collective(rank, "sum", kind, 1_000_000 + u64::from(group), group, &last).unwrap()];
        }
    }
    write(at, "long", step);
    for wait in (0..100).map(|round| 100 + 50 * round) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_collective"));
        let arguments = "simulate --workload t/long --groups long.json --topology ring.toml --json";
        command.current_dir(at).args(arguments.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        thread::sleep(Duration::from_millis(wait));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            // Before the command watches for it; or the run was over.
            None | Some(0) => continue,
            // Before there was anything to keep.
            Some(130) if stderr.is_empty() => continue,
            code => assert_eq!(code, Some(130), "{stderr}"),
        }
        let report = json(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(
            (&report["verdict"], &report["ranks"].as_array().unwrap().len()),
            (&json!("interrupted"), &64)
        );
        return;
    }
    panic!("the run was never met while it ran");
}

#[test]
fn a_timeline_replaces_nothing_that_is_read() {
    let directory = steps::directory();
    let at = directory.path();
    steps::training(at);
    let trace = fs::read(at.join("t/training.1.et")).unwrap();
    let run = "simulate --workload t/training --groups training.json --topology ring2.toml --timeline";
    for input in ["t/training.1.et", "t/../t/training.1.et", "training.json", "ring2.toml"] {
        let stderr = fails(at, 2, &format!("{run} {input}"));
        assert!(stderr.contains("would replace") && stderr.contains("which is read"), "{stderr}");
    }
    assert_eq!(fs::read(at.join("t/training.1.et")).unwrap(), trace);
}

#[test]
fn operations_of_an_algorithm_take_what_the_roofline_says() {
    let directory = steps::directory();
    let at = directory.path();
    // 1 µs of products on each rank, by 10^6 operations at 10^12 a second, then nothing.
    let file = |rank: u32| {
        let mut writer = RankWriter::new(&metadata::write(None, &[]).unwrap()).unwrap();
        let op = Op::Comp { micros: 0, ops: 1_000_000 * (1 + u64::from(rank)), bytes: 8 };
        writer.node(&view::node(0, "product", op, vec![], Origin::default()).unwrap()).unwrap();
        writer.finish()
    };
    fs::create_dir(at.join("a")).unwrap();
    (0..2).for_each(|rank| fs::write(at.join(format!("a/products.{rank}.et")), file(rank)).unwrap());
    let run = "simulate a/products --topology ring2.toml --model fluid --json";
    assert_eq!(json(&succeeds(at, run))["time_ns"], json!(0));
    let timed = json(&succeeds(at, &format!("{run} --roofline 1TFLOP/s,1TB/s")));
    assert_eq!(timed["time_ns"], json!(2000));
}
