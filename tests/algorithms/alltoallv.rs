//! All-to-all by a table of sizes: right for uneven tables, and as fast as theory allows.

use collective::algorithms::alltoallv;
use collective::et::{self, EtOptions, NodeOrder};
use collective::run::{self, Order, RunOptions};
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::Picos;
use collective::sim::{Model, Simulation};
use collective::{Collective, ElementType, Program, Schedule, Size, compile};

type Table = Vec<Vec<usize>>;
type Algorithm = fn(&Program);

const BOTH: [(&str, Algorithm); 2] = [("direct", alltoallv::direct), ("pairwise", alltoallv::pairwise)];

/// Of a chunk: 1 MB at 50 GB/s.
const CHUNK: Picos = Picos(20_000_000);
const CHUNK_BYTES: u64 = 1_000_000;
/// Twice the latency of a link to a switch.
const ALPHA: Picos = Picos(1_000_000);

fn schedule(table: &Table, algorithm: Algorithm) -> Schedule {
    let p = Program::new(Collective::all_to_all_v(table).expect("a table"));
    algorithm(&p);
    compile(&p.finish("table").expect("a trace")).expect("a schedule")
}

/// The time on a switch, in α and chunks: the algorithm's own, whatever thread blocks do.
fn time(schedule: &Schedule) -> Picos {
    let chunks = schedule.collective.input_chunks().max(1) as u64;
    let most = run::one_element_a_chunk(&schedule.collective);
    assert_eq!(chunks, most, "S is what the rank sends that sends most");
    let options =
        EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(Size::bytes(chunks * CHUNK_BYTES)) };
    let graph = et::graph(schedule, &options).expect("a graph");
    let (bandwidth, latency) =
        ("50 GB/s".parse().expect("a bandwidth"), "500 ns".parse().expect("a latency"));
    let switch = Dimension::switch(graph.rank_count() as u32, bandwidth, latency);
    let network = Topology::new([switch]).expect("a switch");
    Simulation::new(&network).model(Model::Fluid).run(&graph).expect("a report").makespan
}

/// What the rank sends, and what the rank gets, that sends and gets most: without what stays.
fn largest(table: &Table) -> (usize, usize) {
    let others = |rank: usize| (0..table.len()).filter(move |other| *other != rank);
    let row = (0..table.len()).map(|from| others(from).map(|to| table[from][to]).sum());
    let column = (0..table.len()).map(|to| others(to).map(|from| table[from][to]).sum());
    (row.max().unwrap_or(0), column.max().unwrap_or(0))
}

/// Entries below 8, a third of them 0, by a linear congruential generator.
fn random(ranks: usize, seed: u64) -> Table {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    (0..ranks)
        .map(|_| (0..ranks).map(|_| if next() % 3 == 0 { 0 } else { next() % 8 }).collect::<Vec<usize>>())
        .collect()
}

/// One rank gets all, or sends all.
fn hot(ranks: usize, receives: bool) -> Table {
    let entry = |from: usize, to: usize| if receives { to == 1 } else { from == 1 };
    (0..ranks).map(|from| (0..ranks).map(|to| 3 * usize::from(entry(from, to))).collect()).collect()
}

fn tables() -> Vec<Table> {
    let mut tables = vec![
        vec![vec![4]],
        // Rows and columns of zeros; only the diagonal.
        vec![vec![0, 0, 0], vec![2, 0, 1], vec![0, 0, 0]],
        vec![vec![0, 3, 0], vec![0, 1, 0], vec![0, 5, 0]],
        vec![vec![2, 0], vec![0, 7]],
    ];
    tables.extend([2, 5, 8].into_iter().flat_map(|ranks| [hot(ranks, true), hot(ranks, false)]));
    tables.extend((1..=10).map(|seed| random(seed + 1, seed as u64)).filter(|table| largest(table).0 > 0));
    tables
}

#[test]
fn uneven_tables_arrive_as_they_are_sent_and_zeros_cost_nothing() {
    for table in tables() {
        for (name, algorithm) in BOTH {
            let schedule = schedule(&table, algorithm);
            let pairs = (0..table.len()).flat_map(|from| (0..table.len()).map(move |to| (from, to)));
            let wanted = pairs.filter(|(from, to)| from != to && table[*from][*to] > 0).count();
            assert_eq!(schedule.message_count(), wanted, "{name} {table:?}");
            let each_one = run::one_element_a_chunk(&schedule.collective);
            for elements in [0, each_one, 3 * each_one] {
                let orders = vec![Order::InTurn, Order::HighestFirst, Order::RunAhead, Order::Random(1)];
                let options = RunOptions {
                    elements,
                    element_type: ElementType::I32,
                    slots: Some(schedule.protocol.slots()),
                    orders,
                    ..RunOptions::default()
                };
                let report = run::run(&schedule, &options).expect("a run");
                assert_eq!(report.comparison.first, None, "{name} {table:?}");
            }
        }
    }
}

#[test]
fn no_rank_sends_or_gets_faster_than_its_link() {
    for table in tables() {
        let (row, column) = largest(&table);
        if row == 0 {
            continue;
        }
        let least = Picos(ALPHA.0 + CHUNK.0 * row.max(column) as u64);
        for (name, algorithm) in BOTH {
            let time = time(&schedule(&table, algorithm));
            assert!(time >= least, "{name} {table:?}: {time} is less than {least}");
        }
    }
}

#[test]
fn the_lower_bound_is_reached_where_one_rank_is_hot() {
    for ranks in [2, 5, 8] {
        let total = 3 * (ranks as u64 - 1);
        // All send to one: its link is shared, and never idle.
        for (_, algorithm) in BOTH {
            let time = time(&schedule(&hot(ranks, true), algorithm));
            assert_eq!(time, Picos(ALPHA.0 + CHUNK.0 * total), "{ranks} ranks");
        }
        // One sends to all: at once, or one after the other.
        let sender = hot(ranks, false);
        assert_eq!(time(&schedule(&sender, alltoallv::direct)), Picos(ALPHA.0 + CHUNK.0 * total));
        let rounds = ranks as u64 - 1;
        assert_eq!(time(&schedule(&sender, alltoallv::pairwise)), Picos(ALPHA.0 * rounds + CHUNK.0 * total));
    }
}

#[test]
fn pairwise_takes_the_sum_of_its_rounds_where_sizes_depend_on_the_distance() {
    // Nothing over a distance of 2, and much over 3.
    for by_distance in [vec![1, 2, 0, 9, 1], vec![0, 4, 4, 4]] {
        let ranks = by_distance.len();
        let entry = |from: usize, to: usize| by_distance[(to + ranks - from) % ranks];
        let table: Table = (0..ranks).map(|from| (0..ranks).map(|to| entry(from, to)).collect()).collect();
        let rounds = by_distance[1..].iter().filter(|chunks| **chunks > 0);
        let expected = rounds.map(|chunks| ALPHA.0 + CHUNK.0 * *chunks as u64).sum();
        assert_eq!(time(&schedule(&table, alltoallv::pairwise)), Picos(expected));
    }
}

#[test]
fn equal_parts_do_too_and_other_collectives_are_refused() {
    for (name, algorithm) in BOTH {
        let p = Program::new(Collective::all_to_all(5).expect("five ranks"));
        algorithm(&p);
        let schedule = compile(&p.finish(name).expect("a trace")).expect("a schedule");
        assert_eq!(schedule.message_count(), 20);

        let wrong = [Collective::all_gather(4), Collective::all_to_all(4).and_then(Collective::in_place)];
        for collective in wrong {
            let p = Program::new(collective.expect("a collective"));
            algorithm(&p);
            let found = p.finish(name).expect_err("not for this collective").to_string();
            assert!(found.contains("must be all-to-all-v or all-to-all, out of place"), "{found}");
        }
    }
}
