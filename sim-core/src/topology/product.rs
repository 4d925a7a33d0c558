//! The topology: a product of parts, and where its ranks sit.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::dimension::Dimension;
use super::fabric::Fabric;
use super::part::Part;
use super::wiring::{Diameter, End, OwnDevice, Span, Wiring};
use super::{
    Device, DeviceId, DeviceKind, Leg, Link, LinkId, LinkSpec, Placement, PlacementError, TopologyError,
};
use crate::machine::LinkKind;
use crate::units::{Bandwidth, Latency};

/// A network of ranks: a product of parts (see the [module](crate::topology)).
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    pub(super) parts: Vec<Part>,
    /// The dimensions, if all parts are such and no rank was placed.
    dimensions: Vec<Dimension>,
    /// The different links.
    pub(super) links: Vec<LinkSpec>,
    /// The kind of each of them.
    kinds: Vec<LinkKind>,
    positions: u32,
    link_count: u64,
    own_devices: u64,
    places: Option<Arc<Places>>,
}

/// Where ranks were placed.
#[derive(Debug, PartialEq)]
struct Places {
    /// By rank.
    position: Vec<u32>,
    /// By position, the rank or `FREE`.
    rank: Vec<u32>,
}

const FREE: u32 = u32::MAX;

impl Topology {
    /// The product of `dimensions`, of which the first varies fastest in the rank ids.
    ///
    /// # Errors
    /// [`TopologyError`] if there are no dimensions, one is empty, or there are more than 2^30 ranks or
    /// more than 2^64 − 1 links.
    pub fn new(dimensions: impl IntoIterator<Item = Dimension>) -> Result<Self, TopologyError> {
        let dimensions: Vec<Dimension> = dimensions.into_iter().collect();
        dimensions.iter().enumerate().try_for_each(|(at, dimension)| dimension.check(at))?;
        Self::of_fabrics(dimensions.into_iter().map(|dimension| (Fabric::Plain(dimension), None)).collect())
    }

    /// A mesh: a line along each axis, with links of one sort.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn mesh(sizes: impl IntoIterator<Item = u32>, link: LinkSpec) -> Result<Self, TopologyError> {
        Self::new(sizes.into_iter().map(|size| Dimension::line(size, link.bandwidth, link.latency)))
    }

    /// A torus: a ring along each axis, with links of one sort.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn torus(sizes: impl IntoIterator<Item = u32>, link: LinkSpec) -> Result<Self, TopologyError> {
        Self::new(sizes.into_iter().map(|size| Dimension::ring(size, link.bandwidth, link.latency)))
    }

    /// The product of topologies, of which the first varies fastest in the rank ids.
    ///
    /// Each is there once for each combination of ranks of the others: the product of a switch of 8 and a fat tree of 16 is 16
    /// nodes of 8, with 8 fat trees, one for each place within a node.
    ///
    /// # Errors
    /// [`TopologyError`] if there are none, or there are too many ranks or links, or the ranks of one were placed.
    pub fn product(topologies: impl IntoIterator<Item = Topology>) -> Result<Self, TopologyError> {
        let mut fabrics = Vec::new();
        for topology in topologies {
            if topology.is_placed() {
                return Err(TopologyError::PlacedPart);
            }
            fabrics.extend(topology.parts.into_iter().map(|part| (part.fabric, part.stated)));
        }
        Self::of_fabrics(fabrics)
    }

    /// A topology of one part with so many members; they are counted here because the part's own count may not fit.
    pub(super) fn of(fabric: Fabric, members: u64) -> Result<Self, TopologyError> {
        if members > u64::from(MAX_RANKS) {
            return Err(TopologyError::TooLarge { what: "ranks", limit: u64::from(MAX_RANKS) });
        }
        Self::of_fabrics(vec![(fabric, None)])
    }

    /// The product of parts, each with what was said of the kind of its links.
    fn of_fabrics(fabrics: Vec<(Fabric, Option<LinkKind>)>) -> Result<Self, TopologyError> {
        if fabrics.is_empty() {
            return Err(TopologyError::NoDimension);
        }
        let mut positions = 1u32;
        for (fabric, _) in &fabrics {
            positions = positions
                .checked_mul(fabric.wiring().members())
                .filter(|&ranks| ranks <= MAX_RANKS)
                .ok_or(TopologyError::TooLarge { what: "ranks", limit: u64::from(MAX_RANKS) })?;
        }
        let plain = fabrics.iter().map(|(fabric, _)| match fabric {
            Fabric::Plain(dimension) => Some(*dimension),
            _ => None,
        });
        let dimensions = plain.collect::<Option<Vec<_>>>().unwrap_or_default();
        let mut topology = Self {
            parts: Vec::with_capacity(fabrics.len()),
            dimensions,
            links: Vec::new(),
            kinds: Vec::new(),
            positions,
            link_count: 0,
            own_devices: 0,
            places: None,
        };
        for (fabric, stated) in fabrics {
            topology.push(fabric, stated)?;
        }
        topology.classify();
        Ok(topology)
    }

    fn push(&mut self, fabric: Fabric, stated: Option<LinkKind>) -> Result<(), TopologyError> {
        let wiring = fabric.wiring();
        let (members, devices_per_row) = (wiring.members(), wiring.devices());
        let links_per_row = wiring.spans().iter().map(|span| span.count).sum();
        let rows = u64::from(self.positions / members);
        let stride = self.parts.last().map_or(1, |part| part.stride * part.members);
        let part = Part {
            members,
            stride,
            rows,
            first_link: self.link_count,
            links_per_row,
            first_device: self.own_devices,
            devices_per_row,
            classes: Arc::default(),
            kind: None,
            fabric,
            stated,
        };
        let add = |what, to: u64, per_row: u64| {
            let sum = rows.checked_mul(per_row).and_then(|all| to.checked_add(all));
            sum.ok_or(TopologyError::TooLarge { what, limit: u64::MAX })
        };
        self.link_count = add("links", self.link_count, links_per_row)?;
        self.own_devices = add("devices", self.own_devices, devices_per_row)?;
        self.parts.push(part);
        Ok(())
    }

    /// Numbers the different links of the parts.
    fn classify(&mut self) {
        self.links.clear();
        self.kinds.clear();
        let mut known = FxHashMap::<(u64, u64, LinkKind), u32>::default();
        for part in &mut self.parts {
            let mut classes = Vec::<(u64, u32)>::new();
            let mut first = 0;
            let spans = part.spans();
            for span in &spans {
                let LinkSpec { bandwidth, latency } = span.link;
                let bits = (bandwidth.bytes_per_s().to_bits(), latency.as_ns().to_bits(), span.kind);
                let class = *known.entry(bits).or_insert_with(|| {
                    self.links.push(span.link);
                    self.kinds.push(span.kind);
                    self.links.len() as u32 - 1
                });
                if classes.last().is_none_or(|(_, last)| *last != class) {
                    classes.push((first, class));
                }
                first += span.count;
            }
            part.classes = classes.into();
            let mut kinds = spans.iter().map(|span| span.kind);
            let first = kinds.next().unwrap_or_default();
            part.kind = kinds.all(|kind| kind == first).then_some(first);
        }
        if self.links.is_empty() {
            // Ranks without links: what is asked of a link has some answer all the same.
            self.links.push(LinkSpec { bandwidth: Bandwidth::LEAST, latency: Latency::default() });
            self.kinds.push(LinkKind::default());
        }
    }

    /// The topology with links of this kind; in a [`Cluster`](super::Cluster) those whose kind its node and its network do not say,
    /// in a [`LinkList`](super::LinkList) those whose kind it does not say.
    ///
    /// A [product](Self::product) keeps the kinds of its parts. Where nothing is said, links are [`LinkKind::Plain`], but for those
    /// of a cluster to its cards, which are [`LinkKind::Pcie`], and those of its network, which are [`LinkKind::Network`].
    ///
    /// ```
    /// use sim_core::machine::LinkKind;
    /// use sim_core::topology::{Dimension, LinkId, Topology};
    ///
    /// let node = Topology::new([Dimension::switch(8, "450 GB/s".parse()?, "250 ns".parse()?)])?;
    /// let rails = Topology::new([Dimension::switch(4, "50 GB/s".parse()?, "1 us".parse()?)])?;
    /// let parts = [node.with_link_kind(LinkKind::NvLink), rails.with_link_kind(LinkKind::Network)];
    /// let topology = Topology::product(parts)?;
    /// assert_eq!(topology.link_kind(LinkId(0)), LinkKind::NvLink);
    /// assert_eq!(topology.link_kind(LinkId(topology.link_count() - 1)), LinkKind::Network);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_link_kind(mut self, kind: LinkKind) -> Self {
        for part in &mut self.parts {
            match &mut part.fabric {
                // It knows of each link, as a file says it.
                Fabric::Graph(graph) => Arc::make_mut(graph).state_link_kind(kind),
                _ => part.stated = Some(kind),
            }
        }
        self.classify();
        self
    }

    /// The topology with rank r at the r-th position of `placement`, and no rank at the others.
    ///
    /// Links and devices keep their numbers.
    ///
    /// # Errors
    /// [`PlacementError`] if there is no such position, or the ranks were placed before.
    pub fn placed(&self, placement: &Placement) -> Result<Self, PlacementError> {
        if self.is_placed() {
            return Err(PlacementError::PlacedTwice);
        }
        placement.check(self.positions)?;
        let position = placement.positions().to_vec();
        let mut rank = vec![FREE; self.positions as usize];
        (0..).zip(&position).for_each(|(number, position)| rank[*position as usize] = number);
        let places = Some(Arc::new(Places { position, rank }));
        Ok(Self { places, dimensions: Vec::new(), ..self.clone() })
    }

    /// Of a topology that is one [`Cluster`](super::Cluster): how many consecutive ranks a node has, and how many network cards. None of any other,
    /// and where ranks were placed elsewhere than in the order of the positions.
    ///
    /// ```
    /// use sim_core::topology::{Dimension, Topology};
    ///
    /// let switch = Topology::new([Dimension::switch(8, "450 GB/s".parse()?, "250 ns".parse()?)])?;
    /// assert_eq!(switch.node(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn node(&self) -> Option<(u32, u32)> {
        let in_order = |places: &Arc<Places>| (0..).zip(&places.position).all(|(rank, at)| rank == *at);
        match self.parts.as_slice() {
            [Part { fabric: Fabric::Cluster(cluster), .. }] if self.places.iter().all(in_order) => {
                Some((cluster.node.position_count(), cluster.cards))
            }
            _ => None,
        }
    }

    /// Whether ranks were placed.
    #[must_use]
    pub fn is_placed(&self) -> bool {
        self.places.is_some()
    }

    /// Number of ranks: the product of the sizes, or as many as were placed.
    #[must_use]
    pub fn rank_count(&self) -> u32 {
        self.places.as_ref().map_or(self.positions, |places| places.position.len() as u32)
    }

    /// Number of positions for ranks: the product of the sizes.
    #[must_use]
    pub fn position_count(&self) -> u32 {
        self.positions
    }

    /// Number of directed links; their ids are 0 … `link_count` − 1.
    #[must_use]
    pub fn link_count(&self) -> u64 {
        self.link_count
    }

    /// Number of devices: positions of ranks, cards and switches.
    #[must_use]
    pub fn device_count(&self) -> u64 {
        u64::from(self.positions) + self.own_devices
    }

    /// Number of parts of the product.
    #[must_use]
    pub fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// The dimensions, the one that varies fastest first, if the topology is nothing but a product of dimensions with rank r at
    /// position r; none otherwise.
    pub fn dimensions(&self) -> impl ExactSizeIterator<Item = &Dimension> {
        self.dimensions.iter()
    }

    /// By part, whether it is a dimension, and which.
    pub fn part_dimensions(&self) -> impl ExactSizeIterator<Item = Option<&Dimension>> {
        self.parts.iter().map(|part| match &part.fabric {
            Fabric::Plain(dimension) => Some(dimension),
            _ => None,
        })
    }

    /// The first part that ASTRA-sim does not have.
    pub(crate) fn unknown_to_astra_sim(&self) -> Option<String> {
        use super::DimensionKind::{FullyConnected, Ring, Switch};
        let known = |part: &&Part| match &part.fabric {
            Fabric::Plain(dimension) => matches!(dimension.kind, Ring | Switch | FullyConnected),
            _ => false,
        };
        self.parts.iter().find(|part| !known(part)).map(|part| part.fabric.label())
    }

    /// What the topology is, such as "Switch of 8 × Ring of 4".
    #[must_use]
    pub fn label(&self) -> String {
        self.part_labels().join(" × ")
    }

    /// What each part is.
    #[must_use]
    pub fn part_labels(&self) -> Vec<String> {
        self.parts.iter().map(|part| part.fabric.label()).collect()
    }

    /// Appends the links from rank `src` to rank `dst` to `route`, in the order of travel.
    ///
    /// Part by part, 0 first; a ring the shorter way round, on a tie towards increasing ids; elsewhere as its kind says. Nothing
    /// is appended for `src` = `dst`. Ranks outside the topology have no route of meaning.
    pub fn route(&self, src: u32, dst: u32, route: &mut Vec<LinkId>) {
        self.each_link(self.position(src), self.position(dst), |link| route.push(LinkId(link)));
    }

    /// Calls `hop` with each link from one position to another.
    #[inline]
    fn each_link(&self, src: u32, dst: u32, mut hop: impl FnMut(u64)) {
        let mut at = src;
        for part in &self.parts {
            let (from, to) = (part.coordinate(at), part.coordinate(dst));
            if from == to {
                continue;
            }
            part.route(at, from, to, &mut hop);
            at = at - from * part.stride + to * part.stride;
        }
    }

    /// What is known of a link; None if there is no such link.
    #[must_use]
    pub fn link(&self, id: LinkId) -> Option<Link> {
        let (from, to) = self.link_ends(id)?;
        let (bandwidth, latency) = self.link_timing(id);
        let [from_name, to_name] =
            [from, to].map(|end| self.device(end).map_or_else(String::new, |d| d.name));
        let mut description = format!("{from_name} → {to_name}");
        let positions = u64::from(self.positions);
        if self.parts.len() > 1 && from.0.max(to.0) < positions {
            // Elsewhere the name of the device tells the part.
            let part = self.part_of(id).map_or(0, |(at, _)| at);
            description.push_str(&format!(" (dimension {part})"));
        }
        Some(Link { bandwidth, latency, description })
    }

    /// What a link carries and how long a bit is on its way; of an id that there is not, some link's.
    #[must_use]
    pub fn link_timing(&self, id: LinkId) -> (Bandwidth, Latency) {
        let link = self.links[self.dimension_of(id).unwrap_or(0)];
        (link.bandwidth, link.latency)
    }

    /// The kind of a link; of an id that there is not, some link's.
    #[must_use]
    pub fn link_kind(&self, id: LinkId) -> LinkKind {
        self.kinds[self.dimension_of(id).unwrap_or(0)]
    }

    /// The greatest kind of the links from rank `src` to rank `dst`.
    pub(crate) fn route_kind(&self, src: u32, dst: u32) -> LinkKind {
        let (src, dst) = (self.position(src), self.position(dst));
        let ways = self.parts.iter().map(|part| (part, part.coordinate(src), part.coordinate(dst)));
        let kinds = ways.filter(|(_, from, to)| from != to);
        kinds.map(|(part, from, to)| part.route_kind(from, to, &self.kinds)).max().unwrap_or_default()
    }

    /// The devices where a link begins and ends; None if there is no such link.
    #[must_use]
    pub fn link_ends(&self, id: LinkId) -> Option<(DeviceId, DeviceId)> {
        let (_, part) = self.part_of(id)?;
        let (from, to) = part.ends(id.0 - part.first_link, u64::from(self.positions));
        Some((DeviceId(from), DeviceId(to)))
    }

    /// What is known of a device; None if there is no such device.
    #[must_use]
    pub fn device(&self, id: DeviceId) -> Option<Device> {
        let Some(own) = id.0.checked_sub(u64::from(self.positions)) else {
            // A position fits 32 bits.
            let position = id.0 as u32;
            let rank = self.places.as_ref().map_or(position, |places| places.rank[position as usize]);
            let (name, kind) = match rank {
                FREE => (format!("free position {position}"), DeviceKind::Free),
                rank => (format!("rank {rank}"), DeviceKind::Rank(rank)),
            };
            return Some(Device { name, kind, part: 0, tier: 0, within_node: false });
        };
        if own >= self.own_devices {
            return None;
        }
        let (at, part) = self.part_of_device(own)?;
        let (row, device) = (
            (own - part.first_device) / part.devices_per_row,
            (own - part.first_device) % part.devices_per_row,
        );
        let OwnDevice { mut name, card, tier, within_node } = part.fabric.wiring().device(device);
        match (part.rows, part.devices_per_row) {
            (1, _) => {}
            (_, 1) => name.push_str(&format!(" {row}")),
            _ => name.push_str(&format!(" of row {row}")),
        }
        if self.parts.len() > 1 {
            name.push_str(&format!(" of dimension {at}"));
        }
        let kind = if card { DeviceKind::Card } else { DeviceKind::Switch };
        let within_node = within_node || at == 0 && self.parts.len() > 1;
        Some(Device { name, kind, part: at, tier, within_node })
    }

    /// The different bandwidths and latencies of links; at least one. [`Self::dimension_of`] gives a link's.
    pub(crate) fn link_classes(&self) -> &[LinkSpec] {
        &self.links
    }

    /// The class that a link belongs to; all its links have one bandwidth and latency.
    pub(crate) fn dimension_of(&self, id: LinkId) -> Option<usize> {
        self.part_of(id).map(|(_, part)| part.class(id.0 - part.first_link) as usize)
    }

    /// Calls `leg` with each leg of the route from `src` to `dst`, without its links.
    #[inline]
    pub(crate) fn each_leg(&self, src: u32, dst: u32, mut leg: impl FnMut(Leg)) {
        let (src, dst) = (self.position(src), self.position(dst));
        for part in &self.parts {
            let (from, to) = (part.coordinate(src), part.coordinate(dst));
            if from != to {
                part.each_leg(from, to, &self.links, &mut leg);
            }
        }
    }

    fn position(&self, rank: u32) -> u32 {
        match &self.places {
            None => rank,
            Some(places) => places.position.get(rank as usize).copied().unwrap_or(0),
        }
    }

    fn part_of(&self, id: LinkId) -> Option<(usize, &Part)> {
        if id.0 >= self.link_count {
            return None;
        }
        // The last that begins at or before it: parts without links share their beginning with the next.
        self.parts.iter().enumerate().rev().find(|(_, part)| part.first_link <= id.0)
    }

    fn part_of_device(&self, own: u64) -> Option<(usize, &Part)> {
        self.parts.iter().enumerate().rev().find(|(_, part)| part.first_device <= own)
    }
}

/// Leaves room for flags beside a rank in the engine's compact records.
const MAX_RANKS: u32 = 1 << 30;

/// A topology as a part of a cluster. It is not placed.
impl Wiring for Topology {
    fn members(&self) -> u32 {
        self.positions
    }

    fn devices(&self) -> u64 {
        self.own_devices
    }

    fn spans(&self) -> Vec<Span> {
        let of_part = |part: &Part| {
            let row = part.spans();
            let (rows, alone) = (part.rows, row.len() == 1);
            let times = if alone { 1 } else { rows };
            let factor = if alone { rows } else { 1 };
            (0..times)
                .flat_map(move |_| row.clone())
                .map(move |span| Span { count: span.count * factor, ..span })
        };
        self.parts.iter().flat_map(of_part).collect()
    }

    fn ends(&self, link: u64) -> (End, End) {
        let positions = u64::from(self.positions);
        let end = |id: u64| match id.checked_sub(positions) {
            Some(device) => End::Device(device),
            // A position fits 32 bits.
            None => End::Member(id as u32),
        };
        let ends = self.link_ends(LinkId(link));
        ends.map_or((End::Member(0), End::Member(0)), |(from, to)| (end(from.0), end(to.0)))
    }

    fn device(&self, device: u64) -> OwnDevice {
        let device = self.device(DeviceId(u64::from(self.positions) + device));
        device.map_or(OwnDevice::switch(String::new(), 1), |device| OwnDevice {
            card: device.kind == DeviceKind::Card,
            name: device.name,
            tier: device.tier,
            within_node: device.within_node,
        })
    }

    fn route(&self, from: u32, to: u32, hop: &mut dyn FnMut(u64)) {
        self.each_link(from, to, hop);
    }

    fn diameter(&self) -> Diameter {
        self.diameter()
    }

    fn injection(&self) -> [f64; 2] {
        let parts = self.parts.iter().map(|part| part.fabric.wiring().injection());
        parts.fold([0.0; 2], |[least, most], part| [least + part[0], most + part[1]])
    }

    fn halving(&self) -> Option<f64> {
        self.halving_bandwidth()
    }

    fn notes(&self) -> Vec<String> {
        self.notes()
    }
}
