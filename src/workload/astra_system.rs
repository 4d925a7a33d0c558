//! ASTRA-sim's system file: how its ranks carry out collectives, and how quickly they compute.

mod custom;
mod error;
mod keys;
mod native;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chakra_et::workload::CollectiveKind;

use self::custom::Custom;
pub use self::error::SystemError;
use self::keys::Keys;
use super::error::RulePlace;
use super::expander::Expander;
use super::rules::Rules;
use super::uses::{Used, Uses};
use crate::sim::workload::{Algorithm, Algorithms, Choice, Roofline, Use};

/// What ASTRA-sim's system file (JSON) says of collectives and computations, for runs under
/// [`Compat::AstraSim`](crate::sim::Compat::AstraSim). `docs/astra-sim.md` lists its keys, and what differs from ASTRA-sim.
///
/// A collective gets, as in ASTRA-sim, the traces that `per-node-custom-implementation` names for its node, else those that
/// `all-reduce-implementation-custom` (or that of its kind) names, else the native algorithm of `all-reduce-implementation`.
///
/// **Custom traces** are taken as they are: messages with a literal `comm_size` keep it whatever the size of the collective. Without
/// one, a message is (size / `total_chunk_cnt`) · `msg_chunk_cnt`, as in ASTRA-sim's draft #343; the chunks must be equal. Prefixes are relative to the directory that is
/// given, which in ASTRA-sim is the working directory.
///
/// **Native algorithms** are those of this library with the same idea, over the whole group: `ring` and `oneRing`, `direct`, `halvingDoubling`,
/// `doubleBinaryTree`. They are not ASTRA-sim's: that adds `endpoint-delay` in each step, and three accesses to memory for each reduction.
/// [`Self::notes`] names what the file states that does not have its effect here.
///
/// ```
/// use collective::workload::AstraSystem;
/// use std::path::Path;
///
/// let text = r#"{"all-reduce-implementation": ["ring"], "preferred-dataset-splits": 1,
///     "roofline-enabled": 1, "peak-perf": 900, "local-mem-bw": 1600, "endpoint-delay": 10}"#;
/// let system = AstraSystem::parse(text, "system.json", Path::new(""))?;
/// assert_eq!(system.roofline().map(|roofline| roofline.peak()), Some(900e12));
/// assert!(system.notes()[0].starts_with("system.json: endpoint-delay = 10: "));
///
/// let wrong = AstraSystem::parse(r#"{"all-reduce-implementation": "ring"}"#, "system.json", Path::new(""));
/// assert_eq!(
///     wrong.unwrap_err().to_string(),
///     "system.json:1: all-reduce-implementation = \"ring\": expected a list of names, such as [\"ring\"]"
/// );
/// # Ok::<(), collective::workload::SystemError>(())
/// ```
#[derive(Debug)]
pub struct AstraSystem {
    file: String,
    roofline: Option<Roofline>,
    notes: Vec<String>,
    customs: Vec<Custom>,
    /// The index in `customs` by the id of the workload's node, and by kind.
    per_node: BTreeMap<u64, usize>,
    per_kind: BTreeMap<CollectiveKind, usize>,
    /// The kinds for which the native algorithm is known.
    native: BTreeSet<CollectiveKind>,
    /// The keys that give algorithms, with the lines on which they stand.
    places: Vec<(String, RulePlace)>,
    expander: Expander,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By traces and size.
    graphs: HashMap<(usize, u64), Arc<Algorithm>>,
    /// Kinds that ASTRA-sim does not simulate.
    unknown: BTreeSet<CollectiveKind>,
    nodes: BTreeSet<u64>,
    uses: Uses,
}

impl AstraSystem {
    /// Reads a system file, and the files that it names, relative to the working directory.
    ///
    /// # Errors
    /// A file cannot be read, or something in it is wrong.
    pub fn load(file: impl AsRef<Path>) -> Result<Self, SystemError> {
        let name = file.as_ref().display().to_string();
        let text =
            std::fs::read_to_string(&file).map_err(|error| SystemError::of_file(&name, error.to_string()))?;
        Self::parse(&text, &name, Path::new(""))
    }

    /// The same from a text: `file` is its name for messages, and files that it names are relative to `directory`.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn parse(text: &str, file: &str, directory: &Path) -> Result<Self, SystemError> {
        let Keys { roofline, notes, custom, per_node, native } = Keys::read(text, file, directory)?;
        let mut customs: Vec<Custom> = Vec::new();
        let mut number = |key: &str, prefix: &str| -> Result<usize, SystemError> {
            if let Some(known) = customs.iter().position(|custom| custom.prefix() == prefix) {
                return Ok(known);
            }
            let read = Custom::read(prefix, directory);
            let fault = |message| SystemError::of_key(file, key, message).in_text(text, key);
            customs.push(read.map_err(fault)?);
            Ok(customs.len() - 1)
        };
        let mut by_kind = BTreeMap::new();
        for (kind, key, prefix) in &custom {
            by_kind.insert(*kind, number(key, prefix)?);
        }
        let mut by_node = BTreeMap::new();
        for (node, prefix) in &per_node {
            by_node.insert(*node, number(keys::PER_NODE, prefix)?);
        }
        let rules =
            native.iter().fold(Rules::new(), |rules, (kind, rule)| rules.rule(rule.clone().kinds([*kind])));
        let expander =
            Expander::new(rules).map_err(|error| SystemError::of_file(file, error.message.clone()))?;
        Ok(Self {
            file: file.to_owned(),
            roofline,
            notes,
            customs,
            per_node: by_node,
            per_kind: by_kind,
            native: native.iter().map(|(kind, _)| *kind).collect(),
            places: keys::of_algorithms().map(|key| (key.clone(), place(text, file, &key))).collect(),
            expander,
            state: Mutex::default(),
        })
    }

    /// The speed of the GPU, if `roofline-enabled` is not 0: `peak-perf` is in 10^12 operations a second, `local-mem-bw` in
    /// 10^9 bytes a second.
    #[must_use]
    pub fn roofline(&self) -> Option<Roofline> {
        self.roofline
    }

    /// What a report should say of the file: what does not have its effect here, and, after a run, which collectives were
    /// asked for that ASTRA-sim does not simulate, and for which nodes nobody came.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        let state = self.state();
        notes.extend(state.unknown.iter().map(|kind| {
            let there = match kind {
                CollectiveKind::Broadcast => "is a pause of the node's duration",
                _ => "is not possible",
            };
            format!(
                "{}: in ASTRA-sim {kind} {there}; here it is carried out by the default algorithm",
                self.file
            )
        }));
        let unused = self.per_node.keys().filter(|node| !state.nodes.contains(*node));
        let unused: Vec<String> = unused.map(u64::to_string).collect();
        if !state.nodes.is_empty() && !unused.is_empty() {
            let unused = unused.join(", ");
            notes.push(format!("{}: {}: no collective is node {unused}", self.file, keys::PER_NODE));
        }
        notes
    }

    /// What was asked for so far, with the key that gave each algorithm.
    #[must_use]
    pub fn used(&self) -> Vec<Used> {
        self.state().uses.list(|key| self.places.get(key).map(|(_, place)| place.clone()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half done by a panic of another thread.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn custom(&self, index: usize, collective: &Use<'_>) -> Result<Choice, String> {
        let custom = &self.customs[index];
        let size = collective.kind.size(collective.bytes, collective.ranks().into());
        let size =
            size.ok_or_else(|| format!("{} ranks with so many bytes are too many", collective.ranks()))?;
        let key = (index, if custom.is_literal() { 0 } else { size });
        if let Some(known) = self.state().graphs.get(&key) {
            return Ok(Choice::new(Arc::clone(known)));
        }
        let new = Arc::new(custom.at(size)?);
        // Who came first is kept: the simulator tells algorithms apart by where they lie.
        Ok(Choice::new(Arc::clone(self.state().graphs.entry(key).or_insert(new))))
    }
}

impl Algorithms for AstraSystem {
    fn algorithm(&self, collective: &Use<'_>) -> Result<Choice, Box<dyn Error + Send + Sync>> {
        let kind = collective.kind;
        self.state().nodes.insert(collective.node);
        let by_node = self.per_node.get(&collective.node).map(|index| (*index, keys::PER_NODE.to_owned()));
        let by_kind = || {
            let index = self.per_kind.get(&kind)?;
            Some((*index, keys::custom_key(keys::native_key(kind)?)))
        };
        let (choice, key) = match by_node.or_else(by_kind) {
            Some((index, key)) => {
                let custom = self.custom(index, collective);
                (custom.map_err(|message| format!("{}: {message}", self.file))?, Some(key))
            }
            None => {
                let key = keys::native_key(kind);
                if !self.native.contains(&kind) {
                    if let Some(key) = key {
                        return Err(format!("{}: neither {key} nor {key}-custom is stated", self.file).into());
                    }
                    self.state().unknown.insert(kind);
                }
                (self.expander.algorithm(collective)?, key.map(str::to_owned))
            }
        };
        let place = self.places.iter().position(|(known, _)| Some(known) == key.as_ref());
        let size = kind.size(collective.bytes, collective.ranks().into()).unwrap_or(u64::MAX);
        self.state().uses.add(place, kind, collective.ranks(), choice.algorithm.name(), size);
        Ok(choice)
    }
}

/// Where a key stands.
fn place(text: &str, file: &str, key: &str) -> RulePlace {
    let quoted = format!("\"{key}\"");
    let line = (1..).zip(text.lines()).find(|(_, line)| line.contains(&quoted)).map_or(1, |(line, _)| line);
    RulePlace { line: Some((file.to_owned(), line)), number: None, span: None }
}
