//! As a researcher I want thousands of simulations in one go, the same however they are executed.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use collective::compare::{Candidate, compare};
use collective::et::{self, EtOptions, NodeOrder};
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::Picos;
use collective::sim::{Conventions, LogGp, Model, Simulation};
use collective::sweep::{Ended, Network, Outcome, Placing, Shard, Subject, Sweep, Why, fields};
use collective::{CollectiveKind, Size, algorithms};

fn switch(ranks: u32) -> Arc<Topology> {
    let link = ("50 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
    Arc::new(Topology::new([Dimension::switch(ranks, link.0, link.1)]).unwrap())
}

fn ring(ranks: u32) -> Arc<Topology> {
    let link = ("25 GB/s".parse().unwrap(), "1 us".parse().unwrap());
    Arc::new(Topology::new([Dimension::ring(ranks, link.0, link.1)]).unwrap())
}

fn named(name: &str) -> Subject {
    Subject::library(algorithms::find(name).expect(name))
}

fn sizes() -> Vec<Size> {
    [1 << 12, 1 << 16, 6, 1 << 22].map(Size::bytes).to_vec()
}

fn networks() -> Vec<Network> {
    vec![
        Network::new("switch", switch(8), Model::Fluid, Conventions::Exact),
        Network::new("ring", ring(8), Model::LinkQueue, Conventions::Exact),
        Network::new("ring", ring(6), Model::Analytical, Conventions::Exact),
        Network::new("wrong", switch(8), Model::Fluid, Conventions::AstraSim),
        Network::with_loggp(LogGp::default()),
    ]
}

fn sweep() -> Sweep {
    let names = ["allreduce_ring", "allreduce_recursive_halving_doubling", "allreduce_trivance"];
    Sweep::new(names.map(named), [8, 6], sizes(), networks()).unwrap()
}

fn outcomes(sweep: &Sweep, shard: Shard, done: usize, threads: usize) -> Vec<(usize, Outcome)> {
    let mut all = Vec::new();
    let ended = sweep.run(shard, done, threads, &|| false, |point, outcome| {
        all.push((point.number, outcome));
        Ok::<(), Infallible>(())
    });
    assert_eq!(ended, Ok(Ended::Complete));
    all
}

#[test]
fn every_point_comes_in_order_with_any_number_of_threads() {
    let sweep = sweep();
    let one = outcomes(&sweep, Shard::WHOLE, 0, 1);
    assert_eq!(
        one.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
        (0..sweep.len()).collect::<Vec<_>>()
    );
    for threads in [0, 2, 8] {
        assert_eq!(one, outcomes(&sweep, Shard::WHOLE, 0, threads), "{threads} threads");
    }
    for done in [1, 5, 7, sweep.len() - 1, sweep.len()] {
        assert_eq!(one[done..], outcomes(&sweep, Shard::WHOLE, done, 3), "after {done}");
    }
}

#[test]
fn shares_are_disjoint_and_make_the_whole() {
    let sweep = sweep();
    let whole = outcomes(&sweep, Shard::WHOLE, 0, 2);
    for count in [2, 3, 7, 1000] {
        let mut joined = Vec::new();
        for index in 1..=count {
            let shard: Shard = format!("{index}/{count}").parse().unwrap();
            let part = outcomes(&sweep, shard, 0, 2);
            assert_eq!(part.len(), sweep.len_of(shard));
            let numbers: Vec<usize> =
                (0..part.len()).map(|k| sweep.point_of(shard, k).unwrap().number).collect();
            assert_eq!(part.iter().map(|(number, _)| *number).collect::<Vec<_>>(), numbers);
            joined.extend(part);
        }
        joined.sort_by_key(|(number, _)| *number);
        assert_eq!(joined, whole, "{count} shares");
    }
}

#[test]
fn figures_are_those_of_a_simulation_by_itself_and_the_rest_says_why() {
    let sweep = sweep();
    let mut found = [0; 5];
    for (number, outcome) in outcomes(&sweep, Shard::WHOLE, 0, 2) {
        let point = sweep.point(number).unwrap();
        let (unit, network) = (&sweep.units()[point.unit], &sweep.networks()[point.network]);
        let size = sweep.sizes()[point.size];
        let topology = network.topology.as_deref();
        let name = sweep.subject(unit).name();
        let served = !algorithms::find(name).unwrap().choices(unit.ranks).is_empty();
        match outcome {
            Ok(figures) => {
                found[0] += 1;
                let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(size) };
                let graph = et::graph(&sweep.schedule(point.unit).unwrap(), &options).unwrap();
                let simulation = match topology {
                    Some(topology) => Simulation::new(topology).model(network.model),
                    None => Simulation::with_loggp(LogGp::default()),
                };
                let report = simulation.run(&graph).unwrap();
                assert_eq!(
                    (figures.time, figures.messages, figures.bytes),
                    (report.makespan, report.messages, report.bytes)
                );
            }
            Err(none) => match none.why {
                Why::Ranks => {
                    found[1] += 1;
                    assert!(!served, "{name} for {}", unit.ranks);
                }
                Why::Topology => {
                    found[2] += 1;
                    assert_ne!(topology.unwrap().rank_count() as usize, unit.ranks);
                }
                // 6 bytes are no whole number of elements of 4.
                Why::Size => {
                    found[3] += 1;
                    assert_eq!(size.in_bytes(), 6);
                }
                Why::Simulation => {
                    found[4] += 1;
                    assert_eq!(network.conventions, Conventions::AstraSim);
                }
                other => panic!("{other}: {}", none.reason),
            },
        }
    }
    assert!(found.iter().all(|count| *count > 0), "{found:?}");
}

#[test]
fn a_larger_topology_takes_fewer_ranks_if_they_are_placed() {
    let networks = [Placing::Whole, Placing::Identity, Placing::Random { seed: 3 }]
        .map(|placing| Network::new("switch", switch(8), Model::Fluid, Conventions::Exact).placing(placing));
    let sweep = Sweep::new([named("allreduce_ring")], [6, 9], [Size::bytes(6144)], networks).unwrap();
    let all = outcomes(&sweep, Shard::WHOLE, 0, 2);
    let time = |number: usize| all[number].1.as_ref().map(|figures| figures.time).map_err(|none| none.why);
    // 10 messages of 1 KiB, each 1 us + 20.48 ns, wherever on the switch.
    let expected = Ok(Picos(10 * 1_020_480));
    assert_eq!([time(0), time(1), time(2)], [Err(Why::Topology), expected, expected]);
    // 9 ranks do not go on 8 positions.
    let last = all.len() - 1;
    assert_eq!([time(last), time(last - 1), time(last - 2)], [Err(Why::Topology); 3]);
}

#[test]
fn the_best_are_those_of_a_comparison() {
    let (candidates, left_out) = Candidate::of_the_library(CollectiveKind::AllReduce, 8);
    assert!(left_out.is_empty());
    let of_kind = algorithms::all().filter(|algorithm| algorithm.def.kind == CollectiveKind::AllReduce);
    let sizes: Vec<Size> = (10..=28).step_by(3).map(|exponent| Size::bytes(1 << exponent)).collect();
    let network = Network::new("switch", switch(8), Model::Fluid, Conventions::Exact);
    let sweep = Sweep::new(of_kind.map(Subject::library), [8], sizes.clone(), [network]).unwrap();
    let times: Vec<Option<Picos>> = outcomes(&sweep, Shard::WHOLE, 0, 2)
        .into_iter()
        .map(|(_, outcome)| Some(outcome.ok()?.time))
        .collect();
    let topology = switch(8);
    let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(sizes[0]) };
    let comparison = compare(&Simulation::new(&topology).model(Model::Fluid), &candidates, &sizes, &options);
    let fields = fields(&sweep, &times, |_| true);
    assert_eq!(fields.len(), 1);
    for (index, winner) in fields[0].winners.iter().enumerate() {
        let (row, time) = comparison.best(index).unwrap();
        assert_eq!((sweep.unit_label(winner.unit), winner.time), (comparison.rows[row].label.clone(), time));
    }
    assert_eq!(fields[0].winners.len(), sizes.len());
}

#[test]
fn a_sweep_that_is_stopped_has_handed_over_a_beginning() {
    let sweep = sweep();
    let whole = outcomes(&sweep, Shard::WHOLE, 0, 1);
    for threads in [1, 4] {
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) > 60;
        let mut all = Vec::new();
        let ended = sweep.run(Shard::WHOLE, 0, threads, &stop, |point, outcome| {
            all.push((point.number, outcome));
            Ok::<(), Infallible>(())
        });
        assert_eq!(ended, Ok(Ended::Stopped));
        assert!(all.len() < whole.len());
        assert_eq!(all, whole[..all.len()]);
    }
    // A failure of the receiver ends it too.
    let failed = sweep
        .run(Shard::WHOLE, 0, 4, &|| false, |point, _| if point.number < 9 { Ok(()) } else { Err("full") });
    assert_eq!(failed, Err("full"));
}
