//! `collective sweep`.

mod best;
mod merge;
mod nccl;
mod partial;
mod ranges;
mod rows;
mod summary;
mod watch;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use collective::msccl::Target;
use collective::sim::units::Picos;
use collective::sweep::{self, Ended, Outcome, Parsed, Point, Shard};

use self::partial::{Begun, Partial};
use self::rows::{Format, Rows};
use self::summary::Summary;
use self::watch::Watch;
use crate::chart::{self, Source, Table};
use crate::console;
use crate::failure::Failure;
use crate::image::ImageArguments;
use crate::output;

/// Arguments of `collective sweep`.
#[derive(Args)]
#[command(after_help = "docs/sweeps.md describes SPEC.toml and the columns.")]
pub(crate) struct Sweep {
    /// What to sweep: algorithms, ranks, sizes, topologies, models and more, of which every combination is simulated.
    #[arg(value_name = "SPEC", required_unless_present = "merge")]
    spec: Option<PathBuf>,
    /// The table to write, a row for each combination: comma-separated values or JSON lines. Until it is whole it is called
    /// OUT.partial.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Only a share of the combinations, such as 3/16, so that several processes can work; --merge joins their tables.
    #[arg(long, value_name = "SHARD", default_value_t = Shard::WHOLE)]
    shard: Shard,
    /// Goes on where a run that was ended left OUT.partial; begins anew if there is none, and leaves a table alone that is whole.
    #[arg(long)]
    resume: bool,
    /// Threads to work in [default: the number of processors, or RAYON_NUM_THREADS].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Says what is fastest at which size, for each collective, number of ranks and network.
    #[arg(long)]
    best: bool,
    /// Writes what is fastest as a configuration of NCCL's example tuner plugin, as far as NCCL has such algorithms.
    #[arg(long, value_name = "FILE")]
    best_nccl: Option<PathBuf>,
    /// Writes the fastest algorithms as MSCCL XML into a folder, each with the sizes (`minBytes`, `maxBytes`) at which it wins.
    #[arg(long, value_name = "FOLDER")]
    best_xml: Option<PathBuf>,
    /// The runtime that --best-xml writes for: msccl, msccl-executor or rccl [default: msccl].
    #[arg(long, value_name = "RUNTIME", requires = "best_xml")]
    target: Option<Target>,
    #[command(flatten)]
    image: ImageArguments,
    /// What --svg and --png draw of the table, by size [default: time]; `collective plot` has more to choose from.
    #[arg(long, value_name = "FIGURE")]
    plot: Option<chart::Y>,
    /// Prints what was done as JSON.
    #[arg(id = "json", long = "json", visible_alias = "json-summary")]
    json_summary: bool,
    /// Joins the tables of all shares of a sweep, and says if a point is missing.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "output",
          conflicts_with_all = ["spec", "shard", "resume", "threads", "best", "best_nccl", "best_xml"])]
    merge: Vec<PathBuf>,
}

impl Sweep {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.check_picture()?;
        let format = self.output.as_deref().map(Format::of).transpose()?;
        match (&self.spec, &self.output, format) {
            (None, Some(output), Some(format)) => self.merge(output, format),
            (Some(spec), output, format) => self.sweep(spec, output.as_deref().zip(format)),
            // The parser of arguments sees to it that there is one.
            (None, ..) => Err(Failure::input("expected SPEC.toml")),
        }
    }

    fn merge(&self, output: &Path, format: Format) -> Result<(), Failure> {
        let rows = merge::merge(&self.merge, output, format)?;
        self.draw()?;
        let (shown, files) = (output.display(), self.merge.len());
        if self.json_summary {
            let summary = serde_json::json!({"points": rows, "files": files, "output": shown.to_string()});
            return output::print(&summary.to_string());
        }
        output::print(&format!("{shown}: {rows} points of {files} files"))
    }

    fn sweep(&self, spec: &Path, output: Option<(&Path, Format)>) -> Result<(), Failure> {
        let begin = Instant::now();
        self.check(output.is_some())?;
        let shown = spec.display().to_string();
        let text = crate::xml::text(spec)?;
        let read = &mut |path: &Path| std::fs::read_to_string(path).map_err(|error| error.to_string());
        let Parsed { sweep, fingerprint, warnings, .. } = sweep::parse(&text, &shown, read)?;
        for warning in &warnings {
            console::warn(warning);
        }
        let mut times = Times(self.wants_best().then(|| vec![None; sweep.len()]));
        let mut summary = Summary::new(&sweep, self.shard, self.output.as_deref());
        let rows = output.map(|(path, format)| (path, Rows::new(&sweep, fingerprint, format)));
        let mut table = None;
        if let Some((path, rows)) = &rows {
            let seen = &mut |row: rows::Read| {
                times.set(row.point, row.time);
                summary.found(&row.status);
            };
            table = Some(Partial::begin(path, rows, self.shard, self.resume, seen)?);
        }
        let done = summary.done();
        let mut whole = false;
        let mut partial = match table {
            Some(Begun::Whole) => {
                whole = true;
                None
            }
            Some(Begun::Open(partial)) => Some(partial),
            None => None,
        };
        if !whole {
            let watch = Watch::begin(sweep.len_of(self.shard), done)?;
            let threads = self.threads.map_or_else(rayon_threads, usize::from);
            let each = |point: Point, outcome: Outcome| -> Result<(), Failure> {
                if let (Some(partial), Some((_, rows))) = (&mut partial, &rows) {
                    partial.write(&rows.row(point, &outcome))?;
                }
                times.set(point.number, outcome.as_ref().ok().map(|figures| figures.time));
                summary.add(outcome.as_ref().err().map(|none| none.why));
                watch.advance();
                Ok(())
            };
            let ended = sweep.run(self.shard, done, threads, &|| watch.is_interrupted(), each);
            watch.end();
            if ended? == Ended::Stopped {
                return Err(self.interrupted(&shown, summary.done(), sweep.len_of(self.shard)));
            }
            if let Some(partial) = partial {
                partial.finish()?;
            }
        }
        let fields = |all: bool| {
            let wanted = |unit: &sweep::Unit| all || nccl::counterpart(sweep.subject(unit).name()).is_some();
            sweep::fields(&sweep, times.0.as_deref().unwrap_or_default(), wanted)
        };
        let best = self.wants_best().then(|| fields(true));
        if let (Some(path), Some(best)) = (&self.best_nccl, &best) {
            output::write_file(path, &nccl::configuration(&sweep, best, &fields(false))?)?;
        }
        let mut refused = Ok(());
        if let (Some(folder), Some(best)) = (&self.best_xml, &best) {
            refused = ranges::write(&sweep, best, folder, self.target.unwrap_or_default());
        }
        let best = best.filter(|_| self.best);
        let seconds = begin.elapsed().as_secs_f64();
        output::print(&if self.json_summary {
            summary.json(best.as_deref(), seconds).to_string()
        } else {
            summary.text(best.as_deref(), seconds)
        })?;
        self.draw()?;
        refused
    }

    fn check_picture(&self) -> Result<(), Failure> {
        chart::check(&self.image, self.plot)?;
        match self.image.first() {
            Some(argument) if self.output.is_none() => {
                Err(Failure::input(format!("{argument} draws a table: expected -o OUT.csv or -o OUT.jsonl")))
            }
            Some(argument) if !self.shard.is_whole() => Err(Failure::input(format!(
                "{argument} would draw a share: join the shares with --merge first"
            ))),
            _ => Ok(()),
        }
    }

    /// Draws the table, if that is asked for.
    fn draw(&self) -> Result<(), Failure> {
        match &self.output {
            Some(path) if self.image.are_given() => {
                let source = Source { name: path.display().to_string(), table: Table::read(path)? };
                chart::draw(&self.image, source, self.plot)
            }
            _ => Ok(()),
        }
    }

    fn wants_best(&self) -> bool {
        self.best || self.best_nccl.is_some() || self.best_xml.is_some()
    }

    fn check(&self, has_output: bool) -> Result<(), Failure> {
        if !has_output && !self.wants_best() {
            return Err(Failure::input("expected a table to write, -o OUT.csv or -o OUT.jsonl, or --best"));
        }
        if !has_output && self.resume {
            return Err(Failure::input("--resume goes on with a table: expected -o OUT.csv or -o OUT.jsonl"));
        }
        if self.wants_best() && !self.shard.is_whole() {
            return Err(Failure::input(
                "a share does not know what is best: join the shares with --merge first, then give the whole table with \
                 --resume and --best",
            ));
        }
        Ok(())
    }

    fn interrupted(&self, spec: &str, done: usize, points: usize) -> Failure {
        let how = match &self.output {
            None => "nothing was kept, as there is no -o".to_owned(),
            Some(output) => {
                let shard =
                    if self.shard.is_whole() { String::new() } else { format!(" --shard {}", self.shard) };
                let output = output.display();
                format!("go on with: collective sweep {spec} -o {output}{shard} --resume")
            }
        };
        Failure::Interrupted(format!("{spec}: interrupted after {done} of {points} points; {how}"))
    }
}

/// The time of each point, if anybody wants to know.
struct Times(Option<Vec<Option<Picos>>>);

impl Times {
    fn set(&mut self, point: usize, time: Option<Picos>) {
        if let Some(slot) = self.0.as_mut().and_then(|times| times.get_mut(point)) {
            *slot = time;
        }
    }
}

/// As many threads as rayon would have.
fn rayon_threads() -> usize {
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok());
    let asked = asked.filter(|threads: &usize| *threads > 0);
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}
