//! What is said of a workload before it runs.

use chakra_et::validate::Level;
use chakra_et::workload::{BuildError, Finding, check};

use super::*;

const SUM: CollectiveKind = CollectiveKind::AllReduce;

fn ids(findings: &[Finding]) -> Vec<(&str, Level)> {
    findings.iter().map(|finding| (finding.id, finding.level)).collect()
}

#[test]
fn a_sound_step_gives_nothing() -> Result<(), BuildError> {
    let mut builder = WorkloadBuilder::new(2);
    for rank in 0..2 {
        let product = builder.compute(rank, "product", Cost::micros(3), &[])?;
        builder.collective(rank, "sum", SUM, 0, 0, &[product])?;
    }
    builder.send(0, "s", 1, 0, 8, &[])?;
    builder.recv(1, "r", 0, 0, 8, &[])?;
    assert_eq!(check(&builder.finish()), []);
    Ok(())
}

#[test]
fn two_groups_in_opposite_order_are_a_circle_with_all_its_steps() -> Result<(), BuildError> {
    let mut builder = WorkloadBuilder::new(2);
    let groups = [builder.group("5", [0, 1])?, builder.group("6", [0, 1])?];
    for (rank, order) in [(0, [0, 1]), (1, [1, 0])] {
        let names = ["a", "b"];
        let first = builder.collective(rank, names[order[0]], SUM, 8, groups[order[0]], &[])?;
        let between = builder.compute(rank, "between", Cost::micros(1), &[first])?;
        builder.collective(rank, names[order[1]], SUM, 8, groups[order[1]], &[between])?;
    }
    let workload = builder.finish();
    // The engine may want to see for itself.
    assert!(workload.collectives().is_ok());
    let findings = check(&workload);
    assert_eq!(ids(&findings), [("deadlock", Level::Error)]);
    assert_eq!(
        findings[0].message,
        "ranks wait for one another: on rank 0, node 2 \"b\" (an all_reduce of 8 bytes on group \"6\") waits for node 0 \
         \"a\" (an all_reduce of 8 bytes on group \"5\"); on rank 1, node 2 \"a\" (an all_reduce of 8 bytes on group \"5\") \
         waits for node 0 \"b\" (an all_reduce of 8 bytes on group \"6\")"
    );
    let mut related: Vec<_> = findings[0].related.iter().map(|at| (at.rank, at.node)).collect();
    related.sort_unstable();
    assert_eq!(related, [(0, 0), (0, 2), (1, 0), (1, 2)]);
    Ok(())
}

#[test]
fn messages_and_collectives_together_may_make_a_circle() -> Result<(), BuildError> {
    // Rank 1 sends only after the collective, which rank 0 starts after the message.
    let mut builder = WorkloadBuilder::new(2);
    let message = builder.recv(0, "recv", 1, 3, 8, &[])?;
    builder.collective(0, "sum", SUM, 8, 0, &[message])?;
    let sum = builder.collective(1, "sum", SUM, 8, 0, &[])?;
    builder.send(1, "send", 0, 3, 8, &[sum])?;
    let findings = check(&builder.finish());
    assert_eq!(ids(&findings), [("deadlock", Level::Error)]);
    for step in [
        "on rank 0, node 0 \"recv\" waits for the message of node 1 \"send\" on rank 1",
        "on rank 1, node 1 \"send\" waits for node 0 \"sum\"",
        "on rank 0, node 1 \"sum\" (an all_reduce of 8 bytes on the group of all ranks) waits for node 0 \"recv\"",
    ] {
        assert!(findings[0].message.contains(step), "{}", findings[0].message);
    }
    Ok(())
}

#[test]
fn groups_in_opposite_order_without_dependences_are_sound() -> Result<(), BuildError> {
    let mut builder = WorkloadBuilder::new(2);
    let groups = [builder.group("5", [0, 1])?, builder.group("6", [0, 1])?];
    for (rank, order) in [(0, [0, 1]), (1, [1, 0])] {
        for at in order {
            builder.collective(rank, "x", SUM, 8, groups[at], &[])?;
        }
    }
    assert_eq!(check(&builder.finish()), []);
    Ok(())
}

#[test]
fn ends_of_messages_must_meet() -> Result<(), BuildError> {
    let mut builder = WorkloadBuilder::new(3);
    builder.send(0, "lost", 1, 7, 8, &[])?;
    builder.recv(1, "never", 2, 7, 8, &[])?;
    builder.send(1, "big", 0, 0, 16, &[])?;
    builder.recv(0, "small", 1, 0, 8, &[])?;
    builder.send(2, "far", 3, 0, 8, &[])?;
    builder.send(2, "self", 2, 0, 8, &[])?;
    builder.recv(2, "self", 2, 0, 8, &[])?;
    let findings = check(&builder.finish());
    let said: Vec<(&str, String)> =
        findings.iter().map(|finding| (finding.id, finding.to_string())).collect();
    let expected = [
        (
            "size-mismatch",
            "rank 0: node 1 \"small\" expects 8 bytes from rank 1 with tag 0, but node 1 \"big\" there sends 16",
        ),
        ("self-message", "rank 2: node 1 \"self\" sends to its own rank"),
        (
            "unmatched-recv",
            "rank 1: node 0 \"never\" waits for 8 bytes from rank 2 with tag 7, which never sends them",
        ),
        ("peer-range", "rank 2: node 0 \"far\" sends to rank 3, but the workload has 3 rank(s)"),
        (
            "unmatched-send",
            "rank 0: node 0 \"lost\" sends 8 bytes to rank 1 with tag 7, which never receives them",
        ),
    ];
    assert_eq!(said, expected.map(|(id, text)| (id, text.to_owned())));
    assert_eq!(findings[4].level, Level::Warning);
    Ok(())
}

#[test]
fn of_many_messages_the_first_are_named_and_the_others_counted() -> Result<(), BuildError> {
    let mut builder = WorkloadBuilder::new(2);
    for tag in 0..70 {
        builder.recv(1, "r", 0, tag, 8, &[])?;
    }
    let findings = check(&builder.finish());
    assert_eq!(findings.len(), 51);
    assert_eq!(findings[50].message, "and 20 more of this kind (unmatched-recv)");
    Ok(())
}

#[test]
fn computations_that_take_no_time_are_counted_with_examples() -> Result<(), BuildError> {
    let mut builder = WorkloadBuilder::new(2);
    builder.compute(0, "costs", Cost::micros(3), &[])?;
    builder.compute(0, "free", Cost::default(), &[])?;
    builder.compute(1, "flops", Cost::operations(100, 0), &[])?;
    builder.compute(1, "free too", Cost::default(), &[])?;
    builder.memory(1, "load", false, true, 64, &[])?;
    builder.send(0, "s", 1, 0, 8, &[])?;
    builder.recv(1, "r", 0, 0, 8, &[])?;
    let findings = check(&builder.finish());
    let said: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "2 of 4 computations state no cost: without a duration, num_ops and tensor_size they take no time, the \
             commonest reason for a result of 0 (1 of 2 on rank 0, 1 of 2 on rank 1; such as node 1 \"free\" of rank 0, \
             node 1 \"free too\" of rank 1)",
            "1 of 4 computations state operations or bytes but no duration: they take time only where the speed of the \
             processor and of its memory is given (a roofline) (1 of 2 on rank 1; such as node 0 \"flops\" of rank 1)",
            "1 of 1 loads and stores state bytes: they take time only where the bandwidth or latency of the memory is \
             given (1 of 1 on rank 1; such as node 2 \"load\" of rank 1)",
        ]
    );
    assert!(findings.iter().all(|finding| finding.level == Level::Warning));
    Ok(())
}

#[test]
fn what_the_join_finds_is_an_error_for_each_group() -> Result<(), BuildError> {
    let mut builder = WorkloadBuilder::new(2);
    for name in ["1", "2"] {
        let group = builder.group(name, [0, 1])?;
        builder.collective(0, "x", SUM, 8, group, &[])?;
    }
    let findings = check(&builder.finish());
    assert_eq!(ids(&findings), [("collectives-differ", Level::Error); 2]);
    let circle = from_bytes(&[file(&[comp(1, &[2]), comp(2, &[1])])], None).unwrap();
    let findings = check(&circle);
    assert_eq!(ids(&findings)[0], ("cyclic-dependence", Level::Error));
    assert_eq!(
        findings[0].to_string(),
        "rank 0: nodes wait for one another: node 1 \"COMP_NODE_1\" needs node 2 \"COMP_NODE_2\" needs node 1"
    );
    Ok(())
}

#[test]
fn one_rank_by_itself_is_worth_a_word() -> Result<(), BuildError> {
    let mut builder = WorkloadBuilder::new(1);
    builder.collective(0, "x", SUM, 8, 0, &[])?;
    assert_eq!(ids(&check(&builder.finish())), [("one-rank", Level::Warning)]);
    let mut builder = WorkloadBuilder::new(1);
    builder.compute(0, "x", Cost::micros(1), &[])?;
    assert_eq!(ids(&check(&builder.finish())), [("no-communication", Level::Note)]);
    Ok(())
}

#[test]
fn the_summary_counts_collectives_once() -> Result<(), BuildError> {
    let mut builder = WorkloadBuilder::new(3);
    let pair = builder.group("9", [0, 2])?;
    for rank in [0, 2] {
        builder.collective(rank, "x", SUM, 1 << 40, pair, &[])?;
        builder.collective(rank, "y", SUM, 1 << 40, pair, &[])?;
        builder.collective(rank, "z", CollectiveKind::Barrier, 0, pair, &[])?;
    }
    builder.compute_on(1, "c", Cost::micros(1), true, 0, &[])?;
    let workload = builder.finish();
    let summary = workload.summary(&workload.collectives().unwrap());
    assert_eq!(summary.groups.len(), 1);
    assert_eq!(summary.groups[0].kinds, [(SUM, 2, 2 << 40), (CollectiveKind::Barrier, 1, 0)]);
    assert_eq!((summary.nodes, summary.computations), (7, [0, 1]));
    let text = summary.to_string();
    assert!(text.contains("group \"9\" of 2 rank(s) (0, 2)\n"), "{text}");
    assert!(text.contains(&format!("{:>8} {:<20} {:>16} bytes\n", 2, "all_reduce", 2_u64 << 40)), "{text}");
    Ok(())
}
