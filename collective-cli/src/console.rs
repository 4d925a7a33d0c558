//! How the command speaks: what is said beside the result, in which colours, and how wide a table may be.
//!
//! It is decided once, when the arguments are known. Results go to standard output, all else to standard error. What is written to
//! something that is no terminal has no colours and no line that was shortened.

mod colours;
mod width;

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};

pub(crate) use self::colours::{Colours, coloured};
pub(crate) use self::width::visible;

/// How much is said beside the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// The result alone, and why there is none.
    Quiet,
    /// Warnings, notes and progress too.
    #[default]
    Usual,
    /// What is read, what is taken where nothing is said, and how long the stages take.
    Verbose,
}

/// What was decided.
#[derive(Clone, Copy, Debug, Default)]
struct Console {
    verbosity: Verbosity,
    colours: [bool; 2],
    width: Option<usize>,
}

static CONSOLE: OnceLock<Console> = OnceLock::new();

/// Decides it; only the first time has an effect. Without, as in unit tests, there are no colours and no limits.
pub(crate) fn set(verbosity: Verbosity, colours: Colours) {
    let console = Console {
        verbosity,
        colours: [
            coloured(colours, io::stdout().is_terminal(), &environment),
            coloured(colours, io::stderr().is_terminal(), &environment),
        ],
        width: width::of_terminal(io::stdout().is_terminal(), &environment, || {
            terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0))
        }),
    };
    // A second decision would be a slip of ours, and harmless.
    let _ = CONSOLE.set(console);
}

fn environment(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

fn console() -> Console {
    CONSOLE.get().copied().unwrap_or_default()
}

/// How wide a line of a table may be; none if it does not matter.
pub(crate) fn width() -> Option<usize> {
    console().width
}

/// Whether notes and warnings are wanted.
pub(crate) fn wants_notes() -> bool {
    console().verbosity != Verbosity::Quiet
}

/// Whether progress is shown: where somebody looks, and wants to see it.
pub(crate) fn wants_progress() -> bool {
    wants_notes() && io::stderr().is_terminal()
}

/// Whether what is taken and done is to be said.
pub(crate) fn is_verbose() -> bool {
    console().verbosity == Verbosity::Verbose
}

/// How wide the picture of a line of a file may be.
pub(crate) fn width_of_errors() -> usize {
    let asked = || terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0));
    width::of_terminal(io::stderr().is_terminal(), &environment, asked).unwrap_or(width::USUAL)
}

/// Whether standard error has colours.
pub(crate) fn colours_of_errors() -> bool {
    console().colours[1]
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const INFO: Style = AnsiColor::Cyan.on_default();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const HEADING: Style = Style::new().bold();

fn painted(style: Style, text: &str, is_coloured: bool) -> String {
    if is_coloured { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// A verdict on standard output: green if it is a good one, else red.
pub(crate) fn verdict(text: &str, is_good: bool) -> String {
    painted(if is_good { GOOD } else { BAD }, text, console().colours[0])
}

/// A heading on standard output.
pub(crate) fn heading(text: &str) -> String {
    painted(HEADING, text, console().colours[0])
}

/// Says on standard error what is odd, unless nobody wants to know.
pub(crate) fn warn(text: impl Display) {
    if wants_notes() {
        say(WARNING, "warning", &text.to_string());
    }
}

/// Says on standard error why there is no result.
pub(crate) fn error(text: &str) {
    say(ERROR, "error", text);
}

/// Says on standard error what is done, if somebody wants to know.
pub(crate) fn info<T: Display>(text: impl FnOnce() -> T) {
    if is_verbose() {
        say(INFO, "info", &text().to_string());
    }
}

fn say(style: Style, kind: &str, text: &str) {
    line(&format!("{} {text}", painted(style, &format!("{kind}:"), colours_of_errors())));
}

/// A line on standard error. If nobody can read it there is nobody to tell.
pub(crate) fn line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Notes as lines of a report, none if they are not wanted.
pub(crate) fn notes<'a>(notes: impl IntoIterator<Item = &'a String>) -> String {
    if !wants_notes() {
        return String::new();
    }
    notes.into_iter().map(|note| format!("note: {note}\n")).collect()
}
