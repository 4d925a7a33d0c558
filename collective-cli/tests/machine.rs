//! As somebody with a machine I want to know how long its thread blocks need, with which protocol, and which of its figures decide.

mod support;

use std::fs;
use std::process::Command;

use chakra_et::graph::{Op, Origin};
use chakra_et::{RankWriter, metadata, view};
use serde_json::{Value, json};
use support::{fails, json, succeeds};

const PAIR: &str =
    "[[dimension]]\nkind = \"fully-connected\"\nsize = 2\nbandwidth = \"100 GB/s\"\nlatency = \"1 us\"\n";

/// Simple starts late and copies fast, LL the other way round.
const MACHINE: &str = "name = \"two\"\ndescription = \"two ranks\"\nsources = [\"this test\"]\n\n\
    [protocol.simple]\nlaunch = \"5 us\"\ncopy = \"20 GB/s\"\n\n\
    [protocol.ll]\nlaunch = \"1 us\"\ncopy = \"2 GB/s\"\n";

fn at() -> tempfile::TempDir {
    let at = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| fs::write(at.path().join(name), text).expect("a file");
    write("pair.toml", PAIR);
    write("bare.toml", MACHINE);
    // The same with a topology of its own.
    write("two.toml", &format!("{MACHINE}\n[topology]\n{}", PAIR.replace("[[", "[[topology.")));
    at
}

/// One message from rank 0 to rank 1.
const ONE: &str = "broadcast_chain --set segments=1 --size 2MB --type i8";

#[test]
fn a_message_takes_what_its_thread_blocks_take() {
    let at = at();
    let time = |arguments: &str| {
        json(&succeeds(at.path(), &format!("simulate {arguments} --json")))["time_ns"].clone()
    };
    // The launch, 2 MB at 20 GB/s into the slot, the link's latency, and as long out of the slot.
    assert_eq!(time(&format!("{ONE} --machine two.toml")), json!(206_000));
    assert_eq!(
        time(&format!("{ONE} --model machine --machine bare.toml --topology pair.toml")),
        json!(206_000)
    );
    // Two thread blocks have half each.
    assert_eq!(time(&format!("{ONE} --machine two.toml --instances 2")), json!(106_000));
    assert_eq!(time(&format!("{ONE} --machine two.toml --protocol ll")), json!(2_002_000));
    // Files say their protocol, until another one is stated.
    succeeds(
        at.path(),
        "compile broadcast_chain --ranks 2 --set segments=1 --protocol LL --to msccl-xml -o ll.xml",
    );
    assert!(fs::read_to_string(at.path().join("ll.xml")).expect("XML").contains("proto=\"LL\""));
    assert_eq!(time("ll.xml --size 2MB --type i8 --machine two.toml"), json!(2_002_000));
    assert_eq!(time("ll.xml --size 2MB --type i8 --machine two.toml --protocol simple"), json!(206_000));
    succeeds(at.path(), &format!("compile {ONE} --ranks 2 --protocol ll -o ll"));
    assert_eq!(time("ll --machine two.toml"), json!(2_002_000));
    assert_eq!(time("ll --machine two.toml --protocol simple"), json!(206_000));
}

#[test]
fn the_figures_that_matter_are_said() {
    let at = at();
    let said = json(&succeeds(at.path(), &format!("simulate {ONE} --machine two.toml --json")));
    assert_eq!((&said["machine"], &said["protocol"]), (&json!("two.toml"), &json!("Simple")));
    let of = |name: &str| {
        let figures = said["figures"].as_array().expect("figures");
        let found = figures.iter().find(|figure| figure["figure"] == name).expect(name);
        found["elasticity"].as_f64().expect("an elasticity")
    };
    // Of 206 us 200 go with the copying and 5 with the launch.
    assert!(
        (of("Simple.copy") + 200.0 / 206.0).abs() < 1e-3 && (of("Simple.launch") - 5.0 / 206.0).abs() < 1e-3
    );
    assert!(said["figures"][0]["figure"] == "Simple.copy", "{said}");
    let text = succeeds(at.path(), &format!("simulate {ONE} --machine two.toml"));
    assert!(text.contains("(machine two.toml, protocol Simple, under exact conventions)"), "{text}");
    assert!(text.contains("time by figure: copy 97 %, launch 2 %"), "{text}");
}

#[test]
fn the_bytes_are_the_same_for_any_number_of_threads() {
    let at = at();
    let run = |line: &str, threads: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_collective"));
        command.current_dir(at.path()).args(line.split_whitespace()).env("RAYON_NUM_THREADS", threads);
        command.output().expect("the command").stdout
    };
    for line in [
        "simulate allreduce_ring --machine mi300x --size 64KiB --json",
        "compare --collective broadcast --machine two.toml --sizes 4KB..4MB:10 --json",
    ] {
        let one = run(line, "1");
        assert!(!one.is_empty() && ["2", "3", "8"].iter().all(|threads| run(line, threads) == one), "{line}");
    }
}

#[test]
fn ll_wins_small_sizes_and_simple_large_ones() {
    let at = at();
    let command = "compare --collective broadcast --machine two.toml --sizes 4KB,2MB --type i8 --algorithm broadcast_chain \
                   --protocols simple,ll --instances 1 --json";
    let said = json(&succeeds(at.path(), command));
    // 1 + 2 + 1 + 2 us, where Simple has 5 + 0.2 + 1 + 0.2.
    let winner = |index: usize| said["fastest"][index]["algorithm"].as_str().expect("a name");
    assert!(winner(0).contains("LL") && !winner(1).contains("LL"), "{said}");
    assert_eq!(
        (&said["model"], &said["machine"], &said["order"]),
        (&json!("machine"), &json!("two.toml"), &json!("threadblock"))
    );
    // What is not said is tried: the machine's protocols, and more thread blocks.
    let text = succeeds(
        at.path(),
        "compare --collective broadcast --machine two.toml --sizes 4KB,2MB --algorithm broadcast_chain",
    );
    for part in ["LL, instances=1", "Simple, instances=4", "(machine two.toml under exact conventions)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("LL128"), "the machine does not have it: {text}");
}

#[test]
fn a_sweep_has_machines_and_protocols_as_axes() {
    let at = at();
    let sweep = "algorithms = [{ name = 'broadcast_chain', set = { segments = 1 } }]\ntype = 'i8'\nsizes = '2MB'\nchoices = 'first'\n\
                 models = ['fluid', 'machine']\nmachines = ['bare.toml']\nprotocols = ['simple', 'll', 'll128']\n\
                 instances = [1, 2]\ntopologies = 'pair.toml'\n";
    fs::write(at.path().join("sweep.toml"), sweep).expect("a file");
    succeeds(at.path(), "sweep sweep.toml -o one.jsonl --threads 1");
    succeeds(at.path(), "sweep sweep.toml -o two.jsonl --threads 2");
    let text = fs::read_to_string(at.path().join("one.jsonl")).expect("a table");
    assert_eq!(text, fs::read_to_string(at.path().join("two.jsonl")).expect("a table"));
    let rows: Vec<Value> = text.lines().map(json).collect();
    assert_eq!(rows.len(), 12);
    let of = |model: &str, protocol: &str, instances: u64| {
        let same = |row: &&Value| {
            row["model"] == model && row["protocol"] == protocol && row["instances"] == instances
        };
        rows.iter().find(same).expect("a row").clone()
    };
    assert_eq!(of("machine", "Simple", 1)["time_ns"], 206_000);
    assert_eq!(of("machine", "Simple", 2)["time_ns"], 106_000);
    assert_eq!(of("machine", "LL", 1)["time_ns"], 2_002_000);
    assert_eq!(of("machine", "LL", 1)["machine"], "two");
    // 2 MB at 100 GB/s and a microsecond, whatever the protocol.
    assert_eq!(of("fluid", "LL", 1)["time_ns"], of("fluid", "Simple", 1)["time_ns"]);
    assert_eq!(
        (&of("fluid", "LL", 1)["time_ns"], &of("fluid", "LL", 1)["machine"]),
        (&json!(21_000), &Value::Null)
    );
    let none = of("machine", "LL128", 1);
    assert_eq!(none["status"], "simulation");
    assert!(
        none["reason"].as_str().is_some_and(|why| why.contains("LL128") && why.contains("Simple, LL")),
        "{none}"
    );
    // And what is drawn of it tells them apart.
    succeeds(at.path(), "plot one.jsonl -o lines.svg --where model=machine");
    // Of its own topology, and what is wrong in the file.
    fs::write(
        at.path().join("own.toml"),
        "algorithms = 'broadcast_chain'\nsizes = 64\nmachines = 'two.toml'\n",
    )
    .expect("a file");
    assert!(
        succeeds(at.path(), "sweep own.toml --best").contains("on two (machine two under exact conventions)")
    );
    for (text, wanted) in [
        (
            "algorithms = 'broadcast_chain'\nsizes = 64\nmachines = 'three'",
            "sweep.toml:3: machines = 'three': expected machines: a100",
        ),
        (
            "algorithms = 'broadcast_chain'\nsizes = 64\nmachines = 'bare.toml'",
            "sweep.toml:3: the machine two has no topology",
        ),
        ("algorithms = 'broadcast_chain'\nsizes = 64\nmodels = 'machine'", "needs machines"),
        (
            "algorithms = 'broadcast_chain'\nsizes = 64\nmodels = 'fluid'\nmachines = 'two.toml'",
            "sweep.toml:4: machines are for the model machine",
        ),
        (
            "algorithms = 'broadcast_chain'\nsizes = 64\nmachines = 'two.toml'\norder = 'dataflow'",
            "sweep.toml:4: the model machine executes thread blocks",
        ),
        ("algorithms = 'broadcast_chain'\nsizes = 64\nmachines = 'pair.toml'", "sweep.toml:3: pair.toml:1: "),
        (
            "algorithms = 'broadcast_chain'\nsizes = 64\nmachines = 'two.toml'\nprotocols = 'LL64'",
            "sweep.toml:4: protocols = 'LL64'",
        ),
        (
            "algorithms = 'broadcast_chain'\nsizes = 64\nmachines = ['two.toml',\n'bare.toml']",
            "sweep.toml:4: there are two machines called two",
        ),
    ] {
        fs::write(at.path().join("sweep.toml"), text).expect("a file");
        let said = fails(at.path(), 2, "sweep sweep.toml --best");
        assert!(said.contains(wanted), "{text}: {said}");
    }
}

#[test]
fn what_a_machine_cannot_do_is_said() {
    let at = at();
    fs::write(at.path().join("four.toml"), PAIR.replace("size = 2", "size = 4")).expect("a file");
    for (arguments, wanted) in [
        (format!("{ONE} --model machine"), "--machine MACHINE: a TOML file, or one that is built in: a100"),
        (format!("{ONE} --machine mi300"), "did you mean mi300x?"),
        (format!("{ONE} --machine nothing.toml"), "nothing.toml"),
        (format!("{ONE} --machine two.toml --model fluid"), "--machine is for --model machine, not fluid"),
        (
            format!("{ONE} --machine two.toml --protocol ll128"),
            "the machine two has no figures for the protocol LL128: it has Simple, LL",
        ),
        (
            format!("{ONE} --machine bare.toml --ranks 2"),
            "the machine two has no topology of its own: expected --topology FILE",
        ),
        (
            format!("{ONE} --machine two.toml --ranks 3"),
            "on the topology of two.toml: the graph has 3 ranks but the topology has 2",
        ),
        (
            format!("{ONE} --machine two.toml --topology four.toml --ranks 2"),
            "on four.toml: the graph has 2 ranks but the topology has 4",
        ),
        (format!("{ONE} --machine two.toml --critical-path"), "--critical-path: the model machine has none"),
        (
            format!("{ONE} --machine two.toml --plot path --svg a.svg"),
            "--plot path: the model machine has no critical path",
        ),
        (
            format!("{ONE} --machine two.toml --order dataflow"),
            "--order dataflow: the model machine executes thread blocks",
        ),
        (format!("{ONE} --machine two.toml --send-overhead 1us"), "the machine has those of its protocols"),
        (format!("{ONE} --machine two.toml --compat astra-sim"), "`--compat astra-sim`"),
        (format!("{ONE} --machine two.toml --conventions astra-sim"), "exact"),
        (format!("{ONE} --machine two.toml --loggp L=1us"), "--loggp is for --model loggp, not machine"),
        (
            format!("{ONE} --model fluid --topology pair.toml --figures"),
            "--figures is for --model machine, not fluid",
        ),
        ("--workload step --machine two.toml".to_owned(), "--machine does not go with --workload"),
        ("--workload step --model machine".to_owned(), "--workload takes analytical, link-queue or fluid"),
    ] {
        let said = fails(at.path(), 2, &format!("simulate {arguments}"));
        assert!(said.contains(wanted) && said.starts_with("error: "), "{arguments}: {said}");
    }
    let said = fails(at.path(), 2, "compare --collective broadcast --machine two.toml --order dataflow");
    assert!(said.contains("--order threadblock"), "{said}");
    // Ranks that a larger topology leaves free.
    succeeds(
        at.path(),
        &format!("simulate {ONE} --machine two.toml --topology four.toml --ranks 2 --placement identity"),
    );
}

#[test]
fn traces_of_messages_alone_have_no_thread_blocks() {
    let at = at();
    let rank = |rank: u32| {
        let mut writer = RankWriter::new(&metadata::write(None, &[]).expect("metadata")).expect("a writer");
        let op = if rank == 0 {
            Op::Send { dst: 1, tag: 0, bytes: 4096 }
        } else {
            Op::Recv { src: 0, tag: 0, bytes: 4096 }
        };
        writer.node(&view::node(0, "COMM", op, vec![], Origin::default()).expect("a node")).expect("a node");
        writer.finish()
    };
    let all = |r: usize| Ok::<_, std::convert::Infallible>(rank(r as u32));
    chakra_et::write_trace(at.path().join("foreign"), 2, all).expect("traces");
    let said = fails(at.path(), 2, "simulate foreign --machine two.toml");
    assert!(said.contains("foreign: rank 0, node 0 states no thread block and step"), "{said}");
    let said = fails(at.path(), 2, "simulate foreign --machine two.toml --protocol ll");
    assert!(said.contains("--protocol is for traces of a compiled algorithm"), "{said}");
}

#[test]
fn pictures_and_pages_show_a_machine() {
    let at = at();
    succeeds(
        at.path(),
        &format!("simulate {ONE} --machine two.toml --svg blocks.svg --timeline blocks.json"),
    );
    let svg = fs::read_to_string(at.path().join("blocks.svg")).expect("a picture");
    assert!(svg.contains("machine two.toml, protocol Simple") && !svg.contains("critical path"), "{svg}");
    succeeds(at.path(), &format!("report page.html {ONE} --machine two.toml --sizes 4KB,4MB"));
    let page = fs::read_to_string(at.path().join("page.html")).expect("a page");
    assert!(page.contains("machine two.toml, exact conventions") && !page.contains("id=\"path\""));
    let said = fails(at.path(), 2, &format!("report page.html {ONE} --model machine --topology pair.toml"));
    assert!(said.contains("--machine MACHINE"), "{said}");
}

#[test]
fn machines_are_listed_and_their_files_can_be_changed() {
    let at = at();
    let list = succeeds(at.path(), "machines");
    assert!(
        list.contains("mi300x") && list.contains("Simple, LL, LL128") && list.contains("sources"),
        "{list}"
    );
    let all = json(&succeeds(at.path(), "machines --json"));
    let names: Vec<&str> =
        all.as_array().expect("a list").iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(names.contains(&"mi300x") && names.contains(&"nccl-hopper"), "{all}");
    // A copy is the same machine, and twice the launch takes as much longer.
    let file = succeeds(at.path(), "machines mi300x");
    fs::write(at.path().join("mine.toml"), &file).expect("a file");
    let time = |machine: &str| {
        let said =
            succeeds(at.path(), &format!("simulate alltoall_direct --machine {machine} --size 64KiB --json"));
        json(&said)["time_ns"].as_f64().expect("a time")
    };
    assert_eq!(time("mine.toml"), time("mi300x"));
    let one = json(&succeeds(at.path(), "machines mine.toml --json"));
    assert_eq!((&one["ranks"], one["file"].as_str().map(str::trim_end)), (&json!(8), Some(file.trim_end())));
    assert!(fails(at.path(), 2, "machines nothing").contains("there is no machine \"nothing\""));
}
