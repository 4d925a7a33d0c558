//! A machine as the text of a file.

use std::fmt::{self, Write};

use super::read::key;
use crate::config_write::{bandwidth, text, texts, time};
use crate::machine::{Completion, Costs, LinkCosts, LinkKind, Machine};
use crate::topology::write_toml;

/// The text of a file that [`parse`](super::parse) reads as this machine.
///
/// What has the value that it has where nothing is said, is left out. Of several [`LinkCosts`] for one kind of link the first is
/// written, as it is the one that holds; a topology's ranks are those of its positions, as a file does not place them.
///
/// ```
/// use sim_core::machine::{self, Costs, Machine, Protocol};
///
/// let mut costs = Costs::free();
/// costs.launch = "5.94 us".parse()?;
/// costs.copy = Some("21.46 GB/s".parse()?);
/// let machine = Machine::new("example").with(Protocol::Simple, costs);
/// let text = machine::to_toml(&machine);
/// assert_eq!(text, "name = \"example\"\n\n[protocol.simple]\nlaunch = \"5.94 us\"\ncopy = \"21.46 GB/s\"\n");
/// assert_eq!(machine::parse(&text)?, machine);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn to_toml(machine: &Machine) -> String {
    let mut file = String::new();
    // A String takes everything.
    let _ = write(machine, &mut file);
    file
}

fn write(machine: &Machine, file: &mut String) -> fmt::Result {
    writeln!(file, "name = {}", text(&machine.name))?;
    if !machine.description.is_empty() {
        writeln!(file, "description = {}", text(&machine.description))?;
    }
    if !machine.sources.is_empty() {
        writeln!(file, "sources = {}", texts(&machine.sources))?;
    }
    for (key, limit) in [("egress", machine.egress), ("ingress", machine.ingress)] {
        optional(file, key, limit.map(bandwidth))?;
    }
    match machine.completion {
        Completion::Filled => {}
        Completion::Delivered => writeln!(file, "completion = \"delivered\"")?,
    }
    for protocol in machine.protocols() {
        if let Some(costs) = machine.costs(protocol) {
            let header = format!("protocol.{}", key(protocol));
            writeln!(file, "\n[{header}]")?;
            write_costs(costs, &header, file)?;
        }
    }
    if let Some(topology) = &machine.topology {
        writeln!(file, "\n[topology]")?;
        write_toml(topology, "topology.dimension", file)?;
    }
    Ok(())
}

fn write_costs(costs: &Costs, header: &str, file: &mut String) -> fmt::Result {
    let free = Costs::free();
    let stated = |value, free| (value != free).then(|| time(value));
    optional(file, "launch", stated(costs.launch, free.launch))?;
    optional(file, "step", stated(costs.step, free.step))?;
    optional(file, "slice", stated(costs.slice, free.slice))?;
    optional(file, "latency", stated(costs.latency, free.latency))?;
    optional(file, "copy", costs.copy.map(bandwidth))?;
    optional(file, "reduce", costs.reduce.map(bandwidth))?;
    optional(file, "slots", costs.slots)?;
    optional(file, "slices", (costs.slices != free.slices).then_some(costs.slices))?;
    optional(file, "piece", costs.piece.map(|piece| text(&piece.to_string())))?;
    optional(file, "wire", (costs.wire != free.wire).then(|| format!("{:?}", costs.wire)))?;
    for kind in LinkKind::ALL {
        let Some((_, own)) = costs.links.iter().find(|(of, _)| *of == kind) else { continue };
        let LinkCosts { step, slice, latency, copy } = *own;
        writeln!(file, "\n[{header}.{kind}]")?;
        for (key, of) in [("step", step), ("slice", slice), ("latency", latency)] {
            optional(file, key, of.map(time))?;
        }
        optional(file, "copy", copy.map(bandwidth))?;
    }
    Ok(())
}

fn optional(file: &mut String, key: &str, value: Option<impl fmt::Display>) -> fmt::Result {
    value.map_or(Ok(()), |value| writeln!(file, "{key} = {value}"))
}
