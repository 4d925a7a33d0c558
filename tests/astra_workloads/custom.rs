//! Custom collectives: the traces that the system file names.

use chakra_et::{NodeReader, RankFiles, RankWriter};
use collective::Buffer::Output;
use collective::algorithms;
use collective::{Setting, compile};

use super::*;

const ALL_REDUCE: CollectiveKind = CollectiveKind::AllReduce;

fn library(name: &str, values: &[usize]) -> Schedule {
    algorithms::find(name).unwrap().compile(true, values).unwrap()
}

/// The keys for traces of an all-reduce.
fn all_reduce(prefix: &str) -> String {
    format!("\"all-reduce-implementation-custom\": [\"{prefix}\"]")
}

#[test]
fn the_ring_that_astra_sim_ships() {
    let directory = Directory::new("ring");
    directory.traces("ring", &library("allreduce_ring", &[8, 1]), MIB, ReduceRate::CollectiveApi);
    let system = directory.system(&all_reduce("ring"));
    // The sizes are those of the traces: the size that the node states counts for nothing.
    for bytes in [MIB, 77, 5 * MIB] {
        let workload = one(ALL_REDUCE, 8, bytes);
        // 14 messages of 2,941 ns and 7 reductions of 7 µs; through a switch a message takes 5,882.
        for (network, expected) in [("FullyConnected", 90_174), ("Ring", 90_174), ("Switch", 131_348)] {
            let report = run(network, &workload, &system).unwrap();
            assert_eq!(finish_ns(&report), [expected; 8], "{network}");
        }
    }
}

#[test]
fn an_all_gather_on_two_levels() {
    // Pairs exchange their parts, then what a pair has goes around the four ranks of a side.
    let setting =
        Setting { in_place: true, ..Setting::new("hierarchical", collective::CollectiveKind::AllGather, 8) };
    let trace = setting.trace("", |p| {
        for rank in 0..8 {
            p.chunk(rank, Output, rank).copy_to(rank ^ 1, Output, rank);
        }
        for step in 0..3 {
            for rank in 0..8 {
                let pair = (rank / 2 + 4 - step) % 4 * 2;
                p.chunks(rank, Output, pair, 2).copy_to((rank + 2) % 8, Output, pair);
            }
        }
    });
    let directory = Directory::new("two-levels");
    directory.traces("gather", &compile(&trace.unwrap()).unwrap(), 8 * MIB, ReduceRate::CollectiveApi);
    let system = directory.system("\"all-gather-implementation-custom\": [\"gather\"]");
    let report = run("FullyConnected", &one(CollectiveKind::AllGather, 8, MIB), &system).unwrap();
    // ⌊500 + 2^20 / 53.687⌋ + 3 ⌊500 + 2^21 / 53.687⌋ = 20,031 + 3 × 39,562
    assert_eq!(finish_ns(&report), [138_717; 8]);
}

#[test]
fn two_collectives_of_a_rank_take_turns_whatever_their_groups() {
    let directory = Directory::new("turns");
    // 2^20 bytes to each other, 20,031 ns, and a reduction of 1 ns.
    directory.traces("swap", &library("allreduce_recursive_doubling", &[2]), MIB, ReduceRate::Free);
    let system = directory.system(&all_reduce("swap"));
    let mut builder = WorkloadBuilder::new(2);
    let groups = [builder.group("1", [0, 1]).unwrap(), builder.group("2", [0, 1]).unwrap()];
    for rank in 0..2 {
        for group in groups {
            builder.collective(rank, format!("on {group}"), ALL_REDUCE, MIB, group, &[]).unwrap();
        }
    }
    let workload = builder.finish();
    let topology = network("FullyConnected", 2);
    let simulation = astra_sim(&topology);
    assert_eq!(finish_ns(&simulation.run(&workload, &system).unwrap()), [40_064; 2]);
    // By our own rules groups do not wait for each other; without contention both take what one takes.
    let own = simulation.compat(None).model(Model::Analytical).run(&workload, &system).unwrap();
    assert_eq!(finish_ns(&own), [20_032; 2]);
}

#[test]
fn traces_for_a_node_come_before_those_for_its_kind_and_ranks_are_positions_in_the_group() {
    let directory = Directory::new("nodes");
    let swap = library("allreduce_recursive_doubling", &[2]);
    directory.traces("one", &swap, MIB, ReduceRate::Free);
    directory.traces("two", &swap, 2 * MIB, ReduceRate::Free);
    directory.file("nodes.yaml", "1: two\n9: two\n");
    let system = directory
        .system(&format!("{}, \"per-node-custom-implementation\": \"nodes.yaml\"", all_reduce("one")));
    let mut builder = WorkloadBuilder::new(4);
    let pair = builder.group("5", [1, 3]).unwrap();
    for rank in [1, 3] {
        let first = builder.collective(rank, "first", ALL_REDUCE, 64, pair, &[]).unwrap();
        builder.collective(rank, "second", ALL_REDUCE, 64, pair, &[first]).unwrap();
    }
    let report = run("FullyConnected", &builder.finish(), &system).unwrap();
    // 20,031 + 1, then ⌊500 + 2^21 / 53.687⌋ + 1.
    assert_eq!(finish_ns(&report), [0, 20_032 + 39_563, 0, 20_032 + 39_563]);
    let used: Vec<String> = system.used().iter().map(ToString::to_string).collect();
    let expected = ["one (system.json:1)", "two (system.json:1)"];
    assert!(used.len() == 2 && expected.iter().zip(&used).all(|(end, used)| used.ends_with(end)), "{used:?}");
    let notes = system.notes();
    assert!(notes.iter().any(|note| note.ends_with("no collective is node 9")), "{notes:?}");
}

#[test]
fn sizes_in_chunks_follow_the_collective() {
    let directory = Directory::new("chunks");
    directory.traces("literal", &library("allreduce_ring", &[8, 1]), MIB, ReduceRate::Free);
    // Our traces state both; without the literal sizes the numbers of chunks count, as in what the converter writes today.
    let files = RankFiles::find(&directory.0.join("literal"), "et").unwrap();
    for (rank, path) in files.ranks() {
        let bytes = std::fs::read(path).unwrap();
        let reader = NodeReader::new(bytes.as_slice()).unwrap();
        let mut writer = RankWriter::new(reader.metadata()).unwrap();
        for node in reader {
            let mut node = node.unwrap().node;
            node.attr.retain(|attribute| attribute.name != "comm_size");
            writer.node(&node).unwrap();
        }
        std::fs::write(directory.0.join(format!("chunks.{rank}.et")), writer.finish()).unwrap();
    }
    let system = directory.system(&all_reduce("chunks"));
    // 14 ⌊500 + bytes / 8 / 53.687⌋ and 7 reductions of 1 ns.
    for (bytes, message) in [(MIB, 2_941), (2 * MIB, 5_382), (8 * MIB, 20_031)] {
        let report = run("FullyConnected", &one(ALL_REDUCE, 8, bytes), &system).unwrap();
        assert_eq!(finish_ns(&report), [14 * message + 7; 8]);
    }
    let error = run("FullyConnected", &one(ALL_REDUCE, 8, 1001), &system).unwrap_err().to_string();
    assert!(error.contains("1001") && error.contains("system.json"), "{error}");
}

#[test]
fn traces_for_another_number_of_ranks_are_refused() {
    let directory = Directory::new("ranks");
    directory.traces("ring", &library("allreduce_ring", &[4, 1]), MIB, ReduceRate::Free);
    let system = directory.system(&all_reduce("ring"));
    let error = run("Ring", &one(ALL_REDUCE, 8, MIB), &system).unwrap_err().to_string();
    assert!(error.contains("\"ring\" is for 4 ranks, but the group has 8"), "{error}");
}
