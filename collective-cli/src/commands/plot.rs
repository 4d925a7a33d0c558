//! `collective plot`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::chart::{self, Choice, Source, Table, X, Y};
use crate::failure::Failure;
use crate::{image, output, picture};

/// Arguments of `collective plot`.
#[derive(Args)]
#[command(after_help = "docs/plots.md shows what comes out.")]
pub(crate) struct Plot {
    /// Tables of results: what `sweep` writes (CSV or JSON lines), or what `compare --json` prints.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The picture, SVG or PNG; without, the curves are drawn on the terminal.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// What is shown upwards.
    #[arg(long, value_name = "FIGURE", default_value = "time")]
    y: Y,
    /// What is shown to the right.
    #[arg(long, value_name = "FIGURE", default_value = "size")]
    x: X,
    /// A line for each value of these columns, such as algorithm,topology [default: all columns that differ].
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    by: Vec<String>,
    /// Only rows with this value in this column, such as ranks=64 or size=1MiB; may be repeated.
    #[arg(long = "where", value_name = "COLUMN=VALUE", value_parser = condition)]
    only: Vec<(String, String)>,
}

/// One of `--where`.
fn condition(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected COLUMN=VALUE, such as ranks=64")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl Plot {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if let Some(path) = &self.output {
            image::check(path)?;
            self.refuse_input(path)?;
        }
        let source = |path: &PathBuf| {
            let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            Ok(Source { name, table: Table::read(path)? })
        };
        let sources: Vec<Source> = self.files.iter().map(source).collect::<Result<_, Failure>>()?;
        let Self { y, x, by, only, .. } = self;
        let curves = chart::curves(&sources, &Choice { y, x, by, only })?;
        match &self.output {
            Some(path) => {
                image::write(path, &picture::curves(&curves))?;
                output::print(&format!("wrote {}", path.display()))
            }
            None => output::print(&picture::terminal(&curves, columns())),
        }
    }

    /// A slip of the tab key must not cost a table.
    fn refuse_input(&self, output: &Path) -> Result<(), Failure> {
        let Ok(there) = output.canonicalize() else { return Ok(()) };
        match self.files.iter().find(|file| file.canonicalize().is_ok_and(|file| file == there)) {
            Some(file) => {
                Err(Failure::input(format!("-o {} would replace a table that is read", file.display())))
            }
            None => Ok(()),
        }
    }
}

/// How wide the terminal is, as far as it says so.
fn columns() -> usize {
    const USUAL: usize = 100;
    let stated = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    stated.filter(|_| std::io::stdout().is_terminal()).unwrap_or(USUAL).clamp(40, 400)
}
