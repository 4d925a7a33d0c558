//! The networks of a sweep: topologies, models, conventions and conditions.

use std::sync::Arc;

use super::{Files, each};
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
}

impl Declared {
    fn under(&self, conventions: Conventions) -> &Arc<Topology> {
        match (&self.form, conventions) {
            (Form::Own(topology), _) => topology,
            (Form::AstraSim { exact, .. }, Conventions::Exact) => exact,
            (Form::AstraSim { astra_sim, .. }, Conventions::AstraSim) => astra_sim,
        }
    }

    /// The conventions of a model where none are said.
    fn conventions(&self, model: Model) -> Conventions {
        match (&self.form, model) {
            (Form::AstraSim { .. }, Model::Analytical | Model::LinkQueue) => Conventions::AstraSim,
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
            conditions: conditions(table)?,
        })
    }
}

/// All networks, in order: topology, model, conventions, conditions, and after all topologies loggp, which needs none.
pub(super) fn networks(
    keys: Keys<'_>,
    text: &str,
    file: &str,
    placing: Placing,
    files: &mut Files<'_>,
) -> Result<Vec<Network>, Fault> {
    let Keys { topologies: listed, topology: inline, models, conventions, loggp, conditions } = keys;
    let mut declared: Vec<Declared> = Vec::new();
    if let Some(value) = &listed {
        let values = value.list().unwrap_or_else(|| vec![*value]);
        for value in values {
            let one = of_file(&value, files)?;
            add(&mut declared, one).map_err(|message| value.fault(message))?;
        }
    }
    if inline.is_some() {
        let named = topology::parse_toml_named(text, file, "topology").map_err(|error| match error {
            topology::ConfigError::Invalid { line, span, message, .. } => {
                (TextPlace::new(line, span), message)
            }
            other => (TextPlace::default(), other.to_string()),
        })?;
        for (name, line, topology) in named {
            let one = Declared { name, form: Form::Own(Arc::new(topology)) };
            add(&mut declared, one).map_err(|message| (TextPlace::new(line, None), message))?;
        }
    }
    let models: Vec<Model> = match &models {
        Some(value) => distinct(value, "\"fluid\"")?,
        None => vec![Model::Fluid],
    };
    let with_loggp = models.contains(&Model::LogGp);
    let loggp = match (&loggp, with_loggp) {
        (Some(value), true) => value.parsed::<LogGp>("\"L=2500ns,o=1500ns,g=1000ns,G=6ns/B\"")?,
        (Some(value), false) => {
            return Err(value.fault("loggp is for the model loggp, which is not among models"));
        }
        (None, _) => LogGp::default(),
    };
    if let (true, Some(model)) = (declared.is_empty(), models.iter().find(|model| **model != Model::LogGp)) {
        let wanted = "topologies = [\"FILE.toml\"] or a table [[topology]]";
        return Err((TextPlace::default(), format!("the model {model} needs a topology: expected {wanted}")));
    }
    let mut networks = Vec::new();
    for topology in &declared {
        for model in models.iter().copied().filter(|model| *model != Model::LogGp) {
            let conventions = conventions.clone().unwrap_or_else(|| vec![topology.conventions(model)]);
            for conventions in conventions {
                let under = Arc::clone(topology.under(conventions));
                let network = Network::new(&topology.name, under, model, conventions).placing(placing);
                networks.extend(conditions.iter().map(|one| network.clone().conditions(Arc::clone(one))));
            }
        }
    }
    if with_loggp {
        let network = Network::with_loggp(loggp);
        networks.extend(conditions.iter().map(|one| network.clone().conditions(Arc::clone(one))));
    }
    Ok(networks)
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

fn of_file(value: &Value<'_>, files: &mut Files<'_>) -> Result<Declared, Fault> {
    const EXPECTED: &str =
        "files of topologies: NAME.toml (this project's form), NAME.yml or NAME.yaml (ASTRA-sim network)";
    let name = value.text(EXPECTED)?.to_owned();
    let ending =
        std::path::Path::new(&name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !["toml", "yml", "yaml"].contains(&ending) {
        return Err(value.wrong(EXPECTED));
    }
    let (text, path) = files.text(value, &name)?;
    let fault = |error: topology::ConfigError| value.fault(error);
    if ending == "toml" {
        let loaded = topology::parse_toml(&text, &path, None).map_err(fault)?;
        return Ok(Declared { name, form: Form::Own(Arc::new(loaded.topology)) });
    }
    let read = |conventions| topology::parse_astra_yaml(&text, &path, Some(conventions)).map_err(fault);
    let (exact, astra_sim) = (read(Conventions::Exact)?, read(Conventions::AstraSim)?);
    files.warnings.extend(exact.warnings);
    let (exact, astra_sim) = (Arc::new(exact.topology), Arc::new(astra_sim.topology));
    Ok(Declared { name, form: Form::AstraSim { exact, astra_sim } })
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
