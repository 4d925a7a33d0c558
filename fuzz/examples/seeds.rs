//! Writes small sound traces to begin with: `cargo run --example seeds -- DIR`.

use std::error::Error;
use std::path::PathBuf;

use chakra_et::graph::{Op, Origin, SourceRef, StepRef};
use chakra_et::{RankWriter, attr, metadata, view};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).ok_or("give a directory")?);
    std::fs::create_dir_all(&directory)?;
    let origin = Origin {
        step: Some(StepRef { thread_block: 1, step: 2 }),
        source: Some(SourceRef { file: 0, line: 3 }),
    };
    let ops = [
        Op::Send { dst: 1, tag: 0, bytes: 1024 },
        Op::Recv { src: 1, tag: 0, bytes: 1024 },
        Op::Comp { micros: 7, ops: 256, bytes: 1024 },
        Op::Coll { kind: 0, bytes: 4096 },
        Op::Mem { store: true, bytes: 64 },
        Op::Other { node_type: 1 },
    ];
    for (number, first) in [0, 1, 1 << 40].into_iter().enumerate() {
        let mut writer = RankWriter::new(&metadata::write(None, &["a.rs".to_owned()])?)?;
        for (id, op) in (first..).zip(ops) {
            let deps = if id > first { vec![id - 1] } else { vec![] };
            let mut node = view::node(id, "NODE", op, deps, origin)?;
            node.attr.push(attr::string_list("inputs", ["x", "8"]));
            node.attr.push(attr::bool_list("involved_dim", [true, false]));
            writer.node(&node)?;
        }
        std::fs::write(directory.join(format!("sound{number}")), writer.finish())?;
    }
    // Two nodes of schema 0.0.1.
    let old = [&[9, 8, 0, 18, 1, b'N', 24, 3, 56, 5][..], &[10, 8, 1, 24, 4, 32, 0, 136, 1, 1, 104]].concat();
    std::fs::write(directory.join("old"), old)?;
    std::fs::write(directory.join("zeros"), [0; 4])?;
    Ok(())
}
