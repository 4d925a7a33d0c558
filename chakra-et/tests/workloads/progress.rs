//! What is said of deadlocks is compared with running the workload: whatever can go on does.

use std::collections::BTreeMap;

use chakra_et::graph::Op;
use chakra_et::workload::{Collective, Collectives, JoinError, check};
use proptest::prelude::*;

use super::*;

/// Runs until nothing can go on; whether all nodes have run. With `in_order`, a group runs its collectives one after the
/// other as they are listed.
fn finishes(workload: &Workload, collectives: &Collectives, in_order: bool) -> bool {
    let ranks = workload.rank_count();
    let mut done: Vec<Vec<bool>> = workload.ranks().iter().map(|rank| vec![false; rank.len()]).collect();
    let mut run = vec![false; collectives.all.len()];
    // Messages have tags of their own here, so the tag tells which is which.
    let mut sent: BTreeMap<u32, bool> = BTreeMap::new();
    let ready = |done: &[Vec<bool>], rank: usize, node: u32| {
        let deps = workload.rank(rank).graph().deps(node);
        deps.iter().all(|&dep| done[rank][dep as usize])
    };
    loop {
        let mut progress = false;
        for rank in 0..ranks {
            for node in 0..workload.rank(rank).len() as u32 {
                if done[rank][node as usize] || !ready(&done, rank, node) {
                    continue;
                }
                let goes = match workload.rank(rank).graph().op(node) {
                    Op::Coll { .. } => false,
                    Op::Send { tag, .. } => {
                        sent.insert(tag, true);
                        true
                    }
                    Op::Recv { tag, .. } => sent.contains_key(&tag),
                    _ => true,
                };
                done[rank][node as usize] |= goes;
                progress |= goes;
            }
        }
        for (at, collective) in collectives.all.iter().enumerate() {
            let members = &workload.groups()[collective.group as usize].members;
            let turn = !in_order
                || collectives.all[..at]
                    .iter()
                    .zip(&run)
                    .all(|(other, run)| *run || other.group != collective.group);
            let come =
                members.iter().zip(&collective.nodes).all(|(&rank, &node)| ready(&done, rank as usize, node));
            if !run[at] && turn && come {
                for (&rank, &node) in members.iter().zip(&collective.nodes) {
                    done[rank as usize][node as usize] = true;
                }
                run[at] = true;
                progress = true;
            }
        }
        if !progress {
            return done.iter().flatten().all(|done| *done);
        }
    }
}

/// What happens on which ranks: a collective on one of the groups, or a message.
#[derive(Clone, Debug)]
enum Event {
    Collective(usize),
    Message(u32, u32),
}

const RANKS: u32 = 3;
const GROUPS: [&[u32]; 4] = [&[0, 1, 2], &[0, 1], &[1, 2], &[0, 2]];

/// Events, and for each rank a key for each by which it orders them, and which of those before it waits for.
type Story = (Vec<Event>, Vec<Vec<(u8, [bool; 3])>>);

fn story() -> impl Strategy<Value = Story> {
    let event = prop_oneof![
        3 => (0..GROUPS.len()).prop_map(Event::Collective),
        1 => (0..RANKS, 1..RANKS).prop_map(|(src, by)| Event::Message(src, (src + by) % RANKS)),
    ];
    proptest::collection::vec(event, 1..8).prop_flat_map(|events| {
        let count = events.len();
        // Small keys, so that most ranks keep most of the order.
        let rank = proptest::collection::vec((0..4_u8, any::<[bool; 3]>()), count);
        (Just(events), proptest::collection::vec(rank, RANKS as usize))
    })
}

fn tell((events, ranks): &Story) -> Workload {
    let mut builder = WorkloadBuilder::new(RANKS);
    let groups: Vec<u32> = GROUPS
        .iter()
        .zip(1..)
        .map(|(members, name)| builder.group(name.to_string(), members.iter().copied()).unwrap())
        .collect();
    for (rank, keys) in (0..).zip(ranks) {
        let takes_part = |at: &usize| match events[*at] {
            Event::Collective(group) => GROUPS[group].contains(&rank),
            Event::Message(src, dst) => rank == src || rank == dst,
        };
        let mut order: Vec<usize> = (0..events.len()).filter(takes_part).collect();
        order.sort_by_key(|&at| (at as u8 / 3 + keys[at].0, at));
        for (place, at) in order.into_iter().enumerate() {
            // Of the three before it, those that the rank waits for.
            let waits = keys[at].1.iter().zip(1..).filter(|(waits, _)| **waits);
            let deps: Vec<u32> =
                waits.filter_map(|(_, back)| place.checked_sub(back)).map(|dep| dep as u32).collect();
            let name = format!("event {at}");
            match events[at] {
                Event::Collective(group) => {
                    builder.collective(rank, name, CollectiveKind::AllReduce, 8, groups[group], &deps)
                }
                Event::Message(src, dst) if rank == src => builder.send(rank, name, dst, at as u32, 8, &deps),
                Event::Message(src, _) => builder.recv(rank, name, src, at as u32, 8, &deps),
            }
            .unwrap();
        }
    }
    builder.finish()
}

/// The collectives of a story, told apart by the names of their events.
fn by_names(workload: &Workload, (events, _): &Story) -> Collectives {
    let mut all = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let Event::Collective(group) = event else { continue };
        let node = |&rank: &u32| {
            let rank = workload.rank(rank as usize);
            (0..).find(|&node| rank.name(node) == format!("event {at}")).unwrap()
        };
        let nodes = GROUPS[*group].iter().map(node).collect();
        let kind = CollectiveKind::AllReduce;
        all.push(Collective { group: *group as u32 + 1, kind, bytes: 8, root: 0, nodes });
    }
    Collectives { all }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_deadlock_is_said_where_there_is_one_and_only_there(story in story()) {
        let workload = tell(&story);
        let expected = by_names(&workload, &story);
        let said = check(&workload).iter().any(|finding| ["deadlock", "group-deadlock"].contains(&finding.id));
        prop_assert_eq!(finishes(&workload, &expected, false), !said);
        match workload.collectives() {
            Ok(collectives) => {
                // Where it can run at all, it does in the order that was found for each group.
                prop_assert_eq!(finishes(&workload, &collectives, true), !said);
                let sorted = |mut all: Vec<Collective>| {
                    all.sort_by(|a, b| (a.group, &a.nodes).cmp(&(b.group, &b.nodes)));
                    all
                };
                prop_assert_eq!(sorted(collectives.all), sorted(expected.all));
            }
            Err(JoinError::Deadlock { .. }) => prop_assert!(said),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}

/// The stories above are of both kinds.
#[test]
fn random_workloads_do_and_do_not_come_to_an_end() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut ends = [0, 0];
    for _ in 0..300 {
        let story = proptest::strategy::ValueTree::current(&story().new_tree(&mut runner).unwrap());
        let clean =
            check(&tell(&story)).iter().all(|finding| finding.level != chakra_et::validate::Level::Error);
        ends[usize::from(clean)] += 1;
    }
    assert!(ends.iter().all(|count| *count > 20), "{ends:?}");
}
