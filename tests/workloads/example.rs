//! `examples/training_step.rs` is what it says.

use chakra_et::graph::Op;
use collective::chakra_et;
use collective::sim::workload::{RankTimes, WorkloadReport};

use crate::support::check;

#[allow(dead_code)]
#[path = "../../examples/training_step.rs"]
mod training_step;

/// Layers, tokens s, width h, and the ranks that share a layer.
const L: u64 = 8;
const S: u64 = 4096;
const H: u64 = 4096;
const T: u64 = 2;

#[test]
fn its_layers_have_the_operations_of_the_literature() {
    let workload = training_step::step().unwrap();
    let ops = |part: &str| -> u64 {
        let rank = workload.rank(5);
        let of = |node: &u32| rank.name(*node).starts_with("layer 3 ") && rank.name(*node).contains(part);
        let nodes = (0..rank.len() as u32).filter(of);
        nodes.map(|node| if let Op::Comp { ops, .. } = rank.graph().op(node) { ops } else { 0 }).sum()
    };
    let forward = 24 * S * H * H + 4 * S * S * H;
    let all = ops("");
    let backward = ops("backward") + ops("weights");
    assert_eq!((all - backward) * T, forward);
    // Twice that, and the scores once more: half of attention's operations.
    assert_eq!(backward * T, 2 * forward + 2 * S * S * H);
}

#[test]
fn its_choices_differ_as_it_says() {
    let (workload, topology) = (training_step::step().unwrap(), training_step::cluster().unwrap());
    let reports: Vec<WorkloadReport> = training_step::choices()
        .into_iter()
        .map(|(_, rules)| training_step::simulate(&workload, &topology, rules).unwrap())
        .collect();
    reports.iter().for_each(check);
    let [one_ring, two_rings, levels, tiles] = &reports[..] else { panic!("{}", reports.len()) };
    // All compute the same; tiles are rounded to picoseconds.
    let busy = |report: &WorkloadReport| {
        report
            .ranks
            .iter()
            .map(|RankTimes { compute, overlapped, .. }| compute.0 + overlapped.0)
            .max()
            .unwrap()
    };
    assert!(reports.iter().all(|report| busy(report).abs_diff(busy(one_ring)) < 10_000));
    assert!(reports.iter().all(|report| report.makespan.0 >= busy(report)));
    for better in [two_rings, levels] {
        assert!(better.makespan.0 * 5 < one_ring.makespan.0 * 4);
    }
    assert!(tiles.makespan < levels.makespan);
    // A gradient by one ring: 14 messages of an eighth over a card of 50 GB/s, one layer after the other.
    let gradient = 12 * H * H / T * 2;
    let message = gradient / 8 * 20;
    let data = one_ring.collectives.iter().find(|row| row.ranks == 8).unwrap();
    assert!(data.span.0 >= L * 14 * message);
}

#[cfg(feature = "topology-files")]
#[test]
fn the_files_that_it_writes_are_what_it_simulates() {
    use collective::sim::topology;
    use collective::workload::{Expander, Rules};

    let directory = std::env::temp_dir().join(format!("collective-training-step-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = |name: &str, text: &str| {
        std::fs::write(directory.join(name), text).unwrap();
        directory.join(name)
    };
    let loaded = topology::load(&file("cluster.toml", training_step::CLUSTER_TOML), None).unwrap().topology;
    let rules = Rules::load(file("rules.toml", training_step::RULES_TOML)).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(loaded, training_step::cluster().unwrap());
    assert!(Expander::new(rules.clone()).is_ok());
    let workload = training_step::step().unwrap();
    let (name, built) = training_step::choices().swap_remove(2);
    let [read, built] =
        [rules, built].map(|rules| training_step::simulate(&workload, &loaded, rules).unwrap());
    assert_eq!(name, "C");
    assert!(read == built);
}
