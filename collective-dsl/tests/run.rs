//! As the author of an algorithm I want to run it on real data and see whether the result is right.

use collective_dsl::Buffer::{Input, Output, Scratch};
use collective_dsl::run::{self, Executor, Operator, Order, RunError, RunOptions, RunReport};
use collective_dsl::{
    Collective, CollectiveKind, ElementType, MemoryBuffer, Place, Program, RankId, Rule, Schedule, Setting,
    StepId, StepKind, ThreadBlockId, lower,
};

fn schedule(setting: &Setting<'_>, program: impl FnOnce(&Program)) -> Schedule {
    lower(&setting.trace("", program).unwrap()).unwrap()
}

/// Every collective by direct messages, `chunks` chunks a part, with the root in the middle where there is one.
fn direct(kind: CollectiveKind, ranks: usize, chunks: usize, in_place: bool) -> Schedule {
    use CollectiveKind::*;
    let root = ranks / 2;
    let rooted = matches!(kind, Broadcast | Reduce | Gather | Scatter);
    let setting = Setting {
        in_place,
        chunks: Some(chunks),
        root: rooted.then_some(root),
        ..Setting::new("direct", kind, ranks)
    };
    schedule(&setting, |p| {
        // What a program copies onto itself in place copies nothing.
        let copy =
            |from, at, to, index, count| _ = p.chunks(from, Input, at, count).copy_to(to, Output, index);
        let add = |to: usize, at: usize, index: usize, count: usize| {
            copy(to, at, to, index, count);
            for from in (0..ranks).filter(|from| *from != to) {
                p.chunks(to, Output, index, count).reduce(p.chunks(from, Input, at, count));
            }
        };
        match kind {
            AllReduce => {
                add(root, 0, 0, chunks);
                for to in (0..ranks).filter(|to| *to != root) {
                    p.chunks(root, Output, 0, chunks).copy_to(to, Output, 0);
                }
            }
            Reduce => add(root, 0, 0, chunks),
            ReduceScatter => (0..ranks).for_each(|to| add(to, to * chunks, 0, chunks)),
            AllGather => {
                for (from, to) in (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))) {
                    copy(from, 0, to, from * chunks, chunks);
                }
            }
            Gather => (0..ranks).for_each(|from| copy(from, 0, root, from * chunks, chunks)),
            Scatter => (0..ranks).for_each(|to| copy(root, to * chunks, to, 0, chunks)),
            Broadcast => (0..ranks).for_each(|to| copy(root, 0, to, 0, chunks)),
            AllToAll => {
                // Through scratch, so that in place nothing is lost.
                for (from, to) in (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))) {
                    let part = p.chunks(from, Input, to * chunks, chunks);
                    part.copy_to(to, Scratch("arrived"), from * chunks);
                }
                for (from, to) in (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))) {
                    let part = p.chunks(to, Scratch("arrived"), from * chunks, chunks);
                    part.copy_to(to, Output, from * chunks);
                }
            }
            SendRecv => copy(0, 0, ranks - 1, 0, chunks),
            Barrier => {
                add(root, 0, 0, 1);
                for to in (0..ranks).filter(|to| *to != root) {
                    p.chunk(root, Output, 0).copy_to(to, Output, 0);
                }
            }
            _ => unreachable!(),
        }
    })
}

const DIRECT: [CollectiveKind; 10] = [
    CollectiveKind::AllReduce,
    CollectiveKind::AllGather,
    CollectiveKind::ReduceScatter,
    CollectiveKind::AllToAll,
    CollectiveKind::Broadcast,
    CollectiveKind::Reduce,
    CollectiveKind::Gather,
    CollectiveKind::Scatter,
    CollectiveKind::SendRecv,
    CollectiveKind::Barrier,
];

fn orders() -> Vec<Order> {
    vec![Order::InTurn, Order::Random(1), Order::Random(2), Order::HighestFirst, Order::RunAhead]
}

fn options(elements: u64) -> RunOptions {
    RunOptions { elements, orders: orders(), ..RunOptions::default() }
}

fn right(schedule: &Schedule, options: &RunOptions) -> RunReport {
    let report =
        run::run(schedule, options).unwrap_or_else(|error| panic!("{error}\n{options:?}\n{schedule}"));
    assert!(report.is_right(), "{:?}\n{options:?}\n{schedule}", report.comparison);
    report
}

#[test]
fn every_collective_with_every_type_operator_and_size() {
    for kind in DIRECT {
        for ranks in [1, 2, 3, 5] {
            for in_place in [false, true] {
                if (kind == CollectiveKind::SendRecv) && (in_place || ranks == 1) {
                    continue;
                }
                let schedule =
                    direct(kind, ranks, if kind == CollectiveKind::Barrier { 1 } else { 2 }, in_place);
                for element_type in ElementType::ALL {
                    for operator in Operator::ALL {
                        // Nothing, one, fewer than chunks, uneven, many.
                        for elements in [0, 1, 3, 7, 1000] {
                            let elements = match kind {
                                CollectiveKind::AllToAll => elements * ranks as u64,
                                _ => elements,
                            };
                            let report = right(
                                &schedule,
                                &RunOptions { element_type, operator, slots: Some(1), ..options(elements) },
                            );
                            if elements > 0 {
                                assert!(report.comparison.compared >= elements, "{kind} {elements}");
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_million_and_three_elements_lose_none() {
    // Case D05: also with fewer elements than chunks.
    let ring = Setting { in_place: true, ..Setting::new("ring", CollectiveKind::AllReduce, 8) };
    let schedule = schedule(&ring, |p| {
        for index in 0..8 {
            let mut sum = p.chunk(index, Input, index);
            (1..8).for_each(|step| sum = p.chunk((index + step) % 8, Input, index).reduce(sum));
            (0..7).for_each(|step| sum = sum.copy_to((index + step) % 8, Input, index));
        }
    });
    for elements in [5, 1_000_003] {
        let report = right(&schedule, &RunOptions { orders: vec![Order::InTurn], ..options(elements) });
        assert_eq!(report.comparison.compared, 8 * elements);
        // Seven additions, one after the other.
        assert_eq!((report.comparison.depth, report.messages), (7, 112));
        // Some sums are rounded, and none by more than the bound.
        assert!(report.comparison.largest_error > 0.0, "{:?}", report.comparison);
        assert!(report.comparison.largest_error <= report.comparison.allowed_error);
    }
}

#[test]
fn size_tables_and_custom_collectives_by_their_definitions() {
    let table = [vec![2, 1, 0], vec![0, 2, 3], vec![1, 1, 1]];
    let p = Program::new(Collective::all_to_all_v(&table).unwrap());
    let before = |from: usize, to: usize| -> usize { table[from][..to].iter().sum() };
    let above = |from: usize, to: usize| -> usize { table[..from].iter().map(|row| row[to]).sum() };
    for (from, to) in (0..3).flat_map(|from| (0..3).map(move |to| (from, to))) {
        if table[from][to] > 0 {
            let part = p.chunks(from, Input, before(from, to), table[from][to]);
            part.copy_to(to, Output, above(from, to));
        }
    }
    let schedule = lower(&p.finish("table").unwrap()).unwrap();
    right(&schedule, &options(15));
    // Five chunks at most, all equal.
    let error = run::run(&schedule, &options(16)).unwrap_err().to_string();
    assert_eq!(error, "the chunks of all-to-all-v are equal: 16 elements are not a multiple of 5");

    let p = Program::new(Collective::custom(2, 2, 3).unwrap());
    let sum = p.chunk(1, Input, 0).copy_to(1, Output, 2);
    sum.reduce(p.chunk(0, Input, 0));
    (0..2).for_each(|rank| p.expect(1, 2, rank, 0));
    let schedule = lower(&p.finish("custom").unwrap()).unwrap();
    for operator in Operator::ALL {
        let report = right(&schedule, &RunOptions { operator, ..options(9) });
        assert_eq!(report.comparison.compared, 5, "the first of two chunks of 9 elements");
    }
}

#[test]
fn an_average_is_the_sum_divided_at_the_end() {
    let schedule = direct(CollectiveKind::Reduce, 3, 1, false);
    let executor = Executor::<i32>::new(&schedule, 4, Operator::Avg).unwrap();
    let end = executor.execute(Order::InTurn, None).unwrap();
    assert!(executor.compare(&end).is_right());
    let at = |memory, rank, buffer| executor.chunk(memory, RankId(rank), Place { buffer, index: 0 }).unwrap();
    let start = executor.start();
    for element in 0..4 {
        let sum: i32 = (0..3).map(|rank| at(&start, rank, MemoryBuffer::Input)[element]).sum();
        assert_eq!(at(&end, 1, MemoryBuffer::Output)[element], sum);
    }
}

#[test]
fn in_place_both_names_lead_to_the_same_chunk() {
    // Case D14: `i[0]` of rank r of an all-gather is `o[r]`; `o[0]` of a reduce-scatter is `i[r]`.
    let mut gather = direct(CollectiveKind::AllGather, 3, 2, true);
    let mut scatter = direct(CollectiveKind::ReduceScatter, 3, 2, true);
    for rank in 0..3 {
        let steps = |schedule: &'_ mut Schedule, rename: &dyn Fn(&mut Place)| {
            let blocks = schedule.ranks[rank].thread_blocks.iter_mut();
            blocks.flat_map(|block| &mut block.steps).for_each(|step| {
                rename(&mut step.src);
                rename(&mut step.dst);
            });
        };
        let own = 2 * rank as u32;
        steps(&mut gather, &|place| {
            if place.index == own {
                *place = Place { buffer: MemoryBuffer::Input, index: 0 };
            }
        });
        steps(&mut scatter, &|place| {
            if place.index == own {
                *place = Place { buffer: MemoryBuffer::Output, index: 0 };
            }
        });
    }
    right(&gather, &options(20));
    right(&scatter, &options(20));
    // A window ends where it ends, although the buffer behind it goes on.
    let mut blocks = gather.ranks[0].thread_blocks.iter_mut();
    let sender = blocks.find(|block| block.steps[0].kind == StepKind::Send).unwrap();
    sender.steps[0].src = Place { buffer: MemoryBuffer::Input, index: 1 };
    let (rule, messages) = fault(&gather, None);
    assert!(rule == Rule::Bounds && messages[0].contains("i[1..3], but i has 2 chunk(s)"), "{messages:?}");
}

#[test]
fn a_wrong_place_is_seen_in_the_data() {
    // Case D11: chunk 0 is sent twice, chunk 1 never.
    let mut schedule = direct(CollectiveKind::SendRecv, 2, 2, false);
    let schedule = {
        let send = schedule.ranks[0].thread_blocks[0].steps[0].clone();
        let receive = schedule.ranks[1].thread_blocks[0].steps[0].clone();
        let one = |step: &collective_dsl::Step, index: u32| {
            let mut step = step.clone();
            (step.count, step.src.index) = (1, 0);
            step.dst.index = index;
            step
        };
        schedule.ranks[0].thread_blocks[0].steps = vec![one(&send, 0), one(&send, 0)];
        schedule.ranks[1].thread_blocks[0].steps = vec![one(&receive, 0), one(&receive, 1)];
        schedule
    };
    let report = run::run(&schedule, &options(10)).unwrap();
    assert_eq!((report.comparison.wrong, report.runs), (5, 1));
    let first = report.comparison.first.unwrap();
    assert_eq!((first.rank, first.place.to_string().as_str(), first.element), (RankId(1), "o[1]", 0));
    assert_eq!((first.chunk, first.position), (1, 5));
    let executor = Executor::<f32>::new(&schedule, 10, Operator::Sum).unwrap();
    let start = executor.start();
    let input = |index| {
        let place = Place { buffer: MemoryBuffer::Input, index };
        executor.chunk(&start, RankId(0), place).unwrap()[0]
    };
    assert_eq!((first.wanted, first.got), (f64::from(input(1)).to_string(), input(0).to_string()));
}

#[test]
fn a_lost_contribution_is_more_than_rounding_in_every_type() {
    let mut schedule = direct(CollectiveKind::Reduce, 4, 1, true);
    let blocks = schedule.ranks.iter_mut().flat_map(|rank| &mut rank.thread_blocks);
    let step = blocks.flat_map(|block| &mut block.steps).find(|step| step.kind == StepKind::RecvReduceCopy);
    step.unwrap().kind = StepKind::Recv;
    for element_type in ElementType::ALL {
        let report = run::run(&schedule, &RunOptions { element_type, ..options(100) }).unwrap();
        // A rare element may be near enough by chance where there are only 8 bits.
        assert!(report.comparison.wrong > 90, "{element_type}: {:?}", report.comparison);
    }
}

/// Both ranks send first (case D12): `count` messages each, then as many receives.
fn both_send_first(count: u32) -> Schedule {
    let mut schedule = direct(CollectiveKind::AllGather, 2, count as usize, false);
    for rank in 0..2 {
        let own = 1 - rank as u32;
        let of_rank = &mut schedule.ranks[rank];
        let step = |kind| {
            let blocks = of_rank.thread_blocks.iter();
            blocks.flat_map(|block| &block.steps).find(|step| step.kind == kind).unwrap().clone()
        };
        let (send, receive, copy) = (step(StepKind::Send), step(StepKind::Recv), step(StepKind::Copy));
        let one = |step: &collective_dsl::Step, index| {
            let mut step = step.clone();
            step.count = 1;
            step.depends.clear();
            step.src.index = index;
            step.dst.index = own * count + index;
            step
        };
        let sends = (0..count).map(|index| one(&send, index));
        let steps = sends.chain((0..count).map(|index| one(&receive, index))).chain([copy]).collect();
        let peer = Some(RankId(own));
        let block = &mut of_rank.thread_blocks[0];
        (block.send, block.recv, block.steps) = (peer, peer, steps);
        of_rank.thread_blocks.truncate(1);
    }
    schedule
}

fn fault(schedule: &Schedule, slots: Option<u32>) -> (Rule, Vec<String>) {
    match run::run(schedule, &RunOptions { slots, ..options(24) }).unwrap_err() {
        RunError::Malformed(found) | RunError::Fault { found, .. } => {
            let messages = found.findings.iter().map(|finding| finding.message.clone()).collect();
            (found.findings[0].rule, messages)
        }
        error => panic!("{error}"),
    }
}

#[test]
fn both_send_first_needs_a_slot_for_each_message() {
    for (messages, slots) in [(1, 1), (2, 2), (5, 5)] {
        let schedule = both_send_first(messages);
        right(&schedule, &RunOptions { slots: Some(slots), ..options(24) });
        right(&schedule, &RunOptions { slots: None, ..options(24) });
        let (rule, messages) = fault(&schedule, Some(slots - 1));
        assert_eq!((rule, messages.len()), (Rule::Deadlock, 2), "{messages:?}");
        let step = slots - 1;
        assert!(messages[0].starts_with(&format!("rank 0, tb0, step {step} (s) waits for")), "{messages:?}");
        assert!(messages[0].ends_with("(1/2)") && messages[1].ends_with("(2/2)"), "{messages:?}");
    }
}

#[test]
fn without_slots_sender_and_receiver_meet() {
    // A chain of fused steps, and one rank that receives before it sends: nothing waits for itself.
    let schedule = schedule(&Setting::new("chain", CollectiveKind::Broadcast, 4), |p| {
        let mut data = p.chunk(0, Input, 0).copy_to(0, Output, 0);
        (1..4).for_each(|rank| data = data.copy_to(rank, Output, 0));
    });
    right(&schedule, &RunOptions { slots: Some(0), ..options(5) });
}

#[test]
fn circular_waits_are_printed_whole() {
    // Case D13: every rank receives before its first send.
    let mut schedule = direct(CollectiveKind::AllReduce, 4, 1, true);
    let (send, receive) = {
        let steps =
            || schedule.ranks.iter().flat_map(|rank| &rank.thread_blocks).flat_map(|block| &block.steps);
        let find = |kind| steps().find(|step| step.kind == kind).unwrap().clone();
        (find(StepKind::Send), find(StepKind::Recv))
    };
    for (rank, of_rank) in (0..).zip(&mut schedule.ranks) {
        of_rank.thread_blocks.truncate(1);
        let block = &mut of_rank.thread_blocks[0];
        (block.send, block.recv) = (Some(RankId((rank + 1) % 4)), Some(RankId((rank + 3) % 4)));
        block.steps = vec![receive.clone(), send.clone()];
        block.steps.iter_mut().for_each(|step| step.depends.clear());
    }
    for slots in [Some(0), Some(1), Some(8), None] {
        let (rule, messages) = fault(&schedule, slots);
        assert_eq!((rule, messages.len()), (Rule::Deadlock, 4));
        assert_eq!(
            messages[0],
            "rank 0, tb0, step 0 (r) waits for a message of rank 3, tb0, step 0 (r) (1/4)"
        );
    }
}

#[test]
fn steps_that_do_something_wrong_are_named() {
    let with = |change: &dyn Fn(&mut Schedule)| {
        let mut schedule = direct(CollectiveKind::AllReduce, 3, 2, false);
        change(&mut schedule);
        fault(&schedule, Some(2))
    };
    type Change = dyn Fn(&mut Schedule);
    let cases: [(Rule, &str, &Change); 7] = [
        (Rule::Bounds, "i[1..3], but i has 2 chunk(s) there", &|s| {
            s.ranks[0].thread_blocks[0].steps[0].src.index = 1;
        }),
        (Rule::Bounds, "reaches beyond its buffer: i[4294967295..", &|s| {
            s.ranks[0].thread_blocks[0].steps[0].src.index = u32::MAX;
        }),
        (Rule::Uninitialised, "is read but has never been written", &|s| {
            s.ranks[0].thread_blocks[0].steps[0].src.buffer = MemoryBuffer::Output;
        }),
        (Rule::Unmatched, "a message of 1 chunk(s) meets a receive of 2", &|s| {
            s.ranks[0].thread_blocks[0].steps[0].count = 1;
        }),
        (Rule::Malformed, "sends to rank 9, which does not exist", &|s| {
            s.ranks[0].thread_blocks[0].send = Some(RankId(9));
        }),
        (Rule::Malformed, "waits for step 4 of tb7, which does not exist", &|s| {
            let on = StepId { thread_block: ThreadBlockId(7), step: 4 };
            s.ranks[0].thread_blocks[0].steps[0].depends.push(on);
        }),
        (Rule::Ownership, "both own the send side of one connection", &|s| {
            let block = s.ranks[0].thread_blocks[0].clone();
            s.ranks[0].thread_blocks.push(block);
        }),
    ];
    for (rule, message, change) in cases {
        let (found, messages) = with(change);
        assert!(found == rule && messages[0].contains(message), "{rule:?} {message}: {found:?} {messages:?}");
    }
    // A message that nobody takes, and one that nobody sends.
    for (rank, message) in [
        (1, "rank 0, tb0: a message of 2 chunk(s) is sent but never received"),
        (0, "rank 1, tb0, step 0 (r) waits for a message of nobody"),
    ] {
        let mut schedule = direct(CollectiveKind::SendRecv, 2, 2, false);
        schedule.ranks[rank].thread_blocks[0].steps.clear();
        assert_eq!(fault(&schedule, Some(2)), (Rule::Unmatched, vec![message.to_owned()]));
    }
}

#[test]
fn chunks_that_do_not_fit_at_a_size_are_a_matter_of_size() {
    // Chunk 1 is added to chunk 0: fine unless one has an element more.
    let p = Program::new(Collective::custom(1, 2, 1).unwrap());
    p.chunk(0, Input, 0).copy_to(0, Output, 0).reduce(p.chunk(0, Input, 1));
    (0..2).for_each(|chunk| p.expect(0, 0, 0, chunk));
    let schedule = lower(&p.finish("mixed").unwrap()).unwrap();
    right(&schedule, &options(8));
    let error = run::run(&schedule, &options(9)).unwrap_err();
    assert_eq!(error.rule(), None);
    assert!(error.to_string().contains("a chunk of 4 element(s) meets o[0], which has 5"), "{error}");
}

#[test]
fn absurd_sizes_are_refused_before_anything_is_allocated() {
    let schedule = direct(CollectiveKind::AllReduce, 3, 2, true);
    for elements in [1 << 40, u64::MAX] {
        let error = run::run(&schedule, &options(elements)).unwrap_err();
        assert!(matches!(error, RunError::TooLarge { .. }));
        assert!(error.to_string().contains("more than the limit of 4.0 GiB"), "{error}");
    }
    let mut huge = schedule;
    huge.ranks[0].scratch_chunks = u32::MAX;
    assert!(matches!(run::run(&huge, &options(1)), Err(RunError::TooLarge { .. })));
}

#[test]
fn a_race_shows_when_one_of_its_steps_is_held() {
    // The root adds what three ranks send and gives the sum to all; without its waits it may give it too early.
    let mut schedule = direct(CollectiveKind::AllReduce, 4, 1, true);
    let all: Vec<Order> = Order::each_step_last(&schedule).collect();
    assert!(all.len() > schedule.step_count());
    let options = RunOptions { slots: None, orders: all, ..options(8) };
    right(&schedule, &options);
    let blocks = schedule.ranks.iter_mut().flat_map(|rank| &mut rank.thread_blocks);
    blocks.flat_map(|block| &mut block.steps).for_each(|step| step.depends.clear());
    let report = run::run(&schedule, &options).unwrap();
    assert!(matches!(report.wrong_order, Some(Order::HoldStep(..))), "{report:?}");
}

#[test]
fn the_same_order_gives_the_same_result() {
    let schedule = direct(CollectiveKind::AllReduce, 5, 3, false);
    for seed in 0..5 {
        let options = RunOptions { orders: vec![Order::Random(seed)], ..options(1000) };
        assert_eq!(run::run(&schedule, &options), run::run(&schedule, &options));
    }
}

#[test]
fn an_update_between_read_and_write_is_lost() {
    // Two thread blocks add to one chunk. Whichever comes first the sum is the same, unless they overlap.
    let sum = Setting { in_place: true, ..Setting::new("sum", CollectiveKind::Reduce, 3) };
    let mut schedule = schedule(&sum, |p| {
        let own = p.chunk(0, Input, 0);
        own.reduce(p.chunk(1, Input, 0)).reduce(p.chunk(2, Input, 0));
    });
    let blocks = schedule.ranks[0].thread_blocks.iter_mut();
    blocks.flat_map(|block| &mut block.steps).for_each(|step| step.depends.clear());
    assert_eq!(schedule.ranks[0].thread_blocks.len(), 2);
    right(&schedule, &RunOptions { orders: Order::adverse(&schedule).collect(), ..options(8) });
    let step = StepId { thread_block: ThreadBlockId(0), step: 0 };
    let orders = vec![Order::HoldStep(RankId(0), step), Order::HoldWrite(RankId(0), step)];
    let report = run::run(&schedule, &RunOptions { orders: orders.clone(), ..options(8) }).unwrap();
    assert_eq!((report.runs, report.wrong_order), (2, Some(orders[1])));
}
