//! The system file: what is wrong in it, and what of it has no effect.

use super::*;

/// What is wrong with a file of these keys.
fn wrong(text: &str) -> String {
    AstraSystem::parse(text, "system.json", Path::new("/nowhere")).unwrap_err().to_string()
}

#[test]
fn what_is_wrong_is_one_line_with_file_key_and_what_was_expected() {
    let with = |keys: &str| wrong(&format!("{{\"preferred-dataset-splits\": 1, {keys}}}"));
    assert!(wrong("{").starts_with("system.json:1: EOF while parsing"), "{}", wrong("{"));
    assert_eq!(wrong("[]"), "system.json: expected a JSON object of keys and values");
    assert_eq!(
        wrong("{}"),
        "system.json: preferred-dataset-splits: is not stated: expected 1, as without it ASTRA-sim divides by zero"
    );
    let zero = wrong("{\"preferred-dataset-splits\": 0}");
    assert_eq!(zero, "system.json:1: preferred-dataset-splits = 0: expected a whole number, at least 1");
    let cases = [
        ("\"all-reduce-implementation\": []", "all-reduce-implementation = []: expected at least one name"),
        (
            "\"all-reduce-implementation\": [\"tree\"]",
            "all-reduce-implementation = [\"tree\"]: expected ring, oneRing, direct, ",
        ),
        (
            "\"all-to-all-implementation\": [\"directx\"]",
            "all-to-all-implementation = [\"directx\"]: expected ring, ",
        ),
        (
            "\"all-to-all-implementation\": [\"halvingDoubling\"]",
            "ASTRA-sim has no halving and doubling for it",
        ),
        (
            "\"all-gather-implementation\": [\"doubleBinaryTree\"]",
            "the double binary tree is an all-reduce only",
        ),
        ("\"all-gather-implementation\": [7]", "all-gather-implementation = [7]: expected a list of names"),
        ("\"all-gather-implementation-custom\": [\"a\", \"b\"]", "expected exactly one prefix of traces"),
        (
            "\"all-gather-implementation-custom\": [\"a\"]",
            "system.json:1: all-gather-implementation-custom: ",
        ),
        ("\"per-node-custom-implementation\": [\"a\"]", "expected the name of a YAML file"),
        (
            "\"per-node-custom-implementation\": \"a.yaml\"",
            "per-node-custom-implementation = \"a.yaml\": /nowhere/a.yaml: ",
        ),
        ("\"roofline-enabled\": true", "roofline-enabled = true: expected 0 or 1"),
        ("\"roofline-enabled\": 1, \"peak-perf\": 900", "roofline-enabled = 1: needs local-mem-bw, in GB/s"),
        (
            "\"roofline-enabled\": 1, \"local-mem-bw\": 900",
            "roofline-enabled = 1: needs peak-perf, in TFLOP/s",
        ),
        ("\"peak-perf\": \"900\"", "peak-perf = \"900\": expected a number above 0"),
        ("\"local-mem-bw\": -1", "local-mem-bw = -1: expected a number above 0"),
        ("\"replay-only\": 1", "replay-only = 1: expected 0"),
    ];
    for (keys, expected) in cases {
        let error = with(keys);
        assert!(error.starts_with("system.json:1: ") && error.contains(expected), "{keys}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn custom_traces_need_one_split() {
    let directory = Directory::new("splits");
    let ring = collective::algorithms::find("allreduce_ring").unwrap().compile(true, &[2, 1]).unwrap();
    directory.traces("ring", &ring, 64, ReduceRate::Free);
    let text = "{\"preferred-dataset-splits\": 4, \"all-reduce-implementation-custom\": [\"ring\"]}";
    let error = AstraSystem::parse(text, "system.json", &directory.0).unwrap_err().to_string();
    assert!(error.contains("preferred-dataset-splits = 4: expected 1"), "{error}");
    // A map that is none.
    directory.file("nodes.yaml", "1: ring\nring: 2\n");
    let error =
        directory.parse("\"per-node-custom-implementation\": \"nodes.yaml\"").unwrap_err().to_string();
    assert!(error.contains("nodes.yaml:2: expected a map of nodes to prefixes"), "{error}");
}

#[test]
fn what_has_no_effect_is_named() {
    let system = native(&format!(
        "{RINGS}, \"endpoint-delay\": 10, \"scheduling-policy\": \"LIFO\", \"all-reduce-implementation-chakra\": [\"x\"], \
         \"pref-dataset-splits\": 4, \"colour\": \"red\""
    ));
    let notes = system.notes();
    let said = |begin: &str, part: &str| {
        let found = notes.iter().any(|note| note.starts_with(begin) && note.contains(part));
        assert!(found, "{begin} … {part}: {notes:#?}");
    };
    said("system.json: endpoint-delay = 10: has no effect here", "beside its message");
    said("system.json: scheduling-policy = \"LIFO\": has no effect here", "goes first");
    said(
        "system.json: all-reduce-implementation-chakra = [\"x\"]: ",
        "expected all-reduce-implementation-custom",
    );
    said("system.json: pref-dataset-splits = 4: ", "did you mean preferred-dataset-splits?");
    said("system.json: colour = \"red\": ASTRA-sim knows no such key, and ignores it", "");
    // Several dimensions, and several chunks of a native collective.
    let text = "{\"preferred-dataset-splits\": 4, \"all-reduce-implementation\": [\"direct8\", \"ring\"]}";
    let notes = AstraSystem::parse(text, "system.json", Path::new("")).unwrap().notes();
    let all = notes.join("\n");
    assert!(all.contains("goes through 2 dimensions") && all.contains("a window of 8 messages"), "{all}");
    assert!(all.contains("preferred-dataset-splits = 4: into so many chunks"), "{all}");
}

#[test]
fn a_collective_without_an_implementation_is_refused_and_one_that_astra_sim_does_not_know_is_noted() {
    let system = native("\"all-reduce-implementation\": [\"ring\"]");
    let error = run("Ring", &one(CollectiveKind::AllGather, 4, 64), &system).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "system.json: neither all-gather-implementation nor all-gather-implementation-custom is stated"
        ),
        "{error}"
    );
    run("Ring", &one(CollectiveKind::Broadcast, 4, 64), &system).unwrap();
    let notes = system.notes();
    assert!(notes[0].contains("in ASTRA-sim broadcast is a pause of the node's duration"), "{notes:?}");
}

#[test]
fn native_names_are_algorithms_of_the_library() {
    use CollectiveKind::{AllGather, AllReduce, AllToAll, ReduceScatter};
    use collective::sim::workload::Use;
    let group = chakra_et::workload::Group { name: String::new(), members: (0..8).collect() };
    let cases = [
        (AllReduce, "all-reduce", "oneRing", "allreduce_ring"),
        (AllReduce, "all-reduce", "direct", "allreduce_allpairs_two_shot"),
        (AllReduce, "all-reduce", "halvingDoubling", "allreduce_recursive_halving_doubling"),
        (AllReduce, "all-reduce", "doubleBinaryTree", "allreduce_double_binary_tree"),
        (AllGather, "all-gather", "oneHalvingDoubling", "allgather_recursive_doubling"),
        (AllGather, "all-gather", "oneDirect4", "allgather_allpairs"),
        (ReduceScatter, "reduce-scatter", "halvingDoubling", "reduce_scatter_recursive_halving"),
        (ReduceScatter, "reduce-scatter", "ring", "reduce_scatter_ring"),
        (AllToAll, "all-to-all", "direct", "alltoall_direct"),
    ];
    for (kind, word, name, expected) in cases {
        let system = native(&format!("\"{word}-implementation\": [\"{name}\"]"));
        let choice = system.algorithm(&Use::new(kind, 1 << 20, 0, &group)).unwrap();
        assert!(choice.algorithm.name().starts_with(expected), "{name}: {}", choice.algorithm.name());
    }
}
