//! What is swept: algorithms of the library, and schedules from elsewhere.

use std::sync::Arc;

use super::error::SweepError;
use super::outcome::{NoResult, Why};
use crate::algorithms::Algorithm;
use crate::compare::Variant;
use crate::{CollectiveKind, Schedule, compile};

/// An algorithm, with the values that its parameters take.
#[derive(Clone, Debug)]
pub struct Subject(pub(super) Source);

#[derive(Clone, Debug)]
pub(super) enum Source {
    Library { algorithm: &'static Algorithm, set: Vec<(String, Vec<usize>)>, first: bool },
    Schedule { name: String, schedule: Arc<Schedule> },
}

impl Subject {
    /// An algorithm of the library with all its [choices](Algorithm::choices) of parameters.
    #[must_use]
    pub fn library(algorithm: &'static Algorithm) -> Self {
        Self(Source::Library { algorithm, set: Vec::new(), first: false })
    }

    /// An algorithm of the library of which a parameter takes the values of a list in turn, the parameters that are set
    /// first slowest. Those that are not set have the values of the algorithm's choices.
    ///
    /// # Errors
    /// There is no such parameter, it is the number of ranks, or there are no values.
    pub fn with(self, parameter: &str, values: Vec<usize>) -> Result<Self, SweepError> {
        let Source::Library { algorithm, mut set, first } = self.0 else {
            return Err(SweepError::new("a schedule has no parameters to be set"));
        };
        let others = algorithm.def.params.iter().map(|param| param.name).filter(|name| *name != "ranks");
        let others: Vec<&str> = others.collect();
        let fault = |message: String| Err(SweepError::new(format!("{}: {message}", algorithm.name())));
        if !others.contains(&parameter) {
            let known = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
            return fault(format!("there is no parameter {parameter} to be set; there is {known}"));
        }
        if set.iter().any(|(name, _)| name == parameter) {
            return fault(format!("{parameter} is set twice"));
        }
        if values.is_empty() {
            return fault(format!("{parameter} is to have no value"));
        }
        set.push((parameter.to_owned(), values));
        Ok(Self(Source::Library { algorithm, set, first }))
    }

    /// The same with the first of the algorithm's choices of parameters only: what one would take without more knowledge.
    #[must_use]
    pub fn first_choice(mut self) -> Self {
        if let Source::Library { first, .. } = &mut self.0 {
            *first = true;
        }
        self
    }

    /// A schedule, which is for one number of ranks.
    #[must_use]
    pub fn schedule(name: &str, schedule: Arc<Schedule>) -> Self {
        Self(Source::Schedule { name: name.to_owned(), schedule })
    }

    /// What it is called in the results.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.0 {
            Source::Library { algorithm, .. } => algorithm.name(),
            Source::Schedule { name, .. } => name,
        }
    }

    /// What it does.
    #[must_use]
    pub fn collective(&self) -> CollectiveKind {
        match &self.0 {
            Source::Library { algorithm, .. } => algorithm.def.kind,
            Source::Schedule { schedule, .. } => schedule.collective.kind(),
        }
    }

    /// The values of the parameters on a number of ranks, in their order; or why there are none.
    pub(super) fn variants(&self, ranks: usize) -> Result<Vec<Vec<usize>>, NoResult> {
        match &self.0 {
            Source::Library { algorithm, set, first } => {
                let mut choices = algorithm.choices(ranks);
                if choices.is_empty() {
                    let reason = format!("it is not for {ranks} ranks: it is for {}", algorithm.ranks);
                    return Err(NoResult::new(Why::Ranks, reason));
                }
                if *first {
                    choices.truncate(1);
                }
                let mut all: Vec<Vec<usize>> = Vec::new();
                for choice in choices {
                    for values in combinations(algorithm, choice, set) {
                        if !all.contains(&values) {
                            all.push(values);
                        }
                    }
                }
                Ok(all)
            }
            Source::Schedule { schedule, .. } if schedule.ranks.len() == ranks => Ok(vec![Vec::new()]),
            Source::Schedule { schedule, .. } => {
                let reason = format!("it is for {} ranks, not {ranks}", schedule.ranks.len());
                Err(NoResult::new(Why::Ranks, reason))
            }
        }
    }

    /// Of some ways to lower it those that make a difference: a schedule is lowered already.
    pub(super) fn lowered<'a>(&self, variants: &'a [Variant]) -> &'a [Variant] {
        match &self.0 {
            Source::Library { .. } => variants,
            Source::Schedule { .. } => &[Variant::OWN],
        }
    }

    /// The verified schedule.
    pub(super) fn compile(&self, values: &[usize], variant: Variant) -> Result<Arc<Schedule>, NoResult> {
        match &self.0 {
            Source::Library { algorithm, .. } => {
                let in_place = algorithm.placement.allows(true);
                let traced = (algorithm.def.trace)(in_place, values);
                let schedule = traced.and_then(|mut trace| {
                    variant.apply(&mut trace);
                    compile(&trace)
                });
                schedule.map(Arc::new).map_err(|error| NoResult::new(Why::Parameters, error))
            }
            Source::Schedule { schedule, .. } => Ok(Arc::clone(schedule)),
        }
    }

    /// The parameters other than the number of ranks with their values.
    pub(super) fn parameters(&self, values: &[usize]) -> Vec<(&'static str, usize)> {
        let Source::Library { algorithm, .. } = &self.0 else { return Vec::new() };
        let named = algorithm.def.params.iter().map(|param| param.name).zip(values.iter().copied());
        named.filter(|(name, _)| *name != "ranks").collect()
    }
}

/// A choice with each combination of the values that are set.
fn combinations(algorithm: &Algorithm, choice: Vec<usize>, set: &[(String, Vec<usize>)]) -> Vec<Vec<usize>> {
    let mut all = vec![choice];
    for (name, values) in set {
        let Some(at) = algorithm.def.params.iter().position(|param| param.name == name) else { continue };
        let with = |before: &Vec<usize>, value: usize| {
            let mut values = before.clone();
            values[at] = value;
            values
        };
        all = all.iter().flat_map(|before| values.iter().map(move |value| with(before, *value))).collect();
    }
    all
}
