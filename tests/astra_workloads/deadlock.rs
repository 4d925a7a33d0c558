//! Orders of collectives that ASTRA-sim does not survive, and what is said of them.

use super::*;

const ALL_REDUCE: CollectiveKind = CollectiveKind::AllReduce;

#[test]
fn two_groups_in_opposite_order_wait_for_each_other_and_the_circle_is_shown() {
    // Rank 0 comes to group 1 first, rank 1 to group 2; nothing but the order of ids says so.
    let mut builder = WorkloadBuilder::new(2);
    let groups = [builder.group("1", [0, 1]).unwrap(), builder.group("2", [0, 1]).unwrap()];
    for (rank, order) in [(0, [0, 1]), (1, [1, 0])] {
        for at in order {
            let name = ["sum of gradients", "sum of activations"][at];
            builder.collective(rank, name, ALL_REDUCE, MIB, groups[at], &[]).unwrap();
        }
    }
    let (workload, system) = (builder.finish(), native(RINGS));
    let error = run("FullyConnected", &workload, &system).unwrap_err();
    let WorkloadError::Stuck(stuck) = &error else { panic!("{error}") };
    assert!(stuck.is_circle && stuck.waits.len() == 4, "{error}");
    let text = error.to_string();
    assert!(text.contains("and so on: the circle is closed"), "{text}");
    for part in [
        "\"sum of gradients\" (all_reduce of 1048576 bytes on group \"1\")",
        "waits for rank 1 to come to it",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let topology = network("FullyConnected", 2);
    for model in [Model::Analytical, Model::LinkQueue, Model::Fluid] {
        let own = WorkloadSimulation::new(&topology).model(model).run(&workload, &system);
        assert!(own.is_ok(), "{model}");
    }
}

#[test]
fn the_collectives_of_one_group_in_another_order_are_told_apart() {
    // ASTRA-sim joins the k-th of each rank; their messages have other sizes, and never meet.
    let mut builder = WorkloadBuilder::new(2);
    for (rank, names) in [(0, ["small", "large"]), (1, ["large", "small"])] {
        for name in names {
            let bytes = if name == "small" { 64 } else { MIB };
            builder.collective(rank, name, ALL_REDUCE, bytes, 0, &[]).unwrap();
        }
    }
    let (workload, system) = (builder.finish(), native(RINGS));
    let error = run("FullyConnected", &workload, &system).unwrap_err().to_string();
    assert!(error.contains("these are different collectives"), "{error}");
    assert!(error.contains("\"small\"") && error.contains("\"large\""), "{error}");
    // By our own rules a name says which is which.
    let topology = network("FullyConnected", 2);
    assert!(WorkloadSimulation::new(&topology).run(&workload, &system).is_ok());
}
