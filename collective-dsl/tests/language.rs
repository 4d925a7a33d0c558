//! Collectives, instances, hints and groups: right programs compile to right schedules.

use collective_dsl::Buffer::{Input, Output, Scratch};
use collective_dsl::et::{self, EtOptions};
use collective_dsl::{
    ChunkRef, Collective, CollectiveKind, Options, Program, Protocol, Replication, Schedule, Setting, Size,
    Step, StepKind, compile,
};

fn setting(kind: CollectiveKind, ranks: usize, chunks: usize) -> Setting<'static> {
    Setting { chunks: Some(chunks), ..Setting::new("test", kind, ranks) }
}

#[track_caller]
fn right(setting: &Setting<'_>, program: impl FnOnce(&Program)) -> Schedule {
    let compiled = setting.trace("", program).and_then(|trace| compile(&trace));
    compiled.unwrap_or_else(|wrong| panic!("{setting:?}\n{wrong}"))
}

/// Every rank count and root, in and out of place.
fn rooted(kind: CollectiveKind, program: impl Fn(&Program, usize, usize, usize)) {
    for ranks in 1..=9 {
        for root in 0..ranks {
            for chunks in [1, 3] {
                for in_place in [true, false] {
                    let setting = Setting { root: Some(root), in_place, ..setting(kind, ranks, chunks) };
                    right(&setting, |p| program(p, ranks, root, chunks));
                }
            }
        }
    }
}

#[test]
fn rooted_collectives_work_for_every_root() {
    rooted(CollectiveKind::Broadcast, |p, n, root, c| {
        let mut data = p.chunks(root, Input, 0, c).copy_to(root, Output, 0);
        for step in 1..n {
            data = data.copy_to((root + step) % n, Output, 0);
        }
    });
    rooted(CollectiveKind::Reduce, |p, n, root, c| {
        let mut sum = p.chunks(root, Input, 0, c).copy_to(root, Output, 0);
        for step in 1..n {
            sum = sum.reduce(p.chunks((root + step) % n, Input, 0, c));
        }
    });
    rooted(CollectiveKind::Gather, |p, n, root, c| {
        for rank in 0..n {
            p.chunks(rank, Input, 0, c).copy_to(root, Output, rank * c);
        }
    });
    rooted(CollectiveKind::Scatter, |p, n, root, c| {
        for rank in 0..n {
            p.chunks(root, Input, rank * c, c).copy_to(rank, Output, 0);
        }
    });
}

#[test]
fn all_to_all_in_and_out_of_place() {
    for n in 1..=9 {
        let out_of_place = setting(CollectiveKind::AllToAll, n, 2);
        right(&out_of_place, |p| {
            for (from, to) in (0..n).flat_map(|from| (0..n).map(move |to| (from, to))) {
                p.chunks(from, Input, 2 * to, 2).copy_to(to, Output, 2 * from);
            }
        });
        // In place what arrives would overwrite what is still to be sent: through scratch.
        right(&Setting { in_place: true, ..out_of_place }, |p| {
            let pairs = || (0..n).flat_map(|from| (0..n).map(move |to| (from, to))).filter(|(a, b)| a != b);
            for (from, to) in pairs() {
                p.chunks(from, Input, 2 * to, 2).copy_to(to, Scratch("in"), 2 * from);
            }
            for (from, to) in pairs() {
                p.chunks(to, Scratch("in"), 2 * from, 2).copy_to(to, Output, 2 * from);
            }
        });
    }
}

#[test]
fn all_to_all_v_by_its_table() {
    let table = [vec![2, 1, 0], vec![0, 2, 3], vec![1, 1, 1]];
    let p = Program::new(Collective::all_to_all_v(&table).unwrap());
    let mut read = [0; 3];
    let mut written = [0; 3];
    for from in 0..3 {
        for to in 0..3 {
            let count = table[from][to];
            if count > 0 {
                p.chunks(from, Input, read[from], count).copy_to(to, Output, written[to]);
            }
            read[from] += count;
            written[to] += count;
        }
    }
    let schedule = compile(&p.finish("v").unwrap()).unwrap();
    // Rank 1 sends most, five chunks; a size of 20 bytes is one float each.
    let graph = et::graph(&schedule, &EtOptions::new(Size::bytes(20))).unwrap();
    assert_eq!(graph.rank_count(), 3);
    let error = et::graph(&schedule, &EtOptions::new(Size::bytes(24))).unwrap_err().to_string();
    assert!(error.contains("6 elements are not a multiple of 5"), "{error}");
}

#[test]
fn send_recv_and_barrier() {
    let pair = Setting { root: Some(2), destination: Some(0), ..setting(CollectiveKind::SendRecv, 4, 3) };
    right(&pair, |p| {
        p.chunks(2, Input, 0, 3).copy_to(0, Output, 0);
    });
    for n in 1..=9 {
        // Dissemination: in round k everybody tells the rank 2^k further all that it has heard.
        let barrier = Setting { in_place: true, ..setting(CollectiveKind::Barrier, n, 1) };
        right(&barrier, |p| {
            let mut distance = 1;
            while distance < n {
                let told: Vec<ChunkRef<'_>> = (0..n)
                    .map(|rank| {
                        p.chunk(rank, Input, 0).copy_to((rank + distance) % n, Scratch("told"), distance)
                    })
                    .collect();
                for token in told {
                    p.chunk(token.rank(), Input, 0).reduce(token);
                }
                distance *= 2;
            }
        });
    }
}

#[test]
fn custom_collectives_state_what_they_want() {
    // All-to-next: every rank ends with its predecessor's data.
    let next = setting(CollectiveKind::Custom, 5, 2);
    let schedule = right(&next, |p| {
        for rank in 0..4 {
            p.chunks(rank, Input, 0, 2).copy_to(rank + 1, Output, 0);
            (0..2).for_each(|i| p.expect(rank + 1, i, rank, i));
        }
    });
    assert_eq!(schedule.message_count(), 4);
    // A sum over some ranks, of different input chunks, one of them twice.
    right(&Setting { outputs: Some(1), ..next }, |p| {
        let sum = p.chunk(1, Input, 0).copy_to(0, Output, 0);
        let twice = sum.reduce(p.chunk(1, Input, 0));
        twice.reduce(p.chunk(3, Input, 1));
        p.expect(0, 0, 1, 0);
        p.expect(0, 0, 1, 0);
        p.expect(0, 0, 3, 1);
    });
    let wrong = next.trace("", |p| p.expect(0, 0, 1, 1)).and_then(|trace| compile(&trace)).unwrap_err();
    assert!(wrong.to_string().contains("rank 0, output chunk 0 is never written"), "{wrong}");
}

#[test]
fn groups_call_ranks_by_their_own_numbers() {
    let p = Program::new(Collective::all_gather(3).unwrap()).among(&[6, 2, 9]);
    for (position, rank) in [6, 2, 9].into_iter().enumerate() {
        for to in [6, 2, 9] {
            p.chunk(rank, Input, 0).copy_to(to, Output, position);
        }
    }
    let schedule = compile(&p.finish("group").unwrap()).unwrap();
    assert_eq!(schedule.ranks.len(), 3);
}

/// Recursive doubling: all-gather with messages of growing numbers of chunks.
fn doubling(p: &Program, n: usize) {
    for rank in 0..n {
        p.chunk(rank, Input, 0).copy_to(rank, Output, rank);
    }
    let mut distance = 1;
    while distance < n {
        for rank in 0..n {
            let held = rank / distance * distance;
            p.chunks(rank, Output, held, distance).copy_to(rank ^ distance, Output, held);
        }
        distance *= 2;
    }
}

#[test]
fn instances_are_right_also_for_operations_on_several_chunks() {
    for replication in [Replication::Interleaved, Replication::Blocked] {
        for instances in [1, 2, 3] {
            for in_place in [true, false] {
                let options =
                    Options { instances, replication, protocol: Protocol::Ll, ..Options::default() };
                let gather = Setting { in_place, options, ..setting(CollectiveKind::AllGather, 8, 1) };
                let schedule = right(&gather, |p| doubling(p, 8));
                assert_eq!(schedule.channel_count(), instances);
                let single = Setting { options: Options::default(), ..gather };
                let single = right(&single, |p| doubling(p, 8));
                // Every byte once, whatever the number of instances.
                let bytes = |schedule: &Schedule| {
                    let graph = et::graph(schedule, &EtOptions::new(Size::bytes(8 * 6 * 4))).unwrap();
                    let ops = graph.ranks().iter().flat_map(|rank| rank.ops().to_vec());
                    let sent = ops.filter_map(|op| match op {
                        chakra_et::graph::Op::Send { bytes, .. } => Some(bytes),
                        _ => None,
                    });
                    sent.sum::<u64>()
                };
                assert_eq!(bytes(&schedule), bytes(&single), "{replication:?} {instances}");
            }
        }
    }
}

#[test]
fn blocked_instances_keep_operations_whole() {
    let two_shot = |p: &Program| {
        for rank in 0..4 {
            let mut sum = p.chunks(rank, Input, 2 * rank, 2);
            for other in (0..4).filter(|other| *other != rank) {
                sum = sum.reduce(p.chunks(other, Input, 2 * rank, 2));
            }
            for other in (0..4).filter(|other| *other != rank) {
                sum.copy_to(other, Input, 2 * rank);
            }
        }
    };
    let messages = |replication, instances| {
        let options = Options { instances, replication, ..Options::default() };
        let setting = Setting { in_place: true, options, ..setting(CollectiveKind::AllReduce, 4, 8) };
        right(&setting, two_shot).message_count()
    };
    let single = messages(Replication::Blocked, 1);
    assert_eq!(messages(Replication::Blocked, 3), 3 * single);
    // Interleaved, the shares of neighbouring chunks do not lie beside each other.
    assert_eq!(messages(Replication::Interleaved, 3), 2 * 3 * single);
}

#[test]
fn hints_decide_the_thread_blocks() {
    let exchange = Setting { in_place: true, ..setting(CollectiveKind::AllReduce, 2, 2) };
    let schedule = right(&exchange, |p| {
        for rank in 0..2 {
            let (other, theirs) = (1 - rank, p.chunk(1 - rank, Input, rank));
            let sum = p.chunk(rank, Input, rank).reduce(theirs.on_send_block(0).on_recv_block(1));
            sum.on_send_block(0).on_recv_block(1).copy_to(other, Input, rank);
        }
    });
    for (rank, blocks) in schedule.ranks.iter().map(|rank| &rank.thread_blocks).enumerate() {
        let peer = Some(collective_dsl::RankId(1 - rank as u32));
        assert_eq!((blocks[0].send, blocks[0].recv), (peer, None));
        assert_eq!((blocks[1].send, blocks[1].recv), (None, peer));
    }
}

#[test]
fn a_sum_that_is_only_passed_on_is_not_stored() {
    // A chain to rank 0: what ranks 1 and 2 add up in their input is nobody's result.
    let reduce = setting(CollectiveKind::Reduce, 4, 1);
    let schedule = right(&reduce, |p| {
        let mut sum = p.chunk(3, Input, 0);
        for rank in [2, 1] {
            sum = p.chunk(rank, Input, 0).reduce(sum);
        }
        let own = p.chunk(0, Input, 0).copy_to(0, Output, 0);
        own.reduce(sum);
    });
    for rank in [1, 2] {
        let kinds: Vec<StepKind> =
            schedule.ranks[rank].thread_blocks.iter().flat_map(|b| &b.steps).map(|s| s.kind).collect();
        assert_eq!(kinds, [StepKind::RecvReduceSend]);
    }
    // In an all-reduce the partial sums are overwritten by the results before anybody looks.
    let ring = Setting { in_place: true, ..setting(CollectiveKind::AllReduce, 3, 3) };
    let schedule = right(&ring, |p| {
        for index in 0..3 {
            let mut sum = p.chunk(index, Input, index);
            (1..3).for_each(|step| sum = p.chunk((index + step) % 3, Input, index).reduce(sum));
            (0..2).for_each(|step| sum = sum.copy_to((index + step) % 3, Input, index));
        }
    });
    let kinds: Vec<&str> = schedule.ranks[0].thread_blocks[0].steps.iter().map(|s| s.kind.name()).collect();
    assert_eq!(kinds, ["s", "rrs", "rrcs", "rcs", "r"]);
}

#[test]
fn bursts_in_one_thread_block_do_not_need_more_slots_than_there_are() {
    // Both ranks send twenty chunks to each other, all on one hinted thread block: written naively, twenty sends before
    // the first receive need eighteen slots or more; the runtime has two.
    let swap = setting(CollectiveKind::AllToAll, 2, 20);
    let schedule = right(&swap, |p| {
        for rank in 0..2 {
            p.chunks(rank, Input, 20 * rank, 20).copy_to(rank, Output, 20 * rank);
            for i in 0..20 {
                let chunk = p.chunk(rank, Input, 20 * (1 - rank) + i).on_send_block(0).on_recv_block(0);
                chunk.copy_to(1 - rank, Output, 20 * rank + i);
            }
        }
    });
    let moves = |step: &&Step| step.kind.sends() || step.kind.receives();
    assert_eq!(schedule.ranks[0].thread_blocks[0].steps.iter().filter(moves).count(), 40);
    assert!(collective_dsl::verify::smallest_slots(&schedule).is_some_and(|slots| slots <= 2));
}

#[test]
fn every_kind_can_be_brought_to_another_size() {
    for kind in [
        CollectiveKind::Broadcast,
        CollectiveKind::SendRecv,
        CollectiveKind::Custom,
        CollectiveKind::AllToAll,
    ] {
        let schedule = right(&setting(kind, 2, 2), |p| {
            let (from, to) = if kind == CollectiveKind::AllToAll { (2, 0) } else { (0, 0) };
            p.chunks(0, Input, from, 2).copy_to(1, Output, to);
            match kind {
                CollectiveKind::Broadcast => _ = p.chunks(0, Input, 0, 2).copy_to(0, Output, 0),
                CollectiveKind::AllToAll => {
                    p.chunks(1, Input, 0, 2).copy_to(0, Output, 2);
                    (0..2).for_each(|rank| {
                        _ = p.chunks(rank, Input, 2 * rank, 2).copy_to(rank, Output, 2 * rank)
                    });
                }
                CollectiveKind::Custom => (0..2).for_each(|i| p.expect(1, i, 0, i)),
                _ => {}
            }
        });
        let bytes = |size| et::bytes(&schedule, &EtOptions::new(Size::bytes(size))).unwrap();
        assert_eq!(bytes(64).rescaled(Size::bytes(4096)).unwrap(), bytes(4096), "{kind}");
    }
}

/// Steps that receive and send at once.
fn fused(schedule: &Schedule) -> usize {
    let blocks = schedule.ranks.iter().flat_map(|rank| &rank.thread_blocks);
    blocks.flat_map(|block| &block.steps).filter(|step| step.kind.receives() && step.kind.sends()).count()
}

#[test]
fn flows_that_part_get_channels_of_their_own() {
    let custom = setting(CollectiveKind::Custom, 4, 2);
    let fork = |p: &Program| {
        for (chunk, end) in [(0, 2), (1, 3)] {
            p.chunk(0, Input, chunk).copy_to(1, Output, chunk).copy_to(end, Output, chunk);
            [1, end].into_iter().for_each(|rank| p.expect(rank, chunk, 0, chunk));
        }
    };
    // Rank 1 passes one chunk on to rank 2, the other to rank 3: one thread block cannot send to both.
    let schedule = right(&custom, fork);
    assert_eq!((fused(&schedule), schedule.channel_count()), (2, 2));
    // A channel that the program chooses stays.
    let schedule = right(&custom, |p| {
        p.chunk(0, Input, 0).on_channel(5).copy_to(1, Output, 0).copy_to(2, Output, 0);
        p.expect(2, 0, 0, 0);
    });
    assert_eq!((fused(&schedule), schedule.channel_count()), (1, 6));
    let options = Options { fusion: false, ..Options::default() };
    let schedule = right(&Setting { options, ..custom }, fork);
    assert_eq!((fused(&schedule), schedule.channel_count()), (0, 1));
}

#[test]
fn local_work_takes_no_thread_block_of_its_own() {
    let schedule = right(&setting(CollectiveKind::AllToAll, 3, 1), |p| {
        for (rank, peer) in (0..9).map(|i| (i / 3, i % 3)) {
            p.chunk(rank, Input, peer).copy_to(peer, Output, rank);
        }
    });
    assert!(schedule.ranks.iter().all(|rank| rank.thread_blocks.len() == 4));
}
