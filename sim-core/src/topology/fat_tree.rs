//! Three layers of switches.

use super::leaf_spine::ratio;
use super::wiring::{Diameter, End, OwnDevice, Span, Wiring};
use super::{LinkSpec, Routing, Topology, TopologyError, checked_figure};

/// Pods of edge and aggregation switches, joined by core switches.
///
/// The k-ary fat tree (Al-Fares et al. 2008) has k pods of k/2 edges and k/2 aggregations, k/2 members at each edge and k/2
/// cores above each aggregation: k³/4 members in all ([`FatTree::k_ary`]). Other figures taper it.
///
/// Member m hangs on edge ⌊m / hosts⌋, counted through all pods. Within a pod each edge is linked to each aggregation. Core
/// (a, c) is linked to the a-th aggregation of every pod. Routes take 2, 4 or 6 hops. With A aggregations a pod and C cores an
/// aggregation, the [`Routing`] gives a way w of A within a pod: by aggregation w; and a way w of A·C between pods: up by
/// aggregation w mod A and core ⌊w / A⌋ of it, and down again.
///
/// | links in the order of their numbers | how many |
/// |---|---|
/// | member → its edge, by member; edge → member | members each |
/// | edge → aggregation, by edge; aggregation → edge, by aggregation | pods · edges · aggregations each |
/// | aggregation → core, by aggregation; core → aggregation, by core, then pod | pods · aggregations · cores each |
///
/// ```
/// use sim_core::topology::{FatTree, LinkSpec};
///
/// let link = LinkSpec::new("400 Gb/s".parse()?, "500 ns".parse()?);
/// assert_eq!(FatTree::k_ary(8, link)?.build()?.rank_count(), 128);
/// // Two members for each link upwards.
/// let tapered = FatTree { hosts: 8, ..FatTree::k_ary(8, link)? };
/// assert_eq!(tapered.edge_oversubscription(), 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FatTree {
    /// Number of pods.
    pub pods: u32,
    /// Number of edge switches in a pod.
    pub edges: u32,
    /// Number of aggregation switches in a pod.
    pub aggregations: u32,
    /// Number of core switches above each aggregation switch.
    pub cores: u32,
    /// Number of members at each edge switch.
    pub hosts: u32,
    /// The link between a member and its edge switch, each way.
    pub host: LinkSpec,
    /// The link between an edge and an aggregation switch, each way.
    pub edge_uplink: LinkSpec,
    /// The link between an aggregation and a core switch, each way.
    pub core_uplink: LinkSpec,
    /// Which way up a message takes.
    pub routing: Routing,
}

impl FatTree {
    /// The fat tree of switches with `k` ports, all links alike.
    ///
    /// # Errors
    /// [`TopologyError::Figure`] unless `k` is even and at least 2.
    pub fn k_ary(k: u32, link: LinkSpec) -> Result<Self, TopologyError> {
        if k < 2 || !k.is_multiple_of(2) {
            let expected = "an even number of ports, at least 2".to_owned();
            return Err(TopologyError::Figure { what: "k", value: u64::from(k), expected });
        }
        let half = k / 2;
        Ok(Self {
            pods: k,
            edges: half,
            aggregations: half,
            cores: half,
            hosts: half,
            host: link,
            edge_uplink: link,
            core_uplink: link,
            routing: Routing::default(),
        })
    }

    /// The topology.
    ///
    /// # Errors
    /// [`TopologyError`] if a figure is 0 or the topology is too large.
    pub fn build(self) -> Result<Topology, TopologyError> {
        let figures = [
            ("pods", self.pods),
            ("edges", self.edges),
            ("aggregations", self.aggregations),
            ("cores", self.cores),
            ("hosts", self.hosts),
        ];
        for (what, value) in figures {
            checked_figure(what, value)?;
        }
        let members = u64::from(self.pods) * u64::from(self.edges);
        Topology::of(self.into(), members.saturating_mul(u64::from(self.hosts)))
    }

    /// What the members of an edge switch can send over what its up-links carry.
    #[must_use]
    pub fn edge_oversubscription(&self) -> f64 {
        let down = f64::from(self.hosts) * self.host.bandwidth.bytes_per_s();
        down / (f64::from(self.aggregations) * self.edge_uplink.bandwidth.bytes_per_s())
    }

    /// What comes up to an aggregation switch over what its up-links carry.
    #[must_use]
    pub fn core_oversubscription(&self) -> f64 {
        let down = f64::from(self.edges) * self.edge_uplink.bandwidth.bytes_per_s();
        down / (f64::from(self.cores) * self.core_uplink.bandwidth.bytes_per_s())
    }

    fn counts(&self) -> Counts {
        let [pods, edges, aggregations, cores, hosts] =
            [self.pods, self.edges, self.aggregations, self.cores, self.hosts].map(u64::from);
        Counts { pods, edges, aggregations, cores, hosts }
    }
}

/// The figures wide enough for products.
struct Counts {
    pods: u64,
    edges: u64,
    aggregations: u64,
    cores: u64,
    hosts: u64,
}

impl Counts {
    fn members(&self) -> u64 {
        self.pods * self.edges * self.hosts
    }

    /// Links from edges to aggregations.
    fn middle(&self) -> u64 {
        self.pods * self.edges * self.aggregations
    }

    /// Links from aggregations to cores.
    fn upper(&self) -> u64 {
        self.pods * self.aggregations * self.cores
    }
}

impl Wiring for FatTree {
    fn members(&self) -> u32 {
        self.pods * self.edges * self.hosts
    }

    fn devices(&self) -> u64 {
        let n = self.counts();
        n.pods * (n.edges + n.aggregations) + n.aggregations * n.cores
    }

    fn spans(&self) -> Vec<Span> {
        let n = self.counts();
        vec![
            Span::new("host link", 2 * n.members(), self.host),
            Span::new("edge to aggregation link", 2 * n.middle(), self.edge_uplink),
            Span::new("aggregation to core link", 2 * n.upper(), self.core_uplink),
        ]
    }

    fn ends(&self, link: u64) -> (End, End) {
        let n = self.counts();
        let edge = End::Device;
        let aggregation = |number| End::Device(n.pods * n.edges + number);
        let core = |number| End::Device(n.pods * (n.edges + n.aggregations) + number);
        if link < 2 * n.members() {
            let member = link % n.members();
            let (member, edge) = (End::Member(member as u32), edge(member / n.hosts));
            return if link < n.members() { (member, edge) } else { (edge, member) };
        }
        let link = link - 2 * n.members();
        if link < n.middle() {
            let (from, to) = (link / n.aggregations, link % n.aggregations);
            return (edge(from), aggregation(from / n.edges * n.aggregations + to));
        }
        let link = link - n.middle();
        if link < n.middle() {
            let (from, to) = (link / n.edges, link % n.edges);
            return (aggregation(from), edge(from / n.aggregations * n.edges + to));
        }
        let link = link - n.middle();
        if link < n.upper() {
            let (from, to) = (link / n.cores, link % n.cores);
            return (aggregation(from), core(from % n.aggregations * n.cores + to));
        }
        let link = link - n.upper();
        let (from, pod) = (link / n.pods, link % n.pods);
        (core(from), aggregation(pod * n.aggregations + from / n.cores))
    }

    fn device(&self, device: u64) -> OwnDevice {
        let n = self.counts();
        let in_pod = |name: &str, number: u64, of_pod: u64| {
            format!("{name} {} of pod {}", number % of_pod, number / of_pod)
        };
        if device < n.pods * n.edges {
            return OwnDevice::switch(in_pod("edge", device, n.edges), 1);
        }
        let device = device - n.pods * n.edges;
        if device < n.pods * n.aggregations {
            return OwnDevice::switch(in_pod("aggregation", device, n.aggregations), 2);
        }
        OwnDevice::switch(format!("core {}", device - n.pods * n.aggregations), 3)
    }

    fn route(&self, from: u32, to: u32, hop: &mut dyn FnMut(u64)) {
        let n = self.counts();
        let (src, dst) = (u64::from(from), u64::from(to));
        let (first, last) = (src / n.hosts, dst / n.hosts);
        let (first_pod, last_pod) = (first / n.edges, last / n.edges);
        let middle = 2 * n.members();
        let upper = middle + 2 * n.middle();
        let up = |aggregation| middle + first * n.aggregations + aggregation;
        let down = |aggregation| {
            middle + n.middle() + (last_pod * n.aggregations + aggregation) * n.edges + last % n.edges
        };
        hop(src);
        if first_pod != last_pod {
            let way = self.routing.way(from, to, n.aggregations * n.cores);
            let (aggregation, core) = (way % n.aggregations, way / n.aggregations);
            hop(up(aggregation));
            hop(upper + (first_pod * n.aggregations + aggregation) * n.cores + core);
            hop(upper + n.upper() + (aggregation * n.cores + core) * n.pods + last_pod);
            hop(down(aggregation));
        } else if first != last {
            let aggregation = self.routing.way(from, to, n.aggregations);
            hop(up(aggregation));
            hop(down(aggregation));
        }
        hop(n.members() + dst);
    }

    fn diameter(&self) -> Diameter {
        Diameter::exact(match (self.pods, self.edges, self.hosts) {
            (1, 1, 1) => 0,
            (1, 1, _) => 2,
            (1, ..) => 4,
            _ => 6,
        })
    }

    fn injection(&self) -> [f64; 2] {
        [self.host.bandwidth.bytes_per_s(); 2]
    }

    fn halving(&self) -> Option<f64> {
        self.pods.is_multiple_of(2).then(|| {
            let host = f64::from(self.hosts) * self.host.bandwidth.bytes_per_s();
            let edge = f64::from(self.aggregations) * self.edge_uplink.bandwidth.bytes_per_s();
            let core = f64::from(self.aggregations)
                * f64::from(self.cores)
                * self.core_uplink.bandwidth.bytes_per_s();
            f64::from(self.pods / 2) * (f64::from(self.edges) * host.min(edge)).min(core)
        })
    }

    fn notes(&self) -> Vec<String> {
        vec![format!(
            "edges to aggregations {}, aggregations to cores {}, {}",
            ratio(self.edge_oversubscription()),
            ratio(self.core_oversubscription()),
            self.routing
        )]
    }
}
