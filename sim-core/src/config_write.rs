//! Values as TOML files have them, so that exactly they are read back.

use std::fmt::Write;

use crate::units::{Bandwidth, Latency, Picos};

/// A text in quotes.
pub(crate) fn text(value: &str) -> String {
    let mut quoted = String::from("\"");
    for character in value.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            // The others that TOML refuses as they are.
            character if character.is_control() => {
                // A String takes everything.
                let _ = write!(quoted, "\\U{:08X}", u32::from(character));
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// Texts in a list.
pub(crate) fn texts(values: &[String]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| text(value)).collect();
    format!("[{}]", quoted.join(", "))
}

/// In the unit in which people write it, if that is exact.
pub(crate) fn bandwidth(value: Bandwidth) -> String {
    let shown = value.to_string();
    if shown.parse() == Ok(value) { text(&shown) } else { text(&format!("{} B/s", value.bytes_per_s())) }
}

/// In nanoseconds, or from a microsecond on in those.
pub(crate) fn time(value: Picos) -> String {
    const PER_US: u64 = 1_000_000;
    if value.0 < PER_US {
        return text(&value.to_string());
    }
    let (whole, rest) = (value.0 / PER_US, format!("{:06}", value.0 % PER_US));
    match rest.trim_end_matches('0') {
        "" => text(&format!("{whole} us")),
        rest => text(&format!("{whole}.{rest} us")),
    }
}

pub(crate) fn latency(value: Latency) -> String {
    text(&value.to_string())
}
