//! The keys of a system file.

use std::collections::BTreeMap;
use std::path::Path;

use chakra_et::workload::CollectiveKind::{self, AllGather, AllReduce, AllToAll, ReduceScatter};
use serde_json::{Map, Value};

use super::super::rule::Rule;
use super::error::SystemError;
use super::native;
use crate::sim::topology::TextPlace;
use crate::sim::units::Bandwidth;
use crate::sim::workload::Roofline;

/// The key with the file that names traces for nodes.
pub(super) const PER_NODE: &str = "per-node-custom-implementation";
const SPLITS: &str = "preferred-dataset-splits";
const ROOFLINE: &str = "roofline-enabled";
const PEAK: &str = "peak-perf";
const MEMORY: &str = "local-mem-bw";
const REPLAY: &str = "replay-only";

/// The key of the native algorithm for each kind; with `-custom` behind it, that of traces.
const KINDS: [(CollectiveKind, &str); 4] = [
    (AllReduce, "all-reduce-implementation"),
    (AllGather, "all-gather-implementation"),
    (ReduceScatter, "reduce-scatter-implementation"),
    (AllToAll, "all-to-all-implementation"),
];

/// What ASTRA-sim reads and this project does not do, with what it does there.
const WITHOUT_EFFECT: [(&str, &str); 14] = [
    ("active-chunks-per-dimension", "how many chunks of native collectives are under way at once"),
    ("boost-mode", "nothing, as it is not read"),
    ("collective-optimization", "in which order a native all-reduce goes through several dimensions"),
    (
        "endpoint-delay",
        "how many nanoseconds a step of a native collective takes beside its message (not of custom traces); under exact conventions \
         an overhead of each message has that effect",
    ),
    ("local-mem-trace-filename", "where the use of memory is written to"),
    ("local-reduction-delay", "a delay of native collectives"),
    ("model-shared-bus", "whether native collectives share a memory bus"),
    ("L", "latency of the memory bus in native collectives"),
    ("o", "overhead of the memory bus in native collectives"),
    ("g", "gap of the memory bus in native collectives"),
    ("G", "gap for each byte of the memory bus in native collectives"),
    (
        "scheduling-policy",
        "which of several native collectives of a rank goes first; one at a time has none to choose from",
    ),
    ("trace-enabled", "what is logged"),
    ("track-local-mem", "whether the use of memory is written down"),
];

/// What a file says.
pub(super) struct Keys {
    pub(super) roofline: Option<Roofline>,
    pub(super) notes: Vec<String>,
    /// Kind, key and prefix of traces.
    pub(super) custom: Vec<(CollectiveKind, String, String)>,
    /// The prefix of traces by node.
    pub(super) per_node: BTreeMap<u64, String>,
    pub(super) native: Vec<(CollectiveKind, Rule)>,
}

/// The key of the native algorithm for a kind, if ASTRA-sim simulates the kind.
pub(super) fn native_key(kind: CollectiveKind) -> Option<&'static str> {
    KINDS.iter().find(|(of, _)| *of == kind).map(|(_, key)| *key)
}

/// The key of traces that carry a kind out, from that of its native algorithm.
pub(super) fn custom_key(native: &str) -> String {
    format!("{native}-custom")
}

/// The keys that give algorithms.
pub(super) fn of_algorithms() -> impl Iterator<Item = String> {
    let of_kinds = KINDS.iter().flat_map(|(_, key)| [(*key).to_owned(), custom_key(key)]);
    of_kinds.chain([PER_NODE.to_owned()])
}

impl Keys {
    pub(super) fn read(text: &str, file: &str, directory: &Path) -> Result<Self, SystemError> {
        let parsed: Value = serde_json::from_str(text).map_err(|error| {
            // At the end of a text that breaks off there is nothing to mark.
            let begin: usize =
                text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
            let at = (begin + error.column().saturating_sub(1)).min(text.len());
            SystemError::of_file(file, format!("{error}: expected JSON"))
                .at(TextPlace::of(text, &(at..at + 1)))
        })?;
        let Value::Object(keys) = &parsed else {
            return Err(SystemError::of_file(file, "expected a JSON object of keys and values"));
        };
        let file = File { name: file, text, keys };
        let roofline = file.roofline()?;
        let (mut custom, mut native) = (Vec::new(), Vec::new());
        let mut notes = Vec::new();
        for (kind, key) in KINDS {
            let of_traces = custom_key(key);
            if let Some(prefixes) = file.names(&of_traces)? {
                let [prefix] = prefixes[..] else {
                    return Err(
                        file.wrong(&of_traces, "exactly one prefix of traces, which covers all dimensions")
                    );
                };
                custom.push((kind, of_traces, prefix.to_owned()));
            }
            let Some(names) = file.names(key)? else { continue };
            let found: Vec<native::Native> = names
                .iter()
                .map(|name| native::find(kind, name).map_err(|why| file.fault(key, why)))
                .collect::<Result<_, _>>()?;
            if names.len() > 1 {
                notes.push(file.says(
                    key,
                    &format!(
                        "ASTRA-sim goes through {} dimensions one after the other, with an algorithm for each; here the first, {}, \
                         runs over the whole group",
                        names.len(),
                        names[0]
                    ),
                ));
            }
            let Some(first) = found.into_iter().next() else {
                return Err(file.wrong(key, "at least one name"));
            };
            if let Some(note) = first.note {
                notes.push(file.says(key, &note));
            }
            native.push((kind, first.rule));
        }
        let per_node = file.per_node(directory)?;
        file.check_splits(!custom.is_empty() || !per_node.is_empty(), &mut notes)?;
        if !native.is_empty() && keys.contains_key(MEMORY) {
            let does = "is that of the roofline only; a reduction of a native collective, which in ASTRA-sim passes the memory three \
                        times, takes no time here: under exact conventions a reduction bandwidth of a third of it has that effect";
            notes.push(file.says(MEMORY, does));
        }
        if file.switch(REPLAY)? {
            return Err(file.wrong(
                REPLAY,
                "0, as 1 takes the times of all nodes from the trace and simulates no network",
            ));
        }
        file.without_effect(&mut notes);
        notes.sort();
        Ok(Self { roofline, notes, custom, per_node, native })
    }
}

struct File<'a> {
    name: &'a str,
    text: &'a str,
    keys: &'a Map<String, Value>,
}

impl<'a> File<'a> {
    /// "key = value", as messages name it.
    fn shown(&self, key: &str) -> String {
        self.keys.get(key).map_or_else(|| key.to_owned(), |value| format!("{key} = {value}"))
    }

    fn fault(&self, key: &str, message: impl Into<String>) -> SystemError {
        SystemError::of_key(self.name, self.shown(key), message).in_text(self.text, key)
    }

    fn wrong(&self, key: &str, expected: &str) -> SystemError {
        self.fault(key, format!("expected {expected}"))
    }

    fn says(&self, key: &str, message: &str) -> String {
        format!("{}: {}: {message}", self.name, self.shown(key))
    }

    /// A list of texts.
    fn names(&self, key: &str) -> Result<Option<Vec<&'a str>>, SystemError> {
        let Some(value) = self.keys.get(key) else { return Ok(None) };
        let list = value.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
        list.map(Some).ok_or_else(|| self.wrong(key, "a list of names, such as [\"ring\"]"))
    }

    /// Whether a key is there and not 0.
    fn switch(&self, key: &str) -> Result<bool, SystemError> {
        match self.keys.get(key) {
            None => Ok(false),
            Some(value) => match value.as_u64() {
                Some(0) => Ok(false),
                Some(1) => Ok(true),
                // ASTRA-sim compares with the number 0, from which false differs.
                _ => Err(self.wrong(key, "0 or 1")),
            },
        }
    }

    /// A number above 0, if it is there.
    fn number(&self, key: &str) -> Result<Option<f64>, SystemError> {
        let Some(value) = self.keys.get(key) else { return Ok(None) };
        let number = value.as_f64().filter(|number| number.is_finite() && *number > 0.0);
        number.map(Some).ok_or_else(|| self.wrong(key, "a number above 0"))
    }

    fn roofline(&self) -> Result<Option<Roofline>, SystemError> {
        let (peak, memory) = (self.number(PEAK)?, self.number(MEMORY)?);
        if !self.switch(ROOFLINE)? {
            return Ok(None);
        }
        let missing = |key: &str, unit: &str| {
            self.fault(
                ROOFLINE,
                format!("needs {key}, {unit}, without which computations never end in ASTRA-sim"),
            )
        };
        let peak = peak.ok_or_else(|| missing(PEAK, "in TFLOP/s"))?;
        let memory = memory.ok_or_else(|| missing(MEMORY, "in GB/s"))?;
        let bandwidth = Bandwidth::from_bytes_per_s(memory * 1e9)
            .map_err(|error| self.fault(MEMORY, error.to_string()))?;
        Roofline::new(peak * 1e12, bandwidth).map(Some).map_err(|error| self.fault(PEAK, error.to_string()))
    }

    /// The YAML map of nodes and prefixes that a key names.
    fn per_node(&self, directory: &Path) -> Result<BTreeMap<u64, String>, SystemError> {
        let Some(value) = self.keys.get(PER_NODE) else { return Ok(BTreeMap::new()) };
        let Some(named) = value.as_str() else {
            return Err(self.wrong(PER_NODE, "the name of a YAML file that maps nodes to prefixes of traces"));
        };
        let path = directory.join(named);
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path)
            .map_err(|error| self.fault(PER_NODE, format!("{name}: {error}")))?;
        let expected = "expected a map of nodes to prefixes, one a line, such as 7: algorithms/ring";
        serde_saphyr::from_str(&text).map_err(|error| {
            let line = error.location().map(|location| format!(":{}", location.line())).unwrap_or_default();
            SystemError::of_file(&format!("{name}{line}"), expected)
        })
    }

    /// ASTRA-sim divides every collective by the number, and a custom one never ends in several parts.
    fn check_splits(&self, custom: bool, notes: &mut Vec<String>) -> Result<(), SystemError> {
        let Some(value) = self.keys.get(SPLITS) else {
            return Err(SystemError::of_key(
                self.name,
                SPLITS,
                "is not stated: expected 1, as without it ASTRA-sim divides by zero",
            ));
        };
        match value.as_u64() {
            Some(1) => Ok(()),
            Some(2..) if custom => {
                Err(self.wrong(SPLITS, "1, as with custom traces ASTRA-sim never ends otherwise"))
            }
            Some(2..) => {
                notes.push(self.says(
                    SPLITS,
                    "into so many chunks ASTRA-sim cuts a native collective; here it is not cut",
                ));
                Ok(())
            }
            _ => Err(self.wrong(SPLITS, "a whole number, at least 1")),
        }
    }

    /// Says of each key that is left what it does not do.
    fn without_effect(&self, notes: &mut Vec<String>) {
        let honoured = [SPLITS, ROOFLINE, PEAK, MEMORY, REPLAY];
        let implementations: Vec<String> = of_algorithms().collect();
        for key in self.keys.keys() {
            if honoured.contains(&key.as_str()) || implementations.contains(key) {
                continue;
            }
            let known = WITHOUT_EFFECT.iter().find(|(known, _)| known == key);
            notes.push(match (known, key.strip_suffix("-implementation-chakra")) {
                (Some((_, does)), _) => self.says(key, &format!("has no effect here; in ASTRA-sim it says {does}")),
                (None, Some(kind)) => self.says(
                    key,
                    &format!("ASTRA-sim no longer reads this key, nor is it read here: expected {kind}-implementation-custom"),
                ),
                (None, None) => {
                    let all = honoured.iter().copied().chain(implementations.iter().map(String::as_str));
                    let similar = all.chain(WITHOUT_EFFECT.iter().map(|(known, _)| *known));
                    let similar = similar.filter(|known| strsim::jaro_winkler(key, known) > 0.9);
                    let similar = similar.max_by(|a, b| {
                        strsim::jaro_winkler(key, a).total_cmp(&strsim::jaro_winkler(key, b))
                    });
                    let hint = similar.map(|known| format!("; did you mean {known}?")).unwrap_or_default();
                    self.says(key, &format!("ASTRA-sim knows no such key, and ignores it{hint}"))
                }
            });
        }
    }
}
