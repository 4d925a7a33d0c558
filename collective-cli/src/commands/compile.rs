//! `collective compile`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use collective::msccl::{self, XmlOptions};
use collective::{AlgorithmDef, Dag, Trace, et, lint};
use serde_json::json;

use crate::console;
use crate::failure::Failure;
use crate::output;
use crate::program::{self, ProgramArguments};
use crate::schedule_json;
use crate::stage::stage;
use crate::xml::XmlArguments;

/// Arguments of `collective compile`.
#[derive(Args)]
pub(crate) struct Compile {
    /// A built-in algorithm; `collective algorithms` lists them.
    #[arg(value_name = "NAME", value_parser = program::names(), hide_possible_values = true)]
    name: String,
    #[command(flatten)]
    program: ProgramArguments,
    #[command(flatten)]
    xml: XmlArguments,
    /// What to write.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Stage::Chakra)]
    to: Stage,
    /// For chakra the prefix PREFIX of the files PREFIX.0.et, PREFIX.1.et, …; else a file, instead of standard output.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Prints JSON: what was written, or the stage as a text.
    #[arg(long)]
    json: bool,
}

/// The stages of compilation that can be written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// The operations of the program, in its order: `op3 reduce r1 i[0] += r0 i[0]`, with the channel where the
    /// program asks for one, and the source line.
    Trace,
    /// The operations as a graph: each line of the trace with the operation's level (the longest chain that leads
    /// to it) and what it waits for, `RAW op1, WAR op2`: read after write, write after read, write after write.
    Dag,
    /// Thread blocks and steps.
    Schedule,
    /// The schedule as JSON, a line a rank: `name`, `protocol`, `channels`, `collective` (`kind`, `in_place`, `ranks`,
    /// `chunks`), and of each of `ranks` its `thread_blocks` with `steps`; a step's `chunks` are the parts of the data
    /// that it moves, by which `collective.chunks` counts.
    Json,
    /// The XML that MSCCL runtimes read; --target names the runtime.
    MscclXml,
    /// Chakra execution traces, one file a rank.
    Chakra,
}

impl Compile {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let algorithm = &program::find(&self.name)?.def;
        if self.xml.any() && self.to != Stage::MscclXml {
            return Err(Failure::input("--target, --min-bytes and --max-bytes go with --to msccl-xml"));
        }
        let trace = self.program.trace(algorithm)?;
        self.warn(&trace);
        let compiled =
            || stage(&format!("lowering and verifying {}", algorithm.name), || collective::compile(&trace));
        match self.to {
            Stage::Trace => self.write(algorithm, &trace.to_string()),
            Stage::Dag => self.write(algorithm, &Dag::of(&trace)?.to_string()),
            Stage::Json => self.write(algorithm, &schedule_json::text(&compiled()?)),
            Stage::Schedule => self.write(algorithm, &compiled()?.to_string()),
            Stage::MscclXml => {
                let mut options = XmlOptions::new(self.xml.target.unwrap_or_default());
                self.xml.apply(&mut options);
                self.write(algorithm, &msccl::write(&compiled()?, &options)?)
            }
            Stage::Chakra => {
                let Some(prefix) = &self.output else {
                    return Err(Failure::input(
                        "chakra traces are one file a rank: give their prefix, such as -o DIR/NAME for DIR/NAME.0.et",
                    ));
                };
                let schedule = compiled()?;
                let options = self.program.data.et_options();
                let traces =
                    stage("making traces", || et::bytes(&schedule, &options)).map_err(Failure::input)?;
                stage("writing traces", || traces.write(prefix)).map_err(Failure::input)?;
                let graph = traces.graph().map_err(Failure::input)?;
                let ranks = traces.ranks().len();
                let bytes: usize = traces.ranks().iter().map(Vec::len).sum();
                if self.json {
                    let summary = json!({
                        "algorithm": algorithm.name, "prefix": prefix.display().to_string(), "ranks": ranks,
                        "nodes": graph.node_count(), "messages": schedule.message_count(),
                        "size_bytes": self.program.data.full_size().in_bytes(), "file_bytes": bytes,
                        "files": output::rank_files(prefix, ranks),
                    });
                    return output::print(&summary.to_string());
                }
                output::print(&format!(
                    "{}: post-condition holds for {ranks} ranks; wrote {} nodes to {}",
                    algorithm.name,
                    graph.node_count(),
                    output::rank_files_shown(prefix, ranks),
                ))
            }
        }
    }

    /// Says on standard error what is right but hardly meant.
    fn warn(&self, trace: &Trace) {
        for warning in lint::warnings(trace, self.xml.target) {
            match warning.site.and_then(|site| trace.sites.get(site)) {
                Some(site) => console::warn(format!("{site}: {}", warning.message)),
                None => console::warn(format!("{}: {}", trace.name, warning.message)),
            }
        }
    }

    /// A stage that is text: into a file, or to standard output.
    fn write(&self, algorithm: &AlgorithmDef, text: &str) -> Result<(), Failure> {
        let name = algorithm.name;
        let stage = self.to.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        match &self.output {
            Some(path) => {
                output::write_file(path, text)?;
                let path = path.display().to_string();
                output::print(&if self.json {
                    let bytes = text.len();
                    json!({"algorithm": name, "to": stage, "files": [path], "file_bytes": bytes}).to_string()
                } else {
                    format!("{name}: wrote {stage} to {path}")
                })
            }
            // This stage is JSON already.
            None if self.json && self.to != Stage::Json => {
                output::print(&json!({"algorithm": name, "to": stage, "text": text}).to_string())
            }
            None => output::print(text),
        }
    }
}
