//! `docs/topologies.md` and `docs/machines.md` show files with everything that they may have, and they can be read.

use sim_core::machine::{self, BUILTIN, LinkKind, Protocol};
use sim_core::topology::parse_toml;

fn page(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../docs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The TOML blocks of a page.
fn examples(page: &str) -> impl Iterator<Item = &str> {
    let blocks = page.split("```toml").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.filter_map(|block| Some(block.split_once('\n')?.1))
}

#[test]
fn every_example_of_the_documentation_is_a_topology() {
    let page = page("topologies.md");
    let mut kinds = Vec::new();
    for example in examples(&page) {
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
    for kind in LinkKind::ALL {
        assert!(page.contains(&format!("`\"{kind}\"`")), "nothing is said of links of the kind {kind}");
    }
}

#[test]
fn the_page_on_machines_shows_one_and_has_every_key_and_every_name() {
    let page = page("machines.md");
    let shown: Vec<_> = examples(&page).map(|example| machine::parse(example).unwrap()).collect();
    assert!(
        shown.iter().any(|machine| machine.topology.is_some() && machine.costs(Protocol::Simple).is_some())
    );
    // What is said of a key that is not known names those that are.
    for text in
        ["x = 1\nname = \"\"", "name = \"\"\n[protocol.ll]\nx = 1", "name = \"\"\n[protocol.ll.pcie]\nx = 1"]
    {
        let message = machine::parse(text).unwrap_err().to_string();
        let (_, known) = message.split_once(": expected ").unwrap();
        for key in known.split(", ").filter(|key| *key != "protocol") {
            let row = [format!("`{key}`"), format!("`[{key}]`")];
            assert!(row.iter().any(|row| page.contains(row)), "nothing is said of {key}");
        }
    }
    for name in BUILTIN {
        assert!(page.contains(&format!("| `{name}` |")), "nothing is said of {name}");
    }
}
