//! The arguments that name a built-in algorithm and its parameters.

use std::ffi::OsStr;

use clap::Args;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use collective::algorithms::Algorithm;
use collective::compare::Variant;
use collective::et::{EtOptions, NodeOrder, ReduceRate};
use collective::sim::units::Bytes;
use collective::{AlgorithmDef, ElementType, Protocol, Schedule, Size, Trace, algorithms};

use crate::failure::Failure;
use crate::stage::stage;

/// Parameters of a built-in algorithm, and the size of its data.
#[derive(Args)]
pub(crate) struct ProgramArguments {
    #[command(flatten)]
    pub(crate) data: DataArguments,
    /// Number of ranks; `simulate` takes it from the topology if it is not given.
    #[arg(long, value_name = "N")]
    pub(crate) ranks: Option<usize>,
    /// Sets another parameter of the algorithm; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub(crate) set: Vec<(String, usize)>,
    #[command(flatten)]
    pub(crate) lowering: LoweringArguments,
}

/// How a built-in algorithm is lowered.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct LoweringArguments {
    /// The protocol of all connections: simple, ll or ll128 [default: simple; of XML files and traces, what they say].
    #[arg(long, value_name = "PROTOCOL")]
    pub(crate) protocol: Option<Protocol>,
    /// Replicas of the whole program, each over a share of the data: as many times the thread blocks [default: 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) instances: Option<u32>,
}

/// Parameters of a built-in algorithm.
#[derive(Args)]
pub(crate) struct AlgorithmArguments {
    /// Number of ranks of a built-in algorithm.
    #[arg(long, value_name = "N")]
    pub(crate) ranks: Option<usize>,
    /// Sets another parameter of a built-in algorithm; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<(String, usize)>,
}

impl AlgorithmArguments {
    /// Whether any was given.
    pub(crate) fn any(&self) -> bool {
        self.ranks.is_some() || !self.set.is_empty()
    }

    /// The value of every parameter of the algorithm, by name.
    pub(crate) fn parameters(&self, algorithm: &AlgorithmDef) -> Result<Vec<(&'static str, usize)>, Failure> {
        parameters(algorithm, self.ranks, &self.set)
    }
}

/// What turns a schedule into a graph: the size of the data, and how fast they are reduced.
#[derive(Args, Default)]
pub(crate) struct DataArguments {
    /// Size of the collective, such as 1MiB, 64KiB, 1GB or a number of bytes: the vector for all-reduce, the whole
    /// gathered or scattered buffer for all-gather and reduce-scatter [default: 1MiB].
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
    /// Type of an element: i8, f16, bf16, i32, f32, i64 or f64 [default: f32].
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) element_type: Option<ElementType>,
    /// How fast a rank reduces, as durations in the graph: a rate such as 50GB/s (whole microseconds, rounded down, so that less than
    /// one is none), or `collectiveapi` for the figures of ASTRA-sim's shipped example. --reduce-bandwidth of simulate
    /// is exact instead, and not in the graph [default: no time].
    #[arg(long, value_name = "RATE")]
    pub(crate) reduce_rate: Option<ReduceRate>,
    /// What nodes wait for: `threadblock`, the order in which a GPU runs, or `dataflow`, only the data that they need and the
    /// order of messages [default: threadblock].
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<NodeOrder>,
}

/// One of `--set`.
pub(crate) fn setting(text: &str) -> Result<(String, usize), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, such as channels=2")?;
    let value =
        value.parse().map_err(|_| format!("the value of {name} must be a whole number, not \"{value}\""))?;
    Ok((name.to_owned(), value))
}

impl DataArguments {
    /// Whether any was given.
    pub(crate) fn any(&self) -> bool {
        let Self { size, element_type, reduce_rate, order } = self;
        size.is_some() || element_type.is_some() || reduce_rate.is_some() || order.is_some()
    }

    /// The size with its element type.
    pub(crate) fn full_size(&self) -> Size {
        let size = Size::bytes(self.size.map_or(1 << 20, |size| size.0));
        size.with_type(self.element_type.unwrap_or_default())
    }

    /// What turns a schedule into a graph.
    pub(crate) fn et_options(&self) -> EtOptions {
        EtOptions {
            reduce_rate: self.reduce_rate.unwrap_or_default(),
            order: self.order.unwrap_or_default(),
            ..EtOptions::new(self.full_size())
        }
    }
}

impl ProgramArguments {
    /// The value of every parameter of the algorithm, by name.
    pub(crate) fn parameters(&self, algorithm: &AlgorithmDef) -> Result<Vec<(&'static str, usize)>, Failure> {
        parameters(algorithm, self.ranks, &self.set)
    }

    /// The traced program.
    pub(crate) fn trace(&self, algorithm: &AlgorithmDef) -> Result<Trace, Failure> {
        let values: Vec<usize> = self.parameters(algorithm)?.iter().map(|(_, value)| *value).collect();
        let trace = || (algorithm.trace)(algorithm.in_place, &values);
        let mut trace = stage(&format!("tracing {}", algorithm.name), trace)?;
        Variant { protocol: self.lowering.protocol, instances: self.lowering.instances }.apply(&mut trace);
        Ok(trace)
    }

    /// The verified schedule.
    pub(crate) fn schedule(&self, algorithm: &AlgorithmDef) -> Result<Schedule, Failure> {
        let trace = self.trace(algorithm)?;
        Ok(stage(&format!("lowering and verifying {}", algorithm.name), || collective::compile(&trace))?)
    }
}

/// The value of every parameter of an algorithm, by name.
fn parameters(
    algorithm: &AlgorithmDef,
    ranks: Option<usize>,
    set: &[(String, usize)],
) -> Result<Vec<(&'static str, usize)>, Failure> {
    let mut given: Vec<(&str, usize)> = Vec::new();
    match ranks {
        Some(ranks) => given.push(("ranks", ranks)),
        None => {
            return Err(Failure::input(format!("{} needs a number of ranks: --ranks N", algorithm.name)));
        }
    }
    for (name, value) in set {
        if name == "ranks" {
            return Err(Failure::input("give the number of ranks by --ranks, not by --set"));
        }
        if given.iter().any(|(known, _)| known == name) {
            return Err(Failure::input(format!("--set {name}=… is given twice")));
        }
        given.push((name, *value));
    }
    let values = algorithm.values(&given)?;
    Ok(algorithm.params.iter().map(|param| param.name).zip(values).collect())
}

/// The parser of an argument that names a built-in algorithm, or something else: shells complete the names, and nothing is refused
/// here, as [`find`] says more.
pub(crate) fn names() -> Names {
    Names
}

/// See [`names`].
#[derive(Clone)]
pub(crate) struct Names;

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(algorithms::all().map(|algorithm| PossibleValue::new(algorithm.name()))))
    }
}

/// The algorithm of a name.
pub(crate) fn find(name: &str) -> Result<&'static Algorithm, Failure> {
    algorithms::find(name)
        .ok_or_else(|| Failure::input(format!("there is no algorithm \"{name}\"{}", similar(name))))
}

/// What to say after a name that no built-in algorithm has: the most similar ones, and where all are listed.
pub(crate) fn similar(name: &str) -> String {
    /// Less similar ones are no help (0 is nothing in common, 1 the same).
    const LEAST: f64 = 0.75;
    let similarity = |known: &str| if known.contains(name) { 1.0 } else { strsim::jaro_winkler(name, known) };
    let mut names: Vec<(f64, &str)> = algorithms::all()
        .map(|algorithm| (similarity(algorithm.name()), algorithm.name()))
        .filter(|(similarity, _)| *similarity >= LEAST)
        .collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0));
    let names: Vec<&str> = names.iter().take(3).map(|(_, name)| *name).collect();
    match names.as_slice() {
        [] => "; `collective algorithms` lists them".to_owned(),
        names => format!("; did you mean {}? `collective algorithms` lists all", names.join(", ")),
    }
}
