//! The help of all subcommands, made alike: headings, examples, styles. What each argument says is beside its definition.

mod examples;
mod headings;
#[cfg(test)]
mod manual;
#[cfg(test)]
mod tests;

use clap::builder::styling::{AnsiColor, Style, Styles};
use clap::{Arg, ColorChoice, Command, CommandFactory};

use crate::Arguments;

pub(crate) const EXIT_CODES: &str = "0    done, and the answer is yes
1    the answer is no: an algorithm that is wrong, a run that cannot go on, a trace with errors
2    the arguments or a file cannot be used, or a file cannot be written
130  ended by Ctrl-C";

/// The command with its help.
pub(crate) fn command() -> Command {
    let command = Arguments::command().styles(styles());
    let command = command.after_long_help(format!(
        "First steps:\n{}\nExit codes:\n{}",
        lines(examples::FIRST_STEPS),
        indented(EXIT_CODES)
    ));
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(&name, |sub| dressed(sub, &name)))
}

/// A subcommand with headings and examples.
fn dressed(command: Command, name: &str) -> Command {
    let own = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let command = headings::grouped(command).mut_args(brief).after_help("`--help` says more, with examples.");
    match examples::of(name) {
        [] => command,
        examples => {
            // What a command says at its end by itself stays.
            let own = own.map(|own| format!("{own}\n\n")).unwrap_or_default();
            command.after_long_help(format!("{own}Examples:\n{}", lines(examples)))
        }
    }
}

/// An argument that says the first of it in short help, and all in the long one.
fn brief(arg: Arg) -> Arg {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    match shortened(&help) {
        Some(short) if arg.get_long_help().is_none() => arg.help(short).long_help(help),
        _ => arg,
    }
}

/// The beginning of a long text up to where it could end, and its default; none if it is short.
fn shortened(help: &str) -> Option<String> {
    const LONG: usize = 110;
    const LEAST: usize = 15;
    if help.chars().count() <= LONG {
        return None;
    }
    let end = [". ", ": ", "; ", " ("]
        .iter()
        .filter_map(|end| help.match_indices(end).map(|(at, _)| at).find(|at| *at >= LEAST));
    let short = help.get(..end.min()?)?;
    let default = help.find("[default").filter(|at| *at > short.len()).and_then(|at| help.get(at..));
    Some(match default {
        Some(default) => format!("{short} {default}"),
        None => short.to_owned(),
    })
}

fn lines(examples: &[examples::Example]) -> String {
    examples.iter().map(|(what, line)| format!("  # {what}\n  {line}\n")).collect()
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect::<String>().trim_end().to_owned()
}

fn styles() -> Styles {
    Styles::styled()
        .header(Style::new().bold())
        .usage(Style::new().bold())
        .literal(AnsiColor::Cyan.on_default())
        .placeholder(AnsiColor::Green.on_default())
        .error(AnsiColor::Red.on_default().bold())
}

/// Whether help has colours: as an argument says that is not parsed yet, else as the terminal is.
pub(crate) fn colours_of(arguments: &[String]) -> ColorChoice {
    let mut before_files = arguments.iter().take_while(|argument| *argument != "--");
    let mut choice = ColorChoice::Auto;
    while let Some(argument) = before_files.next() {
        let value = match argument.strip_prefix("--color") {
            Some("") => before_files.next().map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        match value {
            Some("always") => choice = ColorChoice::Always,
            Some("never") => choice = ColorChoice::Never,
            _ => {}
        }
    }
    choice
}
