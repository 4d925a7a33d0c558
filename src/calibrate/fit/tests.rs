//! Fits of times in closed form: T = launch + k (n − 1) (latency + s / (n B)).

use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::leave_one_out;
use super::*;
use crate::sim::machine::Costs;

/// Rounds and ranks of each program.
const PROGRAMS: [(f64, f64); 3] = [(1.0, 8.0), (2.0, 8.0), (2.0, 16.0)];

fn closed(launch: f64, latency: f64, bandwidth: f64, program: usize, size: u64) -> f64 {
    let (k, n) = PROGRAMS[program];
    launch + k * (n - 1.0) * (latency + size as f64 / (n * bandwidth) * 1e9)
}

fn time(machine: &Machine, point: &Point) -> Result<Picos, String> {
    let costs = machine.costs(Protocol::Simple).ok_or("no costs")?;
    let bandwidth = costs.copy.ok_or("no copy")?.bytes_per_s();
    let ns = closed(costs.launch.as_ns(), costs.latency.as_ns(), bandwidth, point.program, point.size);
    Ok(Picos((ns * 1000.0).round() as u64))
}

/// Points of 128 KiB to 1 GiB with launch 6 us, latency 2 us and 21 GB/s, each changed by a factor.
fn points(programs: &[usize], factor: impl Fn(usize) -> f64) -> Vec<Point> {
    let mut points = Vec::new();
    for program in programs.iter().copied() {
        for size in (12..=30).map(|power| 1_u64 << power) {
            let measured_ns = closed(6000.0, 2000.0, 21e9, program, size) * factor(points.len());
            points.push(Point { program, protocol: Protocol::Simple, size, measured_ns });
        }
    }
    points
}

fn machine() -> Machine {
    Machine::new("m").with(Protocol::Simple, Costs::free())
}

fn parameters<const N: usize>(figures: [Figure; N]) -> [Parameter; N] {
    figures.map(|figure| Parameter::of(Protocol::Simple, figure))
}

const THREE: [Figure; 3] = [Figure::Launch, Figure::Latency, Figure::Copy];

/// A factor of at most e^±0.1, from a generator of Lehmer.
fn noise(number: usize) -> f64 {
    let mut state = 12_345_u64 + 7919 * number as u64;
    let mut uniform = || {
        state = state * 48_271 % 2_147_483_647;
        state as f64 / 2_147_483_647.0 - 0.5
    };
    // The first ones of neighbouring seeds are alike.
    let settled = [(); 5].map(|()| uniform())[4];
    (0.2 * settled).exp()
}

#[test]
fn exact_times_give_the_figures_back() {
    let found =
        fit(&machine(), &parameters(THREE), &points(&[0, 1, 2], |_| 1.0), Options::default(), time).unwrap();
    for (estimate, expected) in found.estimates.iter().zip([6000.0, 2000.0, 21e9]) {
        assert!((estimate.value / expected - 1.0).abs() < 1e-3, "{estimate:?}");
        assert!(estimate.error.is_some_and(|error| error < 1e-3) && !estimate.is_at_bound, "{estimate:?}");
    }
    assert!(found.is_minimum && found.indistinct.is_empty());
    assert!(found.summary(true).is_some_and(|it| it.points == 3 * 14 && it.largest_error < 1e-3));
    assert!(found.summary(false).is_some_and(|it| it.points == 3 * 5));
}

/// The figures lie within three standard errors, which for 42 points with a spread of 6 % are some percent.
#[test]
fn noise_is_seen_in_the_standard_errors() {
    let found =
        fit(&machine(), &parameters(THREE), &points(&[0, 1, 2], noise), Options::default(), time).unwrap();
    for (estimate, expected) in found.estimates.iter().zip([6000.0, 2000.0, 21e9]) {
        let error = estimate.error.unwrap();
        assert!((estimate.value / expected).ln().abs() < 3.0 * error, "{estimate:?}");
        assert!(error > 0.005 && error < 0.3, "{estimate:?}");
    }
    // A uniform spread of ±10 % has a mean of 5 %.
    let summary = found.summary(true).unwrap();
    assert!((0.03..0.07).contains(&summary.mean_error) && summary.largest_error < 0.2, "{summary:?}");
}

/// One program alone: a launch and its latencies do the same.
#[test]
fn figures_that_one_program_cannot_tell_apart_are_named() {
    let found =
        fit(&machine(), &parameters(THREE), &points(&[0], |_| 1.0), Options::default(), time).unwrap();
    let [launch, latency, copy] = parameters(THREE);
    assert_eq!(found.indistinct.len(), 1, "{:?}", found.indistinct);
    let (one, other, correlation) = found.indistinct[0];
    assert!((one, other) == (launch, latency) && correlation < -0.99);
    // Together they are known: 6 us + 7 · 2 us.
    let value = |at: usize| found.estimates[at].value;
    assert!((value(0) + 7.0 * value(1) - 20_000.0).abs() < 50.0, "{:?}", found.estimates);
    assert!(found.estimates[2].parameter == copy && (value(2) / 21e9 - 1.0).abs() < 1e-3);
}

#[test]
fn a_figure_without_influence_stays_and_has_no_error() {
    let all = parameters([Figure::Launch, Figure::Latency, Figure::Copy, Figure::Reduce]);
    let found = fit(&machine(), &all, &points(&[0, 1, 2], |_| 1.0), Options::default(), time).unwrap();
    assert_eq!(found.estimates[3].error, None);
    assert_eq!(all[3].get(&found.machine), None, "it was not stated, and is not now");
    assert!(found.estimates[..3].iter().all(|it| it.error.is_some()));
}

/// Measured without any latency: what is found is next to nothing, and not what the search began with.
#[test]
fn a_time_that_is_none_goes_to_the_end_of_its_range() {
    let mut all = points(&[0, 1, 2], |_| 1.0);
    for point in &mut all {
        point.measured_ns = closed(6000.0, 0.0, 21e9, point.program, point.size);
    }
    let found = fit(&machine(), &parameters(THREE), &all, Options::default(), time).unwrap();
    assert!(found.estimates[1].value < 20.0, "{:?}", found.estimates);
    assert!(found.summary(true).is_some_and(|it| it.largest_error < 0.01));
}

#[test]
fn other_protocols_are_not_simulated_for_a_derivative() {
    let machine = machine().with(Protocol::Ll, Costs::free());
    let [launch, _, copy] = parameters(THREE);
    let other = Parameter::of(Protocol::Ll, Figure::Launch);
    let runs = AtomicUsize::new(0);
    let points = points(&[0], |_| 1.0);
    let counted = |machine: &Machine, point: &Point| {
        runs.fetch_add(1, Ordering::Relaxed);
        time(machine, point)
    };
    let options = Options { most_iterations: 0, ..Options::default() };
    let found = fit(&machine, &[launch, copy, other], &points, options, counted).unwrap();
    // The 14 that are fitted, again for launch and for copy, and all 19 at the end.
    assert_eq!((found.runs, runs.into_inner()), (3 * 14 + 19, 3 * 14 + 19));
}

#[test]
fn a_program_is_foretold_by_the_others_where_they_tell_the_figures() {
    // Program 2 takes twice as long as its formula says: each of the others is foretold well only without it.
    let all = points(&[0, 1, 2], |at| if at >= 2 * 19 { 2.0 } else { 1.0 });
    let options = Options::default();
    let whole = fit(&machine(), &parameters(THREE), &all, options, time).unwrap();
    let without = leave_one_out(&whole, &all, options, time).unwrap();
    let error = |at: usize| without[at].unwrap().mean_error;
    assert!((error(2) - 1.0).abs() < 0.01, "simulated is half: {}", error(2));
    assert!(error(0) > 0.1 && error(1) > 0.1);

    let one = points(&[0], |_| 1.0);
    let whole = fit(&machine(), &parameters(THREE), &one, options, time).unwrap();
    assert_eq!(leave_one_out(&whole, &one, options, time).unwrap(), [None]);
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let all = points(&[0], |_| 1.0);
    let three = parameters(THREE);
    let said = |parameters: &[Parameter], points: &[Point]| {
        fit(&machine(), parameters, points, Options::default(), time).unwrap_err().to_string()
    };
    assert_eq!(said(&[], &all), "there are no figures to be fitted");
    assert_eq!(said(&[three[0], three[0]], &all), "the figure Simple.launch is to be fitted twice");
    let other = Parameter::of(Protocol::Ll128, Figure::Copy);
    assert_eq!(said(&[other], &all), "the machine states no costs that LL128.copy could be of");
    assert_eq!(
        said(&three, &all[..8]),
        "3 measured times above 65536 bytes cannot tell 3 figures: at least 4 are needed"
    );
    let none = [Point { measured_ns: 0.0, ..all[3] }];
    assert_eq!(said(&three, &none), "the measured time of point 0 is 0 ns: expected one above 0");
    let failing = |_: &Machine, point: &Point| Err(format!("at {}", point.size));
    let error = fit(&machine(), &three, &all, Options::default(), failing).unwrap_err();
    assert_eq!(error, FitError::Time("at 131072".to_owned()));
}
