//! Which nodes are one collective, and what is said where members disagree.

use chakra_et::workload::{BuildError, JoinError};

use super::*;

const SUM: CollectiveKind = CollectiveKind::AllReduce;
const GATHER: CollectiveKind = CollectiveKind::AllGather;

/// A collective of a rank: name, kind, size, and nodes to depend on.
type Part<'a> = (&'a str, CollectiveKind, u64, &'a [u32]);

/// For each rank its collectives on a group of all.
fn step(ranks: &[&[Part<'_>]]) -> Result<Workload, BuildError> {
    let mut builder = WorkloadBuilder::new(ranks.len() as u32);
    let group = builder.group("5", 0..ranks.len() as u32)?;
    for (rank, collectives) in (0..).zip(ranks) {
        for (name, kind, bytes, deps) in *collectives {
            builder.collective(rank, *name, *kind, *bytes, group, deps)?;
        }
    }
    Ok(builder.finish())
}

fn nodes(workload: &Workload) -> Vec<Vec<u32>> {
    workload.collectives().unwrap().all.into_iter().map(|collective| collective.nodes).collect()
}

fn error(workload: &Workload) -> String {
    workload.collectives().unwrap_err().to_string()
}

#[test]
fn without_names_the_order_of_launches_tells() {
    let nameless = |nodes: Vec<Node>| {
        file(&nodes.into_iter().map(|node| Node { name: String::new(), ..node }).collect::<Vec<_>>())
    };
    // Rank 1 launches its second node first, as its first waits for its third.
    let ranks = [
        nameless(vec![coll(1, 0, 8, None, &[]), coll(2, 0, 8, None, &[])]),
        nameless(vec![coll(1, 0, 8, None, &[3]), coll(2, 0, 8, None, &[]), comp(3, &[])]),
    ];
    assert_eq!(nodes(&from_bytes(&ranks, None).unwrap()), [[0, 1], [1, 0]]);
}

#[test]
fn common_names_tell_more_than_the_order() -> Result<(), BuildError> {
    let a = ("a", SUM, 8, &[][..]);
    let b = ("b", GATHER, 16, &[][..]);
    let c = ("c", SUM, 8, &[][..]);
    assert_eq!(nodes(&step(&[&[a, b, c], &[c, a, b]])?).len(), 3);
    let joined = step(&[&[a, b, c], &[c, a, b]])?.collectives().unwrap().all;
    for collective in joined {
        let pair = (collective.nodes[0], collective.nodes[1]);
        assert!([(0, 1), (1, 2), (2, 0)].contains(&pair), "{pair:?}");
    }
    Ok(())
}

#[test]
fn the_order_of_a_group_is_one_in_which_all_members_can_run() -> Result<(), BuildError> {
    // Rank 0 numbers a before b, but rank 1 must run b before a.
    let ranks =
        step(&[&[("a", SUM, 8, &[]), ("b", SUM, 8, &[])], &[("b", SUM, 8, &[]), ("a", SUM, 8, &[0])]])?;
    assert_eq!(nodes(&ranks), [[1, 0], [0, 1]]);
    Ok(())
}

#[test]
fn members_that_issue_other_collectives_are_told_apart() -> Result<(), BuildError> {
    let ranks = step(&[
        &[("a", SUM, 8, &[]), ("x", SUM, 1024, &[0])],
        &[("a", SUM, 8, &[]), ("x", SUM, 1024, &[0])],
        &[("a", SUM, 8, &[]), ("y", GATHER, 512, &[0])],
    ])?;
    assert_eq!(
        error(&ranks),
        "group \"5\": rank 0's 2nd collective is an all_reduce of 1024 bytes (node 1 \"x\") but rank 2's is an \
         all_gather of 512 bytes (node 1 \"y\")"
    );
    let ranks = step(&[&[("x", SUM, 1024, &[])], &[("x", SUM, 512, &[])]])?;
    assert_eq!(
        error(&ranks),
        "group \"5\": the collective \"x\" is an all_reduce of 1024 bytes on rank 0 (node 0) but an all_reduce of 512 \
         bytes on rank 1 (node 0)"
    );
    Ok(())
}

#[test]
fn a_collective_that_a_member_lacks_is_named() -> Result<(), BuildError> {
    let [a, b, c] = ["a", "b", "c"].map(|name| (name, SUM, 8, &[][..]));
    assert_eq!(
        error(&step(&[&[a, c], &[a, b, c]])?),
        "group \"5\": rank 1 issues 3 collective(s) on it, rank 0 only 2: the first that rank 0 has not is an all_reduce \
         of 8 bytes (node 1 \"b\")"
    );
    assert_eq!(
        error(&step(&[&[a], &[]])?),
        "group \"5\": rank 0 issues 1 collective(s) on it, rank 1 only 0: the first that rank 1 has not is an all_reduce \
         of 8 bytes (node 0 \"a\")"
    );
    Ok(())
}

#[test]
fn roots_must_agree() -> Result<(), BuildError> {
    let mut builder = WorkloadBuilder::new(2);
    let group = builder.group("7", [1, 0])?;
    for rank in 0..2 {
        builder.rooted(rank, "", CollectiveKind::Broadcast, 8, group, rank, &[])?;
    }
    assert_eq!(
        error(&builder.finish()),
        "group \"7\": rank 1's 1st collective is a broadcast of 8 bytes from rank 0 (node 0) but rank 0's is a broadcast \
         of 8 bytes from rank 1 (node 0)"
    );
    Ok(())
}

#[test]
fn every_group_that_disagrees_is_reported() -> Result<(), BuildError> {
    let mut builder = WorkloadBuilder::new(3);
    let groups = [builder.group("1", [0, 1])?, builder.group("2", [0, 1])?, builder.group("3", [1, 2])?];
    builder.collective(0, "x", SUM, 8, groups[0], &[])?;
    builder.collective(1, "x", SUM, 8, groups[1], &[])?;
    let Err(JoinError::Disagree { message, groups }) = builder.finish().collectives() else { panic!() };
    assert_eq!(
        groups.iter().map(|group| (group.group, group.ranks)).collect::<Vec<_>>(),
        [(1, [0, 1]), (2, [0, 1])]
    );
    assert!(message.starts_with("group \"1\": rank 0 issues 1"), "{message}");
    assert!(message.ends_with("(and 1 more group(s) whose members disagree)"), "{message}");
    Ok(())
}

#[test]
fn members_that_must_run_collectives_in_different_orders_never_can() -> Result<(), BuildError> {
    let ranks =
        step(&[&[("a", SUM, 8, &[]), ("b", SUM, 16, &[0])], &[("b", SUM, 16, &[]), ("a", SUM, 8, &[0])]])?;
    assert_eq!(
        error(&ranks),
        "the members of group \"5\" wait for one another: on rank 0, node 1 \"b\" (an all_reduce of 16 bytes on group \
         \"5\") waits for node 0 \"a\" (an all_reduce of 8 bytes on group \"5\"); on rank 1, node 1 \"a\" (an all_reduce of \
         8 bytes on group \"5\") waits for node 0 \"b\" (an all_reduce of 16 bytes on group \"5\")"
    );
    Ok(())
}

#[test]
fn a_circle_on_a_rank_is_named() {
    let ranks = [file(&[comp(1, &[2]), comp(2, &[1])])];
    let workload = from_bytes(&ranks, None).unwrap();
    assert!(
        error(&workload).starts_with("rank 0: node 1 waits for itself: 1 needs 2 needs 1"),
        "{}",
        error(&workload)
    );
}

/// Groups in different order on two ranks: independent collectives hinder nobody, however they are numbered.
#[test]
fn groups_that_only_ids_order_are_joined_so_that_they_run() -> Result<(), BuildError> {
    // Launched in this order: b1 b2 a1 a2 on rank 0, a1 a2 b1 b2 on rank 1. If each group kept it, a1 would wait for b2
    // (a dependence of rank 0), b2 for b1, b1 for a2 (a dependence of rank 1), and a2 for a1.
    let mut builder = WorkloadBuilder::new(2);
    let a = builder.group("1", [0, 1])?;
    let b = builder.group("2", [0, 1])?;
    builder.collective(0, "b1", SUM, 8, b, &[])?;
    let b2 = builder.collective(0, "b2", SUM, 8, b, &[])?;
    builder.collective(0, "a1", SUM, 8, a, &[b2])?;
    builder.collective(0, "a2", SUM, 8, a, &[])?;
    builder.collective(1, "a1", SUM, 8, a, &[])?;
    let a2 = builder.collective(1, "a2", SUM, 8, a, &[])?;
    builder.collective(1, "b1", SUM, 8, b, &[a2])?;
    builder.collective(1, "b2", SUM, 8, b, &[])?;
    let all = builder.finish().collectives().unwrap().all;
    let of = |group: u32| -> Vec<_> {
        all.iter()
            .filter(|collective| collective.group == group)
            .map(|collective| collective.nodes[0])
            .collect()
    };
    // a2 before a1, or b2 before b1: else nothing could run.
    assert!(of(1) == [3, 2] || of(2) == [1, 0], "{all:?}");
    Ok(())
}
