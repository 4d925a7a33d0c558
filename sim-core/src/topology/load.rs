//! Topologies from files: which format, and under which conventions.

use std::path::Path;

use super::{ConfigError, Topology, astra_yaml, own_toml};
use crate::config_table::invalid;
use crate::model::Conventions;

/// A topology from a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoadedTopology {
    /// The topology.
    pub topology: Topology,
    /// The conventions under which the file was read: those asked for, else those of its format.
    pub conventions: Conventions,
    /// What the reader left aside, one sentence each.
    pub warnings: Vec<String>,
}

impl From<Topology> for LoadedTopology {
    /// A topology that another file declares, or a program: under exact conventions.
    fn from(topology: Topology) -> Self {
        Self { topology, conventions: Conventions::Exact, warnings: Vec::new() }
    }
}

/// Reads a topology file; the ending says which format it has.
///
/// * `.toml`: this project's form with explicit units, under [`Conventions::Exact`] by default;
/// * `.yml`, `.yaml`: ASTRA-sim's network file, under [`Conventions::AstraSim`] by default. Its "GB/s"
///   are 2^30 bytes per second under ASTRA-sim's conventions and 10^9 under exact ones.
///
/// # Errors
/// [`ConfigError`], a line that names the file, and the line, key and value where there is one.
pub fn load(path: &Path, conventions: Option<Conventions>) -> Result<LoadedTopology, ConfigError> {
    let parse = match path.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => parse_toml,
        Some("yml" | "yaml") => parse_astra_yaml,
        _ => return Err(ConfigError::UnknownEnding { path: path.to_owned() }),
    };
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
    parse(&text, &path.display().to_string(), conventions)
}

/// Reads this project's TOML form, of which `docs/topologies.md` shows every kind; `file` is named in errors.
///
/// ```
/// let text = r#"
///     ## dimension 0 varies fastest
///     [[dimension]]
///     kind = "switch"
///     size = 8
///     bandwidth = "400 GB/s"
///     latency = "500 ns"
/// "#;
/// let loaded = sim_core::topology::parse_toml(text, "node.toml", None)?;
/// assert_eq!(loaded.topology.rank_count(), 8);
/// # Ok::<(), sim_core::topology::ConfigError>(())
/// ```
///
/// # Errors
/// [`ConfigError`]
pub fn parse_toml(
    text: &str,
    file: &str,
    conventions: Option<Conventions>,
) -> Result<LoadedTopology, ConfigError> {
    let topology = own_toml::parse(text).map_err(|fault| invalid(file, fault))?;
    let conventions = conventions.unwrap_or(Conventions::Exact);
    Ok(LoadedTopology { topology, conventions, warnings: Vec::new() })
}

/// Reads the topologies that a TOML file on something else declares, in the order of the file: a list of tables `key`, each with
/// a `name` and what a file of this project's form has. Beside the name stands the line of the table, where it is known.
///
/// ```
/// let text = r#"
///     sizes = ["1 MiB"]
///
///     [[topology]]
///     name = "node"
///     [[topology.dimension]]
///     kind = "switch"
///     size = 8
///     bandwidth = "400 GB/s"
///     latency = "500 ns"
/// "#;
/// let named = sim_core::topology::parse_toml_named(text, "sweep.toml", "topology")?;
/// let (name, _, topology) = &named[0];
/// assert_eq!((name.as_str(), topology.rank_count()), ("node", 8));
/// # Ok::<(), sim_core::topology::ConfigError>(())
/// ```
///
/// # Errors
/// [`ConfigError::Invalid`]
pub fn parse_toml_named(
    text: &str,
    file: &str,
    key: &'static str,
) -> Result<Vec<(String, Option<u64>, Topology)>, ConfigError> {
    own_toml::parse_named(text, key).map_err(|fault| invalid(file, fault))
}

/// Reads ASTRA-sim's network YAML; `file` is named in errors.
///
/// ```
/// let text = "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ] # GB/s\nlatency: [ 500.0 ] # ns\n";
/// let loaded = sim_core::topology::parse_astra_yaml(text, "ring.yml", None)?;
/// assert_eq!(loaded.topology.rank_count(), 8);
/// # Ok::<(), sim_core::topology::ConfigError>(())
/// ```
///
/// # Errors
/// [`ConfigError`]
pub fn parse_astra_yaml(
    text: &str,
    file: &str,
    conventions: Option<Conventions>,
) -> Result<LoadedTopology, ConfigError> {
    let conventions = conventions.unwrap_or(Conventions::AstraSim);
    let network = astra_yaml::parse(text, conventions).map_err(|fault| invalid(file, fault))?;
    let topology = Topology::new(network.dimensions)
        .map_err(|source| ConfigError::Topology { file: file.to_owned(), source })?;
    let warnings = network.warnings.into_iter().map(|warning| format!("{file}: {warning}")).collect();
    Ok(LoadedTopology { topology, conventions, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_decides_and_other_endings_are_refused_with_the_known_ones() {
        let error = load(Path::new("cluster.json"), None).unwrap_err().to_string();
        assert!(error.starts_with("cluster.json: ") && error.contains(".toml"), "{error}");
        let error = load(Path::new("no/such/file.toml"), None).unwrap_err().to_string();
        assert!(error.starts_with("no/such/file.toml: "), "{error}");
    }
}
