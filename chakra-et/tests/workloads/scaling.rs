//! Few ranks are made into many.

use chakra_et::graph::Op;
use chakra_et::workload::{BuildError, Group, GroupRule, Replication, replicate};
use proptest::prelude::*;

use super::*;

const SUM: CollectiveKind = CollectiveKind::AllReduce;

fn rules(copies: u32, groups: &[(&str, GroupRule)]) -> Replication {
    let mut rules = Replication::new(copies);
    rules.groups = groups.iter().map(|(name, rule)| ((*name).to_owned(), *rule)).collect();
    rules
}

/// Two ranks: a product that both share, parameters and gradients on all ranks, a message from one to the other.
fn step() -> Result<Workload, BuildError> {
    let mut step = WorkloadBuilder::new(2);
    let tensor = step.group("12", [0, 1])?;
    for rank in 0..2 {
        let gather = step.collective(rank, "parameters", CollectiveKind::AllGather, 1001, 0, &[])?;
        let product = step.collective(rank, "product", SUM, 64, tensor, &[gather])?;
        step.rooted(rank, "note", CollectiveKind::Broadcast, 8, 0, 1, &[product])?;
        step.collective(rank, "gradients", CollectiveKind::ReduceScatter, 2002, 0, &[product])?;
    }
    step.send(0, "s", 1, 5, 8, &[])?;
    step.recv(1, "r", 0, 5, 8, &[])?;
    Ok(step.finish())
}

fn op_of(workload: &Workload, rank: usize, name: &str) -> Op {
    let rank = workload.rank(rank);
    (0..).find(|&node| rank.name(node) == name).map(|node| rank.graph().op(node)).unwrap()
}

#[test]
fn data_parallel_replicas_share_the_group_of_all_ranks() -> Result<(), BuildError> {
    let large = replicate(&step()?, &Replication::new(3)).unwrap();
    let expected: [(&str, &[u32]); 4] =
        [("", &[0, 1, 2, 3, 4, 5]), ("12", &[0, 1]), ("112", &[2, 3]), ("212", &[4, 5])];
    let groups: Vec<(&str, &[u32])> =
        large.groups().iter().map(|group| (&*group.name, &*group.members)).collect();
    assert_eq!(groups, expected);
    assert_eq!(op_of(&large, 4, "s"), Op::Send { dst: 5, tag: 5, bytes: 8 });
    assert_eq!(op_of(&large, 3, "r"), Op::Recv { src: 2, tag: 5, bytes: 8 });
    assert_eq!(workload::check(&large), []);
    let joined = large.collectives().unwrap().all;
    // Three on all ranks, and the product in each replica.
    assert_eq!(joined.len(), 3 + 3);
    let note = joined.iter().find(|collective| collective.kind == CollectiveKind::Broadcast).unwrap();
    assert_eq!((note.root, note.nodes.len()), (1, 6));
    Ok(())
}

#[test]
fn shards_become_smaller_and_gradients_do_not() -> Result<(), BuildError> {
    let mut rules = Replication::new(4);
    rules.all = GroupRule::Sharded;
    let large = replicate(&step()?, &rules).unwrap();
    // 1001 / 4 rounded up.
    assert_eq!(op_of(&large, 7, "parameters"), Op::Coll { kind: 2, bytes: 251 });
    assert_eq!(op_of(&large, 7, "gradients"), Op::Coll { kind: 7, bytes: 2002 });
    Ok(())
}

#[test]
fn without_anything_in_common_replicas_have_groups_of_their_own() -> Result<(), BuildError> {
    let mut rules = Replication::new(2);
    rules.all = GroupRule::Copied;
    let large = replicate(&step()?, &rules).unwrap();
    let expected: [(&str, &[u32]); 5] =
        [("", &[0, 1, 2, 3]), ("12", &[0, 1]), ("13", &[0, 1]), ("112", &[2, 3]), ("113", &[2, 3])];
    let groups: Vec<(&str, &[u32])> =
        large.groups().iter().map(|group| (&*group.name, &*group.members)).collect();
    assert_eq!(groups, expected);
    assert!(large.collectives().unwrap().all.iter().all(|collective| collective.group != 0));
    Ok(())
}

#[test]
fn what_cannot_be_replicated_is_said() -> Result<(), BuildError> {
    let error =
        |workload: &Workload, rules: &Replication| replicate(workload, rules).unwrap_err().to_string();
    let step = step()?;
    assert_eq!(error(&step, &rules(0, &[])), "0 copies of a workload are none: give 1 or more");
    assert_eq!(
        error(&step, &rules(1 << 31, &[])),
        "2147483648 copies of 2 ranks are more than 4294967295 ranks"
    );
    assert_eq!(
        error(&step, &rules(1 << 30, &[])),
        "1073741824 copies of 10 nodes are more than 4294967295 nodes"
    );
    assert_eq!(
        error(&step, &rules(2, &[("7", GroupRule::Joined)])),
        "there is a rule for group \"7\", but the workload has \"12\""
    );
    let mut builder = WorkloadBuilder::new(1);
    builder.group("999999999", [0])?;
    assert_eq!(
        error(&builder.finish(), &rules(4, &[])),
        "the copy of group \"999999999\" in replica 1 cannot be named: numbers of groups end at 2147483647"
    );
    let mut builder = WorkloadBuilder::new(1);
    builder.group("tp", [0])?;
    builder.group("tp.1", [0])?;
    assert_eq!(
        error(&builder.finish(), &rules(2, &[])),
        "the copy of group \"tp\" in replica 1 would be named \"tp.1\", as another group is"
    );
    let mut builder = WorkloadBuilder::new(1);
    builder.send(0, "far", 1, 0, 8, &[])?;
    assert_eq!(
        error(&builder.finish(), &rules(2, &[])),
        "rank 0, node 0 \"far\": its peer 1 is no rank of the workload, which has 1"
    );
    Ok(())
}

/// Peers are brought into range, as a workload with others cannot be replicated.
fn sound(recipe: &writing::Recipe) -> Workload {
    let ranks = recipe.len() as u32;
    let mut recipe = recipe.clone();
    for (kind, figure, _) in recipe.iter_mut().flatten() {
        if *kind < 2 {
            *figure = *figure % ranks * 2;
        }
    }
    writing::build(&recipe)
}

fn rule() -> impl Strategy<Value = GroupRule> {
    prop_oneof![Just(GroupRule::Copied), Just(GroupRule::Joined), Just(GroupRule::Sharded)]
}

/// The group's part that lies in a replica, as ranks of one.
fn part(group: &Group, replica: u32, ranks: u32) -> Vec<u32> {
    let own = |rank: &&u32| **rank / ranks == replica;
    group.members.iter().filter(own).map(|rank| rank % ranks).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn each_replica_by_itself_is_the_original(
        recipe in writing::recipe(),
        copies in 1..5_u32,
        all in rule(),
        others in rule(),
        first in rule(),
    ) {
        let original = sound(&recipe);
        let ranks = original.rank_count() as u32;
        let mut rules = rules(copies, &[("3", first)]);
        (rules.all, rules.others) = (all, others);
        let large = replicate(&original, &rules).unwrap();
        prop_assert_eq!(large.rank_count() as u32, copies * ranks);
        if copies == 1 {
            prop_assert_eq!(&large, &original);
        }
        for rank in 0..copies * ranks {
            let (replica, own) = (rank / ranks, original.rank((rank % ranks) as usize));
            let other = large.rank(rank as usize);
            prop_assert_eq!(own.len(), other.len());
            for node in 0..own.len() as u32 {
                prop_assert_eq!(own.name(node), other.name(node));
                prop_assert_eq!(own.graph().id(node), other.graph().id(node));
                prop_assert_eq!(own.graph().deps(node), other.graph().deps(node));
                match (own.graph().op(node), other.graph().op(node)) {
                    (Op::Send { dst, tag, bytes }, op) => {
                        prop_assert_eq!(op, Op::Send { dst: dst + replica * ranks, tag, bytes });
                    }
                    (Op::Recv { src, tag, bytes }, op) => {
                        prop_assert_eq!(op, Op::Recv { src: src + replica * ranks, tag, bytes });
                    }
                    (Op::Coll { kind, bytes }, op) => {
                        let mine = own.traits(node);
                        let theirs = other.traits(node);
                        let group = &original.groups()[mine.group as usize];
                        let rule = match group.name.as_str() {
                            "" => all,
                            "3" => first,
                            _ => others,
                        };
                        let shard = rule == GroupRule::Sharded && kind == CollectiveKind::AllGather.wire();
                        let bytes = if shard { bytes.div_ceil(copies.into()) } else { bytes };
                        prop_assert_eq!(op, Op::Coll { kind, bytes });
                        prop_assert_eq!(mine.root, theirs.root);
                        let joined = &large.groups()[theirs.group as usize];
                        prop_assert_eq!(&part(joined, replica, ranks), &group.members);
                        let replicas = if rule == GroupRule::Copied { 1 } else { copies as usize };
                        prop_assert_eq!(joined.members.len(), group.members.len() * replicas);
                    }
                    (mine, op) => {
                        prop_assert_eq!(mine, op);
                        prop_assert_eq!(own.traits(node), other.traits(node));
                    }
                }
            }
        }
        let bytes = large.to_bytes().unwrap();
        prop_assert_eq!(from_bytes(&bytes, Some(&large.communicators())).unwrap(), large);
    }
}
