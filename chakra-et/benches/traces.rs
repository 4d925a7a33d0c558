//! How fast traces are read and written: `cargo bench -p chakra-et`.
//!
//! Figures for one core: `RAYON_NUM_THREADS=1 taskset -c 0 cargo bench -p chakra-et`.

mod generator;

use chakra_et::proto::Node;
use chakra_et::workload;
use chakra_et::{NodeReader, RankWriter, graph_from_bytes, load_bytes};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use generator::Kind;

const NODES: u64 = 100_000;
const KINDS: [Kind; 3] = [Kind::Plain, Kind::Rich, Kind::Shuffled];

fn main() {
    divan::main();
}

fn reading<'a, 'b>(bencher: Bencher<'a, 'b>, file: &[u8]) -> Bencher<'a, 'b> {
    bencher.counter(ItemsCount::new(NODES)).counter(BytesCount::of_slice(file))
}

/// Into the compact graph.
#[divan::bench(args = KINDS)]
fn read(bencher: Bencher, kind: Kind) {
    let file = kind.file(NODES);
    reading(bencher, &file).bench(|| graph_from_bytes(&[&file]).unwrap());
}

/// Into the compact graph, looking for what there is to warn of.
#[divan::bench(args = KINDS)]
fn read_with_warnings(bencher: Bencher, kind: Kind) {
    let file = kind.file(NODES);
    reading(bencher, &file).bench(|| load_bytes(&[&file]).unwrap());
}

/// Node by node, without loss.
#[divan::bench(args = KINDS)]
fn read_nodes(bencher: Bencher, kind: Kind) {
    let file = kind.file(NODES);
    reading(bencher, &file)
        .bench(|| NodeReader::new(&file[..]).unwrap().fold(0, |sum, read| sum ^ read.unwrap().node.id));
}

/// Eight ranks, by that many threads.
#[divan::bench(args = [1, 2])]
fn read_eight_ranks(bencher: Bencher, threads: usize) {
    let ranks = vec![Kind::Plain.file(NODES); 8];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    bencher.counter(ItemsCount::new(8 * NODES)).bench(|| pool.install(|| graph_from_bytes(&ranks).unwrap()));
}

/// Nodes that are there already: a thousand in turn, as a writer has the node that it adds in its caches.
#[divan::bench(args = KINDS)]
fn write(bencher: Bencher, kind: Kind) {
    const DIFFERENT: u64 = 1000;
    let nodes: Vec<Node> = kind.nodes(DIFFERENT).collect();
    let size = kind.file(DIFFERENT).len() as u64 * (NODES / DIFFERENT);
    bencher.counter(ItemsCount::new(NODES)).counter(BytesCount::new(size)).bench(|| {
        let mut writer = RankWriter::new(&kind.metadata()).unwrap();
        for node in nodes.iter().cycle().take(NODES as usize) {
            writer.node(node).unwrap();
        }
        writer.finish()
    });
}

/// Nodes that are made for it.
#[divan::bench(args = KINDS)]
fn make_and_write(bencher: Bencher, kind: Kind) {
    bencher.counter(ItemsCount::new(NODES)).bench(|| kind.file(NODES));
}

/// A training step of 8 ranks into a workload.
#[divan::bench]
fn read_workload(bencher: Bencher) {
    let step = generator::training(8, (NODES / 72) as u32).unwrap();
    let (files, groups) = (step.to_bytes().unwrap(), step.communicators());
    bencher
        .counter(ItemsCount::new(step.node_count()))
        .bench(|| workload::from_bytes(&files, Some(&groups)).unwrap());
}

/// The collectives of the same.
#[divan::bench]
fn join_workload(bencher: Bencher) {
    let step = generator::training(8, (NODES / 72) as u32).unwrap();
    bencher.counter(ItemsCount::new(step.node_count())).bench(|| step.collectives().unwrap());
}
