//! `docs/command.md`, made from the definition of the command.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, Command};

use super::{EXIT_CODES, command, examples};

const INTRODUCTION: &str = "\
# The command

<!-- Written by a test from the definition of the command: BLESS=1 cargo test -p collective-cli --bin collective manual -->

`collective` compiles, checks and simulates. `collective SUBCOMMAND --help` says what is here, too; `collective man FOLDER` writes
manual pages, and `collective completions SHELL` a script that completes subcommands, options and names of algorithms.

**Results** go to standard output, all else (progress, warnings, why there is no result) to standard error. With `--quiet` there is only
the result; with `--verbose` also what is read, what is taken where nothing is said, and how long each stage took. Colours are for
terminals: `--color`, and the variables `NO_COLOR` and `CLICOLOR_FORCE`, say otherwise. On a terminal tables are made to fit, by
shortening long names in the middle; in a pipe nothing is cut.

**JSON**: with `--json` a result is one object, or a list where there are several, on one line. Keys are `snake_case` with the unit at
their end: times in nanoseconds (`time_ns`: a whole number, or with at most three decimals, from 10^15 on rounded to a whole number), sizes
in bytes (`size_bytes`), bandwidths in 10^9 bytes per second (`busbw_gb_per_s`). What is unknown or does not apply is `null`. A run that
is refused or cannot go on has a `verdict`. Errors are text on standard error, never JSON. Further keys may be added.

**Units**: sizes `64KiB`, `1 GB`, or a number of bytes; times `1.5us`, `2 ms`; bandwidths `400 Gb/s`, `50 GB/s`, with or without a space.
`Ki`, `Mi`, `Gi` are powers of 1024, `K`, `M`, `G` powers of 1000, `B` is a byte and `b` a bit. Text shows times and sizes in the unit
that suits them, with five digits; JSON and CSV have them exactly.

**Errors** are one line that names the file and the line, and beneath it the line of the file at fault with a mark.

";

fn manual() -> String {
    let mut text = INTRODUCTION.to_owned();
    let mut all = command().disable_help_subcommand(true);
    all.build();
    text.push_str("Exit codes:\n\n| code | what |\n|---|---|\n");
    for line in EXIT_CODES.lines() {
        let (code, what) = line.split_once(' ').expect("a code and what it is");
        let _ = writeln!(text, "| {code} | {} |", what.trim());
    }
    text.push_str("\n| subcommand | |\n|---|---|\n");
    for sub in all.get_subcommands() {
        let (name, about) = (sub.get_name(), sub.get_about().map(ToString::to_string).unwrap_or_default());
        let _ = writeln!(text, "| [{name}](#collective-{name}) | {about} |");
    }
    text.push_str("\n## Options of all subcommands\n\n");
    for argument in all.get_arguments().filter(|argument| !argument.is_hide_set()) {
        text.push_str(&described(argument));
    }
    for sub in all.get_subcommands() {
        section(sub, &mut text);
    }
    text.trim_end().to_owned() + "\n"
}

fn section(sub: &Command, text: &mut String) {
    let name = sub.get_name();
    let about = sub.get_long_about().or(sub.get_about()).map(ToString::to_string).unwrap_or_default();
    let usage = sub.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let _ = write!(text, "\n## collective {name}\n\n{}\n\n```text\n{usage}\n```\n", sentence(&about));
    let shown =
        |argument: &&Arg| !argument.is_hide_set() && !argument.is_global_set() && argument.get_id() != "help";
    let (mut heading, mut begun) = (None, false);
    // In the order of help: arguments first, then headings as they come.
    let mut arguments: Vec<&Arg> = sub.get_arguments().filter(shown).collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for argument in arguments.iter().filter(|argument| !argument.is_positional()) {
        if !headings.contains(&argument.get_help_heading()) {
            headings.push(argument.get_help_heading());
        }
    }
    let rank = |argument: &Arg| headings.iter().position(|heading| *heading == argument.get_help_heading());
    arguments.sort_by_key(|argument| (!argument.is_positional(), rank(argument)));
    for argument in arguments {
        let this = if argument.is_positional() {
            "Arguments"
        } else {
            argument.get_help_heading().unwrap_or("Options")
        };
        if !begun || heading != Some(this) {
            let _ = write!(text, "\n{this}:\n\n");
            (heading, begun) = (Some(this), true);
        }
        text.push_str(&described(argument));
    }
    let examples = examples::of(name);
    if !examples.is_empty() {
        text.push_str("\nExamples:\n\n```sh\n");
        for (what, line) in examples {
            if !what.is_empty() {
                let _ = writeln!(text, "# {what}");
            }
            let _ = writeln!(text, "{line}");
        }
        text.push_str("```\n");
    }
}

fn described(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    let takes_value = argument.get_action().takes_values();
    let values = if takes_value { values.join(" ") } else { String::new() };
    let name = match (argument.get_short(), argument.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long} {values}"),
        (None, Some(long)) => format!("--{long} {values}"),
        _ => values,
    };
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = format!("* `{}`: {}\n", name.trim(), sentence(&help).replace("\n\n", "\n  "));
    let possible = if takes_value && !argument.is_hide_possible_values_set() {
        argument.get_possible_values()
    } else {
        Vec::new()
    };
    for value in possible.iter().filter(|value| !value.is_hide_set()) {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(
            text,
            "  * `{}`{}{}",
            value.get_name(),
            if help.is_empty() { "" } else { ": " },
            sentence(&help)
        );
    }
    text
}

/// Ends with a full stop, as the sources do.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let ended = text.is_empty() || text.ends_with(['.', '?', ']', ':']);
    format!("{text}{}", if ended { "" } else { "." })
}

#[test]
fn the_manual_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/command.md");
    let wanted = manual();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("the manual can be written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == wanted,
        "docs/command.md is not what the command says: BLESS=1 cargo test -p collective-cli --bin collective manual"
    );
}
