//! Two layers of switches.

use super::wiring::{Diameter, End, OwnDevice, Span, Wiring};
use super::{LinkSpec, Routing, Topology, TopologyError, checked_figure};

/// Leaf switches with hosts, each leaf linked to each spine.
///
/// Member m hangs on leaf ⌊m / hosts⌋. A message within a leaf takes 2 hops, any other 4, over the spine that the
/// [`Routing`] chooses.
///
/// | links in the order of their numbers | how many |
/// |---|---|
/// | member → its leaf, by member | members |
/// | leaf → member, by member | members |
/// | leaf → spine, by leaf, then spine | leaves · spines |
/// | spine → leaf, by spine, then leaf | leaves · spines |
///
/// ```
/// use sim_core::topology::{LeafSpine, LinkSpec, Routing};
///
/// let host = LinkSpec::new("400 Gb/s".parse()?, "500 ns".parse()?);
/// let tree = LeafSpine { leaves: 4, hosts: 8, spines: 2, host, uplink: host, routing: Routing::default() };
/// assert_eq!(tree.oversubscription(), 4.0);
/// assert_eq!(tree.build()?.rank_count(), 32);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeafSpine {
    /// Number of leaves, at least 1.
    pub leaves: u32,
    /// Number of members at each leaf, at least 1.
    pub hosts: u32,
    /// Number of spines, at least 1.
    pub spines: u32,
    /// The link between a member and its leaf, each way.
    pub host: LinkSpec,
    /// The link between a leaf and a spine, each way.
    pub uplink: LinkSpec,
    /// Which spine a message takes.
    pub routing: Routing,
}

impl LeafSpine {
    /// The topology.
    ///
    /// # Errors
    /// [`TopologyError`] if a figure is 0 or the topology is too large.
    pub fn build(self) -> Result<Topology, TopologyError> {
        for (what, value) in [("leaves", self.leaves), ("hosts", self.hosts), ("spines", self.spines)] {
            checked_figure(what, value)?;
        }
        Topology::of(self.into(), u64::from(self.leaves) * u64::from(self.hosts))
    }

    /// What the members of a leaf can send over what its up-links carry: 2 is said 2:1.
    #[must_use]
    pub fn oversubscription(&self) -> f64 {
        let down = f64::from(self.hosts) * self.host.bandwidth.bytes_per_s();
        down / (f64::from(self.spines) * self.uplink.bandwidth.bytes_per_s())
    }

    fn leaf(&self, member: u32) -> u64 {
        u64::from(member / self.hosts)
    }

    fn uplinks(&self) -> u64 {
        u64::from(self.leaves) * u64::from(self.spines)
    }
}

impl Wiring for LeafSpine {
    fn members(&self) -> u32 {
        self.leaves * self.hosts
    }

    fn devices(&self) -> u64 {
        u64::from(self.leaves) + u64::from(self.spines)
    }

    fn spans(&self) -> Vec<Span> {
        vec![
            Span::new("host link", 2 * u64::from(self.members()), self.host),
            Span::new("leaf to spine link", 2 * self.uplinks(), self.uplink),
        ]
    }

    fn ends(&self, link: u64) -> (End, End) {
        let (members, leaves, spines) =
            (u64::from(self.members()), u64::from(self.leaves), u64::from(self.spines));
        let leaf = |leaf| End::Device(leaf);
        let spine = |spine| End::Device(leaves + spine);
        if link < 2 * members {
            let member = (link % members) as u32;
            let (member, leaf) = (End::Member(member), leaf(self.leaf(member)));
            return if link < members { (member, leaf) } else { (leaf, member) };
        }
        let up = link - 2 * members;
        if up < self.uplinks() {
            return (leaf(up / spines), spine(up % spines));
        }
        let down = up - self.uplinks();
        (spine(down / leaves), leaf(down % leaves))
    }

    fn device(&self, device: u64) -> OwnDevice {
        match device.checked_sub(u64::from(self.leaves)) {
            None => OwnDevice::switch(format!("leaf {device}"), 1),
            Some(spine) => OwnDevice::switch(format!("spine {spine}"), 2),
        }
    }

    fn route(&self, from: u32, to: u32, hop: &mut dyn FnMut(u64)) {
        let (members, leaves, spines) =
            (u64::from(self.members()), u64::from(self.leaves), u64::from(self.spines));
        let (first, last) = (self.leaf(from), self.leaf(to));
        hop(u64::from(from));
        if first != last {
            let spine = self.routing.way(from, to, spines);
            hop(2 * members + first * spines + spine);
            hop(2 * members + self.uplinks() + spine * leaves + last);
        }
        hop(members + u64::from(to));
    }

    fn diameter(&self) -> Diameter {
        Diameter::exact(match (self.leaves, self.hosts) {
            (1, 1) => 0,
            (1, _) => 2,
            _ => 4,
        })
    }

    fn injection(&self) -> [f64; 2] {
        [self.host.bandwidth.bytes_per_s(); 2]
    }

    fn halving(&self) -> Option<f64> {
        self.leaves.is_multiple_of(2).then(|| {
            let leaf = (f64::from(self.hosts) * self.host.bandwidth.bytes_per_s())
                .min(f64::from(self.spines) * self.uplink.bandwidth.bytes_per_s());
            f64::from(self.leaves / 2) * leaf
        })
    }

    fn notes(&self) -> Vec<String> {
        vec![format!("leaves to spines {}, {}", ratio(self.oversubscription()), self.routing)]
    }
}

/// An oversubscription in words.
pub(super) fn ratio(over: f64) -> String {
    let rounded = (over * 100.0).round() / 100.0;
    match over {
        _ if rounded == 1.0 => "not oversubscribed (1:1)".to_owned(),
        over if over > 1.0 => format!("oversubscribed {rounded}:1"),
        _ => format!("not oversubscribed ({rounded}:1)"),
    }
}
