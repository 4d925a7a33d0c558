//! Any devices and links, given one by one.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use super::wiring::{Diameter, End, OwnDevice, Span, Wiring};
use super::{LinkSpec, Topology, TopologyError};
use crate::machine::LinkKind;
use crate::units::{Bandwidth, UnitError};

/// A device of a [`LinkList`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// A rank.
    Rank(u32),
    /// A switch, by its number in the order in which the switches were added.
    Switch(u32),
}

/// A topology link by link: asymmetric, uneven, with links missing, with switches of any names.
///
/// Routes are the shortest in hops; of several the one that visits the lowest device first where they part: ranks by number,
/// then switches in the order in which they were added. Ranks forward messages for others unless
/// [`ranks_forward`](Self::ranks_forward) says that they do not.
///
/// A route is found by a breadth-first search from its source, O(devices + links). The last searches are kept, up to 64 MiB,
/// so that the routes of one source cost one search. Topologies that a formula describes are cheaper as such.
///
/// ```
/// use sim_core::topology::{LinkList, LinkSpec, Node};
///
/// let link = LinkSpec::new("25 GB/s".parse()?, "700 ns".parse()?);
/// let mut list = LinkList::new(3);
/// let hub = list.switch("hub");
/// list.both_ways(Node::Rank(0), Node::Rank(1), link);
/// list.both_ways(Node::Rank(1), hub, link);
/// list.both_ways(hub, Node::Rank(2), link);
/// let topology = list.build()?;
/// let mut route = Vec::new();
/// topology.route(0, 2, &mut route);
/// let hops: Vec<_> = route.iter().filter_map(|id| topology.link(*id)).map(|link| link.description).collect();
/// assert_eq!(hops, ["rank 0 → rank 1", "rank 1 → hub", "hub → rank 2"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinkList {
    ranks: u32,
    switches: Vec<String>,
    links: Vec<(Node, Node, LinkSpec)>,
    /// What was said of the kind of each.
    kinds: Vec<Option<LinkKind>>,
    ranks_forward: bool,
}

impl LinkList {
    /// `ranks` ranks without a link.
    #[must_use]
    pub fn new(ranks: u32) -> Self {
        Self { ranks, switches: Vec::new(), links: Vec::new(), kinds: Vec::new(), ranks_forward: true }
    }

    /// Adds a switch; the same name twice is an error of [`build`](Self::build).
    pub fn switch(&mut self, name: impl Into<String>) -> Node {
        self.switches.push(name.into());
        // More do not fit the memory.
        Node::Switch((self.switches.len() - 1) as u32)
    }

    /// Adds a link in one direction. Links are numbered in the order in which they are added.
    pub fn one_way(&mut self, from: Node, to: Node, link: LinkSpec) {
        self.one_way_of_kind(from, to, link, None);
    }

    /// A link of whose kind this is said.
    pub(super) fn one_way_of_kind(&mut self, from: Node, to: Node, link: LinkSpec, kind: Option<LinkKind>) {
        self.links.push((from, to, link));
        self.kinds.push(kind);
    }

    /// Adds a link from `a` to `b` and one back.
    pub fn both_ways(&mut self, a: Node, b: Node, link: LinkSpec) {
        self.one_way(a, b, link);
        self.one_way(b, a, link);
    }

    /// Says the kind of the links that were added until now, but for those of which it was said before.
    ///
    /// ```
    /// use sim_core::machine::LinkKind;
    /// use sim_core::topology::{LinkId, LinkList, LinkSpec, Node};
    ///
    /// let mut list = LinkList::new(3);
    /// list.both_ways(Node::Rank(0), Node::Rank(1), LinkSpec::new("25 GB/s".parse()?, "700 ns".parse()?));
    /// list.link_kind(LinkKind::NvLink);
    /// list.both_ways(Node::Rank(1), Node::Rank(2), LinkSpec::new("12 GB/s".parse()?, "1 us".parse()?));
    /// list.link_kind(LinkKind::Pcie);
    /// let topology = list.build()?;
    /// let kinds = [0, 1, 2, 3].map(|link| topology.link_kind(LinkId(link)));
    /// assert_eq!(kinds, [LinkKind::NvLink, LinkKind::NvLink, LinkKind::Pcie, LinkKind::Pcie]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn link_kind(&mut self, kind: LinkKind) {
        self.kinds.iter_mut().for_each(|of| *of = of.or(Some(kind)));
    }

    /// Whether routes may pass through ranks; true by default.
    pub fn ranks_forward(&mut self, forward: bool) {
        self.ranks_forward = forward;
    }

    /// Eight V100 of a DGX-1: the hybrid cube mesh of NVLinks. Each GPU has six of them, `nvlink` each way (25 GB/s); where two
    /// join the same GPUs they are one link of twice the bandwidth.
    ///
    /// GPUs without a common NVLink reach each other through one that has links to both. PCIe is left out.
    ///
    /// # Errors
    /// [`UnitError`] if twice the bandwidth is out of range.
    pub fn dgx1(nvlink: LinkSpec) -> Result<Self, UnitError> {
        let double = Bandwidth::from_bytes_per_s(2.0 * nvlink.bandwidth.bytes_per_s())?;
        let double = LinkSpec { bandwidth: double, ..nvlink };
        // As `nvidia-smi topo -m` shows it: NV1 and NV2 between GPUs a and b.
        let single = [(0, 1), (0, 2), (1, 3), (2, 6), (3, 7), (4, 5), (4, 6), (5, 7)];
        let twice = [(0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (4, 7), (5, 6), (6, 7)];
        let mut list = Self::new(8);
        for (pairs, link) in [(single, nvlink), (twice, double)] {
            for (a, b) in pairs {
                list.both_ways(Node::Rank(a), Node::Rank(b), link);
            }
        }
        Ok(list)
    }

    /// The topology.
    ///
    /// # Errors
    /// [`TopologyError`]: no ranks, a link with an end that there is not, from a device to itself or twice the same, two switches
    /// of one name, or two ranks without a way.
    pub fn build(self) -> Result<Topology, TopologyError> {
        let graph = LinkGraph::new(self)?;
        graph.check_reachable()?;
        let members = u64::from(graph.list.ranks);
        Topology::of(graph.into(), members)
    }

    #[cfg(feature = "config")]
    pub(super) fn rank_count(&self) -> u32 {
        self.ranks
    }

    #[cfg(feature = "config")]
    pub(super) fn switch_names(&self) -> &[String] {
        &self.switches
    }

    #[cfg(feature = "config")]
    pub(super) fn links(&self) -> impl Iterator<Item = (&(Node, Node, LinkSpec), Option<LinkKind>)> {
        self.links.iter().zip(self.kinds.iter().copied())
    }

    #[cfg(feature = "config")]
    pub(super) fn forwards(&self) -> bool {
        self.ranks_forward
    }

    fn device(&self, node: Node) -> Option<u32> {
        match node {
            Node::Rank(rank) => (rank < self.ranks).then_some(rank),
            Node::Switch(switch) => ((switch as usize) < self.switches.len()).then(|| self.ranks + switch),
        }
    }

    fn name(&self, node: Node) -> String {
        match node {
            Node::Switch(switch) => match self.switches.get(switch as usize) {
                Some(name) => name.clone(),
                None => format!("switch {switch}"),
            },
            Node::Rank(rank) => format!("rank {rank}"),
        }
    }

    fn check(&self) -> Result<(), TopologyError> {
        /// Devices are counted in 32 bits, and there are ranks beside them.
        const MOST: usize = 1 << 30;
        super::checked_figure("ranks", self.ranks)?;
        for (what, count) in [("switches", self.switches.len()), ("links", self.links.len())] {
            if count > MOST {
                return Err(TopologyError::TooLarge { what, limit: MOST as u64 });
            }
        }
        let mut names = FxHashMap::default();
        for name in &self.switches {
            if names.insert(name.as_str(), ()).is_some() {
                return Err(TopologyError::DuplicateSwitch { name: name.clone() });
            }
        }
        let mut seen = FxHashMap::default();
        for (link, (from, to, _)) in self.links.iter().enumerate() {
            for end in [*from, *to] {
                if self.device(end).is_none() {
                    let (ranks, switches) = (self.ranks, self.switches.len());
                    let expected = format!("a rank below {ranks} or one of {switches} switches");
                    return Err(TopologyError::NoSuchEnd { link, end: self.name(end), expected });
                }
            }
            if from == to {
                return Err(TopologyError::SelfLink { link, device: self.name(*from) });
            }
            if let Some(first) = seen.insert((*from, *to), link) {
                let (from, to) = (self.name(*from), self.name(*to));
                return Err(TopologyError::DuplicateLink { link, first, from, to });
            }
        }
        Ok(())
    }
}

/// A link list with what searches need.
#[derive(Clone, Debug)]
pub(super) struct LinkGraph {
    list: LinkList,
    /// By link, the devices at its ends.
    ends: Vec<(u32, u32)>,
    /// By device, where its links begin in `outgoing`.
    first: Vec<u32>,
    /// The links by the device where they begin, then by the device where they end.
    outgoing: Vec<u32>,
    /// By switch, the fewest links to it from any rank.
    tiers: Vec<u32>,
    trees: Trees,
}

impl PartialEq for LinkGraph {
    fn eq(&self, other: &Self) -> bool {
        // The rest follows from it.
        self.list == other.list
    }
}

const NO_LINK: u32 = u32::MAX;

impl LinkGraph {
    /// The kind of the links of which it was not said.
    pub(super) fn state_link_kind(&mut self, kind: LinkKind) {
        self.list.link_kind(kind);
    }

    /// What it was made of.
    #[cfg(feature = "config")]
    pub(super) fn list(&self) -> &LinkList {
        &self.list
    }

    fn new(list: LinkList) -> Result<Self, TopologyError> {
        list.check()?;
        let device = |node| list.device(node).unwrap_or(0);
        let ends: Vec<(u32, u32)> =
            list.links.iter().map(|(from, to, _)| (device(*from), device(*to))).collect();
        let devices = list.ranks as usize + list.switches.len();
        let mut first = vec![0u32; devices + 1];
        for (from, _) in &ends {
            first[*from as usize + 1] += 1;
        }
        for at in 0..devices {
            first[at + 1] += first[at];
        }
        let mut outgoing: Vec<u32> = (0..ends.len() as u32).collect();
        outgoing.sort_unstable_by_key(|link| ends[*link as usize]);
        let mut graph = Self { list, ends, first, outgoing, tiers: Vec::new(), trees: Trees::default() };
        graph.tiers = graph.tiers();
        Ok(graph)
    }

    fn tiers(&self) -> Vec<u32> {
        let ranks = self.list.ranks;
        // A switch that no rank reaches is shown beside those at ranks.
        let mut tiers = vec![1; self.list.switches.len()];
        let mut reached = vec![false; tiers.len()];
        let mut front: Vec<u32> = (0..ranks).collect();
        for tier in 1.. {
            let mut next = Vec::new();
            for link in front.iter().flat_map(|at| self.outgoing(*at)) {
                let to = self.ends[*link as usize].1;
                let Some(switch) = to.checked_sub(ranks) else { continue };
                if !std::mem::replace(&mut reached[switch as usize], true) {
                    tiers[switch as usize] = tier;
                    next.push(to);
                }
            }
            if next.is_empty() {
                break;
            }
            front = next;
        }
        tiers
    }

    fn devices_in_all(&self) -> usize {
        self.first.len() - 1
    }

    fn outgoing(&self, device: u32) -> &[u32] {
        let [begin, end] = [device, device + 1].map(|at| self.first[at as usize] as usize);
        &self.outgoing[begin..end]
    }

    fn forwards(&self, device: u32) -> bool {
        device >= self.list.ranks || self.list.ranks_forward
    }

    /// By device, the link over which a search from `source` came to it, `NO_LINK` where it did not.
    ///
    /// The queue is in the order of the paths, and so the first to come is the lowest of the shortest.
    fn search(&self, source: u32) -> Vec<u32> {
        let mut came_over = vec![NO_LINK; self.devices_in_all()];
        let mut queue = VecDeque::from([source]);
        while let Some(at) = queue.pop_front() {
            if at != source && !self.forwards(at) {
                continue;
            }
            for link in self.outgoing(at) {
                let to = self.ends[*link as usize].1;
                if to != source && came_over[to as usize] == NO_LINK {
                    came_over[to as usize] = *link;
                    queue.push_back(to);
                }
            }
        }
        came_over
    }

    fn check_reachable(&self) -> Result<(), TopologyError> {
        let ranks = self.list.ranks;
        let unreached = |from: u32| {
            let tree = self.search(from);
            let to = (0..ranks).find(|to| *to != from && tree[*to as usize] == NO_LINK);
            to.map_or(Ok(()), |to| Err(TopologyError::Unreachable { from, to }))
        };
        if !self.list.ranks_forward {
            return (0..ranks).try_for_each(unreached);
        }
        // Where all pass on messages, it is enough that rank 0 reaches all and all reach rank 0.
        unreached(0)?;
        let mut back = self.list.clone();
        back.links.iter_mut().for_each(|(from, to, _)| std::mem::swap(from, to));
        let tree = Self::new(back)?.search(0);
        let from = (1..ranks).find(|from| tree[*from as usize] == NO_LINK);
        from.map_or(Ok(()), |from| Err(TopologyError::Unreachable { from, to: 0 }))
    }

    fn end(&self, device: u32) -> End {
        match device.checked_sub(self.list.ranks) {
            None => End::Member(device),
            Some(switch) => End::Device(u64::from(switch)),
        }
    }
}

impl Wiring for LinkGraph {
    fn members(&self) -> u32 {
        self.list.ranks
    }

    fn devices(&self) -> u64 {
        self.list.switches.len() as u64
    }

    fn spans(&self) -> Vec<Span> {
        let links = self.list.links.iter().zip(&self.list.kinds);
        links.map(|((_, _, link), kind)| Span::new("link", 1, *link).stated_around(*kind)).collect()
    }

    fn ends(&self, link: u64) -> (End, End) {
        let (from, to) = self.ends[link as usize];
        (self.end(from), self.end(to))
    }

    fn device(&self, device: u64) -> OwnDevice {
        let name = self.list.switches.get(device as usize).cloned().unwrap_or_default();
        OwnDevice::switch(name, self.tiers.get(device as usize).copied().unwrap_or(1))
    }

    fn route(&self, from: u32, to: u32, hop: &mut dyn FnMut(u64)) {
        let tree = self.trees.get(from, || self.search(from));
        let (mut links, mut at) = (Vec::new(), to);
        while at != from {
            let link = tree[at as usize];
            // All pairs were checked.
            let Some((before, _)) = self.ends.get(link as usize) else { return };
            links.push(link);
            at = *before;
        }
        links.into_iter().rev().for_each(|link| hop(u64::from(link)));
    }

    fn diameter(&self) -> Diameter {
        let bound = Diameter { hops: self.devices_in_all() as u32 - 1, exact: false };
        self.tried_diameter().unwrap_or(bound)
    }

    fn injection(&self) -> [f64; 2] {
        let of = |rank: u32| {
            let links = self.outgoing(rank).iter().map(|link| self.list.links[*link as usize].2);
            links.map(|link| link.bandwidth.bytes_per_s()).sum::<f64>()
        };
        let all = (0..self.list.ranks).map(of);
        all.fold([f64::INFINITY, 0.0], |[least, most], of| [least.min(of), most.max(of)])
    }

    fn halving(&self) -> Option<f64> {
        None
    }
}

/// Searches that were made, by source. What they hold is a pure function of the graph, so that who asked first does not matter.
#[derive(Default)]
struct Trees(RwLock<FxHashMap<u32, Arc<[u32]>>>);

impl Trees {
    fn get(&self, source: u32, search: impl FnOnce() -> Vec<u32>) -> Arc<[u32]> {
        const KEPT_BYTES: usize = 64 << 20;
        if let Some(tree) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&source) {
            return tree.clone();
        }
        let tree: Arc<[u32]> = search().into();
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if (kept.len() + 1) * tree.len() * size_of::<u32>() > KEPT_BYTES {
            kept.clear();
        }
        kept.insert(source, tree.clone());
        tree
    }
}

impl Clone for Trees {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Trees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trees")
    }
}
