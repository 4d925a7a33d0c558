//! The `collective` command.
//!
//! Exit codes: 0 success; 1 the answer is "no" (a wrong algorithm, a run that cannot go on, a trace with errors); 2 bad input,
//! with one readable line on standard error; 130 ended by Ctrl-C, with what had been found out.

mod chart;
mod commands;
mod failure;
mod image;
mod json;
mod output;
mod picture;
mod placement;
mod program;
mod recording;
mod schedule_json;
mod units_shown;
mod views;
mod xml;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use commands::{
    algorithms, compare, compile, convert, inspect, plot, run, simulate, sweep, topology, verify,
};

/// Compile, check and simulate collective communication algorithms.
#[derive(Parser)]
#[command(name = "collective", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
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
    /// Judge an algorithm: does it do what its collective wants, in every order in which its steps may run, without races and
    /// deadlocks?
    Verify(verify::Verify),
    /// Execute an algorithm on real data, and compare the result with what its collective wants.
    Run(run::Run),
    /// Simulate one collective, or a training step with its collectives, on a topology.
    Simulate(Box<simulate::Simulate>),
    /// Simulate many algorithms at many sizes, numbers of ranks and topologies, as a file says, and write a table.
    Sweep(sweep::Sweep),
    /// Draw the curves of sweeps and comparisons: time or bandwidth by size or number of ranks.
    Plot(plot::Plot),
    /// Say what a topology file declares, show a route, or draw a picture.
    Topology(topology::TopologyCommand),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Algorithms(command) => command.run(),
        Command::Compare(command) => command.run(),
        Command::Compile(command) => command.run(),
        Command::Inspect(command) => command.run(),
        Command::Convert(command) => command.run(),
        Command::Verify(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Simulate(command) => command.run(),
        Command::Sweep(command) => command.run(),
        Command::Plot(command) => command.run(),
        Command::Topology(command) => command.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
