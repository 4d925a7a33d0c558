//! Small sizes are won by what takes few rounds, large ones by what sends few bytes; and where links are shared, by what
//! loads them least.

use collective::algorithms::{self, Cost};
use collective::compare::{Candidate, Comparison, compare};
use collective::et::{EtOptions, NodeOrder};
use collective::sim::topology::{Dimension, Topology};
use collective::sim::{Model, Simulation};
use collective::{CollectiveKind, Size};

/// All algorithms for a collective that compete on a topology, with what each costs by theory.
fn on(dimension: Dimension, kind: CollectiveKind, ranks: usize) -> (Comparison, Vec<Cost>) {
    let (candidates, left_out) = Candidate::of_the_library(kind, ranks);
    assert!(left_out.is_empty(), "{left_out:?}");
    let of_kind = algorithms::all().filter(|algorithm| algorithm.def.kind == kind);
    let costs = of_kind.flat_map(|algorithm| {
        algorithm.choices(ranks).into_iter().map(|values| algorithm.cost(&values)).collect::<Vec<_>>()
    });
    let topology = Topology::new([dimension]).expect("a topology");
    let sizes: Vec<Size> = (8..=30).step_by(2).map(|exponent| Size::bytes(1 << exponent)).collect();
    let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(sizes[0]) };
    (compare(&Simulation::new(&topology).model(Model::Fluid), &candidates, &sizes, &options), costs.collect())
}

fn switch(ranks: u32) -> Dimension {
    Dimension::switch(ranks, "50 GB/s".parse().expect("a bandwidth"), "5 us".parse().expect("a latency"))
}

fn ring(ranks: u32, latency: &str) -> Dimension {
    Dimension::ring(ranks, "50 GB/s".parse().expect("a bandwidth"), latency.parse().expect("a latency"))
}

#[test]
fn few_rounds_win_small_sizes_and_few_bytes_large_ones() {
    use CollectiveKind::{AllGather, AllReduce, ReduceScatter};
    for kind in [AllReduce, AllGather, ReduceScatter] {
        for ranks in [8, 12, 16] {
            let (comparison, costs) = on(switch(ranks as u32), kind, ranks);
            let (smallest, _) = comparison.best(0).expect("a winner");
            let (largest, _) = comparison.best(comparison.sizes.len() - 1).expect("a winner");
            let fewest = costs.iter().map(Cost::rounds).min();
            assert_eq!(
                Some(costs[smallest].rounds()),
                fewest,
                "{kind:?} {ranks}: {}",
                comparison.rows[smallest].label
            );
            let least = costs.iter().map(|cost| cost.sent).min();
            assert_eq!(
                Some(costs[largest].sent),
                least,
                "{kind:?} {ranks}: {}",
                comparison.rows[largest].label
            );
        }
    }
}

#[test]
fn on_a_physical_ring_the_ring_wins_by_the_ratio_of_the_link_loads() {
    // Sums over the rounds of the most loaded link, by symbolic execution: 15/8 for the ring, 85/8 for halving and
    // doubling, the farthest first.
    let (comparison, _) = on(ring(16, "1 ns"), CollectiveKind::AllReduce, 16);
    let last = comparison.sizes.len() - 1;
    let time = |label: &str| {
        let row = comparison.rows.iter().find(|row| row.label == label).expect(label);
        row.times[last].as_ref().expect("a time").as_ns()
    };
    let ratio = time("allreduce_recursive_halving_doubling") / time("allreduce_ring(channels=1)");
    assert!((ratio / (85.0 / 15.0) - 1.0).abs() < 0.001, "{ratio}");
}

#[test]
fn the_winners_follow_one_another_without_gaps() {
    let (comparison, _) = on(ring(16, "5 us"), CollectiveKind::AllReduce, 16);
    let stretches = comparison.stretches();
    assert!(stretches.len() >= 2, "{stretches:?}");
    assert_eq!(stretches[0].from, comparison.sizes[0]);
    assert_eq!(stretches.last().map(|last| last.until), comparison.sizes.last().copied());
    for pair in stretches.windows(2) {
        let (below, above) = (pair[0].until.in_bytes(), pair[1].from.in_bytes());
        // A factor of 4, its square root taken six times: 2.2 %.
        assert!(below < above && above as f64 / (below as f64) < 1.05, "{below} {above}");
    }
}
