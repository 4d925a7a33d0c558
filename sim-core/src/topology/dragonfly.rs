//! Groups of routers, each group linked to each other one.

use super::wiring::{Diameter, End, OwnDevice, Span, Wiring};
use super::{LinkSpec, Routing, Topology, TopologyError, checked_figure};

/// A dragonfly (Kim et al. 2008): groups of fully connected routers, and global links between all pairs of groups.
///
/// With G groups of R routers of h global ports each, every pair of groups has ⌊R·h / (G − 1)⌋ global links; ports that are
/// left over stay free. Port q of a group is at its router ⌊q / h⌋ and leads to the group 1 + q mod (G − 1) further on, modulo G.
/// The largest one has G = R·h + 1.
///
/// Routes are minimal: up to the router, over to the router with the global link, across, over, down; at most 5 hops. Where two
/// groups share several global links the [`Routing`] chooses.
///
/// | links in the order of their numbers | how many |
/// |---|---|
/// | member → its router, by member; router → member | members each |
/// | router → router of its group, by router, then the others ascending | G · R · (R − 1) |
/// | global, by group, then port | G · (G − 1) · links of a pair |
///
/// ```
/// use sim_core::topology::{Dragonfly, LinkSpec, Routing};
///
/// let link = LinkSpec::new("200 Gb/s".parse()?, "300 ns".parse()?);
/// let fly = Dragonfly {
///     groups: 9, routers: 4, hosts: 2, globals: 2,
///     host: link, local: link, global: link, routing: Routing::default(),
/// };
/// assert_eq!(fly.build()?.rank_count(), 72);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dragonfly {
    /// Number of groups.
    pub groups: u32,
    /// Number of routers in a group.
    pub routers: u32,
    /// Number of members at each router.
    pub hosts: u32,
    /// Number of global ports of each router.
    pub globals: u32,
    /// The link between a member and its router, each way.
    pub host: LinkSpec,
    /// The link between two routers of a group, each way.
    pub local: LinkSpec,
    /// The link between two groups, each way.
    pub global: LinkSpec,
    /// Which of several global links a message takes.
    pub routing: Routing,
}

impl Dragonfly {
    /// The topology.
    ///
    /// # Errors
    /// [`TopologyError`] if a figure is 0, the global ports do not reach all groups, or the topology is too large.
    pub fn build(self) -> Result<Topology, TopologyError> {
        for (what, value) in [("groups", self.groups), ("routers", self.routers), ("hosts", self.hosts)] {
            checked_figure(what, value)?;
        }
        if self.ports() < u64::from(self.groups) - 1 {
            return Err(TopologyError::Figure {
                what: "global-links",
                value: u64::from(self.globals),
                expected: format!(
                    "at least {} at each of {} routers, to reach {} other groups",
                    (self.groups - 1).div_ceil(self.routers),
                    self.routers,
                    self.groups - 1
                ),
            });
        }
        let members = u64::from(self.groups) * u64::from(self.routers);
        Topology::of(self.into(), members.saturating_mul(u64::from(self.hosts)))
    }

    /// Global ports of a group.
    fn ports(&self) -> u64 {
        u64::from(self.routers) * u64::from(self.globals)
    }

    /// Global links from one group to another.
    fn parallel(&self) -> u64 {
        self.ports().checked_div(u64::from(self.groups) - 1).unwrap_or(0)
    }

    /// Global links from one group.
    fn used_ports(&self) -> u64 {
        self.parallel() * (u64::from(self.groups) - 1)
    }

    fn local_links(&self) -> u64 {
        u64::from(self.groups) * self.local_links_of_group()
    }

    fn local_links_of_group(&self) -> u64 {
        u64::from(self.routers) * (u64::from(self.routers) - 1)
    }

    /// The group and the port at the other end.
    fn other_end(&self, group: u64, port: u64) -> (u64, u64) {
        let groups = u64::from(self.groups);
        let (parallel, distance) = (port / (groups - 1), port % (groups - 1) + 1);
        ((group + distance) % groups, parallel * (groups - 1) + groups - distance - 1)
    }

    /// The router, counted through all groups, at which a port is.
    fn router_of_port(&self, group: u64, port: u64) -> u64 {
        group * u64::from(self.routers) + port / u64::from(self.globals)
    }

    /// The number of the local link between two different routers of a group, counted through all groups.
    fn local_link(&self, from: u64, to: u64) -> u64 {
        let routers = u64::from(self.routers);
        let (group, from, to) = (from / routers, from % routers, to % routers);
        group * self.local_links_of_group() + from * (routers - 1) + to - u64::from(to > from)
    }
}

impl Wiring for Dragonfly {
    fn members(&self) -> u32 {
        self.groups * self.routers * self.hosts
    }

    fn devices(&self) -> u64 {
        u64::from(self.groups) * u64::from(self.routers)
    }

    fn spans(&self) -> Vec<Span> {
        vec![
            Span::new("host link", 2 * u64::from(self.members()), self.host),
            Span::new("local link", self.local_links(), self.local),
            Span::new("global link", u64::from(self.groups) * self.used_ports(), self.global),
        ]
    }

    fn ends(&self, link: u64) -> (End, End) {
        let (members, routers) = (u64::from(self.members()), u64::from(self.routers));
        if link < 2 * members {
            let member = link % members;
            let router = End::Device(member / u64::from(self.hosts));
            let member = End::Member(member as u32);
            return if link < members { (member, router) } else { (router, member) };
        }
        let link = link - 2 * members;
        if link < self.local_links() {
            let (group, link) = (link / self.local_links_of_group(), link % self.local_links_of_group());
            let (from, other) = (link / (routers - 1), link % (routers - 1));
            let to = other + u64::from(other >= from);
            return (End::Device(group * routers + from), End::Device(group * routers + to));
        }
        let link = link - self.local_links();
        let (group, port) = (link / self.used_ports(), link % self.used_ports());
        let (other, other_port) = self.other_end(group, port);
        (End::Device(self.router_of_port(group, port)), End::Device(self.router_of_port(other, other_port)))
    }

    fn device(&self, device: u64) -> OwnDevice {
        let routers = u64::from(self.routers);
        OwnDevice::switch(format!("router {} of group {}", device % routers, device / routers), 1)
    }

    fn route(&self, from: u32, to: u32, hop: &mut dyn FnMut(u64)) {
        let (members, hosts) = (u64::from(self.members()), u64::from(self.hosts));
        let (first, last) = (u64::from(from) / hosts, u64::from(to) / hosts);
        let (routers, groups) = (u64::from(self.routers), u64::from(self.groups));
        let (first_group, last_group) = (first / routers, last / routers);
        let local = |from, to| 2 * members + self.local_link(from, to);
        hop(u64::from(from));
        if first_group != last_group {
            let distance = (last_group + groups - first_group) % groups;
            let way = self.routing.way(from, to, self.parallel());
            let port = way * (groups - 1) + distance - 1;
            let (_, other_port) = self.other_end(first_group, port);
            let (exit, entry) =
                (self.router_of_port(first_group, port), self.router_of_port(last_group, other_port));
            if first != exit {
                hop(local(first, exit));
            }
            hop(2 * members + self.local_links() + first_group * self.used_ports() + port);
            if entry != last {
                hop(local(entry, last));
            }
        } else if first != last {
            hop(local(first, last));
        }
        hop(members + u64::from(to));
    }

    fn diameter(&self) -> Diameter {
        let bound = match (self.groups, self.routers, self.hosts) {
            (1, 1, 1) => Diameter::exact(0),
            (1, 1, _) => Diameter::exact(2),
            (1, ..) => Diameter::exact(3),
            (_, 1, _) => Diameter::exact(3),
            _ => Diameter { hops: 5, exact: false },
        };
        if bound.exact { bound } else { self.tried_diameter().unwrap_or(bound) }
    }

    fn injection(&self) -> [f64; 2] {
        [self.host.bandwidth.bytes_per_s(); 2]
    }

    fn halving(&self) -> Option<f64> {
        self.groups.is_multiple_of(2).then(|| {
            let half = f64::from(self.groups / 2);
            let host = f64::from(self.routers) * f64::from(self.hosts) * self.host.bandwidth.bytes_per_s();
            let pairs = half * half * self.parallel() as f64;
            (half * host).min(pairs * self.global.bandwidth.bytes_per_s())
        })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![match self.parallel() {
            0 => "one group, without global links".to_owned(),
            1 => "one global link each way between any two groups".to_owned(),
            many => format!("{many} global links each way between any two groups, {}", self.routing),
        }];
        let free = self.ports() - self.used_ports();
        if free > 0 {
            notes.push(format!("{free} of the {} global ports of each group stay free", self.ports()));
        }
        notes
    }
}
