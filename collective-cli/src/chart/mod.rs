//! From tables of results to curves: which rows, which lines, which figures.

mod lines;
mod table;

use clap::ValueEnum;
use collective::sim::units::Bytes;

use crate::failure::Failure;
use crate::image::ImageArguments;
use crate::picture::{self, Axis, Curves, Unit};

pub(crate) use table::Table;

/// A table, and what it is called where there are several.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) table: Table,
}

/// What is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    pub(crate) y: Y,
    pub(crate) x: X,
    /// The columns by whose values lines are told apart; none for all that differ.
    pub(crate) by: Vec<String>,
    /// Only rows with these values in these columns.
    pub(crate) only: Vec<(String, String)>,
}

/// What is shown upwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Y {
    /// The time of the collective.
    #[default]
    Time,
    /// The bus bandwidth, as nccl-tests define it.
    Busbw,
    /// Size divided by time.
    Algbw,
}

/// What is shown to the right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum X {
    /// The size of the collective.
    #[default]
    Size,
    /// The number of ranks.
    Ranks,
}

impl Y {
    fn column(self) -> &'static str {
        match self {
            Self::Time => "time_ns",
            Self::Busbw => "busbw_gb_per_s",
            Self::Algbw => "algbw_gb_per_s",
        }
    }

    fn axis(self) -> Axis {
        let (label, unit, is_log) = match self {
            Self::Time => ("time", Unit::Nanoseconds, true),
            Self::Busbw => ("bus bandwidth, GB/s", Unit::GigabytesPerSecond, false),
            Self::Algbw => ("algorithm bandwidth, GB/s", Unit::GigabytesPerSecond, false),
        };
        Axis { label: label.to_owned(), unit, is_log }
    }
}

impl X {
    fn column(self) -> &'static str {
        match self {
            Self::Size => "size_bytes",
            Self::Ranks => "ranks",
        }
    }

    fn axis(self) -> Axis {
        let (label, unit) = match self {
            Self::Size => ("size", Unit::Bytes),
            Self::Ranks => ("ranks", Unit::Count),
        };
        Axis { label: label.to_owned(), unit, is_log: true }
    }
}

/// The name of a column, for one of the short names of the arguments.
pub(crate) fn column(name: &str) -> &str {
    match name {
        "size" => "size_bytes",
        "time" => "time_ns",
        "busbw" => "busbw_gb_per_s",
        "algbw" => "algbw_gb_per_s",
        name => name,
    }
}

/// The curves of some tables.
///
/// # Errors
/// A column or value that there is not, or several rows for one point.
pub(crate) fn curves(sources: &[Source], choice: &Choice) -> Result<Curves, Failure> {
    let chosen = lines::choose(sources, choice)?;
    let (x, y) = (choice.x.axis(), choice.y.axis());
    let what = match choice.y {
        Y::Time => "time",
        Y::Busbw => "bus bandwidth",
        Y::Algbw => "algorithm bandwidth",
    };
    let collective = chosen.common.iter().find(|(column, _)| column == "collective");
    let collective = collective.map_or("collectives".to_owned(), |(_, kind)| kind.replace('_', "-"));
    let title = format!("{collective}: {what} by {}", x.label);
    let common = chosen.common.iter().filter(|(column, _)| column != "collective");
    let common: Vec<String> = common.map(|(column, value)| in_words(column, value)).collect();
    Ok(Curves {
        title,
        subtitle: common.join(", "),
        x,
        y,
        lines: chosen.lines,
        more_is_better: choice.y != Y::Time,
        notes: chosen.notes,
    })
}

/// Says before anything runs what cannot be drawn.
pub(crate) fn check(image: &ImageArguments, plot: Option<Y>) -> Result<(), Failure> {
    if plot.is_some() && !image.are_given() {
        return Err(Failure::input("--plot says what is drawn; where to: --svg FILE.svg or --png FILE.png"));
    }
    image.check()
}

/// Draws a table by size.
pub(crate) fn draw(image: &ImageArguments, source: Source, plot: Option<Y>) -> Result<(), Failure> {
    let choice = Choice { y: plot.unwrap_or_default(), ..Choice::default() };
    image.write(&picture::curves(&curves(&[source], &choice)?))
}

/// What holds for a row, in words.
fn in_words(column: &str, value: &str) -> String {
    match column {
        "ranks" => format!("{value} ranks"),
        "size_bytes" => value.parse().map_or_else(|_| value.to_owned(), |bytes| Bytes(bytes).to_string()),
        "topology" => format!("on {value}"),
        "model" => format!("model {value}"),
        "machine" => format!("machine {value}"),
        "conventions" => format!("{value} conventions"),
        "placement" => format!("placement {value}"),
        "order" => format!("order {value}"),
        _ => value.to_owned(),
    }
}
