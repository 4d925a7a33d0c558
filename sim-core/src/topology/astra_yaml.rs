//! ASTRA-sim's network file: YAML with one list each of topology, npus_count, bandwidth and latency.
//!
//! A single scalar stands for a list of one, numbers may be quoted, and names of topologies are
//! matched without regard to case. As upstream, a dimension has at least 2 NPUs. Unknown keys are
//! warned about.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use super::{Dimension, DimensionKind, TextPlace};
use crate::config_table::Fault;
use crate::model::Conventions;
use crate::units::{Bandwidth, Latency};

/// What the file declares.
pub(super) struct Network {
    pub(super) dimensions: Vec<Dimension>,
    pub(super) warnings: Vec<String>,
}

const KEYS: [&str; 4] = ["topology", "npus_count", "bandwidth", "latency"];

/// Reads the file; under ASTRA-sim's conventions 1 GB/s are 2^30 bytes per second, else 10^9.
pub(super) fn parse(text: &str, conventions: Conventions) -> Result<Network, Fault> {
    if text.lines().all(|line| matches!(line.trim(), "" | "---") || line.trim().starts_with('#')) {
        return Err((
            TextPlace::default(),
            format!("the file is empty: expected the keys {}", KEYS.join(", ")),
        ));
    }
    let file: BTreeMap<String, Spanned<Values>> =
        serde_saphyr::from_str(text).map_err(|error| yaml_fault(text, &error))?;
    let warnings = file.iter().filter(|(key, _)| !KEYS.contains(&key.as_str()));
    let warnings = warnings.map(|(key, value)| {
        format!("line {}: the key {key:?} is not known and was left aside", value.referenced.line())
    });
    let [kinds, sizes, bandwidths, latencies] = KEYS.map(|key| Column::of(text, &file, key));
    let (kinds, sizes, bandwidths, latencies) = (kinds?, sizes?, bandwidths?, latencies?);
    for column in [&sizes, &bandwidths, &latencies] {
        column.expect_len(kinds.values.len())?;
    }
    let bytes_per_gb = match conventions {
        Conventions::AstraSim => (1u64 << 30) as f64,
        Conventions::Exact => 1e9,
    };
    let dimensions = (0..kinds.values.len()).map(|at| {
        Ok(Dimension {
            kind: kinds.read(at, "Ring, Switch or FullyConnected", kind)?,
            size: sizes.read(at, "a whole number of NPUs from 2 to 4294967295", |text| {
                text.parse().ok().filter(|size| *size >= 2)
            })?,
            bandwidth: bandwidths.read(at, "GB/s as a number, at least 1 byte per second", |text| {
                Bandwidth::from_bytes_per_s(text.parse::<f64>().ok()? * bytes_per_gb).ok()
            })?,
            latency: latencies
                .read(at, "ns as a number, at least 0", |text| Latency::from_ns(text.parse().ok()?).ok())?,
        })
    });
    Ok(Network { dimensions: dimensions.collect::<Result<_, Fault>>()?, warnings: warnings.collect() })
}

/// A fault of the YAML itself: one line, with the line of the file that shows key and value.
fn yaml_fault(text: &str, error: &serde_saphyr::Error) -> Fault {
    let place = error.location().map(|location| place(text, location)).unwrap_or_default();
    let line = place.line;
    let shown = line.and_then(|line| text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?));
    let shown = shown.map(|shown| format!(" in {:?}", shown.trim())).unwrap_or_default();
    let message = error.to_string();
    // The library's text begins with "error: line 3 column 14: " and goes on with a picture.
    let first = message.lines().next().unwrap_or("not a YAML mapping");
    let reason = first.split_once(": ").filter(|(head, _)| *head == "error").map_or(first, |(_, rest)| rest);
    let reason =
        reason.split_once(": ").filter(|(head, _)| head.starts_with("line ")).map_or(reason, |(_, r)| r);
    (place, format!("{reason}{shown}"))
}

/// A place of the reader, to the end of its line.
fn place(text: &str, location: serde_saphyr::Location) -> TextPlace {
    let line = location.line();
    let before = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let begin: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
    let this = text[begin..].lines().next().unwrap_or_default();
    let column = usize::try_from(location.column().saturating_sub(1)).unwrap_or(usize::MAX);
    let offset = this.char_indices().nth(column).map_or(this.len(), |(at, _)| at);
    // What stands behind a comment sign is not at fault.
    let end = this[offset..].find(" #").map_or(this.len(), |at| offset + at);
    TextPlace::new(Some(line), Some(begin + offset..begin + this[..end].trim_end().len().max(offset)))
}

fn kind(text: &str) -> Option<DimensionKind> {
    let kinds = [DimensionKind::Ring, DimensionKind::Switch, DimensionKind::FullyConnected];
    kinds.into_iter().find(|kind| kind.to_string().eq_ignore_ascii_case(text))
}

/// The values of one key, one for each dimension.
struct Column<'a> {
    key: &'static str,
    place: TextPlace,
    values: &'a [String],
}

impl<'a> Column<'a> {
    fn of(text: &str, file: &'a BTreeMap<String, Spanned<Values>>, key: &'static str) -> Result<Self, Fault> {
        let value = file.get(key).ok_or_else(|| {
            (TextPlace::default(), format!("the key {key} is missing: expected the keys {}", KEYS.join(", ")))
        })?;
        let column = Self { key, place: place(text, value.referenced), values: &value.value.0 };
        if column.values.is_empty() {
            return Err((
                column.place,
                format!("{key} is an empty list: expected one value for each dimension"),
            ));
        }
        Ok(column)
    }

    fn expect_len(&self, dimensions: usize) -> Result<(), Fault> {
        if self.values.len() == dimensions {
            return Ok(());
        }
        let (key, count) = (self.key, self.values.len());
        Err((
            self.place.clone(),
            format!("{key} has {count} of {dimensions} values: expected one for each entry of topology"),
        ))
    }

    fn read<T>(&self, at: usize, expected: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Fault> {
        let text = &self.values[at];
        read(text.trim()).ok_or_else(|| {
            (
                self.place.clone(),
                format!("{} has the value {text:?} for dimension {at}: expected {expected}", self.key),
            )
        })
    }
}

/// A list of scalars, or one scalar, as text.
struct Values(Vec<String>);

struct Scalar(String);

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Values;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a scalar or a list of scalars")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Values, A::Error> {
                let mut values = Vec::new();
                while let Some(Scalar(value)) = seq.next_element()? {
                    values.push(value);
                }
                Ok(Values(values))
            }

            fn visit_str<E>(self, value: &str) -> Result<Values, E> {
                Ok(Values(vec![value.to_owned()]))
            }

            fn visit_bool<E>(self, value: bool) -> Result<Values, E> {
                Ok(Values(vec![value.to_string()]))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Values, E> {
                Ok(Values(vec![value.to_string()]))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Values, E> {
                Ok(Values(vec![value.to_string()]))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Values, E> {
                Ok(Values(vec![value.to_string()]))
            }

            fn visit_unit<E>(self) -> Result<Values, E> {
                Ok(Values(Vec::new()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Values(values) = Values::deserialize(deserializer)?;
        let [value] = <[String; 1]>::try_from(values)
            .map_err(|_| serde::de::Error::custom("a list within a list: expected a scalar"))?;
        Ok(Self(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "topology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 50.0, 25 ]  # GB/s\nlatency: [ 500.0, 936.25 ]  # ns\n";

    fn fault(text: &str) -> String {
        let (place, message) = parse(text, Conventions::AstraSim).err().expect("the file is wrong");
        format!("{}: {message}", place.line.unwrap_or(0))
    }

    #[test]
    fn gigabytes_are_read_under_the_conventions() {
        let network = parse(GOOD, Conventions::AstraSim).unwrap();
        // 50 × 2^30 / 10^9 = 53.6870912 bytes per ns.
        assert_eq!(network.dimensions[0].bandwidth.bytes_per_ns(), 53.687_091_2);
        assert_eq!(network.dimensions[1].latency.as_ns(), 936.25);
        let network = parse(GOOD, Conventions::Exact).unwrap();
        assert_eq!(network.dimensions[0].bandwidth.bytes_per_s(), 50e9);
        assert!(network.warnings.is_empty());
    }

    #[test]
    fn scalars_quoted_numbers_and_any_case_are_accepted() {
        let text = "topology: ring\nnpus_count: [\"8\"]\nbandwidth: '50'\nlatency: 5e2\n";
        let network = parse(text, Conventions::AstraSim).unwrap();
        assert_eq!((network.dimensions[0].kind, network.dimensions[0].size), (DimensionKind::Ring, 8));
        assert_eq!(network.dimensions[0].latency.as_ns(), 500.0);
    }

    #[test]
    fn an_unknown_key_is_a_warning() {
        let network = parse(&format!("{GOOD}colour: x\n"), Conventions::AstraSim).unwrap();
        assert_eq!(network.warnings, ["line 5: the key \"colour\" is not known and was left aside"]);
    }

    #[test]
    fn faults_name_line_key_and_value() {
        for (from, to, parts) in [
            ("Ring, Switch", "Ring, Mesh", &["1: topology", "\"Mesh\"", "dimension 1", "FullyConnected"][..]),
            ("4, 2", "4, 1", &["2: npus_count", "\"1\"", "from 2 to"]),
            ("4, 2", "4, 2.5", &["npus_count", "\"2.5\""]),
            ("50.0", "0", &["3: bandwidth", "\"0\"", "at least 1 byte"]),
            ("50.0", ".nan", &["3: ", "bandwidth", ".nan"]),
            ("50.0", "tbd", &["bandwidth", "tbd"]),
            ("500.0", "-1", &["4: latency", "\"-1\"", "at least 0"]),
            ("50.0, 25", "50.0", &["3: bandwidth has 1 of 2"]),
            ("npus_count", "npus", &["the key npus_count is missing"]),
            ("[ 4, 2 ]", "[]", &["npus_count is an empty list"]),
            ("[ 4, 2 ]", "", &["npus_count is an empty list"]),
            ("[ 4, 2 ]", "[[4, 2]]", &["2: ", "a list within a list"]),
        ] {
            let message = fault(&GOOD.replace(from, to));
            for part in parts {
                assert!(message.contains(part), "{to}: {message}");
            }
        }
        for empty in ["", "\n", "# nothing\n---\n"] {
            assert!(fault(empty).contains("the file is empty"), "{empty:?}");
        }
        assert!(fault("just text").contains("\"just text\""));
        assert!(fault("topology: [").starts_with("1: "));
        assert!(fault(&format!("{GOOD}latency: 1\n")).contains("\"latency: 1\""), "a key twice");
    }
}
