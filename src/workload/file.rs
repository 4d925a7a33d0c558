//! Rules from TOML files.

pub(crate) mod table;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use chakra_et::workload::CollectiveKind;
use toml::de::DeTable;

use super::error::{RuleError, RulePlace};
use super::rule::{Gives, Overlap, Rule, SaidAt};
use super::rules::Rules;
use crate::algorithms::levels;
use crate::sim::units::Bytes;
use table::{Fault, Source, Table, Value};

impl Rules {
    /// Reads a file of rules; the format is described [here](super).
    ///
    /// # Errors
    /// The file cannot be read, or something in it is wrong. What it names is looked for by
    /// [`Expander::new`](super::Expander::new).
    pub fn load(file: impl AsRef<Path>) -> Result<Self, RuleError> {
        let file = file.as_ref();
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|error| RuleError::new(&RulePlace::default(), format!("{name}: {error}")))?;
        Self::parse(&text, &name)
    }

    /// Reads rules from a text. `file` is the name for messages, and files that rules name are relative to its directory.
    ///
    /// ```
    /// use collective::workload::Rules;
    ///
    /// let text = "
    /// [[rule]]
    /// kind = 'all_reduce'
    /// algorithm = 'allreduce_ring'
    /// sett = { channels = 2 }
    /// ";
    /// let error = Rules::parse(text, "rules.toml").unwrap_err().to_string();
    /// assert!(error.starts_with("rules.toml:5: rule 1: the key sett is not known here: expected kind, "));
    /// ```
    ///
    /// # Errors
    /// Something is wrong with the text.
    pub fn parse(text: &str, file: &str) -> Result<Self, RuleError> {
        let place = |line: Option<u64>, number| RulePlace {
            line: Some((file.to_owned(), line.unwrap_or(1))),
            number,
            span: None,
        };
        let wrong = |number, (at, message): Fault| {
            RuleError::new(&RulePlace { span: at.span, ..place(at.line, number) }, message)
        };
        let source = Source(text);
        let parsed = DeTable::parse(text).map_err(|error| {
            let place = error.span().map(|span| source.place(&span)).unwrap_or_default();
            wrong(None, (place, error.message().to_owned()))
        })?;
        let table = Table::new(source, parsed.get_ref(), &parsed.span());
        let top = (|| {
            let machine = table.get("machine").map(|value| value.count()).transpose()?;
            let rules = table.tables("rule")?;
            table.finish()?;
            Ok((machine, rules))
        })();
        let (machine, tables) = top.map_err(|fault| wrong(None, fault))?;
        let mut rules = Self::new();
        if let Some(machine) = machine {
            rules = rules.machine(machine);
        }
        let directory = Path::new(file).parent().unwrap_or(Path::new("")).to_owned();
        for (number, table) in (1..).zip(tables) {
            let line = table.line();
            let mut rule = rule(table, &directory).map_err(|fault| wrong(Some(number), fault))?;
            rule.place = place(line, Some(number));
            rules.rules.push(rule);
        }
        Ok(rules)
    }
}

fn rule(table: Table<'_>, directory: &Path) -> Result<Rule, Fault> {
    let kinds = table.get("kind").map(|value| value.one_or_more(kind)).transpose()?.unwrap_or_default();
    let size = |key| table.get(key).map(|value| value.parsed::<Bytes>("\"4 MiB\"")).transpose();
    let (min_size, max_size) = (size("min_size")?, size("max_size")?);
    let count = |key| table.get(key).map(|value| value.count()).transpose();
    let (min_ranks, max_ranks) = (count("min_ranks")?, count("max_ranks")?);
    let exactly = table.get("ranks");
    let ranks = exactly.as_ref().map(Value::count).transpose()?;
    if let (Some(exactly), true) = (&exactly, min_ranks.or(max_ranks).is_some()) {
        return Err(exactly.fault("ranks goes without min_ranks and max_ranks"));
    }
    let names = |key| table.get(key).map(|value| value.one_or_more(text)).transpose();
    let (groups, nodes) = (names("group")?, names("node")?);
    let contiguous = table.get("contiguous").map(|value| value.truth()).transpose()?;
    let (within, across) = (count("within")?, count("across")?);
    let gives = gives(&table, directory)?;
    let set = table.get("set").map(|value| settings(&value)).transpose()?.unwrap_or_default();
    let overlap = table.get("overlap").map(|value| overlap(&value)).transpose()?.unwrap_or_default();
    let place = |keys: &[&str]| table.place_of(keys);
    let said_at = SaidAt {
        gives: place(&["algorithm", "xml", "et", "default"]),
        set: place(&["set"]),
        kinds: place(&["kind"]),
    };
    let place_of = |key: &'static str| place(&[key, "ranks"]);

    let mut rule = Rule::new(gives).kinds(kinds).overlap(overlap);
    rule.set = set;
    rule.when.min_size = min_size.map(|size| size.0);
    rule.when.max_size = max_size.map(|size| size.0);
    rule.when.min_ranks = ranks.or(min_ranks);
    rule.when.max_ranks = ranks.or(max_ranks);
    rule.when.groups = groups.unwrap_or_default();
    rule.when.nodes = nodes.unwrap_or_default();
    (rule.when.contiguous, rule.when.within, rule.when.across) = (contiguous, within, across);
    rule.said_at = said_at;
    if let Some((key, message)) = rule.contradiction() {
        return Err((place_of(key), message));
    }
    table.finish()?;
    Ok(rule)
}

/// The one of four keys that says what the rule gives.
fn gives(table: &Table<'_>, directory: &Path) -> Result<Gives, Fault> {
    const WAYS: &str = "algorithm = \"name\", xml = \"file\", et = \"prefix\" or default = true";
    let path = |value: &Value<'_>| -> Result<PathBuf, Fault> { Ok(directory.join(text(value)?)) };
    let mut stated = Vec::new();
    if let Some(value) = table.get("algorithm") {
        stated.push(Gives::Named(text(&value)?));
    }
    if let Some(value) = table.get("xml") {
        stated.push(Gives::Xml(path(&value)?));
    }
    if let Some(value) = table.get("et") {
        stated.push(Gives::Et(path(&value)?));
    }
    if let Some(value) = table.get("default") {
        if !value.truth()? {
            return Err(value.wrong("true, or no such key"));
        }
        stated.push(Gives::Default);
    }
    match (stated.pop(), stated.is_empty()) {
        (Some(gives), true) => Ok(gives),
        (None, _) => Err(table.fault(format!("the rule gives nothing: expected {WAYS}"))),
        (Some(_), false) => {
            Err(table.fault(format!("the rule gives more than one thing: expected one of {WAYS}")))
        }
    }
}

fn text(value: &Value<'_>) -> Result<String, Fault> {
    Ok(value.text("a text")?.to_owned())
}

fn kind(value: &Value<'_>) -> Result<CollectiveKind, Fault> {
    let known = CollectiveKind::ALL.map(CollectiveKind::name);
    let expected = || known.join(", ");
    let name = value.text(expected())?;
    CollectiveKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| value.wrong(expected()))
}

fn overlap(value: &Value<'_>) -> Result<Overlap, Fault> {
    let expected = || Overlap::NAMES.map(|(name, _)| name).join(", ");
    let name = value.text(expected())?;
    let found = Overlap::NAMES.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, overlap)| overlap).ok_or_else(|| value.wrong(expected()))
}

/// The algorithms of levels by name.
pub(crate) const LEVELS: [(&str, usize); 5] = [
    ("direct", levels::DIRECT),
    ("ring", levels::RING),
    ("halving_doubling", levels::HALVING_DOUBLING),
    ("recursive_doubling", levels::RECURSIVE_DOUBLING),
    ("tree", levels::TREE),
];

/// Values of parameters: numbers, or names of algorithms of levels.
fn settings(value: &Value<'_>) -> Result<Vec<(String, usize)>, Fault> {
    let settings = value.entries("a table, such as { channels = 2 }")?;
    let setting = |(name, value): (String, Value<'_>)| {
        let expected = || {
            let names = LEVELS.map(|(name, _)| format!("\"{name}\"")).join(", ");
            format!("a whole number, or, for the algorithm of a level, one of {names}")
        };
        let level = |text: &str| LEVELS.into_iter().find(|(name, _)| *name == text).map(|(_, level)| level);
        let number = value.integer().and_then(|number| usize::try_from(number).ok());
        let set =
            number.or_else(|| value.as_text().and_then(level)).ok_or_else(|| value.wrong(expected()))?;
        Ok((name, set))
    };
    settings.into_iter().map(setting).collect()
}

impl Value<'_> {
    /// A text that is parsed; `example` is one.
    pub(crate) fn parsed<T: FromStr<Err: Display>>(&self, example: &str) -> Result<T, Fault> {
        let text = self.text(format!("a text, such as {example}"))?;
        text.parse().map_err(|error| self.fault(format!("{}: {error}", self.shown())))
    }

    /// One value, or a list of them that is not empty.
    pub(crate) fn one_or_more<T>(&self, one: fn(&Value<'_>) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        match self.list() {
            None => Ok(vec![one(self)?]),
            Some(list) if list.is_empty() => Err(self.wrong("a list with something in it")),
            Some(list) => list.iter().map(one).collect(),
        }
    }
}
