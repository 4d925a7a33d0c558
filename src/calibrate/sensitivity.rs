//! How much each figure of a machine is worth.

use rayon::prelude::*;

use super::parameter::Parameter;
use crate::sim::machine::Machine;
use crate::sim::units::Picos;

/// By how much a figure is changed, up and down.
const CHANGE: f64 = 0.01;

/// What a figure is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sensitivity {
    /// The figure.
    pub parameter: Parameter,
    /// By how many percent the time changes if the figure grows by one: d ln(time) / d ln(figure). Negative for bandwidths.
    pub elasticity: f64,
}

/// How the time of a run changes with each of some figures, by a central difference of ±1 %; the most important first.
///
/// `time` runs on the machine that it is given: twice a parameter, in the threads of the current rayon pool. Parameters of which
/// the machine states no value, or zero, are left out; [`Parameter::stated`] has the others. The elasticities of times that are a
/// sum of terms, each proportional to a figure or to its inverse, are the shares of these terms in the sum.
///
/// ```
/// use collective::calibrate::{Parameter, sensitivities};
/// use collective::sim::machine::{Costs, Machine, Protocol};
/// use collective::sim::units::Picos;
///
/// let mut costs = Costs::free();
/// costs.launch = "4 us".parse()?;
/// costs.latency = "1 us".parse()?;
/// let machine = Machine::new("example").with(Protocol::Simple, costs);
/// // A launch and 6 latencies: 10 us.
/// let time = |machine: &Machine| {
///     let costs = machine.costs(Protocol::Simple).ok_or("no costs")?;
///     Ok::<_, &str>(Picos(costs.launch.0 + 6 * costs.latency.0))
/// };
/// let found = sensitivities(&machine, &Parameter::stated(&machine, Protocol::Simple), time)?;
/// let shown: Vec<_> = found.iter().map(|it| format!("{} {:.2}", it.parameter, it.elasticity)).collect();
/// assert_eq!(shown, ["Simple.latency 0.60", "Simple.launch 0.40"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first of `time`, in the order of the parameters.
pub fn sensitivities<E: Send>(
    machine: &Machine,
    parameters: &[Parameter],
    time: impl Fn(&Machine) -> Result<Picos, E> + Sync,
) -> Result<Vec<Sensitivity>, E> {
    let of = |parameter: &Parameter| -> Option<Result<Sensitivity, E>> {
        let value = parameter.get(machine).filter(|value| *value > 0.0)?;
        let at = |factor: f64| {
            let mut changed = machine.clone();
            parameter.set(&mut changed, value * factor);
            // What was set may have been rounded.
            let value = parameter.get(&changed).unwrap_or(value);
            time(&changed).map(|time| (value.ln(), (time.0.max(1) as f64).ln()))
        };
        let ends = rayon::join(|| at(1.0 - CHANGE), || at(1.0 + CHANGE));
        let (down, up) = match ends {
            (Ok(down), Ok(up)) => (down, up),
            (Err(error), _) | (_, Err(error)) => return Some(Err(error)),
        };
        // A figure of a few picoseconds rounds to the same value.
        let elasticity = if up.0 > down.0 { (up.1 - down.1) / (up.0 - down.0) } else { 0.0 };
        Some(Ok(Sensitivity { parameter: *parameter, elasticity }))
    };
    // Collected first, so that the first error is that of the first parameter and not the first in time.
    let all: Vec<_> = parameters.par_iter().filter_map(of).collect();
    let mut all = all.into_iter().collect::<Result<Vec<_>, E>>()?;
    all.sort_by(|a, b| b.elasticity.abs().total_cmp(&a.elasticity.abs()));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::Figure;
    use crate::sim::machine::{Costs, Protocol};

    /// 1 MB through a thread block at 1 GB/s, with a launch of 1 ms: 2 ms, half of which goes with each.
    #[test]
    fn the_shares_of_a_sum_are_its_elasticities() {
        let mut costs = Costs::free();
        costs.launch = Picos(1_000_000_000);
        costs.copy = "1 GB/s".parse().ok();
        let machine = Machine::new("m").with(Protocol::Simple, costs);
        let time = |machine: &Machine| {
            let costs = machine.costs(Protocol::Simple).ok_or(())?;
            let copy = costs.copy.map_or(0.0, |copy| 1e6 / copy.bytes_per_s() * 1e12);
            Ok::<_, ()>(Picos(costs.launch.0 + copy.round() as u64))
        };
        let all = Figure::ALL.map(|figure| Parameter::of(Protocol::Simple, figure));
        let found = sensitivities(&machine, &all, time).unwrap();
        assert_eq!(found.len(), 2);
        for one in found {
            let expected = if one.parameter.figure == Figure::Copy { -0.5 } else { 0.5 };
            assert!((one.elasticity - expected).abs() < 1e-3, "{one:?}");
        }
    }

    #[test]
    fn the_first_error_is_given() {
        let mut costs = Costs::free();
        (costs.launch, costs.step) = (Picos(1000), Picos(1000));
        let machine = Machine::new("m").with(Protocol::Simple, costs);
        let parameters = Parameter::stated(&machine, Protocol::Simple);
        let time = |changed: &Machine| {
            let launch = changed.costs(Protocol::Simple).map(|costs| costs.launch);
            Err(if launch == Some(Picos(1000)) { "step" } else { "launch" })
        };
        assert_eq!(sensitivities(&machine, &parameters, time), Err("launch"));
    }
}
