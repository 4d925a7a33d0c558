//! One rank for all, where all do the same and their data cross links that are alike.
//!
//! Rank 0 sends to itself what it sends to others, and its network has one link for each *orbit*: the links that data cross as the
//! i-th of the same message of some rank. That is exact if
//!
//! * an orbit has as many links as there are ranks, and each of them is crossed by each message of one rank, or of none;
//! * the links of an orbit have one bandwidth, the routes of a message one latency and one kind.
//!
//! Then rates that are max-min fair for rank 0 are so for all ranks when each link has those of its orbit: no link carries more than
//! it can, and every flow crosses a full link on which no other is faster. There is only one set of rates like that. All of it is
//! checked on the routes of all ranks.

use chakra_et::graph::{Graph, Op, Symmetry};
use rustc_hash::FxHashMap;

use super::program::Program;
use super::rounds::Rounds;
use super::{Figures, report};
use crate::engine::Setup;
use crate::error::{Overflow, SimError};
use crate::model::fluid::Fluid;
use crate::model::network::Pair;
use crate::report::{LinkLoad, Report};
use crate::topology::{LinkId, Topology};
use crate::units::Picos;

/// Runs the first rank for all ranks of a graph that has one of some symmetries; None where that cannot be, or is said better of all.
pub(super) fn of_all(
    setup: Setup<'_>,
    graph: &Graph,
    symmetries: impl IntoIterator<Item = Symmetry>,
) -> Result<Option<Report>, SimError> {
    if !is_enough(setup) || !has_same_steps(graph) {
        return Ok(None);
    }
    for symmetry in symmetries {
        match of_first(setup, graph, &symmetry) {
            Ok(None) => {}
            Err(error) if !matches!(error, SimError::Stopped(_)) => return Ok(None),
            report => return report,
        }
    }
    Ok(None)
}

/// Runs the first rank, or the one rank there is, for all; None where it cannot stand for them.
///
/// Every rank does what it does, relabelled, in thread blocks and steps of the same numbers.
pub(super) fn of_first(
    setup: Setup<'_>,
    graph: &Graph,
    symmetry: &Symmetry,
) -> Result<Option<Report>, SimError> {
    let figures = Figures::of(setup, graph)?;
    if !is_enough(setup) {
        return Ok(None);
    }
    let program = Program::of_first(graph, symmetry)?;
    let Some(orbits) = Orbits::of(figures.topology, symmetry, &program) else { return Ok(None) };
    let rounds = Rounds::of(graph, &program, figures.costs);
    let engine = figures.execute(setup, &program, rounds, Some(&orbits))?;
    if engine.is_stuck() {
        return Err(SimError::Stuck(engine.diagnose(graph, Some(symmetry))));
    }
    report(setup, &engine, figures.topology, Some(&orbits)).map(Some)
}

/// Whether what is asked for can be said of one rank.
fn is_enough(setup: Setup<'_>) -> bool {
    setup.fold && !setup.times && setup.options.is_plain()
}

/// Whether all ranks have their nodes in the same steps, and reduce and copy as much: what a symmetry leaves open.
fn has_same_steps(graph: &Graph) -> bool {
    let Some((first, others)) = graph.ranks().split_first() else { return false };
    others.iter().all(|rank| {
        let is_same = |node| {
            let same_work = match (first.op(node), rank.op(node)) {
                (comp @ Op::Comp { .. }, other) => comp == other,
                _ => true,
            };
            same_work && first.origin(node).step == rank.origin(node).step
        };
        first.len() == rank.len() && (0..first.len() as u32).all(is_same)
    })
}

/// The links of all ranks, by what they are for the first.
pub(super) struct Orbits {
    /// By orbit: a link of it, and the bytes per second of each.
    links: Vec<(LinkId, u64)>,
    /// All links, in the order of their ids, and their orbits.
    all: Vec<(LinkId, u32)>,
    /// By the rank that rank 0 sends to, in ascending order.
    routes: Vec<Route>,
}

struct Route {
    dst: u32,
    orbits: Vec<u32>,
    latency: Picos,
}

/// A link while orbits are looked for: its orbit, and the last place on a route at which it was found.
type Found = FxHashMap<LinkId, (u32, usize)>;

impl Orbits {
    /// The orbits of the links that a program needs; None where one rank cannot stand for all, or that takes long to find out.
    pub(super) fn of(topology: &Topology, symmetry: &Symmetry, program: &Program) -> Option<Self> {
        /// Of all routes together.
        const MOST_HOPS: u64 = 1 << 24;
        let sending = program.connections.iter().filter(|connection| connection.sends());
        let mut peers: Vec<u32> = sending.map(|connection| connection.dst).collect();
        peers.sort_unstable();
        peers.dedup();
        let mut orbits = Self { links: Vec::new(), all: Vec::new(), routes: Vec::with_capacity(peers.len()) };
        let (mut found, mut places, mut route) = (Found::default(), 0, Vec::new());
        for dst in peers {
            topology.route(0, dst, &mut route);
            places += route.len();
            if places as u64 * u64::from(symmetry.rank_count()) > MOST_HOPS {
                return None;
            }
            let first: Vec<LinkId> = std::mem::take(&mut route);
            orbits.add(topology, symmetry, dst, &first, places - first.len(), &mut found)?;
        }
        orbits.all = found.into_iter().map(|(link, (orbit, _))| (link, orbit)).collect();
        orbits.all.sort_unstable();
        Some(orbits)
    }

    /// The routes of what each rank sends as the first sends to `dst`, over the links `first`; their places have numbers from
    /// `first_place` on. None if they are not alike.
    fn add(
        &mut self,
        topology: &Topology,
        symmetry: &Symmetry,
        dst: u32,
        first: &[LinkId],
        first_place: usize,
        found: &mut Found,
    ) -> Option<()> {
        let known = self.links.len();
        let mut crossed = Vec::with_capacity(first.len());
        for link in first {
            let orbit = match found.get(link) {
                Some((orbit, _)) => *orbit,
                None => {
                    self.links.push((*link, topology.link_timing(*link).0.whole_bytes_per_s()));
                    u32::try_from(self.links.len() - 1).ok()?
                }
            };
            if crossed.contains(&orbit) {
                return None;
            }
            crossed.push(orbit);
        }
        let kind = topology.route_kind(0, dst);
        let (mut latency, mut route) = (None, Vec::new());
        for rank in 0..symmetry.rank_count() {
            let peer = symmetry.moved(dst, rank);
            topology.route(rank, peer, &mut route);
            if route.len() != first.len() || topology.route_kind(rank, peer) != kind {
                return None;
            }
            let mut sum = Picos::ZERO;
            for ((link, orbit), place) in route.drain(..).zip(&crossed).zip(first_place..) {
                let (bandwidth, of_link) = topology.link_timing(link);
                if bandwidth.whole_bytes_per_s() != self.links[*orbit as usize].1 {
                    return None;
                }
                sum = sum.checked_add(of_link.to_picos())?;
                let is_new = *orbit as usize >= known;
                let (of, last_place) = match found.get_mut(&link) {
                    Some(known) => known,
                    // An orbit that is known has all its links.
                    None if !is_new => return None,
                    None => {
                        found.insert(link, (*orbit, place));
                        continue;
                    }
                };
                if of != orbit || std::mem::replace(last_place, place) == place {
                    return None;
                }
            }
            if *latency.get_or_insert(sum) != sum {
                return None;
            }
        }
        self.routes.push(Route { dst, orbits: crossed, latency: latency.unwrap_or_default() });
        Some(())
    }

    /// The network in which each orbit is a link; see [`Fluid::limited`].
    pub(super) fn network<I: Iterator<Item = u32>>(
        &self,
        pairs: &[Pair],
        limits: &[u64],
        limited_by: impl Fn(usize) -> I,
    ) -> Result<Fluid, Overflow> {
        let first_limit = u32::try_from(self.links.len()).map_err(|_| Overflow::ROUTES)?;
        let (ids, mut capacities): (Vec<_>, Vec<_>) = self.links.iter().copied().unzip();
        capacities.extend(limits);
        Fluid::of_routes(ids, capacities, pairs.len(), |pair, hops| {
            let route = self.route(pairs[pair].dst);
            hops.extend(route.into_iter().flat_map(|route| &route.orbits));
            hops.extend(limited_by(pair).map(|limit| first_limit + limit));
            Ok(route.map_or(Picos::ZERO, |route| route.latency))
        })
    }

    fn route(&self, dst: u32) -> Option<&Route> {
        let at = self.routes.binary_search_by_key(&dst, |route| route.dst).ok()?;
        Some(&self.routes[at])
    }

    /// The orbits that data to a rank cross.
    pub(super) fn crossed(&self, dst: u32) -> &[u32] {
        self.route(dst).map_or(&[], |route| &route.orbits)
    }

    /// The loads of all links, of those of the orbits.
    pub(super) fn each_link(&self, of_orbits: &[LinkLoad]) -> Vec<LinkLoad> {
        let of_link = |(link, orbit): &(LinkId, u32)| LinkLoad { link: *link, ..of_orbits[*orbit as usize] };
        self.all.iter().map(of_link).collect()
    }
}
