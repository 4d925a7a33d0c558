//! Fitting figures of a machine to measured times.

use rayon::prelude::*;
use thiserror::Error;

use super::least_squares::{self, Minimum, Problem, products, squares};
use super::linear::{self, Matrix};
use super::parameter::{Figure, Parameter};
use super::residuals::{Residual, Summary};
use crate::sim::machine::{Machine, Protocol};
use crate::sim::units::Picos;

/// By how much a figure is changed for a derivative: enough for times in whole picoseconds.
const CHANGE: f64 = 0.01;
/// From this correlation on the times do not tell two figures apart: what one gains the other loses.
const INDISTINCT: f64 = 0.98;

/// A time that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The number of the program, from 0.
    pub program: usize,
    /// The protocol under which it ran: figures of others have no influence on it, and it is not simulated to find that out.
    pub protocol: Protocol,
    /// The size of the collective in bytes.
    pub size: u64,
    /// The measured time in nanoseconds, above 0.
    pub measured_ns: f64,
}

/// How a fit is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Sizes up to this one are simulated and reported, but not fitted. By default 64 KiB: below, launches and what varies
    /// between them decide.
    pub small: u64,
    /// The most iterations of the search (30 by default). Each simulates every point at most once for each parameter and 8 times more.
    pub most_iterations: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { small: 64 << 10, most_iterations: 30 }
    }
}

/// Why there is no fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FitError<E> {
    /// A point could not be simulated.
    #[error("{0}")]
    Time(E),
    /// There is nothing to be fitted.
    #[error("there are no figures to be fitted")]
    NoParameters,
    /// A figure is named twice.
    #[error("the figure {0} is to be fitted twice")]
    Twice(Parameter),
    /// The machine has no costs for the protocol, or none of their own for the kind of links.
    #[error("the machine states no costs that {0} could be of")]
    NotThere(Parameter),
    /// Fewer points than figures, and one more.
    #[error(
        "{points} measured times above {small} bytes cannot tell {parameters} figures: at least {} are needed", parameters + 1
    )]
    TooFew {
        /// How many are fitted.
        points: usize,
        /// How many figures there are.
        parameters: usize,
        /// Those up to this size are not fitted.
        small: u64,
    },
    /// A measured time that is none.
    #[error("the measured time of point {point} is {measured_ns} ns: expected one above 0")]
    NoTime {
        /// The number of the point.
        point: usize,
        /// The time.
        measured_ns: String,
    },
}

/// A figure that was fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// Which.
    pub parameter: Parameter,
    /// What the search began with, in nanoseconds or bytes per second.
    pub start: f64,
    /// What was found, in four digits: more are not known, and the times of the fit are those with these.
    pub value: f64,
    /// Its standard error, as a share of the value: what is left of the differences, over what the figure does to the times. None
    /// where it does nothing to them.
    pub error: Option<f64>,
    /// Whether it lies at an end of [`Figure::range`].
    pub is_at_bound: bool,
}

/// Figures that were fitted, and how well they fit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fit {
    /// The machine with the figures.
    pub machine: Machine,
    /// Each figure.
    pub estimates: Vec<Estimate>,
    /// Two figures which the times do not tell apart, with the correlation of their errors: near 1 if both can grow together, near −1 if
    /// one can grow where the other shrinks.
    pub indistinct: Vec<(Parameter, Parameter, f64)>,
    /// Every point, fitted or not, with its time on the machine.
    pub residuals: Vec<Residual>,
    /// Iterations of the search.
    pub iterations: usize,
    /// Whether the search ended because there was no more to be gained.
    pub is_minimum: bool,
    /// How many points were simulated, one as often as it was.
    pub runs: usize,
    /// The influence of each parameter on each point: d ln(time) / d ln(figure).
    pub(super) influence: Vec<Vec<f64>>,
}

impl Fit {
    /// How far the points are off to which the figures were fitted, or the others.
    #[must_use]
    pub fn summary(&self, is_fitted: bool) -> Option<Summary> {
        Summary::of(self.residuals.iter().filter(|it| it.is_fitted == is_fitted).map(Residual::ratio))
    }

    /// The same of one program.
    #[must_use]
    pub fn summary_of(&self, program: usize, is_fitted: bool) -> Option<Summary> {
        let own = self.residuals.iter().filter(|it| it.program == program && it.is_fitted == is_fitted);
        Summary::of(own.map(Residual::ratio))
    }
}

/// Fits parameters of a machine to measured times.
///
/// `time` simulates a point on a machine, in the threads of the current rayon pool. The result depends on nothing but the arguments. The
/// search begins with the figures of `machine`; with a usual value where it states none, or zero.
///
/// ```
/// use collective::calibrate::{Figure, Options, Parameter, Point, fit};
/// use collective::sim::machine::{Costs, Machine, Protocol};
/// use collective::sim::units::Picos;
///
/// // Measured: 5 us, and 1 us for each 20,000 bytes.
/// let sizes = [1 << 17, 1 << 20, 1 << 23];
/// let points = sizes.map(|size| Point {
///     program: 0,
///     protocol: Protocol::Simple,
///     size,
///     measured_ns: 5000.0 + size as f64 / 20.0,
/// });
/// // Simulated: a launch and a copy.
/// let time = |machine: &Machine, point: &Point| {
///     let costs = machine.costs(Protocol::Simple).ok_or("no costs")?;
///     let copy = costs.copy.map_or(0.0, |copy| point.size as f64 / copy.bytes_per_s() * 1e12);
///     Ok::<_, &str>(Picos(costs.launch.0 + copy.round() as u64))
/// };
/// let machine = Machine::new("fitted").with(Protocol::Simple, Costs::free());
/// let parameters = [Figure::Launch, Figure::Copy].map(|figure| Parameter::of(Protocol::Simple, figure));
/// let fit = fit(&machine, &parameters, &points, Options::default(), time)?;
/// let value = |at: usize| fit.estimates[at].value;
/// assert!((value(0) - 5000.0).abs() < 5.0 && (value(1) - 20e9).abs() < 0.02e9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `time` fails, there are too few points, or a parameter is none of the machine.
pub fn fit<E: Send>(
    machine: &Machine,
    parameters: &[Parameter],
    points: &[Point],
    options: Options,
    time: impl Fn(&Machine, &Point) -> Result<Picos, E> + Sync,
) -> Result<Fit, FitError<E>> {
    let fitted: Vec<usize> = (0..points.len()).filter(|at| points[*at].size > options.small).collect();
    check(machine, parameters, points, &fitted, options)?;
    let start: Vec<f64> = parameters.iter().map(|it| start(machine, it)).collect();
    let mut search = Search { machine, parameters, points, fitted: &fitted, time: &time, runs: 0 };
    let logarithms: Vec<f64> = start.iter().map(|value| value.ln()).collect();
    let Minimum { at, residuals, derivatives, iterations, is_minimum } =
        least_squares::minimise(&mut search, &logarithms, options.most_iterations)?;
    let uncertainty = Uncertainty::of(&derivatives, squares(&residuals), parameters.len());
    // What makes no difference stays as it was, also where it was not stated; a time that went to nothing makes none any more.
    let is_left =
        |at: usize, found: f64| uncertainty.error(at).is_none() && (found - logarithms[at]).abs() < 1e-9;
    let mut best = machine.clone();
    let mut values = start.clone();
    for (at, (parameter, logarithm)) in parameters.iter().zip(at).enumerate() {
        if !is_left(at, logarithm) {
            parameter.set(&mut best, rounded(logarithm.exp()));
            values[at] = parameter.get(&best).unwrap_or(values[at]);
        }
    }
    let all: Vec<usize> = (0..points.len()).collect();
    let simulated = search.times(&[(&best, &all)])?;
    let estimate = |at: usize| {
        let (parameter, error, value) = (parameters[at], uncertainty.error(at), values[at]);
        let range = parameter.figure.range();
        let is_at_bound = value <= range.start() * 1.0001 || value >= range.end() * 0.9999;
        Estimate { parameter, start: start[at], value, error, is_at_bound }
    };
    let residual = |(point, simulated): (usize, Picos)| {
        let Point { program, size, measured_ns, .. } = points[point];
        Residual { point, program, size, measured_ns, simulated, is_fitted: size > options.small }
    };
    let mut influence = vec![vec![0.0; parameters.len()]; points.len()];
    for (point, row) in fitted.iter().zip(derivatives) {
        influence[*point] = row;
    }
    Ok(Fit {
        estimates: (0..parameters.len()).map(estimate).collect(),
        indistinct: uncertainty.indistinct(parameters),
        residuals: all.iter().copied().zip(simulated).map(residual).collect(),
        iterations,
        is_minimum,
        runs: search.runs,
        influence,
        machine: best,
    })
}

fn check<E>(
    machine: &Machine,
    parameters: &[Parameter],
    points: &[Point],
    fitted: &[usize],
    options: Options,
) -> Result<(), FitError<E>> {
    if parameters.is_empty() {
        return Err(FitError::NoParameters);
    }
    for (at, parameter) in parameters.iter().enumerate() {
        if parameters[..at].contains(parameter) {
            return Err(FitError::Twice(*parameter));
        }
        let mut changed = machine.clone();
        parameter.set(&mut changed, start(machine, parameter));
        if parameter.get(&changed).is_none() {
            return Err(FitError::NotThere(*parameter));
        }
    }
    if let Some((point, it)) =
        points.iter().enumerate().find(|(_, it)| !it.measured_ns.is_finite() || it.measured_ns <= 0.0)
    {
        return Err(FitError::NoTime { point, measured_ns: it.measured_ns.to_string() });
    }
    if fitted.len() <= parameters.len() {
        let (points, parameters) = (fitted.len(), parameters.len());
        return Err(FitError::TooFew { points, parameters, small: options.small });
    }
    Ok(())
}

/// What a search begins with: what the machine states, or something that is not far off on the GPUs of today.
fn start(machine: &Machine, parameter: &Parameter) -> f64 {
    let usual = match parameter.figure {
        Figure::Launch => 5_000.0,
        Figure::Step | Figure::Slice => 100.0,
        Figure::Latency => 1_000.0,
        Figure::Copy | Figure::Reduce => 20e9,
        Figure::Egress | Figure::Ingress => 100e9,
    };
    parameter.get(machine).filter(|value| *value > 0.0).unwrap_or(usual)
}

/// A figure in four digits.
fn rounded(value: f64) -> f64 {
    let power = 10_f64.powi(3 - value.log10().floor() as i32);
    (value * power).round() / power
}

struct Search<'a, T> {
    machine: &'a Machine,
    parameters: &'a [Parameter],
    points: &'a [Point],
    /// The points to which figures are fitted.
    fitted: &'a [usize],
    time: &'a T,
    runs: usize,
}

impl<E: Send, T: Fn(&Machine, &Point) -> Result<Picos, E> + Sync> Search<'_, T> {
    /// The machine with figures of these logarithms.
    fn at(&self, logarithms: &[f64]) -> Machine {
        let mut machine = self.machine.clone();
        for (parameter, logarithm) in self.parameters.iter().zip(logarithms) {
            parameter.set(&mut machine, logarithm.exp());
        }
        machine
    }

    /// The times of points on machines, in their order.
    fn times(&mut self, wanted: &[(&Machine, &[usize])]) -> Result<Vec<Picos>, FitError<E>> {
        let all: Vec<(&Machine, usize)> = wanted
            .iter()
            .flat_map(|(machine, points)| points.iter().map(|point| (*machine, *point)))
            .collect();
        self.runs += all.len();
        let (time, points) = (self.time, self.points);
        // Collected first, so that the first error is that of the first point and not the first in time.
        let times: Vec<Result<Picos, E>> =
            all.par_iter().map(|(machine, point)| time(machine, &points[*point])).collect();
        times.into_iter().collect::<Result<_, E>>().map_err(FitError::Time)
    }

    fn residual(&self, point: usize, time: Picos) -> f64 {
        (time.0.max(1) as f64 / 1000.0).ln() - self.points[point].measured_ns.ln()
    }
}

impl<E: Send, T: Fn(&Machine, &Point) -> Result<Picos, E> + Sync> Problem for Search<'_, T> {
    type Error = FitError<E>;

    fn residuals(&mut self, at: &[f64]) -> Result<Vec<f64>, FitError<E>> {
        let machine = self.at(at);
        let times = self.times(&[(&machine, self.fitted)])?;
        Ok(self.fitted.iter().zip(times).map(|(point, time)| self.residual(*point, time)).collect())
    }

    /// By the difference of 1 % up, or down where that is out of bounds.
    fn derivatives(&mut self, at: &[f64], residuals: &[f64]) -> Result<Vec<Vec<f64>>, FitError<E>> {
        let machine = self.at(at);
        let changed = |parameter: usize| {
            let value = |machine: &Machine| self.parameters[parameter].get(machine).unwrap_or(1.0).ln();
            let by = |change: f64| {
                let mut at = at.to_vec();
                at[parameter] += change;
                let other = self.at(&at);
                let change = value(&other) - value(&machine);
                (other, change)
            };
            let up = by(CHANGE);
            if up.1 > CHANGE / 2.0 { up } else { by(-CHANGE) }
        };
        let changed: Vec<(Machine, f64)> = (0..self.parameters.len()).map(changed).collect();
        let touched = |parameter: &Parameter| -> Vec<usize> {
            let is_of = |point: &Point| parameter.protocol.is_none_or(|protocol| protocol == point.protocol);
            (0..self.fitted.len()).filter(|at| is_of(&self.points[self.fitted[*at]])).collect()
        };
        let touched: Vec<Vec<usize>> = self.parameters.iter().map(touched).collect();
        let points: Vec<Vec<usize>> =
            touched.iter().map(|own| own.iter().map(|at| self.fitted[*at]).collect()).collect();
        let wanted: Vec<(&Machine, &[usize])> =
            changed.iter().zip(&points).map(|((machine, _), points)| (machine, points.as_slice())).collect();
        let mut times = self.times(&wanted)?.into_iter();
        let mut rows = vec![vec![0.0; self.parameters.len()]; self.fitted.len()];
        for (parameter, own) in touched.iter().enumerate() {
            let change = changed[parameter].1;
            for (at, time) in own.iter().zip(times.by_ref().take(own.len())) {
                let difference = self.residual(self.fitted[*at], time) - residuals[*at];
                rows[*at][parameter] = if change == 0.0 { 0.0 } else { difference / change };
            }
        }
        Ok(rows)
    }

    fn bounded(&self, variable: usize, value: f64) -> f64 {
        let range = self.parameters[variable].figure.range();
        value.clamp(range.start().ln(), range.end().ln())
    }
}

/// What the times do not tell.
struct Uncertainty {
    /// (JᵀJ)⁻¹ of the parameters that have influence; none if it is too large to be computed.
    inverse: Option<Matrix>,
    /// Where each parameter stands in it.
    place: Vec<Option<usize>>,
    /// The variance of a residual.
    variance: f64,
}

impl Uncertainty {
    fn of(derivatives: &[Vec<f64>], squares: f64, count: usize) -> Self {
        /// What keeps the inverse finite where two parameters do exactly the same.
        const RIDGE: f64 = 1e-9;
        let products = products(derivatives, count);
        let with: Vec<usize> = (0..count).filter(|at| products[*at][*at] > 0.0).collect();
        let place = (0..count).map(|at| with.iter().position(|other| *other == at)).collect();
        let scale: Vec<f64> = with.iter().map(|at| products[*at][*at].sqrt()).collect();
        let square = |cell: &dyn Fn(usize, usize) -> f64| -> Matrix {
            (0..with.len()).map(|row| (0..with.len()).map(|column| cell(row, column)).collect()).collect()
        };
        // Columns of length 1, so that the ridge is as much to each.
        let scaled = square(&|row, column| {
            let ridge = if row == column { RIDGE } else { 0.0 };
            products[with[row]][with[column]] / (scale[row] * scale[column]) + ridge
        });
        let inverse = linear::inverse(&scaled)
            .map(|inverse| square(&|row, column| inverse[row][column] / (scale[row] * scale[column])));
        let freedom = derivatives.len().saturating_sub(with.len()).max(1);
        Self { inverse, place, variance: squares / freedom as f64 }
    }

    /// The standard error of the logarithm, which is that of the value as a share of it.
    fn error(&self, parameter: usize) -> Option<f64> {
        let (at, inverse) = (self.place[parameter]?, self.inverse.as_ref()?);
        Some((self.variance * inverse[at][at]).max(0.0).sqrt())
    }

    fn indistinct(&self, parameters: &[Parameter]) -> Vec<(Parameter, Parameter, f64)> {
        let Some(inverse) = &self.inverse else { return Vec::new() };
        let mut found = Vec::new();
        for (first, one) in parameters.iter().enumerate() {
            for (second, other) in parameters.iter().enumerate().skip(first + 1) {
                let (Some(a), Some(b)) = (self.place[first], self.place[second]) else { continue };
                let correlation = inverse[a][b] / (inverse[a][a] * inverse[b][b]).sqrt();
                if correlation.abs() >= INDISTINCT {
                    found.push((*one, *other, correlation));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests;
