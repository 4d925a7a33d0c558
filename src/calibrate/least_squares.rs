//! Least squares with numeric derivatives, by Levenberg and Marquardt.

use super::linear::{self, Matrix};

/// A step changes a figure by a factor of at most 4, so that one bad derivative does not lead astray.
const LONGEST_STEP: f64 = 1.386;
/// A step of less than a hundredth of a percent is none: no time is measured so well.
const SHORTEST_STEP: f64 = 1e-4;
/// A sum of squares that shrinks by less than this share is at its minimum.
const LEAST_GAIN: f64 = 1e-7;
/// So often a step is made shorter before the search ends where it is.
const MOST_TRIES: usize = 8;

/// What is minimised: the sum of the squares of some residuals, over some variables.
pub(super) trait Problem {
    type Error;

    /// The residuals.
    fn residuals(&mut self, at: &[f64]) -> Result<Vec<f64>, Self::Error>;

    /// Their derivatives, where they are `residuals`: for each residual by each variable.
    fn derivatives(&mut self, at: &[f64], residuals: &[f64]) -> Result<Vec<Vec<f64>>, Self::Error>;

    /// Brings a variable into its bounds.
    fn bounded(&self, variable: usize, value: f64) -> f64;
}

/// Where the search ended.
pub(super) struct Minimum {
    pub(super) at: Vec<f64>,
    pub(super) residuals: Vec<f64>,
    /// For each residual by each variable.
    pub(super) derivatives: Vec<Vec<f64>>,
    pub(super) iterations: usize,
    /// Whether it ended because nothing was to be gained any more.
    pub(super) is_minimum: bool,
}

/// Goes down from a start, in so many iterations at most.
pub(super) fn minimise<P: Problem>(problem: &mut P, start: &[f64], most: usize) -> Result<Minimum, P::Error> {
    let bounded = |problem: &P, at: &[f64]| -> Vec<f64> {
        at.iter().enumerate().map(|(variable, value)| problem.bounded(variable, *value)).collect()
    };
    let mut at = bounded(problem, start);
    let mut residuals = problem.residuals(&at)?;
    let mut derivatives = problem.derivatives(&at, &residuals)?;
    let mut damping = 1e-3;
    let mut iterations = 0;
    let mut is_minimum = false;
    while iterations < most && !is_minimum {
        iterations += 1;
        let (normal, gradient) = normal_equations(&derivatives, &residuals, at.len());
        let mut gain = None;
        for _ in 0..MOST_TRIES {
            let Some(step) = step(&normal, &gradient, damping) else {
                damping *= 10.0;
                continue;
            };
            let next: Vec<f64> = at.iter().zip(&step).map(|(value, step)| value + step).collect();
            let next = bounded(problem, &next);
            let moved = at.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if moved < SHORTEST_STEP {
                break;
            }
            let found = problem.residuals(&next)?;
            let (before, after) = (squares(&residuals), squares(&found));
            if after < before {
                gain = Some((before - after) / before);
                (at, residuals) = (next, found);
                damping = (damping / 10.0).max(1e-9);
                break;
            }
            damping *= 10.0;
        }
        match gain {
            None => is_minimum = true,
            Some(gain) => {
                is_minimum = gain < LEAST_GAIN;
                derivatives = problem.derivatives(&at, &residuals)?;
            }
        }
    }
    Ok(Minimum { at, residuals, derivatives, iterations, is_minimum })
}

pub(super) fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

/// JᵀJ and −Jᵀr.
fn normal_equations(derivatives: &[Vec<f64>], residuals: &[f64], count: usize) -> (Matrix, Vec<f64>) {
    let gradient = |at: usize| -derivatives.iter().zip(residuals).map(|(row, r)| row[at] * r).sum::<f64>();
    (products(derivatives, count), (0..count).map(gradient).collect())
}

/// JᵀJ.
pub(super) fn products(derivatives: &[Vec<f64>], count: usize) -> Matrix {
    let product = |a: usize, b: usize| derivatives.iter().map(|row| row[a] * row[b]).sum::<f64>();
    (0..count).map(|a| (0..count).map(|b| product(a, b)).collect()).collect()
}

/// The damped step. A variable without influence stays where it is.
fn step(normal: &Matrix, gradient: &[f64], damping: f64) -> Option<Vec<f64>> {
    let mut damped = normal.clone();
    for (at, row) in damped.iter_mut().enumerate() {
        row[at] = if row[at] > 0.0 { row[at] * (1.0 + damping) } else { 1.0 };
    }
    let step = linear::solve(&damped, gradient)?;
    let longest = step.iter().map(|step| step.abs()).fold(0.0, f64::max);
    let factor = if longest > LONGEST_STEP { LONGEST_STEP / longest } else { 1.0 };
    Some(step.into_iter().map(|step| step * factor).collect())
}
