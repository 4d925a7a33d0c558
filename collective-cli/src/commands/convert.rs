//! `collective convert`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::convert_et::{self, Converted};
use super::convert_xml::Schedules;
use crate::failure::Failure;
use crate::output;
use crate::stage::stage;
use crate::xml;

/// Arguments of `collective convert`.
#[derive(Args)]
pub(crate) struct Convert {
    /// An MSCCL XML file, or a folder of them (each is converted, and those that cannot be are reported); or a Chakra
    /// trace: a file ending in .et, .et.gz or .jsonl, or the prefix PREFIX of files PREFIX.0.et, …
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// From XML: a file OUT.xml, or the prefix OUT of traces; for a folder, a folder. From a trace: the form that the
    /// ending says, .et, .et.gz or .jsonl; if IN is a prefix, PREFIX.jsonl stands for PREFIX.0.jsonl, PREFIX.1.jsonl, …;
    /// from the prefix of traces that this project has written also MSCCL XML, OUT.xml.
    #[arg(value_name = "OUT", required_unless_present = "output")]
    out: Option<PathBuf>,
    /// The same as OUT.
    #[arg(short, long, value_name = "OUT", conflicts_with = "out")]
    output: Option<PathBuf>,
    #[command(flatten)]
    schedules: Schedules,
}

impl Convert {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Some(output) = self.out.as_deref().or(self.output.as_deref()) else {
            return Err(Failure::input("say what to write: collective convert IN OUT"));
        };
        if xml::is_xml(&self.input) || self.input.is_dir() {
            return self.schedules.convert(&self.input, output);
        }
        if self.schedules.writes_xml(output) {
            return self.schedules.recover_xml(&self.input, output);
        }
        if self.schedules.any_but_json() {
            return Err(Failure::input(format!(
                "{}: --to, --target, --size and the other options are for MSCCL XML; a trace only changes its form",
                self.input.display()
            )));
        }
        let what = format!("converting {}", self.input.display());
        let Converted { files, nodes } = stage(&what, || convert_et::convert_et(&self.input, output))?;
        let shown = output.display();
        output::print(&if self.schedules.json {
            let (input, ranks) = (self.input.display().to_string(), files.len());
            let entry = json!({
                "input": input, "output": shown.to_string(), "ranks": ranks, "nodes": nodes, "files": files,
            });
            json!([entry]).to_string()
        } else if files.len() == 1 {
            format!("wrote {nodes} nodes to {shown}")
        } else {
            format!("wrote {nodes} nodes of {} ranks to {shown}, one file a rank", files.len())
        })
    }
}
