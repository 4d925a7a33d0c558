//! Machines from files, and those that are built in.
//!
//! `docs/machines.md` has every key.

mod builtin;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::path::{Path, PathBuf};

use super::Machine;
use crate::config_table::invalid;
use crate::topology::ConfigError;

pub use builtin::{BUILTIN, builtin};
pub use write::to_toml;

/// Reads a machine's file from its text; errors name it `machine`, as no file is known.
///
/// ```
/// use sim_core::machine::{self, Protocol};
///
/// let text = r#"
///     name = "example"
///     egress = "200 GB/s"
///
///     [protocol.simple]
///     launch = "5 us"
///     copy = "20 GB/s"
///     slots = 4
/// "#;
/// let machine = machine::parse(text)?;
/// assert_eq!(machine.costs(Protocol::Simple).map(|costs| costs.launch), Some("5 us".parse()?));
/// assert_eq!(machine.costs(Protocol::Ll), None);
///
/// let error = machine::parse("name = \"example\"\negres = \"200 GB/s\"\n").unwrap_err().to_string();
/// assert!(error.starts_with("machine:2: the key egres is not known here: expected name, "), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ConfigError::Invalid`]
pub fn parse(text: &str) -> Result<Machine, ConfigError> {
    parse_as(text, "machine")
}

/// Reads a machine's file.
///
/// # Errors
/// [`ConfigError::Unreadable`], or [`ConfigError::Invalid`] with the file's name.
pub fn load(path: impl AsRef<Path>) -> Result<Machine, ConfigError> {
    let path = path.as_ref();
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
    parse_as(&text, &path.display().to_string())
}

/// The machine that is built in under this name ([`BUILTIN`] has them all), or else the one in the file of this name.
///
/// ```
/// use sim_core::machine;
///
/// assert_eq!(machine::find("mi300x")?.name, "mi300x");
/// let error = machine::find("mi300").unwrap_err().to_string();
/// assert!(error.starts_with("there is no machine \"mi300\", neither built in nor as a file: "), "{error}");
/// assert!(error.ends_with("; did you mean mi300x?"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ConfigError::NoSuchMachine`] for the name of nothing; else what is wrong with the file.
pub fn find(name_or_path: &str) -> Result<Machine, ConfigError> {
    if let Some(machine) = builtin(name_or_path) {
        return Ok(machine);
    }
    let path = PathBuf::from(name_or_path);
    // Who writes an ending or a directory means a file, and is told why it cannot be read.
    if path.exists() || path.extension().is_some() || path.components().count() > 1 {
        return load(path);
    }
    let nearest = builtin::nearest(name_or_path);
    Err(ConfigError::NoSuchMachine { name: name_or_path.to_owned(), known: BUILTIN.join(", "), nearest })
}

fn parse_as(text: &str, file: &str) -> Result<Machine, ConfigError> {
    read::machine(text).map_err(|fault| invalid(file, fault))
}
