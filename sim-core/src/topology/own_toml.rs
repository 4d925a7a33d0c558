//! This project's own form: TOML with one `[[dimension]]` each and explicit units.

use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;

use serde::Deserialize;
use toml::Spanned;

use super::{Dimension, DimensionKind};

/// The line, counted from 1, where known, and what is wrong.
pub(super) type Fault = (Option<u64>, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    dimension: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    kind: Spanned<String>,
    size: Spanned<toml::Value>,
    bandwidth: Spanned<toml::Value>,
    latency: Spanned<toml::Value>,
}

/// The dimensions that the file declares.
pub(super) fn parse(text: &str) -> Result<Vec<Dimension>, Fault> {
    let line_of = |offset: usize| text.get(..offset).map(|before| before.matches('\n').count() as u64 + 1);
    let file: File = toml::from_str(text)
        .map_err(|error| (error.span().and_then(|span| line_of(span.start)), one_line(error.message())))?;
    let dimension = |entry: Entry| {
        let fault = |span: Range<usize>| move |message: String| (line_of(span.start), message);
        let raw = |span: Range<usize>| text.get(span).unwrap_or_default();
        let Entry { kind, size, bandwidth, latency } = entry;
        Ok(Dimension {
            kind: read_kind(kind.get_ref()).map_err(fault(kind.span()))?,
            size: read_size(size.get_ref(), raw(size.span())).map_err(fault(size.span()))?,
            bandwidth: read_quantity("bandwidth", "\"400 GB/s\"", bandwidth.get_ref(), raw(bandwidth.span()))
                .map_err(fault(bandwidth.span()))?,
            latency: read_quantity("latency", "\"500 ns\"", latency.get_ref(), raw(latency.span()))
                .map_err(fault(latency.span()))?,
        })
    };
    file.dimension.into_iter().map(dimension).collect()
}

fn read_kind(text: &str) -> Result<DimensionKind, String> {
    match text {
        "ring" => Ok(DimensionKind::Ring),
        "switch" => Ok(DimensionKind::Switch),
        "fully-connected" => Ok(DimensionKind::FullyConnected),
        _ => Err(format!("kind = {text:?}: expected \"ring\", \"switch\" or \"fully-connected\"")),
    }
}

fn read_size(value: &toml::Value, raw: &str) -> Result<u32, String> {
    let size = value.as_integer().and_then(|size| u32::try_from(size).ok()).filter(|&size| size > 0);
    size.ok_or_else(|| format!("size = {raw}: expected a whole number of members, at least 1"))
}

fn read_quantity<T: FromStr<Err: Display>>(
    key: &str,
    example: &str,
    value: &toml::Value,
    raw: &str,
) -> Result<T, String> {
    let text = value
        .as_str()
        .ok_or_else(|| format!("{key} = {raw}: expected a text with the unit, such as {example}"))?;
    text.parse().map_err(|error| format!("{key} = {text:?}: {error}"))
}

/// The parser's messages may have several lines; errors here have one.
fn one_line(message: &str) -> String {
    message.lines().map(str::trim).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "[[dimension]]\nkind = \"switch\"\nsize = 8\nbandwidth = \"400 GB/s\"\nlatency = \"500 ns\"\n";

    #[test]
    fn dimensions_come_in_the_order_of_the_file() {
        let dimensions = parse(&format!("{GOOD}{}", GOOD.replace("switch", "fully-connected"))).unwrap();
        let kinds: Vec<_> = dimensions.iter().map(|dimension| dimension.kind).collect();
        assert_eq!(kinds, [DimensionKind::Switch, DimensionKind::FullyConnected]);
        assert_eq!(dimensions[0].bandwidth, "400 GB/s".parse().unwrap());
        assert_eq!(dimensions[0].latency, "500 ns".parse().unwrap());
    }

    #[test]
    fn faults_name_line_key_and_value() {
        for (from, to, line, parts) in [
            ("\"400 GB/s\"", "400", 4, &["bandwidth = 400", "\"400 GB/s\""][..]),
            ("400 GB/s", "400 GHz", 4, &["bandwidth", "GHz", "GiB/s"]),
            ("500 ns", "500", 5, &["latency", "\"500\"", "has no unit"]),
            ("500 ns", "-5 ns", 5, &["latency", "-5 ns", "not negative"]),
            ("size = 8", "size = 0", 3, &["size = 0", "at least 1"]),
            ("size = 8", "size = 2.5", 3, &["size = 2.5"]),
            ("\"switch\"", "\"torus\"", 2, &["kind", "torus", "fully-connected"]),
            ("size = 8", "size = 8\ncolour = 1", 4, &["colour"]),
            ("size = 8", "size = 8\nsize = 8", 4, &["duplicate key"]),
            ("kind = \"switch\"", "", 1, &["kind"]),
        ] {
            let (at, message) = parse(&GOOD.replace(from, to)).unwrap_err();
            assert_eq!(at, Some(line), "{to}: {message}");
            for part in parts {
                assert!(message.contains(part), "{to}: {message}");
            }
        }
        assert!(parse("").unwrap_err().1.contains("dimension"));
    }
}
