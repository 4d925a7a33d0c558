//! What the links carried: bytes of data, and the time in which something flowed.

use super::engine::Engine;
use super::fold::Orbits;
use super::program::{Connection, NONE};
use crate::error::Overflow;
use crate::model::network::Network;
use crate::report::LinkLoad;
use crate::topology::Topology;
use crate::units::Bytes;

/// The loads of all links on the routes of data, by their ids.
pub(super) fn of_links(
    engine: &Engine<'_>,
    topology: &Topology,
    orbits: Option<&Orbits>,
) -> Result<Vec<LinkLoad>, Overflow> {
    // By link, or by orbit.
    let mut loads = engine.network.link_loads().unwrap_or_default();
    for (load, skipped) in loads.iter_mut().zip(&engine.steady.busy) {
        load.busy = load.busy.checked_add(*skipped).ok_or(Overflow::TIME)?;
    }
    // The network has counted flags as well.
    loads.iter_mut().for_each(|load| load.bytes = Bytes(0));
    let mut of_connection = vec![0u64; engine.program.connections.len()];
    for step in engine.program.steps.iter().filter(|step| step.send != NONE) {
        let sum = &mut of_connection[step.send as usize];
        *sum = sum.checked_add(step.bytes).ok_or(Overflow::BYTES)?;
    }
    let (mut route, mut crossed) = (Vec::new(), Vec::new());
    let sending = engine.program.connections.iter().zip(of_connection).filter(|(it, _)| it.sends());
    for (Connection { src, dst, .. }, bytes) in sending {
        match orbits {
            Some(orbits) => crossed.extend(orbits.crossed(*dst).iter().map(|orbit| *orbit as usize)),
            None => {
                topology.route(*src, *dst, &mut route);
                let found = |link| loads.binary_search_by_key(&link, |load| load.link).ok();
                crossed.extend(route.drain(..).filter_map(found));
            }
        }
        for at in crossed.drain(..) {
            let sum = loads[at].bytes.0.checked_add(bytes);
            loads[at].bytes = Bytes(sum.ok_or(Overflow::BYTES)?);
        }
    }
    Ok(match orbits {
        Some(orbits) => orbits.each_link(&loads),
        None => loads,
    })
}
