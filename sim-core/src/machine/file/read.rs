//! The keys of a machine's file, and what they make.

use crate::config_table::{Fault, Source, Table, read};
use crate::machine::{Completion, Costs, LinkCosts, LinkKind, Machine, Protocol};
use crate::topology::declared_toml;
use crate::units::Bytes;

/// The machine that the file declares.
pub(super) fn machine(text: &str) -> Result<Machine, Fault> {
    let file = read(text)?;
    let table = Table::new(Source(text), file.get_ref(), &file.span());
    let mut machine = Machine::new(table.need("name")?.text("a text")?);
    if let Some(description) = table.get("description") {
        description.text("a text")?.clone_into(&mut machine.description);
    }
    if let Some(sources) = table.get("sources") {
        const EXPECTED: &str = "a list of texts";
        let texts =
            sources.elements(EXPECTED)?.into_iter().map(|text| text.text(EXPECTED).map(str::to_owned));
        machine.sources = texts.collect::<Result<_, _>>()?;
    }
    machine.egress = table.quantity_if("egress")?;
    machine.ingress = table.quantity_if("ingress")?;
    machine.completion = completion(&table)?;
    if let Some(protocols) = table.get("protocol") {
        let protocols = protocols.table()?;
        for protocol in Protocol::ALL {
            if let Some(table) = protocols.get(key(protocol)) {
                machine = machine.with(protocol, costs(table.table()?)?);
            }
        }
        protocols.finish()?;
    }
    if let Some(topology) = table.get("topology") {
        machine.topology = Some(declared_toml(topology.table()?)?);
    }
    table.finish()?;
    Ok(machine)
}

/// A protocol's key under `protocol`.
pub(super) fn key(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Simple => "simple",
        Protocol::Ll => "ll",
        Protocol::Ll128 => "ll128",
    }
}

fn completion(table: &Table<'_>) -> Result<Completion, Fault> {
    const NAMES: &str = "\"filled\" or \"delivered\"";
    let Some(value) = table.get("completion") else { return Ok(Completion::default()) };
    match value.text(NAMES)? {
        "filled" => Ok(Completion::Filled),
        "delivered" => Ok(Completion::Delivered),
        _ => Err(value.wrong(NAMES)),
    }
}

fn costs(table: Table<'_>) -> Result<Costs, Fault> {
    let free = Costs::free();
    let mut costs = Costs {
        launch: table.quantity_or("launch", free.launch)?,
        step: table.quantity_or("step", free.step)?,
        slice: table.quantity_or("slice", free.slice)?,
        latency: table.quantity_or("latency", free.latency)?,
        copy: table.quantity_if("copy")?,
        reduce: table.quantity_if("reduce")?,
        slots: table.get("slots").map(|slots| slots.count()).transpose()?,
        slices: table.count_or("slices", free.slices)?,
        piece: table.quantity_if("piece")?,
        ..free
    };
    if let (Some(Bytes(0)), Some(piece)) = (costs.piece, table.get("piece")) {
        return Err(piece.wrong("at least 1 B"));
    }
    if let Some(wire) = table.get("wire") {
        costs.wire = wire.factor()?;
        if costs.wire < 1.0 {
            return Err(wire.wrong("a number, at least 1"));
        }
    }
    for kind in LinkKind::ALL {
        if let Some(of) = table.get(kind.name()) {
            costs.links.push((kind, link_costs(of.table()?)?));
        }
    }
    table.finish()?;
    Ok(costs)
}

fn link_costs(table: Table<'_>) -> Result<LinkCosts, Fault> {
    let costs = LinkCosts {
        step: table.quantity_if("step")?,
        slice: table.quantity_if("slice")?,
        latency: table.quantity_if("latency")?,
        copy: table.quantity_if("copy")?,
    };
    table.finish()?;
    Ok(costs)
}
