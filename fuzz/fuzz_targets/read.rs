//! Whatever the bytes are, every way of reading them ends with a result, and they agree.
#![no_main]

use chakra_et::{NodeReader, graph_from_bytes, load_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // Small compressed inputs unpack to large ones, which is slow and shows nothing more.
    if bytes.starts_with(&[0x1f, 0x8b]) && bytes.len() > 64 {
        return;
    }
    let graph = graph_from_bytes(&[bytes]);
    match (&graph, load_bytes(&[bytes])) {
        (Ok(graph), Ok(loaded)) => {
            assert_eq!(*graph, loaded.graph);
            let rank = graph.rank(0);
            let cycle = rank.cycle().unwrap_or_default();
            for (at, &node) in cycle.iter().enumerate() {
                assert!(rank.deps(node).contains(&cycle[(at + 1) % cycle.len()]));
            }
        }
        (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
        (one, other) => panic!("{one:?} but with warnings {other:?}"),
    }
    let nodes = NodeReader::new(bytes).map(|reader| reader.filter(Result::is_ok).count());
    if let Ok(graph) = graph {
        assert_eq!(nodes.ok(), Some(graph.node_count()));
    }
});
