//! What a run holds in memory is what is under way, and not what the step has in all.

use chakra_et::workload::{CollectiveKind, WorkloadBuilder};
use collective::chakra_et;
use collective::sim::topology::Dimension;
use collective::sim::workload::{Algorithms, Use, WorkloadSimulation};

use crate::support::*;

#[test]
fn as_much_is_under_way_however_many_collectives_follow_one_another() {
    const RANKS: u32 = 13;
    let expander = defaults();
    let topology = network(Dimension::ring, RANKS);
    let most = |count: usize, groups: u32| {
        let mut step = WorkloadBuilder::new(RANKS);
        let groups: Vec<u32> =
            (0..groups).map(|group| step.group(format!("{}", group + 1), 0..RANKS).unwrap()).collect();
        for rank in 0..RANKS {
            for group in &groups {
                for _ in 0..count {
                    step.collective(rank, "sum", CollectiveKind::AllReduce, 99_999, *group, &[]).unwrap();
                }
            }
        }
        let workload = step.finish();
        let group = &workload.groups()[0];
        let of_one = expander.algorithm(&Use::new(CollectiveKind::AllReduce, 99_999, 0, group)).unwrap();
        let report = run(&WorkloadSimulation::new(&topology), &workload, &expander);
        (report.most_in_flight, of_one.algorithm.graph().node_count())
    };
    for groups in [1, 3] {
        let (few, of_one) = most(10, groups);
        let (many, _) = most(300, groups);
        assert_eq!(few, many);
        // While the last ranks finish one, the first may have begun the next.
        assert!((of_one..=2 * of_one * groups as usize).contains(&many), "{many} of {of_one}");
    }
}
