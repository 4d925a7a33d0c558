//! `collective man`.

use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man as Page;
use serde_json::json;

use crate::failure::Failure;
use crate::{help, output};

/// Arguments of `collective man`.
#[derive(Args)]
pub(crate) struct Man {
    /// A folder to write pages into, one for each subcommand; without, the page of the command itself is printed.
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Prints JSON: the files that were written, or the page.
    #[arg(long)]
    json: bool,
}

impl Man {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut command = help::command().disable_help_subcommand(true);
        command.build();
        let Some(folder) = &self.folder else {
            let page = rendered(&command)?;
            return output::print(&if self.json { json!({"page": page}).to_string() } else { page });
        };
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::input(format!("{}: {error}", folder.display())))?;
        let pages = std::iter::once(&command).chain(command.get_subcommands());
        let files = pages.map(|page| write(page, folder)).collect::<Result<Vec<_>, _>>()?;
        output::print(&if self.json {
            json!({"files": files}).to_string()
        } else {
            format!("wrote {} pages to {}", files.len(), folder.display())
        })
    }
}

/// Writes the page of a command, and says to which file.
fn write(command: &Command, folder: &Path) -> Result<String, Failure> {
    let path = folder.join(Page::new(command.clone()).get_filename());
    output::write_file(&path, &rendered(command)?)?;
    Ok(path.display().to_string())
}

fn rendered(command: &Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    Page::new(command.clone()).render(&mut page).map_err(Failure::input)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
