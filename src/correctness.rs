//! Tests of algorithms: [`assert_correct!`](crate::assert_correct) and what it is made of.

use std::fmt;

use crate::run::{self, Order, RunError, RunOptions};
use crate::{AlgorithmDef, Collective, CollectiveKind, ElementType, Schedule};

/// Why an algorithm is not right for one set of parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The values of all parameters of the algorithm, in order; empty where the values themselves are at fault.
    pub parameters: Vec<(&'static str, usize)>,
    /// What the verifier finds, or what comes out wrong when it is run.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.parameters.iter().enumerate() {
            let separator = if i > 0 { ", " } else { "" };
            write!(f, "{separator}{name} = {value}")?;
        }
        let separator = if self.parameters.is_empty() { "" } else { ": " };
        write!(f, "{separator}{}", self.message)
    }
}

/// Checks an algorithm for every combination of the values given; parameters that are not named have their defaults.
///
/// For each combination the algorithm is compiled and verified by all rules; then its schedule is run on 32-bit
/// integers ([`crate::run`]): with no element, with fewer elements than chunks, with one a chunk and with a number that
/// does not divide, each in several orders of its thread blocks; and on 32-bit floats, which must agree within rounding. Numbers of elements that the collective cannot have, or for
/// which chunks that the algorithm puts together are not equal, are left out.
///
/// A combination that the algorithm refuses is a failure too: name only those that it is for.
///
/// ```
/// use collective::{algorithms, correctness};
/// let swing = &algorithms::allreduce_swing::DEF;
/// let failures = correctness::check(swing, &[("ranks", vec![2, 3, 4])]);
/// assert_eq!(failures.len(), 1);
/// assert_eq!(failures[0].parameters, [("ranks", 3)]);
/// assert!(failures[0].message.contains("must be a power of two"));
/// ```
#[must_use]
pub fn check(algorithm: &AlgorithmDef, values: &[(&str, Vec<usize>)]) -> Vec<Failure> {
    combinations(values)
        .map(|sets| sets.iter().filter_map(|set| check_one(algorithm, set)).collect())
        .unwrap_or_else(|empty| {
            let message = format!("there is nothing to check: no value of {empty} is given");
            vec![Failure { parameters: Vec::new(), message }]
        })
}

/// All combinations; the name of a parameter without values if there is one.
fn combinations<'n>(values: &[(&'n str, Vec<usize>)]) -> Result<Vec<Vec<(&'n str, usize)>>, &'n str> {
    let mut sets: Vec<Vec<(&str, usize)>> = vec![Vec::new()];
    for (name, values) in values {
        if values.is_empty() {
            return Err(name);
        }
        let with = |set: &Vec<(&'n str, usize)>, value: usize| {
            set.iter().copied().chain([(*name, value)]).collect::<Vec<_>>()
        };
        sets = sets.iter().flat_map(|set| values.iter().map(move |value| with(set, *value))).collect();
    }
    Ok(sets)
}

fn check_one(algorithm: &AlgorithmDef, set: &[(&str, usize)]) -> Option<Failure> {
    let (parameters, checked) = match algorithm.values(set) {
        Ok(values) => {
            let parameters = algorithm.params.iter().map(|param| param.name).zip(values).collect();
            let compiled = algorithm.compile_with(set).map_err(|found| found.to_string());
            (parameters, compiled.and_then(|schedule| check_schedule(&schedule)))
        }
        Err(found) => (Vec::new(), Err(found.to_string())),
    };
    checked.err().map(|message| Failure { parameters, message })
}

/// Runs a schedule at several sizes, each in several orders.
fn check_schedule(schedule: &Schedule) -> Result<(), String> {
    let orders: Vec<Order> = [Order::InTurn, Order::LowestFirst, Order::HighestFirst, Order::RunAhead]
        .into_iter()
        .chain((0..4).map(Order::Random))
        .collect();
    let sizes = sizes(&schedule.collective);
    let on_integers = sizes.map(|elements| (ElementType::I32, elements, orders.clone()));
    // Sums may differ by rounding, and by no more than so many roundings as went into them.
    let on_floats = [(ElementType::F32, sizes[sizes.len() - 1], vec![Order::InTurn, Order::Random(0)])];
    for (element_type, elements, orders) in on_integers.into_iter().chain(on_floats) {
        let options = RunOptions {
            elements,
            element_type,
            slots: Some(schedule.protocol.slots()),
            orders,
            ..RunOptions::default()
        };
        match run::run(schedule, &options) {
            Err(RunError::Size(_)) => {}
            Err(error) => return Err(format!("run with {elements} elements of {element_type}: {error}")),
            Ok(report) => {
                if let (Some(first), Some(order)) = (report.comparison.first, report.wrong_order) {
                    return Err(format!("run with {elements} elements of {element_type}, {order}: {first}"));
                }
            }
        }
    }
    Ok(())
}

fn sizes(collective: &Collective) -> [u64; 4] {
    let each_one = run::one_element_a_chunk(collective);
    let least = match collective.kind() {
        CollectiveKind::AllToAll => collective.ranks() as u64,
        CollectiveKind::AllToAllV => each_one,
        _ => 1,
    };
    [0, least, each_one, 2 * each_one + least]
}

/// The values of a parameter to try: a number, a range, an array or a `Vec`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of values for a parameter",
    label = "expected a number, a range or a list of numbers, such as `2..=17` or `[1, 2]`"
)]
pub trait Values {
    /// One by one.
    fn values(self) -> Vec<usize>;
}

impl Values for usize {
    fn values(self) -> Vec<usize> {
        vec![self]
    }
}

impl Values for Vec<usize> {
    fn values(self) -> Vec<usize> {
        self
    }
}

impl<const N: usize> Values for [usize; N] {
    fn values(self) -> Vec<usize> {
        self.into()
    }
}

impl Values for &[usize] {
    fn values(self) -> Vec<usize> {
        self.into()
    }
}

impl Values for std::ops::Range<usize> {
    fn values(self) -> Vec<usize> {
        self.collect()
    }
}

impl Values for std::ops::RangeInclusive<usize> {
    fn values(self) -> Vec<usize> {
        self.collect()
    }
}

/// What [`assert_correct!`](crate::assert_correct) expands to.
///
/// # Panics
/// The algorithm is not right for every combination.
#[doc(hidden)]
#[track_caller]
pub fn assert_all(algorithm: &AlgorithmDef, values: &[(&str, Vec<usize>)]) {
    let failures = check(algorithm, values);
    if !failures.is_empty() {
        let tried: usize = values.iter().map(|(_, values)| values.len()).product();
        let list: Vec<String> = failures.iter().map(ToString::to_string).collect();
        panic!(
            "{} is not right for {} of {tried} parameter sets:\n{}",
            algorithm.name,
            failures.len(),
            list.join("\n")
        );
    }
}

/// Asserts that an algorithm is right for every combination of the values given: for tests.
///
/// The algorithm is a function with `#[collective]`, or `&` and an [`AlgorithmDef`]. See [`correctness::check`] for what is
/// checked, and for a function that returns what is wrong. It panics with all combinations that fail.
///
/// ```
/// use collective::{algorithms, assert_correct};
/// use collective::prelude::*;
///
/// /// Every rank gives its chunk to all others.
/// #[collective(all_gather, in_place)]
/// fn direct(p: &Program, ranks: usize) {
///     for from in 0..ranks {
///         for to in (0..ranks).filter(|to| *to != from) {
///             p.chunk(from, Input, 0).copy_to(to, Output, from);
///         }
///     }
/// }
///
/// # fn main() {
/// assert_correct!(direct, ranks = 2..=9);
/// assert_correct!(algorithms::allreduce_ring, ranks = 2..=5, channels = [1, 2]);
/// for algorithm in algorithms::all().filter(|algorithm| algorithm.name() == "reduce_scatter_ring") {
///     assert_correct!(&algorithm.def, ranks = 4);
/// }
/// # }
/// ```
///
/// ```should_panic
/// use collective::{assert_correct, prelude::*};
///
/// #[collective(broadcast)]
/// fn forgets_the_last(p: &Program, ranks: usize) {
///     for to in 0..ranks.max(3) - 1 {
///         p.chunk(0, Input, 0).copy_to(to, Output, 0);
///     }
/// }
///
/// # fn main() {
/// // forgets_the_last is not right for 2 of 3 parameter sets: …
/// assert_correct!(forgets_the_last, ranks = 2..=4);
/// # }
/// ```
///
/// Without parameters there is nothing to check:
///
/// ```compile_fail
/// collective::assert_correct!(collective::algorithms::allreduce_ring);
/// ```
///
/// [`AlgorithmDef`]: crate::AlgorithmDef
/// [`correctness::check`]: crate::correctness::check
#[macro_export]
macro_rules! assert_correct {
    (& $definition:expr, $($name:ident = $values:expr),+ $(,)?) => {
        $crate::correctness::assert_all(
            &$definition,
            &[$((::core::stringify!($name), $crate::correctness::Values::values($values))),+],
        )
    };
    ($algorithm:path, $($name:ident = $values:expr),+ $(,)?) => {
        $crate::correctness::assert_all(
            &<$algorithm>::DEF,
            &[$((::core::stringify!($name), $crate::correctness::Values::values($values))),+],
        )
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "expected an algorithm and the values of its parameters: assert_correct!(ring, ranks = 2..=17)"
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    /// Right for two ranks only.
    #[collective(all_reduce, in_place, chunks = 1, defaults(spare = 0))]
    fn pair(p: &Program, ranks: usize, spare: usize) {
        let _ = spare;
        let sum = p.chunk(0, Input, 0).reduce(p.chunk(1, Input, 0));
        for rank in 1..ranks {
            sum.copy_to(rank, Input, 0);
        }
    }

    #[test]
    fn every_failing_set_is_listed_with_all_its_parameters() {
        let failures = check(&pair::DEF, &[("ranks", vec![1, 2, 3]), ("spare", vec![4, 5])]);
        let sets: Vec<_> = failures.iter().map(|failure| failure.parameters.clone()).collect();
        let set = |ranks, spare| vec![("ranks", ranks), ("spare", spare)];
        assert_eq!(sets, [set(1, 4), set(1, 5), set(3, 4), set(3, 5)]);
        let text = failures[2].to_string();
        assert!(text.starts_with("ranks = 3, spare = 4: ") && text.contains("rank 2 is missing"), "{text}");
    }

    #[test]
    #[should_panic(expected = "pair is not right for 1 of 2 parameter sets:\nranks = 3, spare = 0: ")]
    fn the_macro_panics_with_the_list() {
        assert_correct!(pair, ranks = 2..=3);
    }

    #[test]
    #[should_panic(expected = "there is no parameter `rank`; there are ranks, spare")]
    fn a_misspelt_parameter_is_named() {
        assert_correct!(&pair::DEF, rank = 2);
    }

    #[test]
    #[should_panic(expected = "there is nothing to check: no value of ranks is given")]
    fn nothing_to_check_is_a_failure() {
        assert_correct!(pair, ranks = 2..2);
    }
}
