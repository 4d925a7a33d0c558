use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const END_OF_TIME: Picos = Picos(u64::MAX);

#[test]
fn equal_times_run_in_the_order_of_scheduling_and_reserved_places_are_kept() {
    let mut queue = EventQueue::new(Order::Scheduling);
    queue.schedule(Picos(5), Event::LinkFree(0)).unwrap();
    let reserved = queue.reserve();
    queue.schedule(Picos(5), Event::LinkFree(2)).unwrap();
    queue.schedule(Picos(4), Event::Computed { rank: 7, node: 9 }).unwrap();
    queue.schedule_reserved(Picos(5), reserved, Event::LinkFree(1)).unwrap();
    assert_eq!(queue.pop(END_OF_TIME), Some(Event::Computed { rank: 7, node: 9 }));
    assert!(!queue.has_passed(Picos(5), reserved));
    queue.schedule(Picos(1), Event::Received { rank: 1, node: 2 }).unwrap();
    let order: Vec<_> = std::iter::from_fn(|| queue.pop(END_OF_TIME)).collect();
    let free = Event::LinkFree;
    assert_eq!(order, [free(0), free(1), free(2), Event::Received { rank: 1, node: 2 }]);
    assert!(queue.has_passed(Picos(5), reserved));
    assert_eq!(queue.now(), Picos(5));
    assert_eq!(queue.schedule(Picos(u64::MAX), free(0)), Err(Overflow::TIME));
}

#[test]
fn a_slot_is_small() {
    assert_eq!(size_of::<Slot>(), 24);
}

/// What is scheduled for the current time comes in the next round, whatever its key.
#[test]
fn by_key_a_time_runs_in_rounds_and_the_last_of_a_round_closes_it() {
    let mut queue = EventQueue::new(Order::Key);
    let received = |rank, node| Event::Received { rank, node };
    for event in [received(2, 0), Event::LinkFree(9), received(1, 7), received(1, 3)] {
        queue.schedule(Picos(5), event).unwrap();
    }
    assert_eq!(queue.next_time(), Some(Picos(5)));
    assert_eq!(queue.pop(Picos(4)), None);
    assert_eq!(queue.pop(Picos(5)), Some(Event::LinkFree(9)));
    queue.schedule(Picos(0), received(0, 1)).unwrap();
    queue.schedule_last(Event::LinkFree(4)).unwrap();
    queue.schedule(Picos(0), received(0, 0)).unwrap();
    assert!(queue.has_passed(Picos(5), Ticket::default()));
    let order: Vec<_> = std::iter::from_fn(|| queue.pop(Picos(5))).collect();
    let first = [received(1, 3), received(1, 7), received(2, 0), Event::LinkFree(4)];
    assert_eq!(order, [&first[..], &[received(0, 0), received(0, 1)]].concat());
    assert_eq!(queue.next_time(), None);
}

proptest! {
    /// Against a sorted map of (time, round, key); the order of scheduling is of no account.
    #[test]
    fn any_schedule_by_key_runs_in_the_order_of_keys(
        steps in prop::collection::vec((0..40u64, 0..5u8, 0..50u32), 1..600)
    ) {
        let (mut queue, mut expected) = (EventQueue::new(Order::Key), BTreeMap::new());
        let (mut now, mut round) = (0, 0);
        for (number, (span, what, rank)) in (0..).zip(steps) {
            if what == 0 {
                if let Some(((at, of_round, _, _), event)) = expected.pop_first() {
                    prop_assert_eq!(queue.pop(END_OF_TIME), Some(event));
                    (now, round) = (at, of_round);
                }
                continue;
            }
            // Mostly few times, so that many events share one.
            let span = if what < 4 { span / 10 } else { span };
            let event = Event::Computed { rank, node: number };
            queue.schedule(Picos(span), event).unwrap();
            let of_round = if span == 0 { round + 1 } else { 0 };
            expected.insert((now + span, of_round, rank, number), event);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(END_OF_TIME)).collect();
        prop_assert_eq!(order, expected.into_values().collect::<Vec<_>>());
    }
}

proptest! {
    /// Against a sorted map of (time, ticket), with more times than lists stay open.
    #[test]
    fn any_schedule_runs_in_order(steps in prop::collection::vec((0..300u64, 0..4u8), 1..600)) {
        let (mut queue, mut expected) = (EventQueue::new(Order::Scheduling), BTreeMap::new());
        let mut reserved = Vec::new();
        for (number, (span, what)) in (0..).zip(steps) {
            let event = Event::LinkFree(number);
            let at = Picos(queue.now().0 + span);
            match what {
                0 => reserved.push((at, queue.reserve(), event)),
                1 => {
                    if let Some(((at, ticket), event)) = expected.pop_first() {
                        prop_assert_eq!(queue.pop(END_OF_TIME), Some(event));
                        prop_assert_eq!((queue.now(), queue.running), (at, ticket));
                    }
                    reserved.retain(|(at, ticket, _)| !queue.has_passed(*at, *ticket));
                    if let Some((at, ticket, event)) = reserved.pop() {
                        queue.schedule_reserved(at, ticket, event).unwrap();
                        expected.insert((at, ticket), event);
                    }
                }
                _ => {
                    expected.insert((at, queue.next), event);
                    queue.schedule(Picos(span), event).unwrap();
                }
            }
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(END_OF_TIME)).collect();
        prop_assert_eq!(order, expected.into_values().collect::<Vec<_>>());
    }
}
