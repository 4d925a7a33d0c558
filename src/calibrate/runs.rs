//! Lists of measurements with the programs that were measured, from TOML files; `docs/calibrate.md` describes the format.

use thiserror::Error;
use toml::de::DeTable;

use crate::Protocol;
use crate::measured::Place;
use crate::sim::topology::TextPlace;
use crate::workload::file::table::{Fault, Source, Table, Value};

/// A file of measurements, and the program that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunEntry {
    /// The file of measurements, as it is named.
    pub measured: String,
    /// An algorithm of the library, or a file of MSCCL XML.
    pub algorithm: String,
    /// The protocol, where it is not that of the algorithm.
    pub protocol: Option<Protocol>,
    /// The instances of an algorithm of the library.
    pub instances: Option<u32>,
    /// Which of the times are meant, where they are not those of the algorithm's place.
    pub place: Option<Place>,
    /// Parameters of an algorithm of the library.
    pub set: Vec<(String, usize)>,
}

/// A list that cannot be read; one line, with the file and the line in it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{} {message}", place.line.map(|line| format!("{line}:")).unwrap_or_default())]
#[non_exhaustive]
pub struct RunsError {
    /// The file, as it was given.
    pub file: String,
    /// Where in it, as far as it is known.
    pub place: TextPlace,
    /// What is wrong, and what was expected.
    pub message: String,
}

/// Reads a list from a text. `file` is its name for messages.
///
/// ```
/// let text = r#"
///     [[run]]
///     measured = "ring.log"
///     algorithm = "allreduce_ring"
///     protocol = "LL"
///     instances = 4
///     set = { channels = 2 }
/// "#;
/// let runs = collective::calibrate::parse_runs(text, "runs.toml")?;
/// assert_eq!((runs[0].measured.as_str(), runs[0].instances), ("ring.log", Some(4)));
///
/// let error = collective::calibrate::parse_runs("[[run]]\nmeasured = 3", "runs.toml").unwrap_err().to_string();
/// assert_eq!(error, "runs.toml:2: measured = 3: expected the name of a file");
/// # Ok::<(), collective::calibrate::RunsError>(())
/// ```
///
/// # Errors
/// Something is wrong in the text, or no run is listed.
pub fn parse_runs(text: &str, file: &str) -> Result<Vec<RunEntry>, RunsError> {
    whole(text).map_err(|(place, message)| RunsError { file: file.to_owned(), place, message })
}

fn whole(text: &str) -> Result<Vec<RunEntry>, Fault> {
    let source = Source(text);
    let parsed = DeTable::parse(text).map_err(|error| {
        let place = error.span().map(|span| source.place(&span)).unwrap_or_default();
        (place, error.message().lines().map(str::trim).collect::<Vec<_>>().join(", "))
    })?;
    let table = Table::new(source, parsed.get_ref(), &parsed.span());
    let runs = table.tables("run")?.into_iter().map(run).collect::<Result<Vec<_>, _>>()?;
    table.finish()?;
    if runs.is_empty() {
        return Err((
            TextPlace::default(),
            "no run is listed: expected [[run]] with measured and algorithm".to_owned(),
        ));
    }
    Ok(runs)
}

fn run(table: Table<'_>) -> Result<RunEntry, Fault> {
    let missing = |key: &str, such: &str| table.fault(format!("the key {key} is missing: expected {such}"));
    let text = |key: &'static str, such: &'static str| match table.get(key) {
        Some(value) => Ok(value.text(such)?.to_owned()),
        None => Err(missing(key, such)),
    };
    let measured = text("measured", "the name of a file")?;
    let algorithm = text("algorithm", "an algorithm of the library or a file of MSCCL XML")?;
    let protocol = table.get("protocol").map(|value| value.parsed::<Protocol>("\"LL128\"")).transpose()?;
    let instances = table.get("instances").map(|value| value.count()).transpose()?;
    let place = table.get("place").map(|value| place(&value)).transpose()?;
    let set = table.get("set").map(|value| settings(&value)).transpose()?.unwrap_or_default();
    table.finish()?;
    Ok(RunEntry { measured, algorithm, protocol, instances, place, set })
}

fn place(value: &Value<'_>) -> Result<Place, Fault> {
    const EXPECTED: &str = "\"out\" or \"in\"";
    match value.text(EXPECTED)? {
        "out" => Ok(Place::OutOfPlace),
        "in" => Ok(Place::InPlace),
        _ => Err(value.wrong(EXPECTED)),
    }
}

fn settings(value: &Value<'_>) -> Result<Vec<(String, usize)>, Fault> {
    let number = |(name, value): (String, Value<'_>)| {
        let number = value.integer().and_then(|number| usize::try_from(number).ok());
        Ok((name, number.ok_or_else(|| value.wrong("a whole number"))?))
    };
    value.entries("a table such as { channels = 2 }")?.into_iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        let run = "[[run]]\nmeasured = \"a.log\"\nalgorithm = \"x\"\n";
        for (text, message) in [
            ("", "r.toml: no run is listed: expected [[run]] with measured and algorithm"),
            (
                "[[run]]\nmeasured = \"a\"\n",
                "r.toml:1: the key algorithm is missing: expected an algorithm of the library",
            ),
            (&format!("{run}place = \"here\""), "r.toml:4: place = \"here\": expected \"out\" or \"in\""),
            (&format!("{run}instances = 0"), "r.toml:4: instances = 0: expected a whole number, at least 1"),
            (&format!("{run}sets = 1"), "r.toml:4: the key sets is not known here"),
        ] {
            let error = parse_runs(text, "r.toml").unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
