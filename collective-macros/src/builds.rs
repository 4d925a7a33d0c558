//! The instances to build: the parameters of the signature joined with the values of the arguments.

use crate::arguments::{Arguments, Assignment, BuildArguments};
use crate::signature::Signature;
use crate::span::SpanRange;

/// One instance.
#[derive(Debug)]
pub(crate) struct Build {
    /// The name of its constant, such as `RANKS_16_CHANNELS_2`.
    pub(crate) constant: String,
    pub(crate) range: SpanRange,
    /// A value for each parameter, in the order of the signature.
    pub(crate) values: Vec<usize>,
}

impl Build {
    /// As it is written: `build(ranks = 8, channels = 1)`.
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
    check_names(&arguments.defaults, signature, errors);
    let mut builds: Vec<Build> = Vec::new();
    for given in &arguments.builds {
        check_names(&given.given, signature, errors);
        let values = signature.params.iter().map(|param| {
            let value = value(&given.given, &param.name).or_else(|| value(&arguments.defaults, &param.name));
            if value.is_none() && given.is_complete {
                errors.push(given.range.error(format!(
                    "`{name}` has no value here: add `{name} = …`, or `defaults({name} = …)` for all builds",
                    name = param.name
                )));
            }
            value.unwrap_or_default()
        });
        let build =
            Build { values: values.collect(), constant: constant(given, signature), range: given.range };
        // An incomplete one has an error already.
        if given.is_complete && builds.iter().any(|known| known.values == build.values) {
            errors.push(build.range.error("this is built twice: remove one"));
        }
        if builds.iter().all(|known| known.constant != build.constant) {
            builds.push(build);
        }
    }
    builds
}

/// The name of a build's constant: the parameters that it gives, in the order of the signature.
fn constant(build: &BuildArguments, signature: &Signature) -> String {
    let position = |given: &Assignment| signature.params.iter().position(|param| param.name == given.name);
    let mut given: Vec<&Assignment> = build.given.iter().collect();
    // Unknown ones, which are an error, come last.
    given.sort_by_key(|given| position(given).unwrap_or(usize::MAX));
    let words: Vec<String> =
        given.iter().map(|given| format!("{}_{}", given.name.to_uppercase(), given.value)).collect();
    // Defaults alone say everything.
    if words.is_empty() { "DEFAULT".to_owned() } else { words.join("_") }
}

/// The default of each parameter.
pub(crate) fn defaults(arguments: &Arguments, signature: &Signature) -> Vec<Option<usize>> {
    signature.params.iter().map(|param| value(&arguments.defaults, &param.name)).collect()
}

fn value(assignments: &[Assignment], name: &str) -> Option<usize> {
    assignments.iter().find(|assignment| assignment.name == name).map(|assignment| assignment.value)
}

fn check_names(assignments: &[Assignment], signature: &Signature, errors: &mut Vec<syn::Error>) {
    for assignment in assignments {
        if !signature.params.iter().any(|param| param.name == assignment.name) {
            let known: Vec<&str> = signature.params.iter().map(|param| param.name.as_str()).collect();
            errors.push(syn::Error::new(
                assignment.ident.span(),
                format!(
                    "the function has no parameter `{}`; its parameters are {}",
                    assignment.name,
                    known.join(", ")
                ),
            ));
        }
    }
}
