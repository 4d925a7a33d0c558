//! `collective calibrate`.

mod programs;
mod show;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use collective::calibrate::{self, Figure, Fit, Options, Parameter, Point, Summary};
use collective::measured::Place;
use collective::sim::machine::{self, Machine, Protocol};
use collective::sim::topology::{self, Topology};
use collective::sim::units::{Bytes, Picos};
use collective::sim::{Conventions, SimError, Simulation};

use self::programs::Program;
use crate::console;
use crate::failure::Failure;
use crate::output;
use crate::stage::stage;
use crate::{program, xml};

/// Arguments of `collective calibrate`.
#[derive(Args)]
#[command(after_help = "docs/calibrate.md describes the files and what is fitted.")]
pub(crate) struct Calibrate {
    /// Measured times: what nccl-tests or rccl-tests print, their JSON, or comma-separated values; may be repeated.
    #[arg(long, value_name = "FILE", required_unless_present = "runs")]
    measured: Vec<PathBuf>,
    /// What was measured, a built-in algorithm or an MSCCL XML file: the first for the first --measured, and so on.
    #[arg(long, value_name = "NAME", value_parser = program::names(), hide_possible_values = true)]
    algorithm: Vec<String>,
    /// A TOML file that lists measurements with their algorithms, instead of --measured and --algorithm.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["measured", "algorithm", "protocol", "instances", "place", "set"])]
    runs: Option<PathBuf>,
    /// Number of ranks of built-in algorithms [default: that of the measurements, or of the topology].
    #[arg(long, value_name = "N")]
    ranks: Option<usize>,
    /// Sets another parameter of the built-in algorithms; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = program::setting)]
    set: Vec<(String, usize)>,
    /// The protocol under which it was measured: Simple, LL or LL128, one for all or one for each --measured [default: that of the
    /// algorithm].
    #[arg(long, value_name = "PROTOCOL")]
    protocol: Vec<collective::Protocol>,
    /// Instances of built-in algorithms, one number for all or one for each --measured [default: those of the algorithm].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    instances: Vec<u32>,
    /// Which of the measured times: out or in [default: in for algorithms in place, else out].
    #[arg(long, value_name = "PLACE", value_parser = place)]
    place: Option<Place>,
    /// The network [default: that of the machine].
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// The machine to begin with, built in or a file: what is not fitted stays as it is there.
    #[arg(long, value_name = "MACHINE")]
    machine: String,
    /// The figures to be fitted: launch, step, slice, latency, copy, reduce (each for every protocol that was measured), egress,
    /// ingress; or exactly one, such as LL.latency.
    #[arg(long, value_name = "FIGURES", value_delimiter = ',', default_value = "launch,latency,copy")]
    fit: Vec<String>,
    /// Only the measured sizes from one to another, such as 1MiB..1GiB.
    #[arg(long, value_name = "SIZES", value_parser = range)]
    sizes: Option<(Bytes, Bytes)>,
    /// Sizes up to this one are reported, but not fitted.
    #[arg(long, value_name = "SIZE", default_value = "64KiB")]
    small: Bytes,
    /// The machine with the fitted figures.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Writes every measured time with the simulated one, as comma-separated values.
    #[arg(long, value_name = "FILE")]
    residuals: Option<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

fn place(text: &str) -> Result<Place, String> {
    match text {
        "out" => Ok(Place::OutOfPlace),
        "in" => Ok(Place::InPlace),
        _ => Err("expected out or in".to_owned()),
    }
}

fn range(text: &str) -> Result<(Bytes, Bytes), String> {
    let (from, to) = text.split_once("..").ok_or("expected FROM..TO, such as 1MiB..1GiB")?;
    let size = |text: &str| text.trim().parse::<Bytes>().map_err(|error| error.to_string());
    let (from, to) = (size(from)?, size(to)?);
    if from > to { Err(format!("{from} is more than {to}")) } else { Ok((from, to)) }
}

/// What was found.
struct Found {
    fit: Fit,
    /// Of each program, by a fit of the others.
    without: Vec<Option<Summary>>,
    programs: Vec<Program>,
    small: Bytes,
}

impl Calibrate {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let start = machine::find(&self.machine)?;
        let (topology, is_given) = self.topology(&start)?;
        let programs = self.programs(topology.rank_count() as usize)?;
        let points: Vec<Point> =
            programs.iter().enumerate().flat_map(|(number, program)| program.points(number)).collect();
        let runs = AtomicUsize::new(0);
        let time = |machine: &Machine, point: &Point| -> Result<Picos, String> {
            runs.fetch_add(1, Ordering::Relaxed);
            let program = &programs[point.program];
            let graph = program.graph(point.size)?;
            let run = Simulation::new(&topology).conventions(Conventions::Exact).machine(machine).run(graph);
            run.map(|report| report.makespan).map_err(|error| failed(program, &error))
        };
        let parameters = self.parameters(&start, &points, &time)?;
        let options = Options { small: self.small.0, ..Options::default() };
        let fit = stage(&format!("fitting {} figures to {} times", parameters.len(), points.len()), || {
            calibrate::fit(&start, &parameters, &points, options, time)
        });
        let mut fit = fit.map_err(Failure::input)?;
        let without = stage("leaving out each program in turn", || {
            calibrate::leave_one_out(&fit, &points, options, time)
        });
        let without = without.map_err(Failure::input)?;
        console::info(|| format!("simulated {} times", runs.load(Ordering::Relaxed)));
        if is_given {
            fit.machine.topology = Some(topology.clone());
        }
        let found = Found { fit, without, programs, small: self.small };
        self.warn(&found);
        if let Some(path) = &self.residuals {
            output::write_file(path, &found.residuals())?;
        }
        if let Some(path) = &self.output {
            output::write_file(path, &machine::to_toml(&found.machine(path)))?;
        }
        output::print(&if self.json {
            found.json(self.output.as_deref())
        } else {
            found.text(self.output.as_deref())
        })
    }

    /// The network, and whether it is another than that of the machine.
    fn topology(&self, machine: &Machine) -> Result<(Topology, bool), Failure> {
        match (&self.topology, &machine.topology) {
            (Some(path), _) => {
                let loaded = stage(&format!("reading {}", path.display()), || {
                    topology::load(path, Some(Conventions::Exact))
                })?;
                loaded.warnings.iter().for_each(console::warn);
                Ok((loaded.topology, true))
            }
            (None, Some(own)) => Ok((own.clone(), false)),
            (None, None) => Err(Failure::input(format!(
                "the machine {} has no topology of its own: expected --topology FILE",
                machine.name
            ))),
        }
    }

    /// What is fitted: exact names as they are; a figure of each protocol that was measured, of those links that matter.
    fn parameters(
        &self,
        machine: &Machine,
        points: &[Point],
        time: &(impl Fn(&Machine, &Point) -> Result<Picos, String> + Sync),
    ) -> Result<Vec<Parameter>, Failure> {
        let is_used = |protocol: &Protocol| points.iter().any(|point| point.protocol == *protocol);
        let protocols: Vec<Protocol> = Protocol::ALL.into_iter().filter(is_used).collect();
        let mut parameters: Vec<Parameter> = Vec::new();
        for name in &self.fit {
            let found = if name.contains('.') {
                vec![name.parse().map_err(Failure::input)?]
            } else {
                let figure: Figure = name.parse().map_err(Failure::input)?;
                let of = |protocol: &Protocol| self.of_links(machine, *protocol, figure, points, time);
                protocols.iter().map(of).collect::<Result<Vec<_>, _>>()?.concat()
            };
            for parameter in found {
                if !parameters.contains(&parameter) {
                    parameters.push(parameter);
                }
            }
        }
        Ok(parameters)
    }

    /// A figure of a protocol: that of a kind of links, where the machine has one of its own and the programs use such links.
    fn of_links(
        &self,
        machine: &Machine,
        protocol: Protocol,
        figure: Figure,
        points: &[Point],
        time: &(impl Fn(&Machine, &Point) -> Result<Picos, String> + Sync),
    ) -> Result<Vec<Parameter>, Failure> {
        let general = Parameter::of(protocol, figure);
        let own: Vec<Parameter> = Parameter::stated(machine, protocol)
            .into_iter()
            .filter(|it| it.figure == figure && it.links.is_some())
            .collect();
        if own.is_empty() {
            return Ok(vec![general]);
        }
        let mut asked = own;
        asked.push(general);
        let mut matter = vec![false; asked.len()];
        for (at, point) in points.iter().enumerate().filter(|(_, point)| point.protocol == protocol) {
            // The first and the last of each program do for it.
            let is_first = at == 0 || points[at - 1].program != point.program;
            let is_last = points.get(at + 1).is_none_or(|next| next.program != point.program);
            if is_first || is_last {
                let found = calibrate::sensitivities(machine, &asked, |machine| time(machine, point));
                for found in found.map_err(Failure::input)? {
                    if let Some(at) = asked.iter().position(|it| *it == found.parameter) {
                        matter[at] |= found.elasticity != 0.0;
                    }
                }
            }
        }
        let found: Vec<Parameter> =
            asked.iter().zip(matter).filter(|(_, matters)| *matters).map(|(it, _)| *it).collect();
        Ok(if found.is_empty() { vec![general] } else { found })
    }

    fn warn(&self, found: &Found) {
        for (one, other, correlation) in &found.fit.indistinct {
            console::warn(format!(
                "the times cannot tell {one} from {other} (correlation {correlation:.3}): fit one of them, or add programs or sizes in \
                 which they differ"
            ));
        }
        for estimate in &found.fit.estimates {
            let parameter = estimate.parameter;
            if estimate.error.is_none() {
                console::warn(format!("{parameter} makes no difference to these times: it stays as it was"));
            } else if estimate.is_at_bound {
                console::warn(format!(
                    "{parameter} is at the end of what is sought: the times do not tell it"
                ));
            }
        }
        if !found.fit.is_minimum {
            console::warn(format!(
                "the search ended after {} iterations, before it was done",
                found.fit.iterations
            ));
        }
    }
}

fn failed(program: &Program, error: &SimError) -> String {
    format!("{}: {error}", program.name)
}

/// A file of another directory, as it is named in a list.
fn beside(list: &Path, name: &str) -> PathBuf {
    list.parent().unwrap_or(Path::new("")).join(name)
}

/// Whether a name is that of a file of MSCCL XML.
fn is_xml(name: &str) -> bool {
    xml::is_xml(Path::new(name))
}
