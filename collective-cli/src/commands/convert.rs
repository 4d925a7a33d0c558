//! `collective convert`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::convert_et::{self, Converted};
use crate::failure::Failure;
use crate::output;

/// Arguments of `collective convert`.
#[derive(Args)]
pub(crate) struct Convert {
    /// A Chakra trace: a file ending in .et, .et.gz or .jsonl, or the prefix PREFIX of files PREFIX.0.et, …
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// What to write, in the form that its ending says: .et, .et.gz or .jsonl. If IN is a prefix, PREFIX.jsonl stands
    /// for PREFIX.0.jsonl, PREFIX.1.jsonl, …
    #[arg(value_name = "OUT", required_unless_present = "output")]
    out: Option<PathBuf>,
    /// The same as OUT.
    #[arg(short, long, value_name = "OUT", conflicts_with = "out")]
    output: Option<PathBuf>,
}

impl Convert {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Some(output) = self.out.as_deref().or(self.output.as_deref()) else {
            return Err(Failure::input("say what to write: collective convert IN OUT"));
        };
        output::print(&said(&convert_et::convert_et(&self.input, output)?, output))
    }
}

fn said(converted: &Converted, output: &Path) -> String {
    let Converted { files, nodes } = converted;
    let output = output.display();
    if *files == 1 {
        format!("wrote {nodes} nodes to {output}")
    } else {
        format!("wrote {nodes} nodes of {files} ranks to {output}, one file a rank")
    }
}
