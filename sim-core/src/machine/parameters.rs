//! What a machine costs: the figures of the model `machine`.

use std::fmt;
use std::str::FromStr;

use crate::model::{UnknownName, by_name};
use crate::topology::Topology;
use crate::units::{Bandwidth, Bytes, Picos};

/// A protocol of NCCL and its kin: how data and their arrival are signalled between two thread blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// Data through a buffer of some slots, then a flag for each slot, behind memory barriers.
    Simple,
    /// 8-byte stores of 4 bytes of data and 4 of a flag: half of the bandwidth, no barriers.
    Ll,
    /// 128-byte lines of 120 bytes of data and 8 of a flag.
    Ll128,
}

impl Protocol {
    /// All protocols.
    pub const ALL: [Self; 3] = [Self::Simple, Self::Ll, Self::Ll128];

    /// The name, as in MSCCL XML.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Simple => "Simple",
            Self::Ll => "LL",
            Self::Ll128 => "LL128",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Protocol {
    type Err = UnknownName;

    /// Capital letters make no difference.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let known = Self::ALL.into_iter().find(|protocol| protocol.name().eq_ignore_ascii_case(name));
        known.map_or_else(|| by_name("protocol", name, Self::ALL, Self::name), Ok)
    }
}

/// What the links of a route are, as far as it matters to a protocol.
///
/// A route is of the last of these kinds that one of its links is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum LinkKind {
    /// Links of which nothing is said.
    #[default]
    Plain,
    /// NVIDIA's links between GPUs, also through its switches.
    NvLink,
    /// AMD's links between GPUs.
    Xgmi,
    /// PCI Express.
    Pcie,
    /// Between machines: through network cards.
    Network,
}

impl LinkKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Plain, Self::NvLink, Self::Xgmi, Self::Pcie, Self::Network];

    /// The name, as in a topology file and in a machine's file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::NvLink => "nvlink",
            Self::Xgmi => "xgmi",
            Self::Pcie => "pcie",
            Self::Network => "network",
        }
    }
}

impl fmt::Display for LinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for LinkKind {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        by_name("kind of link", name, Self::ALL, Self::name)
    }
}

/// When a SEND is over for its thread block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Completion {
    /// When the last slot is filled: what runtimes do.
    #[default]
    Filled,
    /// When the receiver can see the data: what the other models assume.
    Delivered,
}

/// What a thread block of one protocol costs. See the [module](super) for how these come together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Costs {
    /// From the call to the first step of each thread block: the launch of the kernel and its start-up.
    pub launch: Picos,
    /// Of each step, before its first slice, in every round of the loop over the buffer.
    pub step: Picos,
    /// Of each slice, before its data move.
    pub slice: Picos,
    /// From a filled slot to the receiver that sees it, beside the latency of the links.
    pub latency: Picos,
    /// What one thread block copies, in bytes of data: over links and within the rank. None: no limit.
    pub copy: Option<Bandwidth>,
    /// What one thread block reduces, in bytes of data. None: no limit.
    pub reduce: Option<Bandwidth>,
    /// Slots of the FIFO of a connection; a slice takes one. None: no limit.
    pub slots: Option<u32>,
    /// In how many slices a chunk moves, at least 1.
    pub slices: u32,
    /// The most of a chunk that moves in one round of the loop over the buffer. None: all of it.
    pub piece: Option<Bytes>,
    /// Bytes on the links for a byte of data, at least 1.
    pub wire: f64,
    /// What is otherwise on routes of a kind of link.
    pub links: Vec<(LinkKind, LinkCosts)>,
}

/// What replaces the [`Costs`] on routes of a kind of link.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct LinkCosts {
    /// Instead of [`Costs::step`].
    pub step: Option<Picos>,
    /// Instead of [`Costs::slice`].
    pub slice: Option<Picos>,
    /// Instead of [`Costs::latency`].
    pub latency: Option<Picos>,
    /// Instead of [`Costs::copy`], where data go over links.
    pub copy: Option<Bandwidth>,
}

impl Costs {
    /// No costs, no limits, one slice: messages take what links take.
    #[must_use]
    pub fn free() -> Self {
        Self {
            launch: Picos::ZERO,
            step: Picos::ZERO,
            slice: Picos::ZERO,
            latency: Picos::ZERO,
            copy: None,
            reduce: None,
            slots: None,
            slices: 1,
            piece: None,
            wire: 1.0,
            links: Vec::new(),
        }
    }

    /// What holds on routes of a kind of link.
    pub(crate) fn on(&self, kind: LinkKind) -> OnLinks {
        let own = self.links.iter().find(|(of, _)| *of == kind).map_or(LinkCosts::default(), |(_, own)| *own);
        OnLinks {
            step: own.step.unwrap_or(self.step),
            slice: own.slice.unwrap_or(self.slice),
            latency: own.latency.unwrap_or(self.latency),
            copy: own.copy.or(self.copy),
        }
    }
}

/// What holds on routes of a kind of link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OnLinks {
    pub(crate) step: Picos,
    pub(crate) slice: Picos,
    pub(crate) latency: Picos,
    pub(crate) copy: Option<Bandwidth>,
}

/// The figures of a machine: what its thread blocks cost under each protocol, and what its ranks can send and receive.
///
/// ```
/// use chakra_et::graph::{Graph, Op, Origin, RankGraph, StepRef};
/// use sim_core::machine::{Costs, Machine, Protocol};
/// use sim_core::topology::{Dimension, Topology};
/// use sim_core::Simulation;
///
/// // Rank 0 sends 2 MB to rank 1: 20 us at 100 GB/s, but its thread block copies at 20 GB/s.
/// let at = Origin { step: Some(StepRef { thread_block: 0, step: 0 }), source: None };
/// let mut ranks = [RankGraph::builder(), RankGraph::builder()];
/// ranks[0].push(Op::Send { dst: 1, tag: 0, bytes: 2_000_000 }, [], at)?;
/// ranks[1].push(Op::Recv { src: 0, tag: 0, bytes: 2_000_000 }, [], at)?;
/// let graph = Graph::new(ranks.map(|rank| rank.finish()).into());
/// let link = Topology::new([Dimension::fully_connected(2, "100 GB/s".parse()?, "1 us".parse()?)])?;
///
/// let mut costs = Costs::free();
/// costs.launch = "5 us".parse()?;
/// costs.copy = Some("20 GB/s".parse()?);
/// let machine = Machine::new("example").with(Protocol::Simple, costs);
/// let report = Simulation::new(&link).machine(&machine).run(&graph)?;
/// // 5 us + 100 us + 1 us; then the receiver copies the data out of the slot, again in 100 us.
/// assert_eq!(report.makespan, "206 us".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Machine {
    /// The name.
    pub name: String,
    /// What it is, in a sentence.
    pub description: String,
    /// Where the figures come from.
    pub sources: Vec<String>,
    /// Its own topology, if it names one.
    pub topology: Option<Topology>,
    /// The most that a rank sends over all of its links. None: no limit.
    pub egress: Option<Bandwidth>,
    /// The most that a rank receives over all of its links. None: no limit.
    pub ingress: Option<Bandwidth>,
    /// When a SEND is over for its thread block.
    pub completion: Completion,
    costs: [Option<Costs>; 3],
}

impl Machine {
    /// A machine without costs under any protocol yet.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            sources: Vec::new(),
            topology: None,
            egress: None,
            ingress: None,
            completion: Completion::default(),
            costs: [None, None, None],
        }
    }

    /// A machine on which nothing costs anything but the links: it takes what [`Model::Fluid`](crate::Model::Fluid) says of a
    /// graph in the order of its thread blocks.
    #[must_use]
    pub fn free() -> Self {
        let machine = Self { completion: Completion::Delivered, ..Self::new("free") };
        Protocol::ALL.into_iter().fold(machine, |machine, protocol| machine.with(protocol, Costs::free()))
    }

    /// With the costs of a protocol.
    #[must_use]
    pub fn with(mut self, protocol: Protocol, costs: Costs) -> Self {
        self.costs[protocol as usize] = Some(costs);
        self
    }

    /// The costs of a protocol, if they are known.
    #[must_use]
    pub fn costs(&self, protocol: Protocol) -> Option<&Costs> {
        self.costs[protocol as usize].as_ref()
    }

    /// The costs of a protocol, to be changed.
    pub fn costs_mut(&mut self, protocol: Protocol) -> Option<&mut Costs> {
        self.costs[protocol as usize].as_mut()
    }

    /// The protocols whose costs are known.
    pub fn protocols(&self) -> impl Iterator<Item = Protocol> + '_ {
        Protocol::ALL.into_iter().filter(|protocol| self.costs(*protocol).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for protocol in Protocol::ALL {
            assert_eq!(protocol.name().to_lowercase().parse(), Ok(protocol));
        }
        for kind in LinkKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let error = "LL64".parse::<Protocol>().unwrap_err().to_string();
        assert_eq!(error, "there is no protocol \"LL64\": expected one of Simple, LL, LL128");
    }

    #[test]
    fn a_kind_of_link_replaces_what_it_states() {
        let mut costs = Costs { latency: Picos(7), step: Picos(3), ..Costs::free() };
        costs.links.push((LinkKind::Network, LinkCosts { latency: Some(Picos(90)), ..LinkCosts::default() }));
        let of = |kind| (costs.on(kind).latency, costs.on(kind).step);
        assert_eq!(of(LinkKind::Network), (Picos(90), Picos(3)));
        assert_eq!(of(LinkKind::NvLink), (Picos(7), Picos(3)));
    }
}
