//! From MSCCL XML to Chakra traces, against what ASTRA-sim ships.

use std::fs;
use std::path::{Path, PathBuf};

use chakra_et::graph::{Graph, Op};
use collective_dsl::et::{self, EtOptions, ReduceRate};
use collective_dsl::{Size, msccl};

/// A ring all-reduce with a step for each send and each receive, as compilers without fusion print it.
fn unfused_ring(ranks: usize) -> String {
    let mut text = format!(
        "<algo name=\"ring\" proto=\"LL128\" nchannels=\"1\" nchunksperloop=\"{ranks}\" ngpus=\"{ranks}\" \
         coll=\"allreduce\" inplace=\"1\">\n"
    );
    for rank in 0..ranks {
        let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        text.push_str(&format!(
            "<gpu id=\"{rank}\" i_chunks=\"{ranks}\" o_chunks=\"0\" s_chunks=\"0\">\n\
             <tb id=\"0\" send=\"{to}\" recv=\"{from}\" chan=\"0\">\n"
        ));
        for hop in 0..2 * ranks - 2 {
            // What goes out at one hop is what has come in at the hop before.
            let chunk = |hop: usize| (rank + 2 * ranks - hop) % ranks;
            let receive = if hop < ranks - 1 { "rrc" } else { "r" };
            for (kind, chunk) in [("s", chunk(hop)), (receive, chunk(hop + 1))] {
                text.push_str(&format!(
                    "<step type=\"{kind}\" srcbuf=\"i\" srcoff=\"{chunk}\" dstbuf=\"i\" dstoff=\"{chunk}\"/>\n"
                ));
            }
        }
        text.push_str("</tb>\n</gpu>\n");
    }
    text + "</algo>\n"
}

fn graph(text: &str) -> Graph {
    let imported = msccl::read(text, "ring.xml").unwrap();
    let options =
        EtOptions { reduce_rate: ReduceRate::CollectiveApi, ..EtOptions::new(Size::bytes(1 << 20)) };
    et::graph(&imported.schedule, &options).unwrap()
}

#[track_caller]
fn assert_same(ours: &Graph, theirs: &Graph) {
    assert_eq!(ours.rank_count(), theirs.rank_count());
    for (ours, theirs) in ours.ranks().iter().zip(theirs.ranks()) {
        assert_eq!(ours.len(), theirs.len());
        for node in 0..ours.len() as u32 {
            let plain = |op: Op| match op {
                // The published converter gives reductions a duration, and neither size nor operations.
                Op::Comp { micros, .. } => Op::Comp { micros, ops: 0, bytes: 0 },
                op => op,
            };
            assert_eq!(ours.id(node), theirs.id(node));
            assert_eq!(plain(ours.op(node)), plain(theirs.op(node)));
            assert_eq!(ours.deps(node), theirs.deps(node));
        }
    }
}

#[test]
fn an_unfused_ring_is_a_chain_of_sends_receives_and_reductions() {
    let graph = graph(&unfused_ring(8));
    for (rank, nodes) in (0..).zip(graph.ranks()) {
        // 7 × (send, receive, reduce), then 7 × (send, receive), of 131,072 bytes; ⌊3·⌊131,072/50⌋/1000⌋ = 7 µs.
        let (dst, src) = ((rank + 1) % 8, (rank + 7) % 8);
        let mut wanted = Vec::new();
        for hop in 0..14 {
            wanted.push(Op::Send { dst, tag: 0, bytes: 131_072 });
            wanted.push(Op::Recv { src, tag: 0, bytes: 131_072 });
            if hop < 7 {
                wanted.push(Op::Comp { micros: 7, ops: 32_768, bytes: 131_072 });
            }
        }
        assert_eq!(nodes.ops(), wanted);
        assert!((1..nodes.len() as u32).all(|node| nodes.deps(node) == [node - 1]));
    }
}

#[test]
fn the_example_of_astra_sim_gives_its_traces() {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/reference");
    let Ok(text) = fs::read_to_string(folder.join("foreign-xml/astra-sim+astra-sim/custom_allreduce.xml"))
    else {
        return;
    };
    let theirs = chakra_et::read_trace(folder.join("et-samples/algo_msccl_ring8_fixed/custom_allreduce"));
    assert_same(&graph(&text), &theirs.unwrap());
    assert_same(&graph(&unfused_ring(8)), &graph(&text));
}
