//! `collective completions`.

use clap::Args;
use clap_complete::Shell;

use crate::failure::Failure;
use crate::{help, output};

/// Arguments of `collective completions`.
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell that the script is for.
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut help::command(), "collective", &mut script);
        output::print(&String::from_utf8_lossy(&script))
    }
}
