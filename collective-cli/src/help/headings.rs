//! Under which heading an option stands: the same for an option of the same name in every subcommand.

use clap::Command;

const ALGORITHM: &str = "Algorithm and data";
const NETWORK: &str = "Network";
const RANKS: &str = "Ranks and their speed";
const CHECKS: &str = "Checks";
const RUN: &str = "How it runs";
const OUTPUT: &str = "Output";

/// Options by heading, by their long names.
const HEADINGS: &[(&str, &[&str])] = &[
    (
        ALGORITHM,
        &[
            "ranks",
            "set",
            "size",
            "sizes",
            "type",
            "reduce-rate",
            "order",
            "collective",
            "algorithm",
            "elements",
            "op",
            "slots",
            "target",
            "min-bytes",
            "max-bytes",
            "groups",
            "group-peers",
            "measured",
            "runs",
            "protocol",
            "instances",
            "place",
            "small",
        ],
    ),
    (NETWORK, &["topology", "model", "loggp", "conventions", "placement", "route", "machine"]),
    (RANKS, &["straggler", "send-overhead", "receive-overhead", "reduce-bandwidth", "roofline", "compat"]),
    (CHECKS, &["unchecked", "reduction-order", "seeds"]),
    (RUN, &["no-fold", "shard", "resume", "threads", "merge", "fit"]),
    (
        OUTPUT,
        &[
            "to",
            "output",
            "json",
            "svg",
            "png",
            "html",
            "csv",
            "critical-path",
            "links",
            "messages",
            "node",
            "rank",
            "dot",
            "best",
            "plot",
            "timeline",
            "x",
            "y",
            "by",
            "where",
            "best-nccl",
            "best-xml",
            "record",
            "title",
            "kind",
            "residuals",
        ],
    ),
];

/// The command with a heading for each of its options that has none.
pub(super) fn grouped(command: Command) -> Command {
    command.mut_args(|arg| {
        let name = arg.get_long();
        let heading = HEADINGS.iter().find(|(_, names)| name.is_some_and(|name| names.contains(&name)));
        match heading {
            Some((heading, _)) if arg.get_help_heading().is_none() => arg.help_heading(*heading),
            _ => arg,
        }
    })
}
