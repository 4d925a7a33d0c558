//! The instances to build: the parameters of the signature joined with the values of the arguments.

use crate::arguments::{Arguments, Assignment};
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

/// The builds that are complete; what is wrong goes to `errors`.
pub(crate) fn resolve(
    arguments: &Arguments,
    signature: &Signature,
    errors: &mut Vec<syn::Error>,
) -> Vec<Build> {
    check_names(&arguments.defaults, signature, errors);
    let mut builds: Vec<Build> = Vec::new();
    for build in &arguments.builds {
        check_names(&build.given, signature, errors);
        let mut constant = Vec::new();
        let mut values = Vec::new();
        for param in &signature.params {
            let given = value(&build.given, &param.name);
            if let Some(value) = given {
                constant.push(format!("{}_{value}", param.name.to_uppercase()));
            }
            match given.or_else(|| value(&arguments.defaults, &param.name)) {
                Some(value) => values.push(value),
                None => errors.push(build.range.error(format!(
                    "`{name}` has no value here: add `{name} = …`, or `defaults({name} = …)` for all builds",
                    name = param.name
                ))),
            }
        }
        if values.len() < signature.params.len() {
            continue;
        }
        if builds.iter().any(|known| known.values == values) {
            errors.push(build.range.error("this is built twice: remove one"));
            continue;
        }
        // Defaults alone say everything.
        let constant = if constant.is_empty() { "DEFAULT".to_owned() } else { constant.join("_") };
        builds.push(Build { constant, range: build.range, values });
    }
    builds
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
