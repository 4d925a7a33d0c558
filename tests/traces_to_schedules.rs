//! As a reader of traces I get the schedule that they were made from: every algorithm of the library, embedded or not.

use collective::et::{self, EtOptions, NodeOrder, Original, Recovered};
use collective::{ElementType, Schedule, Size, algorithms, verify};

fn original<B: AsRef<[u8]> + Sync>(ranks: &[B]) -> Original {
    match et::recover(ranks).unwrap() {
        Recovered::Full(original) => *original,
        Recovered::Opaque(why) => panic!("{why}"),
    }
}

/// The text of a schedule has its steps with places, counts, peers, dependences and source lines.
#[track_caller]
fn assert_same(read: &Schedule, schedule: &Schedule) {
    assert_eq!(read.to_string(), schedule.to_string());
    assert_eq!((&read.collective, read.protocol), (&schedule.collective, schedule.protocol));
    let scratch =
        |schedule: &Schedule| schedule.ranks.iter().map(|rank| rank.scratch_chunks).collect::<Vec<_>>();
    assert_eq!(scratch(read), scratch(schedule));
}

#[test]
fn every_algorithm_of_the_library_is_read_as_it_was_compiled() {
    let mut compiled = 0;
    for algorithm in algorithms::all() {
        let counts = [1, 2, 3, 6, 8, 16].map(|ranks| algorithm.choices(ranks).into_iter().take(2));
        for values in counts.into_iter().flatten() {
            let schedule = algorithm.compile(algorithm.def.in_place, &values).unwrap();
            compiled += 1;
            for order in [NodeOrder::ThreadBlock, NodeOrder::Dataflow] {
                // All-to-all needs a multiple of the ranks; nothing divides these elements otherwise.
                let size = Size::of(1_000_003 * 48, ElementType::F16);
                let traces = et::bytes(&schedule, &EtOptions { order, ..EtOptions::new(size) }).unwrap();
                let read = original(traces.ranks());
                assert_same(&read.schedule, &schedule);
                assert_eq!((read.size, read.order), (size, order));
                verify::verify(&read.schedule, schedule.protocol.slots()).unwrap();
            }
        }
    }
    assert!(compiled >= 4 * algorithms::all().count(), "{compiled}");
}

#[test]
fn what_lies_in_the_binary_and_what_is_rescaled_is_read_too() {
    let schedule = algorithms::allreduce_ring::compile(8, 1).unwrap();
    let embedded = algorithms::allreduce_ring::RANKS_8;
    assert_same(&original(embedded.ranks().unwrap()).schedule, &schedule);
    let size = Size::bytes(4 * 1_000_003);
    let rescaled = original(embedded.with_size(size).unwrap().ranks());
    assert_same(&rescaled.schedule, &schedule);
    assert_eq!(rescaled.size, size);
}
