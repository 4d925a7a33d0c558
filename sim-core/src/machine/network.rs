//! The links and limits that data flow over, and what holds on each connection.

use super::fold::Orbits;
use super::parameters::{Machine, OnLinks, Protocol};
use super::program::{Connection, Program};
use crate::error::{Overflow, SimError};
use crate::model::fluid::Fluid;
use crate::model::network::Pair;
use crate::topology::Topology;
use crate::units::{Bandwidth, Bytes, Picos};

/// What holds on a connection.
pub(super) struct Way {
    pub(super) costs: OnLinks,
    /// From a filled slot to the receiver that sees it.
    pub(super) latency: Picos,
    /// The pair of the network for data that are copied, and for data that are reduced on the way.
    pub(super) pairs: [u32; 2],
}

/// The network and the ways over it, by connection.
///
/// Every connection is a pair of the network of its own, as its thread block is one limit to it: what it copies, or reduces. The
/// ranks at its ends are others. Where one rank stands for all, its links are the `orbits` of theirs.
pub(super) fn ways(
    machine: &Machine,
    protocol: Protocol,
    topology: &Topology,
    program: &Program,
    orbits: Option<&Orbits>,
) -> Result<(Fluid, Vec<Way>), SimError> {
    let costs = machine.costs(protocol).ok_or_else(|| no_costs(machine, protocol.name()))?;
    let on_wire = |rate: Bandwidth| (rate.bytes_per_s() * costs.wire).round().clamp(1.0, 1e18) as u64;
    let ranks = if program.folded { 1 } else { topology.rank_count() };
    let mut limits = Vec::new();
    // First the ranks', which are numbered by them.
    for limit in [machine.egress, machine.ingress].into_iter().flatten() {
        limits.extend((0..ranks).map(|_| limit.whole_bytes_per_s()));
    }
    let of_ranks = |connection: &Connection| {
        let egress = machine.egress.map(|_| connection.src);
        let first = if machine.egress.is_some() { ranks } else { 0 };
        // What it sends to another rank is as much as what comes to it from one.
        let dst = if program.folded { 0 } else { connection.dst };
        [egress, machine.ingress.map(|_| first + dst)]
    };
    let (mut pairs, mut crossed, mut ways) = (Vec::new(), Vec::new(), Vec::new());
    for connection in &program.connections {
        let Connection { src, dst, copies, reduces, .. } = *connection;
        let costs_here = costs.on(topology.route_kind(src, dst));
        let rates = [
            copies.then_some(costs_here.copy),
            reduces.then_some([costs_here.copy, costs.reduce].into_iter().flatten().reduce(least)),
        ];
        let mut of_way = [u32::MAX; 2];
        for (pair, rate) in of_way.iter_mut().zip(rates) {
            let Some(rate) = rate else { continue };
            *pair = u32::try_from(pairs.len()).map_err(|_| Overflow::ROUTES)?;
            let [egress, ingress] = of_ranks(connection);
            let own = match rate {
                Some(rate) => {
                    limits.push(on_wire(rate));
                    Some(u32::try_from(limits.len() - 1).map_err(|_| Overflow::ROUTES)?)
                }
                None => None,
            };
            pairs.push(Pair { src, dst });
            crossed.push([egress, ingress, own]);
        }
        ways.push(Way { costs: costs_here, latency: costs_here.latency, pairs: of_way });
    }
    let crossed = |pair: usize| crossed[pair].into_iter().flatten();
    let mut network = match orbits {
        None => Fluid::limited(topology, &pairs, &limits, crossed)?,
        Some(orbits) => orbits.network(&pairs, &limits, crossed)?,
    };
    let latencies = network.take_latencies();
    for way in &mut ways {
        let pair = way.pairs.into_iter().find(|pair| *pair != u32::MAX);
        if let Some(of_links) = pair.and_then(|pair| latencies.get(pair as usize)) {
            way.latency = way.latency.checked_add(*of_links).ok_or(Overflow::TIME)?;
        }
    }
    Ok((network, ways))
}

fn least(a: Bandwidth, b: Bandwidth) -> Bandwidth {
    if b < a { b } else { a }
}

/// The machine has no figures for a protocol.
pub(super) fn no_costs(machine: &Machine, protocol: &str) -> SimError {
    let known: Vec<_> = machine.protocols().map(Protocol::name).collect();
    let known = if known.is_empty() { "none at all".to_owned() } else { known.join(", ") };
    SimError::NoCosts { machine: machine.name.clone(), protocol: protocol.to_owned(), known }
}

/// The bytes on the links for bytes of data, rounded up.
pub(super) fn wire(data: u64, factor: f64) -> Result<Bytes, Overflow> {
    if factor <= 1.0 {
        return Ok(Bytes(data));
    }
    let bytes = (data as f64 * factor).ceil();
    if bytes < u64::MAX as f64 { Ok(Bytes(bytes as u64)) } else { Err(Overflow::BYTES) }
}
