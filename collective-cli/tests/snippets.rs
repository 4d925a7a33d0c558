//! Errors show the line of the file at fault, with a mark under what is wrong.

mod support;

use std::fs;

use support::{fails, succeeds, with_ring};

/// What stands over the mark, in the line of the file that an error shows; and the place before it.
#[track_caller]
fn marked(said: &str) -> (String, String) {
    let place = said
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("--> "))
        .unwrap_or_else(|| panic!("{said}"));
    let lines: Vec<&str> = said.lines().collect();
    let at = lines.iter().position(|line| line.contains('^')).unwrap_or_else(|| panic!("{said}"));
    let begin = lines[at].find('^').unwrap();
    let width = lines[at].matches('^').count();
    (lines[at - 1].chars().skip(begin).take(width).collect(), place.to_owned())
}

const TOPOLOGY: &str =
    "# a node\n[[dimension]]\nkind = \"switch\"\nsize = 8\nbandwidth = \"400 GB/s\"\nlatency = \"500 ns\"\n";

#[test]
fn of_a_topology_the_value_or_key() {
    let directory = with_ring();
    let at = directory.path();
    for (from, to, mark, place) in [
        ("\"400 GB/s\"", "\"400 GHz\"", "\"400 GHz\"", "t.toml:5:13"),
        ("size = 8", "size = 0", "0", "t.toml:4:8"),
        ("size = 8", "size = 8\ncolour = 1", "colour", "t.toml:5:1"),
        ("size = 8\n", "", "[[dimension]]", "t.toml:2:1"),
    ] {
        fs::write(at.join("t.toml"), TOPOLOGY.replace(from, to)).unwrap();
        let said = fails(at, 2, "topology t.toml");
        assert_eq!(marked(&said), (mark.to_owned(), place.to_owned()), "{said}");
        // The first line is the error, and enough by itself.
        let first = said.lines().next().unwrap();
        let line = place.rsplit_once(':').unwrap().0;
        assert!(first.starts_with(&format!("error: {line}: ")), "{said}");
    }
}

#[test]
fn of_a_network_of_astra_sim_the_value() {
    let directory = with_ring();
    let at = directory.path();
    let good = "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ] # GB/s\nlatency: [ 500.0 ]\n";
    fs::write(at.join("t.yml"), good.replace("50.0", "fast")).unwrap();
    let said = fails(at, 2, "topology t.yml");
    assert!(marked(&said).0.contains("fast") && marked(&said).1.starts_with("t.yml:3:"), "{said}");
    fs::write(at.join("t.yml"), good.replace("[ 8 ]", "[ 8")).unwrap();
    let said = fails(at, 2, "topology t.yml");
    assert!(marked(&said).1.starts_with("t.yml:"), "{said}");
}

#[test]
fn of_msccl_xml_the_attribute_or_element() {
    let directory = with_ring();
    let at = directory.path();
    succeeds(at, "compile allreduce_ring --ranks 4 --to msccl-xml -o good.xml");
    let good = fs::read_to_string(at.join("good.xml")).unwrap();
    let first = |found: &str| 1 + good.lines().position(|line| line.contains(found)).unwrap();
    for command in ["verify", "run"] {
        fs::write(at.join("bad.xml"), good.replacen("srcbuf=\"i\"", "srcbuf=\"x\"", 1)).unwrap();
        let said = fails(at, 2, &format!("{command} bad.xml"));
        let (mark, place) = marked(&said);
        assert_eq!(mark, "srcbuf=\"x\"", "{said}");
        assert!(place.starts_with(&format!("bad.xml:{}:", first("srcbuf=\"i\""))), "{said}");
    }
    // A step that is left out: the finding has the line of another.
    let step = good.lines().find(|line| line.contains("<step")).unwrap();
    fs::write(at.join("bad.xml"), good.replacen(step, "", 1)).unwrap();
    let said = fails(at, 1, "verify bad.xml");
    assert!(
        said.contains("\nerror: bad.xml: unmatched\n") && marked(&said).1.starts_with("bad.xml:"),
        "{said}"
    );
    fs::write(at.join("bad.xml"), "<algo>\n  <gpu>\n</algo>\n").unwrap();
    let said = fails(at, 2, "verify bad.xml");
    assert_eq!(marked(&said).1, "bad.xml:3:1", "{said}");
}

#[test]
fn of_a_sweep_and_of_rules_the_key() {
    let directory = with_ring();
    let at = directory.path();
    fs::write(
        at.join("s.toml"),
        "algorithms = [\"allreduce_rung\"]\nsizes = 64\ntopologies = \"ring.yml\"\n",
    )
    .unwrap();
    let said = fails(at, 2, "sweep s.toml -o s.csv");
    assert_eq!(marked(&said), ("\"allreduce_rung\"".to_owned(), "s.toml:1:15".to_owned()), "{said}");
    succeeds(at, "compile allreduce_ring --ranks 8 -o w");
    for (rules, mark, place) in [
        (
            "[[rule]]\nkind = \"all_reduce\"\nalgorithm = \"allreduce_rung\"\n",
            "\"allreduce_rung\"",
            "r.toml:3:13",
        ),
        (
            "[[rule]]\nmin_size = \"2 MiB\"\nmax_size = \"1 MiB\"\ndefault = true\n",
            "\"1 MiB\"",
            "r.toml:3:12",
        ),
        ("[[rule]]\ndefault = true\nsett = 1\n", "sett", "r.toml:3:1"),
    ] {
        fs::write(at.join("r.toml"), rules).unwrap();
        let said = fails(at, 2, "simulate --workload w --rules r.toml --topology ring.yml");
        assert_eq!(marked(&said), (mark.to_owned(), place.to_owned()), "{said}");
    }
}

#[test]
fn of_a_system_file_the_key() {
    let directory = with_ring();
    let at = directory.path();
    succeeds(at, "compile allreduce_ring --ranks 8 -o w");
    fs::write(
        at.join("s.json"),
        "{\n  \"preferred-dataset-splits\": 1,\n  \"all-reduce-implementation\": \"ring\"\n}\n",
    )
    .unwrap();
    let line = "simulate --workload w --system s.json --topology ring.yml";
    let said = fails(at, 2, line);
    assert_eq!(
        marked(&said),
        ("\"all-reduce-implementation\"".to_owned(), "s.json:3:3".to_owned()),
        "{said}"
    );
    fs::write(at.join("s.json"), "{\n  \"a\": ,\n}\n").unwrap();
    assert!(marked(&fails(at, 2, line)).1.starts_with("s.json:2:"));
}

#[test]
fn of_a_file_that_is_no_file_nothing_is_shown() {
    let directory = with_ring();
    let said = fails(directory.path(), 2, "topology nothing.toml");
    assert_eq!(said.lines().count(), 1, "{said}");
}
