//! The `collective` command.
//!
//! Exit codes: 0 success; 1 the answer is "no" (a wrong algorithm, a run that cannot go on, a trace with errors); 2 bad input,
//! with one readable line on standard error, and the line of the file at fault beneath it; 130 ended by Ctrl-C, with what had been
//! found out.

mod chart;
mod commands;
mod console;
mod failure;
mod help;
mod image;
mod interrupt;
mod json;
mod output;
mod picture;
mod placement;
mod program;
mod recording;
mod report;
mod schedule_json;
mod snippet;
mod stage;
mod table;
mod units_shown;
mod views;
mod xml;

use std::process::ExitCode;

use clap::{Args, FromArgMatches, Parser, Subcommand};

use commands::{
    algorithms, compare, compile, completions, convert, inspect, man, plot, run, simulate, sweep, topology,
    verify,
};
use console::{Colours, Verbosity};

/// Compile, check and simulate collective communication algorithms.
#[derive(Parser)]
#[command(name = "collective", version, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    global: GlobalArguments,
    #[command(subcommand)]
    command: Command,
}

const GLOBAL: &str = "Global options";

/// Arguments of all subcommands.
#[derive(Args)]
struct GlobalArguments {
    /// Prints the result only: no progress, notes or warnings.
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = GLOBAL)]
    quiet: bool,
    /// Says what is read, what is taken where nothing is said, and how long it took.
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    verbose: bool,
    /// When text has colours.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t, help_heading = GLOBAL)]
    color: Colours,
}

#[derive(Subcommand)]
enum Command {
    /// List the built-in algorithms with their parameters.
    Algorithms(algorithms::Algorithms),
    /// Simulate all built-in algorithms for a collective on a topology, and say which is fastest at which size.
    Compare(compare::Compare),
    /// Compile a built-in algorithm to Chakra execution traces or MSCCL XML, or show a stage on the way.
    Compile(compile::Compile),
    /// Say what is in Chakra execution traces, and what is wrong with them.
    Inspect(inspect::Inspect),
    /// Turn MSCCL XML into Chakra execution traces or the XML of another runtime, and traces back into MSCCL XML or into
    /// another form: plain, compressed or JSON lines.
    Convert(convert::Convert),
    /// Write one HTML page on an algorithm: its schedule step by step, and how a network takes it.
    Report(Box<commands::report::Report>),
    /// Judge an algorithm: does it do what its collective wants, in every order in which its steps may run, without races and
    /// deadlocks?
    Verify(verify::Verify),
    /// Execute an algorithm on real data, and compare the result with what its collective wants.
    Run(run::Run),
    /// Simulate one collective, or a training step with its collectives, on a topology.
    Simulate(Box<simulate::Simulate>),
    /// Simulate many algorithms at many sizes, numbers of ranks and topologies, as a file says, and write a table.
    Sweep(sweep::Sweep),
    /// Fit the figures of a machine, for the model machine, to measured times.
    Calibrate(Box<commands::calibrate::Calibrate>),
    /// Draw the curves of sweeps and comparisons: time or bandwidth by size or number of ranks.
    Plot(plot::Plot),
    /// Say what a topology file declares, show a route, or draw a picture.
    Topology(topology::TopologyCommand),
    /// Print a script that completes commands, options and names of algorithms in a shell.
    Completions(completions::Completions),
    /// Print the manual page, or write a page for each subcommand.
    Man(man::Man),
}

fn main() -> ExitCode {
    interrupt::watch();
    let raw: Vec<String> = std::env::args_os().map(|text| text.to_string_lossy().into_owned()).collect();
    let parsed = help::command().color(help::colours_of(&raw)).try_get_matches();
    let arguments = match parsed.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version go to standard output. If nobody reads them there is nobody to tell.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let GlobalArguments { quiet, verbose, color } = arguments.global;
    let verbosity = match (quiet, verbose) {
        (true, _) => Verbosity::Quiet,
        (false, true) => Verbosity::Verbose,
        (false, false) => Verbosity::Usual,
    };
    console::set(verbosity, color);
    let result = match arguments.command {
        Command::Algorithms(command) => command.run(),
        Command::Compare(command) => command.run(),
        Command::Compile(command) => command.run(),
        Command::Inspect(command) => command.run(),
        Command::Convert(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Verify(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Simulate(command) => command.run(),
        Command::Sweep(command) => command.run(),
        Command::Calibrate(command) => command.run(),
        Command::Plot(command) => command.run(),
        Command::Topology(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
