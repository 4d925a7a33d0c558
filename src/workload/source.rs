//! What rules give, found and checked before any collective asks for it.

use std::path::Path;

use chakra_et::RankFiles;
use chakra_et::workload::CollectiveKind as Workload;

use super::error::{RuleError, RulePlace};
use super::foreign::Foreign;
use super::rule::{Gives, Rule};
use super::rules::Rules;
use crate::algorithms::{self, Algorithm};
use crate::et::{self, NodeOrder, Recovered};
use crate::sim::topology::TextPlace;
use crate::{AlgorithmDef, CollectiveKind, Schedule, msccl, verify};

/// What a rule gives.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A function: compiled for the number of ranks.
    Function { def: AlgorithmDef, library: Option<&'static Algorithm> },
    /// Schedules for fixed numbers of ranks, and the order of their nodes, where they say it.
    Fixed { name: String, schedules: Vec<Schedule>, order: Option<NodeOrder> },
    /// Traces of another tool, which say nothing of chunks.
    Foreign(Foreign),
    /// What there is without a rule.
    Default,
}

impl Source {
    /// Finds what a rule names, and checks what can be known of it beforehand.
    pub(super) fn of(rule: &Rule, rules: &Rules) -> Result<Self, RuleError> {
        rule.check()?;
        let at = |key: &TextPlace, message: String| RuleError::new(&rule.place_at(key), message);
        let wrong = |message: String| at(&rule.said_at.gives, message);
        let source = match &rule.gives {
            Gives::Named(name) => named(name, rules).map_err(wrong)?,
            Gives::Xml(file) => xml(file).map_err(wrong)?,
            Gives::Et(prefix) => traces(prefix).map_err(wrong)?,
            Gives::Default => Self::Default,
        };
        source.check_set(&rule.set).map_err(|message| at(&rule.said_at.set, message))?;
        if let Some(kind) = rule.when.kinds.iter().find(|kind| !source.serves(**kind)) {
            let does = source.collective().map_or("nothing", CollectiveKind::name);
            let message = format!("the rule is for {kind}, but {} does {does}", source.name());
            return Err(at(&rule.said_at.kinds, message));
        }
        if matches!(source, Self::Foreign(_)) {
            if rule.when.kinds.is_empty() {
                return Err(wrong(format!(
                    "the traces {} do not say which collective they do: the rule must, with kind = …",
                    source.name()
                )));
            }
            if rule.overlap != super::Overlap::None {
                return Err(wrong(format!(
                    "overlap = \"{}\" needs to know which nodes make which chunk, which the traces {} do not say: only \
                     algorithms of the library, of this project's traces and of MSCCL XML do",
                    rule.overlap,
                    source.name()
                )));
            }
        }
        Ok(source)
    }

    /// What messages call it.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Function { def, .. } => def.name,
            Self::Fixed { name, .. } => name,
            Self::Foreign(foreign) => foreign.name(),
            Self::Default => "the default",
        }
    }

    /// The collective that it does, where that is one.
    fn collective(&self) -> Option<CollectiveKind> {
        match self {
            Self::Function { def, .. } => Some(def.kind),
            Self::Fixed { schedules, .. } => schedules.first().map(|schedule| schedule.collective.kind()),
            Self::Foreign(foreign) => foreign.collective(),
            Self::Default => None,
        }
    }

    /// Whether it can do a collective. An all-reduce is a barrier too: nobody has the sum before all have come.
    pub(super) fn serves(&self, kind: Workload) -> bool {
        self.collective().is_none_or(|does| {
            does == kind_of(kind) || (does, kind) == (CollectiveKind::AllReduce, Workload::Barrier)
        })
    }

    /// Whether a rule that names no kinds means this one.
    pub(super) fn is_meant_for(&self, kind: Workload) -> bool {
        self.collective().is_none_or(|does| does == kind_of(kind))
    }

    fn check_set(&self, set: &[(String, usize)]) -> Result<(), String> {
        let Some((first, _)) = set.first() else { return Ok(()) };
        let Self::Function { def, .. } = self else {
            return Err(format!("set = {{ {first} = … }}: {} has no parameters", self.name()));
        };
        for (name, _) in set {
            if matches!(name.as_str(), "ranks" | "root") {
                return Err(format!("{name} cannot be set: it is that of the collective"));
            }
            if !def.params.iter().any(|param| param.name == name) {
                let known = def.params.iter().map(|param| param.name);
                let known: Vec<&str> = known.filter(|name| !matches!(*name, "ranks" | "root")).collect();
                return Err(match known.as_slice() {
                    [] => format!("{} has no parameter {name}, nor any other to be set", def.name),
                    known => format!("{} has no parameter {name}: expected {}", def.name, known.join(", ")),
                });
            }
        }
        Ok(())
    }
}

/// The kind of a workload's collective in the language.
pub(super) fn kind_of(kind: Workload) -> CollectiveKind {
    match kind {
        Workload::AllReduce => CollectiveKind::AllReduce,
        Workload::Reduce => CollectiveKind::Reduce,
        Workload::AllGather => CollectiveKind::AllGather,
        Workload::Gather => CollectiveKind::Gather,
        Workload::Scatter => CollectiveKind::Scatter,
        Workload::Broadcast => CollectiveKind::Broadcast,
        Workload::AllToAll => CollectiveKind::AllToAll,
        Workload::ReduceScatter | Workload::ReduceScatterBlock => CollectiveKind::ReduceScatter,
        Workload::Barrier => CollectiveKind::Barrier,
        // The format defines no others; nothing else can do it.
        _ => CollectiveKind::Custom,
    }
}

fn named(name: &str, rules: &Rules) -> Result<Source, String> {
    let functions = rules.functions.iter().filter(|def| def.name == name);
    let schedules = rules.schedules.iter().filter(|(known, _)| known == name).map(|(_, schedule)| schedule);
    let (functions, schedules): (Vec<_>, Vec<_>) = (functions.collect(), schedules.collect());
    match (functions.as_slice(), schedules.as_slice()) {
        ([], []) => match algorithms::find(name) {
            Some(library) => Ok(Source::Function { def: library.def, library: Some(library) }),
            None => Err(format!("there is no algorithm \"{name}\"{}", similar(name, rules))),
        },
        ([def], []) => Ok(Source::Function { def: **def, library: None }),
        ([], [first, others @ ..]) => {
            let kind = first.collective.kind();
            if let Some(other) = others.iter().find(|other| other.collective.kind() != kind) {
                let other = other.collective.kind();
                return Err(format!(
                    "\"{name}\" was registered for {} and for {}",
                    kind.name(),
                    other.name()
                ));
            }
            for (at, schedule) in schedules.iter().enumerate() {
                let ranks = schedule.ranks.len();
                if schedules[..at].iter().any(|before| before.ranks.len() == ranks) {
                    return Err(format!("\"{name}\" was registered twice for {ranks} ranks"));
                }
                checked(schedule, name)?;
            }
            let schedules = schedules.into_iter().cloned().collect();
            Ok(Source::Fixed { name: name.to_owned(), schedules, order: None })
        }
        _ => Err(format!("\"{name}\" was registered more than once")),
    }
}

/// What to say after a name that no algorithm has.
fn similar(name: &str, rules: &Rules) -> String {
    /// Less similar ones are no help (0 is nothing in common, 1 the same).
    const LEAST: f64 = 0.75;
    // The library's names live longer than the others, which a list of both must not.
    let mut all: Vec<&str> = Vec::new();
    rules.schedules.iter().for_each(|(name, _)| all.push(name));
    rules.functions.iter().for_each(|def| all.push(def.name));
    algorithms::all().for_each(|algorithm| all.push(algorithm.name()));
    let similarity = |known: &str| {
        if !name.is_empty() && known.contains(name) { 1.0 } else { strsim::jaro_winkler(name, known) }
    };
    let mut names: Vec<(f64, &str)> = all
        .into_iter()
        .map(|known| (similarity(known), known))
        .filter(|(similarity, _)| *similarity >= LEAST)
        .collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0));
    names.dedup_by_key(|(_, name)| *name);
    let names: Vec<&str> = names.iter().take(3).map(|(_, name)| *name).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(", ")),
    }
}

/// Refuses a schedule that is wrong, or of which nobody knows what it does.
fn checked(schedule: &Schedule, name: &str) -> Result<(), String> {
    if schedule.collective.is_unspecified() {
        return Err(format!("{name} does not say which collective it does, only that it is a custom one"));
    }
    verify::verify(schedule, schedule.protocol.slots()).map_err(|wrong| {
        let found = wrong.to_string();
        format!("{name} is wrong: {}", found.lines().next().unwrap_or_default())
    })
}

fn xml(file: &Path) -> Result<Source, String> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    let imported = msccl::read(&text, &name).map_err(|error| error.to_string())?;
    checked(&imported.schedule, &name)?;
    Ok(Source::Fixed { name, schedules: vec![imported.schedule], order: None })
}

fn traces(prefix: &Path) -> Result<Source, String> {
    let name = prefix.display().to_string();
    let files = RankFiles::find(prefix, "et").map_err(|error| error.to_string())?;
    if !files.is_whole() {
        return Err(format!("{name}: expected the prefix of the traces of all ranks, not the file of one"));
    }
    let read = |(_, path): &(usize, std::path::PathBuf)| {
        std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let ranks: Vec<Vec<u8>> = files.ranks().iter().map(read).collect::<Result<_, _>>()?;
    match et::recover(&ranks).map_err(|error| format!("{name}: {error}"))? {
        Recovered::Full(original) => {
            checked(&original.schedule, &name)?;
            let order = Some(original.order);
            Ok(Source::Fixed { name, schedules: vec![original.schedule], order })
        }
        Recovered::Opaque(_) => Foreign::new(name, ranks).map(Source::Foreign),
    }
}

/// The place of a rule, for errors about a collective.
pub(super) fn fault(place: Option<&RulePlace>, message: impl std::fmt::Display) -> RuleError {
    RuleError::new(place.unwrap_or(&RulePlace::default()), message)
}
