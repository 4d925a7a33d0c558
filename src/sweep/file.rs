//! Sweeps from TOML files; `docs/sweeps.md` describes the format.

mod algorithms;
mod networks;
mod ranges;
mod template;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::error::SweepError;
use super::network::{Network, Placing};
use super::plan::Sweep;
use crate::compare::Variant;
use crate::et::{NodeOrder, ReduceRate};
use crate::sim::topology::TextPlace;
use crate::workload::file::table::{Fault, Source, Table, Value};
use crate::{CollectiveKind, ElementType, Protocol, Size};

/// A sweep that was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Parsed {
    /// The sweep.
    pub sweep: Sweep,
    /// A number that differs where the text of the sweep differs, or that of a file that it names, or the version of this crate.
    pub fingerprint: u64,
    /// What is odd in the files that it names, one sentence each.
    pub warnings: Vec<String>,
}

/// Reads a sweep from a text. `file` is its name for messages; paths in it are relative to its directory, and `read` gives the text
/// of each.
///
/// ```
/// let text = r#"
///     algorithms = ["allreduce_*ring*"]
///     sizes = ["1 KiB..1 MiB x4"]
///
///     [[topology]]
///     name = "node"
///     [[topology.dimension]]
///     kind = "switch"
///     size = 8
///     bandwidth = "400 GB/s"
///     latency = "500 ns"
/// "#;
/// let no_files = &mut |_: &std::path::Path| Err("there are none".to_owned());
/// let parsed = collective::sweep::parse(text, "sweep.toml", no_files)?;
/// assert_eq!(parsed.sweep.sizes().len(), 6);
///
/// let error = collective::sweep::parse("size = \"1 KiB\"", "sweep.toml", no_files).unwrap_err().to_string();
/// assert!(error.starts_with("sweep.toml:1: the key size is not known here: expected "), "{error}");
/// # Ok::<(), collective::sweep::SweepError>(())
/// ```
///
/// # Errors
/// Something is wrong in the text, or in a file that it names.
pub fn parse(
    text: &str,
    file: &str,
    read: &mut dyn FnMut(&Path) -> Result<String, String>,
) -> Result<Parsed, SweepError> {
    let directory = Path::new(file).parent().unwrap_or(Path::new("")).to_owned();
    let mut files = Files { directory, read, hash: Fnv::new(), warnings: Vec::new() };
    files.hash.text(env!("CARGO_PKG_VERSION"));
    files.hash.text(text);
    let sweep = whole(text, file, &mut files).map_err(|(place, message)| {
        let line = place.line.map(|line| format!("{line}: ")).unwrap_or_default();
        let error = SweepError::new(format!("{file}:{}{message}", if line.is_empty() { " " } else { &line }));
        SweepError { file: Some(file.to_owned()), place, ..error }
    })?;
    Ok(Parsed { sweep, fingerprint: files.hash.0, warnings: files.warnings })
}

fn whole(text: &str, file: &str, files: &mut Files<'_>) -> Result<Sweep, Fault> {
    let source = Source(text);
    let parsed = DeTable::parse(text).map_err(|error| {
        let place = error.span().map(|span| source.place(&span)).unwrap_or_default();
        (place, error.message().lines().map(str::trim).collect::<Vec<_>>().join(", "))
    })?;
    let table = Table::new(source, parsed.get_ref(), &parsed.span());
    let kinds = table.get("collectives").map(|value| each(&value, kind)).transpose()?;
    let algorithms = table.get("algorithms");
    let first = table.get("choices").map(|value| is_first(&value)).transpose()?.unwrap_or(false);
    let ranks = table.get("ranks");
    let sizes = table.get("sizes");
    let element_type = parsed_or_default::<ElementType>(&table, "type", "\"bf16\"")?;
    let order = table
        .get("order")
        .map(|value| value.parsed("\"dataflow\"").map(|order| (value, order)))
        .transpose()?;
    let variants = variants(&table)?;
    let rate = table.get("reduce_rate").map(|value| value.parsed::<ReduceRate>("\"50 GB/s\"")).transpose()?;
    let placing = table.get("placement").map(|value| placing(&value)).transpose()?.unwrap_or_default();
    let keys = networks::Keys::of(&table)?;
    table.finish()?;

    let missing =
        |key: &str, such: &str| (TextPlace::default(), format!("the key {key} is missing: expected {such}"));
    let algorithms = algorithms.ok_or_else(|| missing("algorithms", "a list such as [\"allreduce_*\"]"))?;
    let sizes = sizes.ok_or_else(|| missing("sizes", "a list such as [\"1 KiB..1 GiB x2\"]"))?;
    let stated: Option<Vec<usize>> = match ranks {
        Some(value) => Some(
            ranges::all(&value, "ranks, such as 8 or \"8..64 x2\"", ranges::count)?
                .into_iter()
                .map(|ranks| usize::try_from(ranks).unwrap_or(usize::MAX))
                .collect(),
        ),
        None => None,
    };
    let on = networks::Context { text, file, placing, ranks: stated.as_deref() };
    let networks = networks::networks(keys, &on, files)?;
    let order = node_order(order, &networks)?;
    let subjects = algorithms::subjects(&algorithms, kinds.as_deref(), files)?;
    let subjects = subjects.into_iter().map(|subject| if first { subject.first_choice() } else { subject });
    let ranks = stated.unwrap_or_else(|| networks::rank_counts(&networks));
    if ranks.is_empty() {
        return Err(missing("ranks", "numbers of ranks, for there is no topology to take them from"));
    }
    let sizes = ranges::all(&sizes, "sizes, such as \"4 MiB\" or \"1 KiB..1 GiB x2\"", ranges::bytes)?;
    let sizes = sizes.into_iter().map(|size| Size::bytes(size).with_type(element_type));
    let sweep = Sweep::new(subjects, ranks, sizes, networks).and_then(|sweep| sweep.lowered(&variants));
    let sweep = sweep.map_err(|error| (TextPlace::default(), error.message))?;
    Ok(sweep.order(order).reduce_rate(rate.unwrap_or_default()))
}

/// How nodes wait: in the order of thread blocks where a machine executes those.
fn node_order(stated: Option<(Value<'_>, NodeOrder)>, networks: &[Network]) -> Result<NodeOrder, Fault> {
    let has_machine = networks.iter().any(|network| network.machine.is_some());
    match stated {
        Some((value, NodeOrder::Dataflow)) if has_machine => {
            Err(value.fault("the model machine executes thread blocks: expected order = \"threadblock\""))
        }
        Some((_, order)) => Ok(order),
        None if has_machine => Ok(NodeOrder::ThreadBlock),
        None => Ok(NodeOrder::Dataflow),
    }
}

/// The ways to lower algorithms of the library: each protocol with each number of instances.
fn variants(table: &Table<'_>) -> Result<Vec<Variant>, Fault> {
    let protocols = table.get("protocols");
    let protocols =
        protocols.map(|value| each(&value, |one| one.parsed::<Protocol>("\"simple\""))).transpose()?;
    let instances = table.get("instances");
    let instances = instances.map(|value| {
        let all = ranges::all(&value, "numbers of instances, such as 2 or \"1..8 x2\"", ranges::count)?;
        let in_range = all.iter().map(|one| u32::try_from(*one).ok().filter(|one| *one > 0));
        in_range.collect::<Option<Vec<u32>>>().ok_or_else(|| value.wrong("numbers of instances from 1 on"))
    });
    let instances = instances.transpose()?;
    let protocols = protocols.map_or(vec![None], |all| all.into_iter().map(Some).collect());
    let instances = instances.map_or(vec![None], |all| all.into_iter().map(Some).collect());
    let mut all: Vec<Variant> = Vec::new();
    for protocol in protocols {
        for instances in &instances {
            let variant = Variant { protocol, instances: *instances };
            if !all.contains(&variant) {
                all.push(variant);
            }
        }
    }
    Ok(all)
}

/// The files that a sweep names.
struct Files<'a> {
    directory: PathBuf,
    read: &'a mut dyn FnMut(&Path) -> Result<String, String>,
    hash: Fnv,
    warnings: Vec<String>,
}

impl Files<'_> {
    /// The text of a file, and its path.
    fn text(&mut self, value: &Value<'_>, name: &str) -> Result<(String, String), Fault> {
        let path = self.directory.join(name);
        let shown = path.display().to_string();
        let text = (self.read)(&path).map_err(|error| value.fault(format!("{shown}: {error}")))?;
        self.hash.text(name);
        self.hash.text(&text);
        Ok((text, shown))
    }
}

/// The hash FNV-1a of 64 bits.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// A text, and where it ends.
    fn text(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// One value, or each of a list that is not empty.
fn each<T>(value: &Value<'_>, one: impl Fn(&Value<'_>) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
    match value.list() {
        None => Ok(vec![one(value)?]),
        Some(list) if list.is_empty() => Err(value.wrong("a list with something in it")),
        Some(list) => list.iter().map(one).collect(),
    }
}

fn parsed_or_default<T: std::str::FromStr<Err: std::fmt::Display> + Default>(
    table: &Table<'_>,
    key: &'static str,
    example: &str,
) -> Result<T, Fault> {
    Ok(table.get(key).map(|value| value.parsed::<T>(example)).transpose()?.unwrap_or_default())
}

/// A collective by its name, with `-` or `_`.
fn kind(value: &Value<'_>) -> Result<CollectiveKind, Fault> {
    let expected = || CollectiveKind::ALL.map(CollectiveKind::name).join(", ");
    let name = value.text(expected())?.replace('-', "_");
    CollectiveKind::from_name(&name).ok_or_else(|| value.wrong(expected()))
}

/// Which of an algorithm's choices of parameters are meant.
fn is_first(value: &Value<'_>) -> Result<bool, Fault> {
    const EXPECTED: &str = "\"all\" or \"first\"";
    match value.text(EXPECTED)? {
        "all" => Ok(false),
        "first" => Ok(true),
        _ => Err(value.wrong(EXPECTED)),
    }
}

fn placing(value: &Value<'_>) -> Result<Placing, Fault> {
    const EXPECTED: &str = "\"identity\" or \"random:SEED\"";
    let text = value.text(EXPECTED)?;
    let seed = text.strip_prefix("random:").map(str::parse);
    match (text, seed) {
        ("identity", _) => Ok(Placing::Identity),
        (_, Some(Ok(seed))) => Ok(Placing::Random { seed }),
        _ => Err(value.wrong(EXPECTED)),
    }
}
