//! `docs/topologies.md` shows a file of every kind, and they can be read.

use sim_core::topology::parse_toml;

#[test]
fn every_example_of_the_documentation_is_a_topology() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/topologies.md");
    let page = std::fs::read_to_string(page).unwrap();
    let examples = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut kinds = Vec::new();
    for example in examples {
        let loaded =
            parse_toml(example, "topologies.md", None).unwrap_or_else(|error| panic!("{error}\n{example}"));
        assert!(loaded.topology.rank_count() > 1);
        kinds.extend(example.lines().filter_map(|line| line.strip_prefix("kind = \"")?.split('"').next()));
    }
    let known = "ring one-way-ring line switch fully-connected hypercube mesh torus leaf-spine fat-tree dragonfly cluster dgx-1 links";
    for kind in known.split(' ') {
        assert!(kinds.contains(&kind), "no example of {kind}");
        assert!(page.contains(&format!("`{kind}`")), "nothing is said of {kind}");
    }
}
