use clap::{Arg, Command};

use super::{colours_of, command, examples};
use crate::console::visible;

fn subcommands() -> Vec<Command> {
    command().get_subcommands().filter(|sub| sub.get_name() != "help").cloned().collect()
}

fn own(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|argument| argument.get_id() != "help" && !argument.is_global_set())
}

#[test]
fn the_definition_is_consistent() {
    command().debug_assert();
}

#[test]
fn every_subcommand_has_examples_and_no_others_have() {
    for sub in subcommands() {
        let count = examples::of(sub.get_name()).len();
        // Help would break longer lines, which then could not be copied.
        let fits = |line: &str| line.chars().count() <= 98;
        assert!(examples::of(sub.get_name()).iter().all(|(_, line)| fits(line)), "{}", sub.get_name());
        assert!((2..=5).contains(&count), "{} has {count} examples", sub.get_name());
    }
    for (name, _) in examples::EXAMPLES {
        assert!(subcommands().iter().any(|sub| sub.get_name() == *name), "{name}");
    }
}

#[test]
fn every_option_stands_under_a_heading_and_says_what_it_is() {
    for sub in subcommands() {
        for argument in own(&sub) {
            let name = argument.get_id();
            assert!(argument.get_help().is_some(), "{} {name}", sub.get_name());
            if !argument.is_positional() {
                assert!(argument.get_help_heading().is_some(), "{} --{name} has no heading", sub.get_name());
            }
        }
    }
}

#[test]
fn values_have_names_of_one_word() {
    for sub in subcommands() {
        for argument in own(&sub).filter(|argument| argument.get_action().takes_values()) {
            for value in argument.get_value_names().unwrap_or_default() {
                let is_word = value.chars().all(|c| c.is_ascii_uppercase() || c == '=');
                assert!(is_word, "{} --{}: {value}", sub.get_name(), argument.get_id());
            }
        }
    }
}

#[test]
fn an_option_of_one_name_takes_the_same_everywhere() {
    let mut seen: Vec<(String, Vec<String>, String)> = Vec::new();
    for sub in subcommands() {
        for argument in own(&sub).filter(|argument| argument.get_action().takes_values()) {
            let Some(long) = argument.get_long() else { continue };
            // For a workload parameters are in shards, a sweep is done in shares.
            if long == "shard" {
                continue;
            }
            let values = argument.get_value_names().unwrap_or_default();
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            match seen.iter().find(|(known, ..)| known == long) {
                Some((_, others, of)) => {
                    assert_eq!(&values, others, "--{long} of {of} and {}", sub.get_name())
                }
                None => seen.push((long.to_owned(), values, sub.get_name().to_owned())),
            }
        }
    }
}

#[test]
fn every_subcommand_that_has_a_result_prints_it_as_json() {
    // A script is for a shell, what is plotted is JSON or CSV already, and the figures of a page are those of `simulate`.
    for sub in subcommands().iter().filter(|sub| !["completions", "plot", "report"].contains(&sub.get_name()))
    {
        assert!(own(sub).any(|argument| argument.get_long() == Some("json")), "{}", sub.get_name());
    }
}

#[test]
fn help_fits_a_terminal() {
    for mut sub in subcommands() {
        let short = sub.render_help().to_string();
        let long = sub.render_long_help().to_string();
        assert!(short.lines().count() < long.lines().count(), "{}", sub.get_name());
        assert!(long.contains("Examples:\n") && !short.contains("Examples:\n"), "{}", sub.get_name());
        for line in short.lines().filter(|line| !line.contains("[possible values")) {
            assert!(visible(line) <= 100, "{}: {line}", sub.get_name());
        }
    }
}

#[test]
fn short_help_is_the_beginning_of_the_long_one() {
    let short = super::shortened;
    assert_eq!(short("Number of ranks"), None);
    let long = "Size of the collective, such as 1MiB, 64KiB, 1GB or a number of bytes: the vector for all-reduce, the whole buffer \
                for others [default: 1MiB]";
    let wanted = "Size of the collective, such as 1MiB, 64KiB, 1GB or a number of bytes [default: 1MiB]";
    assert_eq!(short(long).as_deref(), Some(wanted));
    let none = "a".repeat(200);
    assert_eq!(short(&none), None);
}

#[test]
fn an_argument_decides_the_colours_of_help() {
    use clap::ColorChoice::{Always, Auto, Never};
    let of = |text: &str| colours_of(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(of("collective --help"), Auto);
    assert_eq!(of("collective --color always --help"), Always);
    assert_eq!(of("collective run --color=never -h"), Never);
    assert_eq!(of("collective run --color always --color never"), Never);
    assert_eq!(of("collective run -- --color always"), Auto);
    assert_eq!(of("collective run --color"), Auto);
    assert_eq!(of("collective run --colors always"), Auto);
}
