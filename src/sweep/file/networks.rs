//! The networks of a sweep: topologies, models, conventions and conditions.

use std::sync::Arc;

use super::{Files, each, template};
use crate::sim::machine::{self, BUILTIN, Machine};
use crate::sim::straggler::Straggler;
use crate::sim::topology::{self, TextPlace, Topology};
use crate::sim::units::{Bandwidth, Picos};
use crate::sim::{Conventions, LogGp, Model};
use crate::sweep::network::{Conditions, Network, Placing};
use crate::workload::file::table::{Fault, Table, Value};

/// A topology as it was read: under the conventions of its file, and where they matter under others.
struct Declared {
    name: String,
    form: Form,
}

enum Form {
    /// The same under all conventions.
    Own(Arc<Topology>),
    /// Its units depend on the conventions.
    AstraSim { exact: Arc<Topology>, astra_sim: Arc<Topology> },
    /// By number of ranks, one of the others, or why there is none.
    Scaled(Vec<(usize, Result<Form, String>)>),
}

impl Form {
    /// The topology; none if there is one for each number of ranks.
    fn under(&self, conventions: Conventions) -> Option<Arc<Topology>> {
        match (self, conventions) {
            (Self::Own(topology), _) => Some(Arc::clone(topology)),
            (Self::AstraSim { exact, .. }, Conventions::Exact) => Some(Arc::clone(exact)),
            (Self::AstraSim { astra_sim, .. }, Conventions::AstraSim) => Some(Arc::clone(astra_sim)),
            (Self::Scaled(_), _) => None,
        }
    }

    /// What `one` makes for each number of ranks; an error if it makes nothing for any.
    fn scaled(ranks: &[usize], mut one: impl FnMut(usize) -> Result<Form, Fault>) -> Result<Self, Fault> {
        let mut first_fault = None;
        let mut forms = Vec::new();
        for ranks in ranks {
            match one(*ranks) {
                Ok(form) => forms.push((*ranks, Ok(form))),
                Err(fault) => {
                    forms.push((*ranks, Err(fault.1.clone())));
                    first_fault.get_or_insert(fault);
                }
            }
        }
        match first_fault {
            Some(fault) if forms.iter().all(|(_, form)| form.is_err()) => Err(fault),
            _ => Ok(Self::Scaled(forms)),
        }
    }

    fn is_of_astra_sim(&self) -> bool {
        match self {
            Self::Own(_) => false,
            Self::AstraSim { .. } => true,
            Self::Scaled(forms) => forms.iter().any(|(_, form)| matches!(form, Ok(Self::AstraSim { .. }))),
        }
    }
}

impl Declared {
    /// The network under some conventions.
    fn network(&self, model: Model, conventions: Conventions) -> Network {
        let of_ranks = |(ranks, form): &(usize, Result<Form, String>)| {
            let topology = form.as_ref().map_err(Clone::clone);
            // What is scaled is not scaled again.
            let topology = topology.map(|form| form.under(conventions));
            (*ranks, topology.and_then(|topology| topology.ok_or_else(|| "there is no topology".to_owned())))
        };
        match (&self.form, self.form.under(conventions)) {
            (_, Some(topology)) => Network::new(&self.name, topology, model, conventions),
            (Form::Scaled(forms), None) => {
                Network::scaled(&self.name, forms.iter().map(of_ranks), model, conventions)
            }
            (_, None) => Network::scaled(&self.name, [], model, conventions),
        }
    }

    /// The conventions of a model where none are said.
    fn conventions(&self, model: Model) -> Conventions {
        match model {
            Model::Analytical | Model::LinkQueue if self.form.is_of_astra_sim() => Conventions::AstraSim,
            _ => Conventions::Exact,
        }
    }
}

/// The keys of a sweep that say on what it is simulated.
pub(super) struct Keys<'a> {
    topologies: Option<Value<'a>>,
    topology: Option<Value<'a>>,
    models: Option<Value<'a>>,
    conventions: Option<Vec<Conventions>>,
    loggp: Option<Value<'a>>,
    machines: Option<Value<'a>>,
    conditions: Vec<Arc<Conditions>>,
}

impl<'a> Keys<'a> {
    pub(super) fn of(table: &Table<'a>) -> Result<Self, Fault> {
        Ok(Self {
            topologies: table.get("topologies"),
            topology: table.get("topology"),
            models: table.get("models"),
            conventions: table.get("conventions").map(|value| distinct(&value, "\"exact\"")).transpose()?,
            loggp: table.get("loggp"),
            machines: table.get("machines"),
            conditions: conditions(table)?,
        })
    }
}

/// What networks are read with.
pub(super) struct Context<'a> {
    /// The text of the sweep and its name.
    pub(super) text: &'a str,
    pub(super) file: &'a str,
    pub(super) placing: Placing,
    /// The numbers of ranks, if they are stated.
    pub(super) ranks: Option<&'a [usize]>,
}

impl<'a> Context<'a> {
    /// The numbers of ranks for a topology that scales.
    fn ranks(&self) -> Result<&'a [usize], String> {
        self.ranks.ok_or_else(|| {
            "the topology scales with the ranks, which are not stated: expected ranks, such as ranks = \"8..64 x2\"".to_owned()
        })
    }
}

/// All networks, in order: topology, model, conventions, conditions, and after all topologies loggp, which needs none.
pub(super) fn networks(
    keys: Keys<'_>,
    on: &Context<'_>,
    files: &mut Files<'_>,
) -> Result<Vec<Network>, Fault> {
    let placing = on.placing;
    let Keys { topologies: listed, topology: inline, models, conventions, loggp, machines, conditions } =
        keys;
    let mut declared: Vec<Declared> = Vec::new();
    if let Some(value) = &listed {
        let values = value.list().unwrap_or_else(|| vec![*value]);
        for value in values {
            let one = of_file(&value, on, files)?;
            add(&mut declared, one).map_err(|message| value.fault(message))?;
        }
    }
    if inline.is_some() {
        for (line, one) in inlined(on)? {
            add(&mut declared, one).map_err(|message| (TextPlace::new(line, None), message))?;
        }
    }
    let models: Vec<Model> = match &models {
        Some(value) => distinct(value, "\"fluid\"")?,
        None if machines.is_some() => vec![Model::Machine],
        None => vec![Model::Fluid],
    };
    let machines = of_machines(machines.as_ref(), &models, files)?;
    let with_loggp = models.contains(&Model::LogGp);
    let loggp = match (&loggp, with_loggp) {
        (Some(value), true) => value.parsed::<LogGp>("\"L=2500ns,o=1500ns,g=1000ns,G=6ns/B\"")?,
        (Some(value), false) => {
            return Err(value.fault("loggp is for the model loggp, which is not among models"));
        }
        (None, _) => LogGp::default(),
    };
    let needs_topology = |model: &&Model| !matches!(**model, Model::LogGp | Model::Machine);
    if let (true, Some(model)) = (declared.is_empty(), models.iter().find(needs_topology)) {
        let wanted = "topologies = [\"FILE.toml\"] or a table [[topology]]";
        return Err((TextPlace::default(), format!("the model {model} needs a topology: expected {wanted}")));
    }
    let mut networks = Vec::new();
    for topology in &declared {
        for model in models.iter().copied().filter(|model| *model != Model::LogGp) {
            let conventions = conventions.clone().unwrap_or_else(|| vec![topology.conventions(model)]);
            for conventions in conventions {
                let network = topology.network(model, conventions).placing(placing);
                let on_machines: Vec<Network> = match model {
                    Model::Machine => {
                        let of = |(_, machine): &_| network.clone().machine(Arc::clone(machine));
                        machines.iter().map(of).collect()
                    }
                    _ => vec![network],
                };
                for network in on_machines {
                    networks.extend(conditions.iter().map(|one| network.clone().conditions(Arc::clone(one))));
                }
            }
        }
    }
    // Where no topology is said, each machine has its own.
    for (value, machine) in machines.iter().filter(|_| declared.is_empty()) {
        let own = machine.topology.clone().ok_or_else(|| {
            let wanted = "topologies = [\"FILE.toml\"] or a table [[topology]]";
            value.fault(format!("the machine {} has no topology of its own: expected {wanted}", machine.name))
        })?;
        for conventions in conventions.clone().unwrap_or_else(|| vec![Conventions::Exact]) {
            let network = Network::new(&machine.name, Arc::new(own.clone()), Model::Machine, conventions);
            let network = network.machine(Arc::clone(machine)).placing(placing);
            networks.extend(conditions.iter().map(|one| network.clone().conditions(Arc::clone(one))));
        }
    }
    if with_loggp {
        let network = Network::with_loggp(loggp);
        networks.extend(conditions.iter().map(|one| network.clone().conditions(Arc::clone(one))));
    }
    Ok(networks)
}

/// The machines, each with where it is named.
fn of_machines<'a>(
    value: Option<&Value<'a>>,
    models: &[Model],
    files: &mut Files<'_>,
) -> Result<Vec<(Value<'a>, Arc<Machine>)>, Fault> {
    let is_wanted = models.contains(&Model::Machine);
    let value = match (value, is_wanted) {
        (Some(value), true) => value,
        (Some(value), false) => {
            return Err(value.fault("machines are for the model machine, which is not among models"));
        }
        (None, false) => return Ok(Vec::new()),
        (None, true) => {
            let known = BUILTIN.join(", ");
            let message = format!(
                "the model machine needs machines: expected machines = [\"NAME\"], of {known}, or \"FILE.toml\""
            );
            return Err((TextPlace::default(), message));
        }
    };
    let mut all: Vec<(Value<'a>, Arc<Machine>)> = Vec::new();
    for one in value.list().unwrap_or_else(|| vec![*value]) {
        let expected = || format!("machines: {}, or a file NAME.toml", BUILTIN.join(", "));
        let name = one.text(expected())?;
        let machine = match machine::builtin(name) {
            Some(machine) => machine,
            None if name.ends_with(".toml") => {
                let (text, path) = files.text(&one, name)?;
                machine::parse(&text).map_err(|error| match error {
                    topology::ConfigError::Invalid { line: Some(line), message, .. } => {
                        one.fault(format!("{path}:{line}: {message}"))
                    }
                    other => one.fault(format!("{path}: {other}")),
                })?
            }
            None => return Err(one.wrong(expected())),
        };
        if all.iter().any(|(_, other)| other.name == machine.name) {
            return Err(one.fault(format!("there are two machines called {}", machine.name)));
        }
        all.push((one, Arc::new(machine)));
    }
    if all.is_empty() {
        return Err(value.wrong("a list with something in it"));
    }
    Ok(all)
}

/// The numbers of ranks of all topologies, ascending.
pub(super) fn rank_counts(networks: &[Network]) -> Vec<usize> {
    let topologies = networks.iter().filter_map(|network| network.topology.as_ref());
    let mut counts: Vec<usize> = topologies.map(|topology| topology.rank_count() as usize).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

fn add(all: &mut Vec<Declared>, one: Declared) -> Result<(), String> {
    if one.name.is_empty() || one.name.contains(char::is_control) {
        return Err(format!("{:?} is no name for a topology: expected some text on one line", one.name));
    }
    if all.iter().any(|other| other.name == one.name) {
        return Err(format!("there are two topologies called {}", one.name));
    }
    all.push(one);
    Ok(())
}

/// The topologies that stand in the sweep itself, with their lines.
fn inlined(on: &Context<'_>) -> Result<Vec<(Option<u64>, Declared)>, Fault> {
    type Named = Vec<(String, Option<u64>, Topology)>;
    let read = |text: &str| -> Result<Named, Fault> {
        topology::parse_toml_named(text, on.file, "topology").map_err(|error| match error {
            // Of a text in which a topology stands alone, only the lines are those of the file.
            topology::ConfigError::Invalid { line, span, message, .. } => {
                (TextPlace::new(line, span.filter(|_| text.len() == on.text.len())), message)
            }
            other => (TextPlace::default(), other.to_string()),
        })
    };
    let own = |topology| Form::Own(Arc::new(topology));
    if !template::scales(on.text) {
        let all = read(on.text)?.into_iter();
        return Ok(all
            .map(|(name, line, topology)| (line, Declared { name, form: own(topology) }))
            .collect());
    }
    let mut all = Vec::new();
    for text in template::each_topology(on.text) {
        if !template::scales(&text) {
            let fixed = read(&text)?.into_iter();
            all.extend(fixed.map(|(name, line, topology)| (line, Declared { name, form: own(topology) })));
            continue;
        }
        let mut head = None;
        let form = Form::scaled(on.ranks().map_err(|message| (TextPlace::default(), message))?, |ranks| {
            let text = template::fill(&text, ranks).map_err(|message| (TextPlace::default(), message))?;
            let mut named = read(&text)?;
            match (named.pop(), named.is_empty()) {
                (Some((name, line, topology)), true) => {
                    head = Some((name, line));
                    Ok(own(topology))
                }
                _ => Err((
                    TextPlace::default(),
                    "topologies that scale with the ranks are written as [[topology]] each".to_owned(),
                )),
            }
        })?;
        let Some((name, line)) = head else { continue };
        all.push((line, Declared { name, form }));
    }
    Ok(all)
}

fn of_file(value: &Value<'_>, on: &Context<'_>, files: &mut Files<'_>) -> Result<Declared, Fault> {
    const EXPECTED: &str =
        "files of topologies: NAME.toml (this project's form), NAME.yml or NAME.yaml (ASTRA-sim network)";
    let name = value.text(EXPECTED)?.to_owned();
    let ending =
        std::path::Path::new(&name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !["toml", "yml", "yaml"].contains(&ending) {
        return Err(value.wrong(EXPECTED));
    }
    let (text, path) = files.text(value, &name)?;
    let mut one = |text: &str| -> Result<Form, Fault> {
        let fault = |error: topology::ConfigError| value.fault(error);
        if ending == "toml" {
            let loaded = topology::parse_toml(text, &path, None).map_err(fault)?;
            return Ok(Form::Own(Arc::new(loaded.topology)));
        }
        let read = |conventions| topology::parse_astra_yaml(text, &path, Some(conventions)).map_err(fault);
        let (exact, astra_sim) = (read(Conventions::Exact)?, read(Conventions::AstraSim)?);
        for warning in exact.warnings {
            if !files.warnings.contains(&warning) {
                files.warnings.push(warning);
            }
        }
        let (exact, astra_sim) = (Arc::new(exact.topology), Arc::new(astra_sim.topology));
        Ok(Form::AstraSim { exact, astra_sim })
    };
    let form = if template::scales(&text) {
        let ranks = on.ranks().map_err(|message| value.fault(format!("{path}: {message}")))?;
        Form::scaled(ranks, |ranks| {
            one(&template::fill(&text, ranks).map_err(|message| value.fault(format!("{path}: {message}")))?)
        })?
    } else {
        one(&text)?
    };
    Ok(Declared { name, form })
}

/// Values that are parsed, each once.
fn distinct<T: PartialEq + std::str::FromStr<Err: std::fmt::Display>>(
    value: &Value<'_>,
    example: &str,
) -> Result<Vec<T>, Fault> {
    let mut all: Vec<T> = Vec::new();
    for one in each(value, |value| value.parsed::<T>(example))? {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    Ok(all)
}

/// What real ranks have: a table each, or nothing once.
fn conditions(table: &Table<'_>) -> Result<Vec<Arc<Conditions>>, Fault> {
    let mut all: Vec<Arc<Conditions>> = Vec::new();
    for table in table.tables("conditions")? {
        let name = table.get("name").ok_or_else(|| table.fault("the conditions have no name"))?;
        let shown = name.text("a text")?.to_owned();
        if shown.contains(char::is_control) || all.iter().any(|other| other.name == shown) {
            return Err(name.wrong("a name on one line that no other conditions have"));
        }
        let time = |key| table.get(key).map(|value| value.parsed::<Picos>("\"2 us\"")).transpose();
        let (send, receive) = (time("send_overhead")?, time("receive_overhead")?);
        let bandwidth = table.get("reduce_bandwidth");
        let bandwidth = bandwidth.map(|value| value.parsed::<Bandwidth>("\"50 GB/s\"")).transpose()?;
        let stragglers = table.get("stragglers");
        let stragglers =
            stragglers.map(|value| each(&value, |one| one.parsed::<Straggler>("\"3=+10us,x1.5\"")));
        let stragglers = stragglers.transpose()?.unwrap_or_default();
        table.finish()?;
        all.push(Arc::new(Conditions {
            name: shown,
            stragglers,
            send_overhead: send.unwrap_or_default(),
            receive_overhead: receive.unwrap_or_default(),
            reduce_bandwidth: bandwidth,
        }));
    }
    Ok(if all.is_empty() { vec![Arc::default()] } else { all })
}
