//! Checks and embeds algorithms from a build script: for those that need more of Rust than `#[collective]` evaluates.
//!
//! In a build script an algorithm is an ordinary function that runs; everything of Rust may be in it, and helper functions
//! and tables may come from anywhere. What is wrong with it is an error of Cargo that begins with file, line and column,
//! and the build stops. What is right is written to a file that the crate includes, with the same constants of the same
//! type as the macro makes.
//!
//! The algorithms stand in a file of their own, which the build script and the crate share:
//!
//! ```toml
//! [dependencies]
//! collective = "0.1"
//! [build-dependencies]
//! collective = "0.1"
//! ```
//!
//! ```
//! // src/algorithms.rs
//! use collective::prelude::*;
//!
//! /// Without a `build(…)`, so that the body may use all of Rust.
//! #[collective(all_gather)]
//! pub fn by_distance(p: &Program, ranks: usize) {
//!     let mut pairs: Vec<(usize, usize)> = (0..ranks).flat_map(|a| (0..ranks).map(move |b| (a, b))).collect();
//!     pairs.sort_by_key(|(from, to)| (to + ranks - from) % ranks);
//!     for (from, to) in pairs {
//!         p.chunk(from, Input, 0).copy_to(to, Output, from);
//!     }
//! }
//! # assert!(by_distance::compile(3).is_ok());
//! ```
//!
//! ```no_run
//! // build.rs
//! # mod algorithms {
//! #     use collective::prelude::*;
//! #     #[collective(all_gather)]
//! #     pub fn by_distance(p: &Program, ranks: usize) {}
//! # }
//! # /*
//! #[path = "src/algorithms.rs"]
//! mod algorithms;
//! # */
//!
//! use collective::build::Algorithm;
//!
//! fn main() {
//!     collective::build::compile(
//!         "algorithms.rs",
//!         &[Algorithm::new(algorithms::by_distance::DEF).build(&[("ranks", 8)]).build(&[("ranks", 16)])],
//!     );
//! }
//! ```
//!
//! ```ignore
//! // src/lib.rs
//! pub mod algorithms;
//! /// What the build script has embedded.
//! pub mod embedded {
//!     include!(concat!(env!("OUT_DIR"), "/algorithms.rs"));
//! }
//!
//! let graph = embedded::by_distance::RANKS_8.graph()?;
//! ```
//!
//! `examples/build-script` is such a crate in full.

mod code;
mod failure;

use std::fs;
use std::path::{Path, PathBuf};

use collective_dsl::embedded::{DEFAULT_BUDGET, Image, constant_name};
use collective_dsl::msccl::{self, Target, XmlError, XmlOptions};

use crate::{AlgorithmDef, Size};
pub use failure::Failure;

/// An algorithm and the instances of it to embed.
#[derive(Clone, Debug)]
pub struct Algorithm {
    def: AlgorithmDef,
    builds: Vec<Vec<(&'static str, usize)>>,
    size: Size,
    target: Option<Target>,
    budget: u64,
}

impl Algorithm {
    /// An algorithm without instances: the `DEF` that `#[collective]` makes, or one written by hand, whose `trace`
    /// may give any [`Trace`](crate::Trace).
    #[must_use]
    pub fn new(def: AlgorithmDef) -> Self {
        Self { def, builds: Vec::new(), size: Size::bytes(1 << 20), target: None, budget: DEFAULT_BUDGET }
    }

    /// One more instance; parameters that are left out have their defaults. As `build(ranks = 8)`.
    #[must_use]
    pub fn build(mut self, params: &[(&'static str, usize)]) -> Self {
        self.builds.push(params.to_vec());
        self
    }

    /// The size that the traces are for; 1 MiB of `f32` unless said. As `options(size = …)`.
    #[must_use]
    pub fn size(self, size: Size) -> Self {
        Self { size, ..self }
    }

    /// The runtime that must be able to hold the schedules. As `options(target = …)`.
    #[must_use]
    pub fn target(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// The most bytes of traces of an instance that are embedded as they are. As `options(embed = …)`.
    #[must_use]
    pub fn embed(self, bytes: u64) -> Self {
        Self { budget: bytes, ..self }
    }

    fn instances(&self, failures: &mut Vec<Failure>) -> Vec<Instance> {
        let mut instances: Vec<Instance> = Vec::new();
        for given in &self.builds {
            match self.instance(given) {
                Ok(instance) if instances.iter().any(|known| known.values == instance.values) => {
                    failures.push(Failure::of(&self.def, given, "this is built twice: remove one"));
                }
                Ok(instance) if instances.iter().any(|known| known.constant == instance.constant) => {
                    let message = format!("there is another {}: rename a parameter", instance.constant);
                    failures.push(Failure::of(&self.def, given, message));
                }
                Ok(instance) => instances.push(instance),
                Err(wrong) => failures.extend(wrong),
            }
        }
        instances
    }

    fn instance(&self, given: &[(&'static str, usize)]) -> Result<Instance, Vec<Failure>> {
        let fail = |message: String| vec![Failure::of(&self.def, given, message)];
        let wrong = |wrong: crate::Diagnostics| Failure::all(&self.def, given, &wrong);
        let values = self.def.values(given).map_err(wrong)?;
        let schedule = (self.def.trace)(self.def.in_place, &values)
            .and_then(|trace| crate::compile(&trace))
            .map_err(wrong)?;
        if let Some(target) = self.target {
            match msccl::write(&schedule, &XmlOptions::new(target)) {
                Ok(_) => {}
                Err(XmlError::Refused(refused)) => return Err(wrong(refused)),
                Err(error) => return Err(fail(error.to_string())),
            }
        }
        let image = Image::new(&schedule, self.size, self.budget).map_err(|error| fail(error.to_string()))?;
        // By the function's parameters, whatever the order in which they are given.
        let named =
            self.def.params.iter().filter_map(|param| given.iter().find(|(name, _)| *name == param.name));
        let named: Vec<(&str, usize)> = named.copied().collect();
        Ok(Instance { constant: constant_name(&named), values, image })
    }
}

/// An instance, checked.
#[derive(Clone, Debug)]
struct Instance {
    constant: String,
    values: Vec<usize>,
    image: Image,
}

/// The files of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The name of the file to include, and the Rust in it.
    code: (String, String),
    /// Beside it: names and bytes.
    data: Vec<(String, Vec<u8>)>,
}

impl Files {
    /// The Rust to include.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code.1
    }

    /// Writes the files into a folder; each appears whole or not at all, the one to include last.
    ///
    /// # Errors
    /// A file cannot be written, by its name.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        for (name, bytes) in &self.data {
            write(folder, name, bytes)?;
        }
        write(folder, &self.code.0, self.code.1.as_bytes())
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let path = folder.join(name);
    let draft = folder.join(format!("{name}.part"));
    fs::write(&draft, bytes)
        .and_then(|()| fs::rename(&draft, &path))
        .map_err(|error| Failure::whole(format!("{} cannot be written: {error}", path.display())))
}

/// Checks the algorithms, and makes the files: `file` is to be included from the folder `OUT_DIR`.
///
/// ```
/// use collective::build::{Algorithm, files};
/// let files = files("rings.rs", &[Algorithm::new(collective::algorithms::allreduce_ring::DEF).build(&[("ranks", 4)])]);
/// assert!(files.unwrap().code().contains("pub const RANKS_4: &'static ::collective::Embedded"));
/// ```
///
/// # Errors
/// Everything that is wrong with the algorithms.
pub fn files(file: &str, algorithms: &[Algorithm]) -> Result<Files, Vec<Failure>> {
    let mut failures = Vec::new();
    let (mut code, mut data) = (code::HEAD.to_owned(), Vec::new());
    for (at, algorithm) in algorithms.iter().enumerate() {
        if algorithms[..at].iter().any(|known| known.def.name == algorithm.def.name) {
            let message =
                format!("{}: two algorithms have this name: put all builds into one", algorithm.def.name);
            failures.push(Failure::whole(message));
            continue;
        }
        let instances = algorithm.instances(&mut failures);
        code::write(algorithm, &instances, file, &mut code, &mut data);
    }
    if failures.is_empty() { Ok(Files { code: (file.to_owned(), code), data }) } else { Err(failures) }
}

/// What a build script calls: checks the algorithms and writes `file` into `OUT_DIR`, to be included.
///
/// Where something is wrong there is an error of Cargo for each finding, `file:line:column: rule: message`, and the
/// build script ends with failure.
pub fn compile(file: &str, algorithms: &[Algorithm]) {
    let folder = std::env::var_os("OUT_DIR").map(PathBuf::from).ok_or_else(|| {
        vec![Failure::whole(
            "OUT_DIR is not set: `collective::build::compile` is for build scripts".to_owned(),
        )]
    });
    let written =
        folder.and_then(|folder| files(file, algorithms)?.write(&folder).map_err(|failure| vec![failure]));
    if let Err(failures) = written {
        for failure in failures {
            println!("cargo::error={failure}");
        }
        std::process::exit(1);
    }
}

#[cfg(test)]
mod tests;
