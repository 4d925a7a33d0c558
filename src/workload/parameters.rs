//! The parameters of an algorithm, as far as a rule leaves them open.

use super::shape::Shape;
use crate::AlgorithmDef;
use crate::algorithms;

/// The parameter of hierarchical algorithms that is the number of ranks on a machine.
pub(super) const GPUS: &str = "gpus";

/// The value of each parameter of a function: those of the collective, those that the rule sets, and for the others the library's
/// first choice that goes with them.
pub(super) fn values(
    def: &AlgorithmDef,
    library: Option<&'static algorithms::Algorithm>,
    set: &[(String, usize)],
    (ranks, root): (u32, u32),
    shape: Option<Shape>,
) -> Result<Vec<usize>, String> {
    let (ranks, root) = (ranks as usize, root as usize);
    let is_set = |name: &str| set.iter().rev().find(|(set, _)| set == name).map(|(_, value)| *value);
    let Some(library) = library else {
        let mut given: Vec<(&str, usize)> = set.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        given.push(("ranks", ranks));
        if def.params.iter().any(|param| param.name == ROOT) {
            given.push((ROOT, root));
        } else if root != 0 {
            return Err(format!("{} has no parameter root, but the root is member {}", def.name, root));
        }
        return def.values(&given).map_err(|wrong| wrong.to_string());
    };
    let choices = library.choices(ranks);
    if choices.is_empty() {
        return Err(format!("{} is for {} of ranks, not for {ranks}", def.name, library.ranks));
    }
    // What the rule leaves open is the number of ranks on a machine, where the group has one.
    let on_machine = shape.and_then(|shape| shape.each).filter(|_| is_set(GPUS).is_none());
    let fits = |values: &&Vec<usize>, gpus: Option<u32>| {
        def.params.iter().zip(values.iter()).all(|(param, value)| match is_set(param.name) {
            Some(set) => set == *value,
            None => param.name != GPUS || gpus.is_none_or(|gpus| gpus as usize == *value),
        })
    };
    let first = choices.iter().find(|values| fits(values, on_machine));
    let first = first.or_else(|| choices.iter().find(|values| fits(values, None))).unwrap_or(&choices[0]);
    let value = |(param, first): (&crate::Param, &usize)| match param.name {
        ROOT => root,
        name => is_set(name).unwrap_or(*first),
    };
    Ok(def.params.iter().zip(first).map(value).collect())
}

/// Whether a value of a parameter is one of the library's choices for so many ranks.
pub(super) fn is_choice(library: &algorithms::Algorithm, ranks: u32, parameter: &str, value: usize) -> bool {
    let at = library.def.params.iter().position(|param| param.name == parameter);
    at.is_none_or(|at| library.choices(ranks as usize).iter().any(|values| values[at] == value))
}

/// What to say of the values that the library has for a parameter: "; for 16 ranks the library has gpus = 4 or 8".
pub(super) fn possible(library: &algorithms::Algorithm, ranks: u32, parameter: &str) -> String {
    let Some(at) = library.def.params.iter().position(|param| param.name == parameter) else {
        return String::new();
    };
    let mut values: Vec<usize> = library.choices(ranks as usize).iter().map(|values| values[at]).collect();
    values.sort_unstable();
    values.dedup();
    let values: Vec<String> = values.iter().map(usize::to_string).collect();
    format!("; for {ranks} ranks the library has {parameter} = {}", values.join(" or "))
}

const ROOT: &str = "root";

/// The name of an algorithm with the parameters that are its own: not the ranks, which the group has, nor the root.
pub(super) fn label(def: &AlgorithmDef, values: &[usize]) -> String {
    let own = def.params.iter().zip(values).filter(|(param, _)| !matches!(param.name, "ranks" | ROOT));
    let own: Vec<String> = own.map(|(param, value)| format!("{}={value}", param.name)).collect();
    if own.is_empty() { def.name.to_owned() } else { format!("{}({})", def.name, own.join(", ")) }
}
