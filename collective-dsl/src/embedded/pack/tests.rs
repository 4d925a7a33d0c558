use proptest::prelude::*;

use super::*;
use crate::buffer::Buffer::{Input, Output, Scratch};
use crate::et::{self, EtOptions};
use crate::options::{Options, Replication};
use crate::program::Program;
use crate::size::Size;

fn schedule(collective: Result<Collective, CollectiveError>, function: impl FnOnce(&Program)) -> Schedule {
    let p = Program::new(collective.unwrap());
    function(&p);
    crate::lower(&p.finish("packed").unwrap()).unwrap()
}

fn ring(p: &Program, ranks: usize) {
    for index in 0..ranks {
        let mut sum = p.chunk(index, Input, index);
        (1..ranks).for_each(|step| sum = p.chunk((index + step) % ranks, Input, index).reduce(sum));
        (0..ranks - 1).for_each(|step| sum = sum.copy_to((index + step) % ranks, Input, index));
    }
}

/// Everything but the columns.
fn check(schedule: &Schedule) {
    let packed = pack(schedule);
    let back = unpack(&packed).unwrap();
    assert_eq!(back.to_string(), schedule.to_string());
    assert_eq!(back.ranks, schedule.ranks);
    assert_eq!(back.data, schedule.data);
    assert_eq!(back.mixed, schedule.mixed);
    assert_eq!(back.collective, schedule.collective);
    assert_eq!((back.name.as_str(), back.protocol), (schedule.name.as_str(), schedule.protocol));
    assert_eq!(pack(&back), packed);
    let options = EtOptions::new(Size::bytes(1 << 20));
    assert_eq!(et::bytes(&back, &options), et::bytes(schedule, &options));
}

#[test]
fn codes_are_positions() {
    assert!((0..).zip(KINDS).all(|(code, kind)| kind_code(kind) == code));
    assert!((0..).zip(BUFFERS).all(|(code, buffer)| buffer_code(buffer) == code));
}

#[test]
fn every_kind_of_collective_comes_back() {
    for ranks in [1, 2, 3, 8] {
        check(&schedule(Collective::all_reduce(ranks).and_then(Collective::in_place), |p| ring(p, ranks)));
    }
    check(&schedule(Collective::new(CollectiveKind::Broadcast, 3, 2).unwrap().rooted(2), |p| {
        (0..3).for_each(|rank| _ = p.chunks(2, Input, 0, 2).copy_to(rank, Output, 0));
    }));
    check(&schedule(Collective::new(CollectiveKind::SendRecv, 4, 1).unwrap().between(3, 1), |p| {
        p.chunk(3, Input, 0).copy_to(0, Scratch("way"), 2).copy_to(1, Output, 0);
    }));
    check(&schedule(Collective::all_to_all_v(&[vec![0, 2], vec![1, 1]]), |p| {
        p.chunks(0, Input, 0, 2).copy_to(1, Output, 0);
        p.chunk(1, Input, 0).copy_to(0, Output, 0);
        p.chunk(1, Input, 1).copy_to(1, Output, 2);
    }));
    check(&schedule(Collective::custom(2, 1, 2), |p| {
        p.expect(1, 1, 0, 0);
        p.chunk(0, Input, 0).copy_to(1, Output, 1);
    }));
}

#[test]
fn replicas_and_reductions_of_different_chunks_come_back() {
    let collective = Collective::all_reduce(1).unwrap().with_chunks(2).unwrap().in_place().unwrap();
    for replication in [Replication::Interleaved, Replication::Blocked] {
        let options = Options { instances: 3, replication, ..Options::default() };
        let p = Program::new(collective.clone()).with_options(options);
        p.chunk(0, Input, 0).copy_to(0, Scratch("s"), 0).reduce(p.chunk(0, Input, 1));
        let schedule = crate::lower(&p.finish("mixed").unwrap()).unwrap();
        assert!(!schedule.mixed.is_empty());
        check(&schedule);
    }
}

#[test]
fn a_rank_that_does_as_others_do_takes_no_more_for_more_steps() {
    let packed = |ranks| {
        let all_reduce = Collective::all_reduce(ranks).and_then(Collective::in_place);
        let schedule = schedule(all_reduce, |p| ring(p, ranks));
        check(&schedule);
        pack(&schedule).len()
    };
    // Four times the steps, on twice the ranks.
    let (small, large) = (packed(32), packed(64));
    assert!(large < 2 * small + small / 8, "{small} and {large} bytes");
}

proptest! {
    #[test]
    fn damaged_bytes_are_an_error_or_a_schedule_that_can_be_used(
        at in 0_usize..400, value: u8, length in 0_usize..800,
    ) {
        let schedule = schedule(Collective::all_gather(4), |p| {
            for rank in 0..4 {
                for to in 0..4 {
                    p.chunk(rank, Input, 0).copy_to(to, Output, rank);
                }
            }
        });
        let mut bytes = pack(&schedule);
        let at = at % bytes.len();
        bytes[at] = value;
        bytes.truncate(length);
        if let Ok(back) = unpack(&bytes) {
            let _ = (back.to_string(), et::bytes(&back, &EtOptions::new(Size::bytes(64))));
        }
    }
}
