//! Topology files as users meet them: what is in one, routes, pictures, and where ranks sit.

mod support;

use std::fs;

use serde_json::json;
use support::{fails, json, succeeds, with_ring};

/// Rank 3 of node 0 to rank 4 of node 1 in a product of switches.
const CLUSTER: &str = "\
[[dimension]]\nkind = \"switch\"\nsize = 8\nbandwidth = \"400 GB/s\"\nlatency = \"500 ns\"\n\
[[dimension]]\nkind = \"leaf-spine\"\nleaves = 2\nhosts = 2\nspines = 1\nbandwidth = \"50 GB/s\"\nlatency = \"1 us\"\n";

#[test]
fn the_command_says_what_a_file_declares() {
    let directory = with_ring();
    let at = directory.path();
    fs::write(at.join("cluster.toml"), CLUSTER).unwrap();
    let text = succeeds(at, "topology cluster.toml");
    for line in [
        "cluster.toml: Switch of 8 × LeafSpine of 2 leaves with 2 hosts, 1 spines",
        // 4 switches of nodes, 8 trees of 3.
        "switches and cards             28",
        "longest route              6 hops",
        "a rank sends             450 GB/s",
        "note: leaves to spines oversubscribed 2:1, ECMP, seed 0",
    ] {
        assert!(text.contains(line), "wanted {line:?} in\n{text}");
    }
    let report = json(&succeeds(at, "topology cluster.toml --json"));
    assert_eq!(report["ranks"], json!(32));
    // 64 of the nodes; 8 · (2 · 4 + 2 · 2) of the trees.
    assert_eq!(report["links"], json!(64 + 96));
    assert_eq!(report["link_groups"][2]["what"], json!("leaf to spine link"));
    assert_eq!(report["link_groups"][2]["count"], json!(32));
    // Half of the leaves of each of 8 trees: one up-link of 50 GB/s.
    assert_eq!(report["halving_gb_per_s"], json!(400.0));
    assert_eq!(report["warnings"], json!([]));
    // 1 GB/s of ASTRA-sim is 2^30 B/s.
    let ring = json(&succeeds(at, "topology ring.yml --json"));
    assert_eq!(ring["link_groups"][0]["bandwidth_gb_per_s"], json!(53.687_091_2));
}

#[test]
fn kinds_of_links_are_shown_where_one_is_said() {
    let directory = with_ring();
    let at = directory.path();
    fs::write(at.join("cluster.toml"), CLUSTER).unwrap();
    for options in ["", " --route 3 12"] {
        assert!(!succeeds(at, &format!("topology cluster.toml{options}")).contains("kind"), "{options}");
    }
    let kinds = |path: &str, list: &str| {
        let report = json(&succeeds(at, &format!("topology {path} --route 3 12 --json")));
        report[list].as_array().unwrap().iter().map(|link| link["kind"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(kinds("cluster.toml", "link_groups"), ["plain"; 3]);
    let said = CLUSTER.replacen("size = 8", "size = 8\nlink = \"nvlink\"", 1);
    let said = said.replace("spines = 1", "spines = 1\nlink = \"network\"");
    fs::write(at.join("said.toml"), said).unwrap();
    assert_eq!(kinds("said.toml", "link_groups"), ["nvlink", "network", "network"]);
    assert_eq!(kinds("said.toml", "route"), ["nvlink", "nvlink", "network", "network"]);
    let text = succeeds(at, "topology said.toml");
    let row = text.lines().find(|line| line.contains("leaf to spine link")).unwrap();
    assert!(row.ends_with("network"), "{text}");
    let text = succeeds(at, "topology said.toml --route 3 12");
    let row = text.lines().find(|line| line.contains("leaf 0 of row 4 of dimension 1 → rank 12")).unwrap();
    assert!(row.contains(" network "), "{text}");
}

#[test]
fn a_route_is_shown_hop_by_hop() {
    let directory = with_ring();
    let at = directory.path();
    fs::write(at.join("cluster.toml"), CLUSTER).unwrap();
    let route = json(&succeeds(at, "topology cluster.toml --route 3 12 --json"));
    let hops: Vec<_> = route["route"].as_array().unwrap().iter().map(|hop| hop["link"].clone()).collect();
    assert_eq!(
        hops,
        [
            "rank 3 → switch 0 of dimension 0",
            "switch 0 of dimension 0 → rank 4",
            "rank 4 → leaf 0 of row 4 of dimension 1",
            "leaf 0 of row 4 of dimension 1 → rank 12",
        ]
    );
    let text = succeeds(at, "topology cluster.toml --route 3 12");
    assert!(text.ends_with("4 hops, 3000 ns, narrowest 50 GB/s\n"), "{text}");
    assert_eq!(succeeds(at, "topology ring.yml --route 1 1"), "a rank needs no link to itself\n");
    assert!(
        fails(at, 2, "topology ring.yml --route 1 8")
            .contains("ring.yml has no rank 8: expected one below 8")
    );
    fails(at, 2, "topology ring.yml --route 1");
}

#[test]
fn a_picture_shows_every_device_and_every_line() {
    let directory = with_ring();
    let at = directory.path();
    fs::write(at.join("cluster.toml"), CLUSTER).unwrap();
    succeeds(at, "topology ring.yml --svg ring.svg");
    let ring = fs::read_to_string(at.join("ring.svg")).unwrap();
    let count = |text: &str, part: &str| text.matches(part).count();
    // A circle a rank; a line for both ways between neighbours, and one in the legend.
    assert_eq!((count(&ring, "<circle"), count(&ring, "<line")), (8, 9));
    succeeds(at, "topology cluster.toml --svg a.svg");
    succeeds(at, "topology cluster.toml --svg b.svg");
    let [a, b] = ["a.svg", "b.svg"].map(|name| fs::read_to_string(at.join(name)).unwrap());
    assert_eq!(a, b, "the same bytes again");
    // Ranks; switches and the paper.
    assert_eq!((count(&a, "<circle"), count(&a, "<rect")), (32, 28 + 1));
    // 80 pairs of links, and two sorts of them.
    assert_eq!(count(&a, "<line") + count(&a, "<path"), 80 + 2);
    for name in ["leaf 1 of row 7 of dimension 1", "400 GB/s, 500 ns: 64 switch links"] {
        assert!(a.contains(name), "{name}");
    }
    // More than can be seen: a summary.
    fs::write(at.join("large.toml"), CLUSTER.replace("leaves = 2", "leaves = 4096")).unwrap();
    succeeds(at, "topology large.toml --svg large.svg");
    let large = fs::read_to_string(at.join("large.svg")).unwrap();
    assert!(large.contains("65536 ranks") && large.len() < 10_000);
    assert!(fails(at, 2, "topology ring.yml --svg no/such/ring.svg").contains("ring.svg"));
}

#[test]
fn links_that_nothing_uses_are_pointed_out() {
    let directory = with_ring();
    let at = directory.path();
    let text = "[[dimension]]\nkind = \"links\"\nranks = 2\nswitches = [\"hub\"]\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n\
        link = [{ between = [0, 1] }, { between = [1, \"hub\"] }]\n";
    fs::write(at.join("spare.toml"), text).unwrap();
    let text = succeeds(at, "topology spare.toml");
    assert!(
        text.contains("no route between two ranks takes 2 of the 4 links, such as rank 1 → hub"),
        "{text}"
    );
}

#[test]
fn files_that_declare_nothing_are_refused_with_the_line() {
    let directory = with_ring();
    let at = directory.path();
    for (from, to, wanted) in [
        ("400 GB/s", "0 GB/s", "cluster.toml:4: bandwidth = \"0 GB/s\""),
        ("\"leaf-spine\"", "\"leafspine\"", "cluster.toml:7: kind = \"leafspine\": expected \"ring\""),
        ("spines = 1", "spines = 1\nspine = 1", "cluster.toml:11: the key spine is not known here"),
        (
            "[[dimension]]\nkind = \"switch\"",
            "ranks = 31\n[[dimension]]\nkind = \"switch\"",
            "cluster.toml:1: ranks = 31",
        ),
    ] {
        fs::write(at.join("cluster.toml"), CLUSTER.replacen(from, to, 1)).unwrap();
        let stderr = fails(at, 2, "topology cluster.toml");
        let first = stderr.lines().next().unwrap_or_default();
        assert!(first.starts_with(&format!("error: {wanted}")), "{to}: {stderr}");
    }
}

#[test]
fn ranks_are_placed_by_file_by_chance_or_in_order() {
    let directory = with_ring();
    let at = directory.path();
    let time = |arguments: &str| {
        let report = succeeds(
            at,
            &format!("simulate allreduce_ring --topology ring.yml --model link-queue --json {arguments}"),
        );
        json(&report)["time_ns"].as_f64().unwrap()
    };
    // In order, and in the reverse of it, a ring is a ring: 41,181 ns, as ASTRA-sim says.
    fs::write(at.join("reverse"), "7\n6\n5\n4\n3\n2\n1\n0\n").unwrap();
    for placement in ["identity", "reverse"] {
        assert_eq!(time(&format!("--placement {placement}")), 41_181.0, "{placement}");
    }
    // Two hops for each step, which stores and forwards, but 4 ranks take 6 steps of larger chunks.
    fs::write(at.join("every_other"), "[0, 2, 4, 6]  # half of the ring\n").unwrap();
    // 262,144 B at 50 · 2^30 B/s are 4,882.8 ns; ⌊500 + 4,882.8⌋ = 5,382 a hop, 2 · 6 hops one after the other, and 1 ns for each of
    // 3 reductions.
    assert_eq!(time("--placement every_other"), 12.0 * 5_382.0 + 3.0);
    assert_eq!(time("--ranks 4 --placement every_other"), 12.0 * 5_382.0 + 3.0);
    assert!(time("--placement random:1") > 41_181.0);
    assert_eq!(time("--placement random:1"), time("--placement random:1"));

    let refused = |placement: &str, wanted: &str| {
        let stderr = fails(
            at,
            2,
            &format!(
                "simulate allreduce_ring --ranks 4 --topology ring.yml --model analytical --placement {placement}"
            ),
        );
        assert!(stderr.contains(wanted), "{placement}: {stderr}");
    };
    refused("reverse", "placement reverse: it places 8 ranks, but there are 4");
    refused("random:x", "\"x\" is no seed");
    refused("nowhere", "expected a file, identity or random:SEED");
    fs::write(at.join("bad"), "0\n1\ntwo\n").unwrap();
    refused("bad", "bad: line 3: \"two\" is no position");
    fs::write(at.join("bad"), "0 1 2 8").unwrap();
    refused("bad", "rank 3 is placed at position 8: expected one below 8");
    let stderr = fails(at, 2, "simulate allreduce_ring --ranks 4 --topology ring.yml --model analytical");
    assert!(stderr.contains("`--placement identity` leaves the rest of the topology free"), "{stderr}");
    let text = succeeds(at, "topology ring.yml --placement every_other --route 0 1");
    assert!(text.contains("rank 0 → free position 1"), "{text}");
}
