//! `collective compile`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use collective::msccl::{self, XmlOptions};
use collective::{Dag, Trace, et, lint};
use serde_json::json;

use crate::failure::Failure;
use crate::output;
use crate::program::{self, ProgramArguments};
use crate::schedule_json;
use crate::xml::XmlArguments;

/// Arguments of `collective compile`.
#[derive(Args)]
pub(crate) struct Compile {
    /// A built-in algorithm; `collective algorithms` lists them.
    name: String,
    #[command(flatten)]
    program: ProgramArguments,
    #[command(flatten)]
    xml: XmlArguments,
    /// What to write.
    #[arg(long, value_enum, default_value_t = Stage::Chakra)]
    to: Stage,
    /// For chakra the prefix PREFIX of the files PREFIX.0.et, PREFIX.1.et, …; else a file, instead of standard output.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Prints JSON.
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
        match self.to {
            Stage::Trace => self.text(&trace.to_string()),
            Stage::Dag => self.text(&Dag::of(&trace)?.to_string()),
            Stage::Json => self.write(&schedule_json::text(&collective::compile(&trace)?)),
            Stage::Schedule => self.text(&collective::compile(&trace)?.to_string()),
            Stage::MscclXml => {
                let mut options = XmlOptions::new(self.xml.target.unwrap_or_default());
                self.xml.apply(&mut options);
                self.text(&msccl::write(&collective::compile(&trace)?, &options)?)
            }
            Stage::Chakra => {
                let Some(prefix) = &self.output else {
                    return Err(Failure::input(
                        "chakra traces are one file a rank: give their prefix, such as -o DIR/NAME for DIR/NAME.0.et",
                    ));
                };
                let schedule = collective::compile(&trace)?;
                let traces = et::bytes(&schedule, &self.program.data.et_options()).map_err(Failure::input)?;
                traces.write(prefix).map_err(Failure::input)?;
                let graph = traces.graph().map_err(Failure::input)?;
                let (ranks, prefix) = (traces.ranks().len(), prefix.display().to_string());
                let bytes: usize = traces.ranks().iter().map(Vec::len).sum();
                if self.json {
                    let summary = json!({
                        "algorithm": algorithm.name, "prefix": prefix, "ranks": ranks,
                        "nodes": graph.node_count(), "messages": schedule.message_count(),
                        "size_bytes": self.program.data.full_size().in_bytes(), "file_bytes": bytes,
                    });
                    return output::print(&summary.to_string());
                }
                let files = if ranks == 1 {
                    format!("{prefix}.0.et")
                } else {
                    format!("{prefix}.0.et … {prefix}.{}.et", ranks - 1)
                };
                output::print(&format!(
                    "{}: post-condition holds for {ranks} ranks; wrote {} nodes to {files}",
                    algorithm.name,
                    graph.node_count()
                ))
            }
        }
    }

    /// Says on standard error what is right but hardly meant.
    fn warn(&self, trace: &Trace) {
        for warning in lint::warnings(trace, self.xml.target) {
            match warning.site.and_then(|site| trace.sites.get(site)) {
                Some(site) => eprintln!("warning: {site}: {}", warning.message),
                None => eprintln!("warning: {}: {}", trace.name, warning.message),
            }
        }
    }

    fn text(&self, text: &str) -> Result<(), Failure> {
        if self.json {
            return Err(Failure::input(
                "--json goes with --to chakra; the other stages are text, and --to json is JSON",
            ));
        }
        self.write(text)
    }

    fn write(&self, text: &str) -> Result<(), Failure> {
        let Some(path) = &self.output else { return output::print(text) };
        output::write_file(path, text)
    }
}
