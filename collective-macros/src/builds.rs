//! The instances to build: the parameters of the signature joined with the values of the arguments.

use collective_dsl::embedded::constant_name;
use proc_macro2::Ident;

use crate::arguments::{Arguments, Assignment, BuildArguments};
use crate::signature::Signature;
use crate::span::SpanRange;
use crate::values::{MAX_INSTANCES, too_many};

/// One instance.
#[derive(Debug)]
pub(crate) struct Build {
    /// The name of its constant, such as `RANKS_16_CHANNELS_2`.
    pub(crate) constant: String,
    pub(crate) range: SpanRange,
    /// Whether its `build(…)` makes others too.
    pub(crate) is_one_of_many: bool,
    /// A value for each parameter, in the order of the signature.
    pub(crate) values: Vec<usize>,
}

impl Build {
    /// As it could be written: `build(ranks = 8, channels = 1)`.
    pub(crate) fn words(&self, signature: &Signature) -> String {
        let pairs = signature.params.iter().zip(&self.values);
        let pairs: Vec<String> = pairs.map(|(param, value)| format!("{} = {value}", param.name)).collect();
        format!("build({})", pairs.join(", "))
    }
}

/// All builds; what is wrong goes to `errors`. Those at fault are there too, so that their constants exist.
pub(crate) fn resolve(
    arguments: &Arguments,
    signature: &Signature,
    errors: &mut Vec<syn::Error>,
) -> Vec<Build> {
    check_names(arguments.defaults.iter().map(|given| (&given.ident, &given.name)), signature, errors);
    let mut builds: Vec<Build> = Vec::new();
    for given in &arguments.builds {
        check_names(given.given.iter().map(|given| (&given.ident, &given.name)), signature, errors);
        for param in &signature.params {
            let is_given = given.given.iter().any(|choice| choice.name == param.name);
            if !is_given && value(&arguments.defaults, &param.name).is_none() && given.is_complete {
                errors.push(given.range.error(format!(
                    "`{name}` has no value here: add `{name} = …`, or `defaults({name} = …)` for all builds",
                    name = param.name
                )));
            }
        }
        let instances = count_of(given);
        if builds.len().saturating_add(instances) > MAX_INSTANCES {
            errors.push(given.range.error(too_many(builds.len().saturating_add(instances))));
            break;
        }
        add(given, arguments, signature, &mut builds, errors);
    }
    builds
}

/// How many instances a `build(…)` makes.
fn count_of(build: &BuildArguments) -> usize {
    build.given.iter().fold(1, |count: usize, choice| count.saturating_mul(choice.values.len()))
}

/// Adds the instances of one `build(…)`; the values that stand first change slowest.
fn add(
    given: &BuildArguments,
    arguments: &Arguments,
    signature: &Signature,
    builds: &mut Vec<Build>,
    errors: &mut Vec<syn::Error>,
) {
    let instances = count_of(given);
    let mut repeated: Vec<String> = Vec::new();
    for index in 0..instances {
        let mut rest = index;
        let mut chosen: Vec<(&str, usize)> = Vec::with_capacity(given.given.len());
        for choice in given.given.iter().rev() {
            chosen.push((&choice.name, choice.values[rest % choice.values.len()]));
            rest /= choice.values.len();
        }
        // By the signature, whatever the order in which they are given; unknown ones, which are an error, last.
        let position = |name: &str| signature.params.iter().position(|param| param.name == name);
        chosen.sort_by_key(|(name, _)| position(name).unwrap_or(usize::MAX));
        let values = signature.params.iter().map(|param| {
            let chosen = chosen.iter().find(|(name, _)| *name == param.name).map(|(_, value)| *value);
            chosen.or_else(|| value(&arguments.defaults, &param.name)).unwrap_or_default()
        });
        let build = Build {
            values: values.collect(),
            constant: constant_name(&chosen),
            range: given.range,
            is_one_of_many: instances > 1,
        };
        // An incomplete one has an error already.
        let twice = builds.iter().any(|known| known.values == build.values);
        if given.is_complete && twice {
            repeated.push(format!("`{}`", build.words(signature)));
        }
        let same_name = builds.iter().find(|known| known.constant == build.constant);
        if let Some(known) = same_name.filter(|_| given.is_complete && !twice) {
            errors.push(build.range.error(format!(
                "the constant of `{}` has the name of that of `{}`, {}: rename a parameter",
                build.words(signature),
                known.words(signature),
                build.constant
            )));
        }
        if same_name.is_none() {
            builds.push(build);
        }
    }
    // One error is enough for many.
    match &repeated[..] {
        [] => {}
        _ if instances == 1 => errors.push(given.range.error("this is built twice: remove one")),
        [which] => errors.push(given.range.error(format!("{which} is built twice: remove one"))),
        [first @ .., last] => {
            let all = format!("{} and {last} are built twice: remove one of each", first.join(", "));
            errors.push(given.range.error(all));
        }
    }
}

/// The default of each parameter.
pub(crate) fn defaults(arguments: &Arguments, signature: &Signature) -> Vec<Option<usize>> {
    signature.params.iter().map(|param| value(&arguments.defaults, &param.name)).collect()
}

fn value(assignments: &[Assignment], name: &str) -> Option<usize> {
    assignments.iter().find(|assignment| assignment.name == name).map(|assignment| assignment.value)
}

fn check_names<'a>(
    given: impl Iterator<Item = (&'a Ident, &'a String)>,
    signature: &Signature,
    errors: &mut Vec<syn::Error>,
) {
    for (ident, name) in given {
        if !signature.params.iter().any(|param| param.name == *name) {
            let known: Vec<&str> = signature.params.iter().map(|param| param.name.as_str()).collect();
            errors.push(syn::Error::new(
                ident.span(),
                format!("the function has no parameter `{name}`; its parameters are {}", known.join(", ")),
            ));
        }
    }
}
