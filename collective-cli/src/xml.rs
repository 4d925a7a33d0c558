//! MSCCL XML files: reading them with their warnings, and the arguments that say how to write them.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use collective::Schedule;
use collective::msccl::{self, Imported, Target, XmlOptions};
use collective::sim::units::Bytes;
use collective::verify;

use crate::console;
use crate::failure::Failure;
use crate::snippet::Place;
use crate::stage::stage;

/// How MSCCL XML is written.
#[derive(Args, Clone, Copy)]
pub(crate) struct XmlArguments {
    /// The runtime that MSCCL XML is written for: msccl, msccl-executor or rccl. Its dialect is used and its limits hold
    /// [default: msccl].
    #[arg(long, value_name = "RUNTIME")]
    pub(crate) target: Option<Target>,
    /// The smallest size, such as 64KiB, that the runtime may choose the algorithm for (`minBytes`).
    #[arg(long, value_name = "SIZE")]
    pub(crate) min_bytes: Option<Bytes>,
    /// The largest such size (`maxBytes`); 0 for no bound.
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_bytes: Option<Bytes>,
}

impl XmlArguments {
    /// Whether any was given.
    pub(crate) fn any(&self) -> bool {
        self.target.is_some() || self.min_bytes.is_some() || self.max_bytes.is_some()
    }

    /// Sets what was given.
    pub(crate) fn apply(&self, options: &mut XmlOptions) {
        options.min_bytes = self.min_bytes.map(|size| size.0).or(options.min_bytes);
        options.max_bytes = self.max_bytes.map(|size| size.0).or(options.max_bytes);
    }
}

/// Whether a path is taken for MSCCL XML.
pub(crate) fn is_xml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"))
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| Failure::input(format!("{name}: {error}")))?;
    String::from_utf8(bytes).map_err(|error| {
        let line =
            1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        Failure::input_at(format!("{name}:{line}: this is not UTF-8 text"), Place::line(name, line as u64))
    })
}

/// The MSCCL XML files of a folder, by name.
pub(crate) fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let broken = |error: std::io::Error| Failure::input(format!("{}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(broken)?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.map_err(broken)?;
    paths.retain(|path| is_xml(path));
    paths.sort();
    if paths.is_empty() {
        let message = format!("{}: no algorithms found: there is no file NAME.xml", folder.display());
        return Err(Failure::input(message));
    }
    Ok(paths)
}

/// Reads a file, and says on standard error what is odd in it.
pub(crate) fn read(path: &Path) -> Result<Imported, Failure> {
    let name = path.display().to_string();
    let imported =
        stage(&format!("reading {name}"), || msccl::read(&text(path)?, &name).map_err(Failure::from))?;
    for warning in &imported.warnings {
        console::warn(format!("{name}, {warning}"));
    }
    Ok(imported)
}

/// Says on standard error if a runtime would not choose the file for a size.
pub(crate) fn warn_of_size(imported: &Imported, path: &Path, size: u64) {
    let (min, max) = (imported.header.min_bytes.unwrap_or(0), imported.header.max_bytes.unwrap_or(0));
    // 0 is no bound.
    if size < min || (max > 0 && size > max) {
        console::warn(format!(
            "{}: it is for {min} to {max} bytes (minBytes, maxBytes): a runtime would not choose it for {size}",
            path.display()
        ));
    }
}

/// Refuses a schedule that is wrong, and says on standard error if that could not be checked.
pub(crate) fn verified(schedule: &Schedule, path: &Path) -> Result<(), Failure> {
    stage(&format!("verifying {}", path.display()), || verify::verify(schedule, schedule.protocol.slots()))?;
    if schedule.collective.is_unspecified() {
        console::warn(format!("{}: it states no post-condition, so none was checked", path.display()));
    }
    Ok(())
}
