//! `collective machines`.

use clap::Args;
use collective::sim::machine::{self, BUILTIN, Machine, Protocol};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{self, table};

/// Arguments of `collective machines`.
#[derive(Args)]
pub(crate) struct Machines {
    /// A machine whose file is printed, to be copied and changed: one that is built in, or a file; all that are built in are listed
    /// without.
    #[arg(value_name = "MACHINE", value_parser = crate::machine::names(), hide_possible_values = true)]
    name: Option<String>,
    /// Prints JSON; of one machine with its file as a text.
    #[arg(long)]
    json: bool,
}

impl Machines {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if let Some(name) = &self.name {
            let machine = machine::find(name)?;
            let text = machine::to_toml(&machine);
            if !self.json {
                return output::print(&text);
            }
            let mut value = to_json(&machine);
            value["file"] = json!(text);
            return output::print(&value.to_string());
        }
        let machines: Vec<Machine> = BUILTIN.into_iter().filter_map(machine::builtin).collect();
        if self.json {
            let all: Vec<Value> = machines.iter().map(to_json).collect();
            return output::print(&json!(all).to_string());
        }
        output::print(&listed(&machines))
    }
}

fn protocols(machine: &Machine) -> Vec<&'static str> {
    machine.protocols().map(Protocol::name).collect()
}

fn ranks(machine: &Machine) -> Option<u32> {
    machine.topology.as_ref().map(|topology| topology.rank_count())
}

fn listed(machines: &[Machine]) -> String {
    let mut rows = vec![["machine", "ranks", "  protocols", "  what it is"].map(str::to_owned).to_vec()];
    for machine in machines {
        rows.push(vec![
            machine.name.clone(),
            ranks(machine).map_or("-".to_owned(), |ranks| ranks.to_string()),
            format!("  {}", protocols(machine).join(", ")),
            format!("  {}", machine.description),
        ]);
    }
    for column in 2..4 {
        let width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        rows.iter_mut().for_each(|row| row[column] = format!("{:<width$}", row[column]));
    }
    let mut text = table(&rows);
    text.push_str("\nsources of the figures\n");
    for machine in machines {
        for source in &machine.sources {
            text.push_str(&format!("  {}: {source}\n", machine.name));
        }
    }
    text.push_str(
        "\nranks: of its own topology; - where --topology FILE is needed. `collective machines NAME` prints the file of one.\n",
    );
    text
}

fn to_json(machine: &Machine) -> Value {
    json!({
        "name": machine.name,
        "description": machine.description,
        "protocols": protocols(machine),
        "sources": machine.sources,
        "ranks": ranks(machine),
    })
}
