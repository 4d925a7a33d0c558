//! MSCCL XML into traces, traces into MSCCL XML, or into the XML of another runtime.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use collective::et::{self, Recovered};
use collective::msccl::{self, XmlOptions};
use serde_json::{Value, json};

use super::convert_et;
use crate::failure::Failure;
use crate::output;
use crate::program::DataArguments;
use crate::xml::{self, XmlArguments};

/// The arguments of `collective convert` that only MSCCL XML, read or written, has a use for.
#[derive(Args)]
pub(crate) struct Schedules {
    /// What to write [default: msccl-xml for OUT.xml and for a folder, else chakra].
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Format>,
    #[command(flatten)]
    xml: XmlArguments,
    #[command(flatten)]
    data: DataArguments,
    /// Converts MSCCL XML to traces without verifying: also what is wrong, or needs more slots than its protocol has.
    #[arg(long)]
    unchecked: bool,
    /// Prints JSON: a list of what was converted, with the files that were written.
    #[arg(long)]
    pub(crate) json: bool,
}

const FOR_TRACES: &str =
    "--size, --type, --reduce-rate, --order and --unchecked are for traces: MSCCL XML has no sizes";

/// The formats that can be written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The XML that MSCCL runtimes read; --target names the runtime.
    MscclXml,
    /// Chakra execution traces, one file a rank.
    Chakra,
}

/// What was made of a file.
struct Converted {
    input: PathBuf,
    output: String,
    files: Vec<String>,
    ranks: usize,
    steps: usize,
}

impl Schedules {
    /// Whether any was given that has a use for MSCCL XML only.
    pub(crate) fn any_but_json(&self) -> bool {
        self.to.is_some() || self.xml.any() || self.data.any() || self.unchecked
    }

    /// Whether MSCCL XML is to be written.
    pub(crate) fn writes_xml(&self, output: &Path) -> bool {
        match self.to {
            Some(format) => format == Format::MscclXml,
            None => xml::is_xml(output),
        }
    }

    /// Writes the schedule that traces were made from as MSCCL XML.
    pub(crate) fn recover_xml(&self, input: &Path, output: &Path) -> Result<(), Failure> {
        if self.data.any() || self.unchecked {
            return Err(Failure::input(FOR_TRACES));
        }
        let ranks = convert_et::read_ranks(input)?;
        let name = input.display();
        let schedule = match et::recover(&ranks) {
            Ok(Recovered::Full(original)) => original.schedule,
            Ok(Recovered::Opaque(why)) => {
                return Err(Failure::input(format!(
                    "{name}: {why}; only traces that this project has written hold a schedule, which MSCCL XML needs"
                )));
            }
            Err(error) => return Err(Failure::input(format!("{name}: {error}"))),
        };
        drop(ranks);
        let mut options = XmlOptions::new(self.xml.target.unwrap_or_default());
        self.xml.apply(&mut options);
        output::write_file(output, &msccl::write(&schedule, &options)?)?;
        self.report(&[Converted {
            input: input.to_owned(),
            output: output.display().to_string(),
            files: vec![output.display().to_string()],
            ranks: schedule.ranks.len(),
            steps: schedule.step_count(),
        }])
    }

    /// Converts a file of MSCCL XML, or each file of a folder.
    pub(crate) fn convert(&self, input: &Path, output: &Path) -> Result<(), Failure> {
        let is_folder = input.is_dir();
        let format = self.to.unwrap_or(if is_folder || xml::is_xml(output) {
            Format::MscclXml
        } else {
            Format::Chakra
        });
        let for_traces = self.data.any() || self.unchecked;
        match format {
            Format::MscclXml if for_traces => {
                return Err(Failure::input(FOR_TRACES));
            }
            Format::Chakra if self.xml.any() => {
                return Err(Failure::input("--target, --min-bytes and --max-bytes are for MSCCL XML"));
            }
            _ => {}
        }
        if is_folder {
            self.folder(input, output, format)
        } else {
            self.report(&[self.file(input, output, format)?])
        }
    }

    /// Converts every XML file of a folder; those that fail are reported, and do not keep the others.
    fn folder(&self, input: &Path, output: &Path, format: Format) -> Result<(), Failure> {
        let broken =
            |path: &Path, error: std::io::Error| Failure::input(format!("{}: {error}", path.display()));
        let paths = xml::in_folder(input)?;
        fs::create_dir_all(output).map_err(|error| broken(output, error))?;
        let mut done = Vec::new();
        let mut failures = Vec::new();
        for path in &paths {
            let name = path.file_name().unwrap_or_default();
            let target = match format {
                Format::MscclXml => output.join(name),
                Format::Chakra => output.join(Path::new(name).with_extension("")),
            };
            match self.file(path, &target, format) {
                Ok(converted) => done.push(converted),
                Err(Failure::OutputClosed) => return Err(Failure::OutputClosed),
                Err(failure) => failures.push(failure),
            }
        }
        if !done.is_empty() {
            self.report(&done)?;
        }
        Failure::several(failures)
    }

    fn file(&self, input: &Path, target: &Path, format: Format) -> Result<Converted, Failure> {
        let imported = xml::read(input)?;
        let schedule = &imported.schedule;
        let ranks = schedule.ranks.len();
        let (output, files) = match format {
            Format::MscclXml => {
                let mut options =
                    XmlOptions::from_header(self.xml.target.unwrap_or_default(), &imported.header);
                self.xml.apply(&mut options);
                output::write_file(target, &msccl::write(schedule, &options)?)?;
                let written = target.display().to_string();
                (written.clone(), vec![written])
            }
            Format::Chakra => {
                if !self.unchecked {
                    xml::verified(schedule, input)?;
                }
                let described = |error: et::EtError| Failure::input(format!("{}: {error}", input.display()));
                let traces = et::bytes(schedule, &self.data.et_options()).map_err(described)?;
                traces.write(target).map_err(Failure::input)?;
                (output::rank_files_shown(target, ranks), output::rank_files(target, ranks))
            }
        };
        Ok(Converted { input: input.to_owned(), output, files, ranks, steps: schedule.step_count() })
    }

    fn report(&self, converted: &[Converted]) -> Result<(), Failure> {
        if self.json {
            let entry = |file: &Converted| {
                json!({
                    "input": file.input.display().to_string(), "output": file.output,
                    "ranks": file.ranks, "steps": file.steps, "files": file.files,
                })
            };
            let list: Vec<Value> = converted.iter().map(entry).collect();
            return output::print(&json!(list).to_string());
        }
        let line = |file: &Converted| {
            format!(
                "{}: {} ranks, {} steps; wrote {}\n",
                file.input.display(),
                file.ranks,
                file.steps,
                file.output
            )
        };
        output::print(&converted.iter().map(line).collect::<String>())
    }
}
