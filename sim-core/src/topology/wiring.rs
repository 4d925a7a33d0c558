//! What a part of a topology must know of itself.
//!
//! A part has *members*, which are ranks or, inside a cluster, network cards; *devices* of its own, such as switches; and
//! directed links among both. Each is numbered from 0. Everything is said in closed form, so that a part takes no memory for
//! its links; only a graph keeps what it was given.

use std::borrow::Cow;

use super::LinkSpec;
use crate::machine::LinkKind;

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum End {
    /// A member, by its number.
    Member(u32),
    /// Another device of the part, by its number.
    Device(u64),
}

/// Neighbouring link numbers of one sort.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) count: u64,
    pub(super) link: LinkSpec,
    /// What these links are.
    pub(super) what: Cow<'static, str>,
    pub(super) kind: LinkKind,
    /// Whether somebody said the kind; else it is what such links are by default.
    pub(super) stated: bool,
}

impl Span {
    pub(super) fn new(what: &'static str, count: u64, link: LinkSpec) -> Self {
        Self { count, link, what: Cow::Borrowed(what), kind: LinkKind::default(), stated: false }
    }

    /// Of the kind that was said of what is around it, if it was not said of the links themselves.
    pub(super) fn stated_around(self, kind: Option<LinkKind>) -> Self {
        match kind {
            Some(kind) if !self.stated => Self { kind, stated: true, ..self },
            _ => self,
        }
    }

    /// Of this kind, if none was said.
    pub(super) fn by_default(self, kind: LinkKind) -> Self {
        if self.stated { self } else { Self { kind, ..self } }
    }
}

/// What a device beside the ranks is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnDevice {
    pub(super) name: String,
    /// A network card rather than a switch.
    pub(super) card: bool,
    /// How far from the members: 1 for what they hang on.
    pub(super) tier: u32,
    pub(super) within_node: bool,
}

impl OwnDevice {
    pub(super) fn switch(name: String, tier: u32) -> Self {
        Self { name, card: false, tier, within_node: false }
    }
}

/// The number of hops of the longest route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diameter {
    /// Hops.
    pub hops: u32,
    /// False for an upper bound, where the topology is too large to try all pairs.
    pub exact: bool,
}

impl Diameter {
    pub(super) fn exact(hops: u32) -> Self {
        Self { hops, exact: true }
    }
}

/// Up to how many members all pairs are tried.
const TRIED_MEMBERS: u32 = 1024;

pub(super) trait Wiring {
    fn members(&self) -> u32;

    /// Number of devices beside the members.
    fn devices(&self) -> u64;

    /// The links in the order of their numbers.
    fn spans(&self) -> Vec<Span>;

    /// Where a link begins and ends.
    fn ends(&self, link: u64) -> (End, End);

    fn device(&self, device: u64) -> OwnDevice;

    /// Calls `hop` with each link between two different members, in the order of travel.
    fn route(&self, from: u32, to: u32, hop: &mut dyn FnMut(u64));

    /// The longest route.
    fn diameter(&self) -> Diameter {
        self.tried_diameter().unwrap_or(Diameter { hops: u32::MAX, exact: false })
    }

    /// The longest route by trying all pairs; None if they are too many.
    fn tried_diameter(&self) -> Option<Diameter> {
        let members = self.members();
        (members <= TRIED_MEMBERS).then(|| {
            let pairs = (0..members).flat_map(|from| (0..members).map(move |to| (from, to)));
            let hops = pairs.filter(|(from, to)| from != to).map(|(from, to)| {
                let mut hops = 0;
                self.route(from, to, &mut |_| hops += 1);
                hops
            });
            Diameter::exact(hops.max().unwrap_or(0))
        })
    }

    /// Bytes per second that leave a member over all its links: the least and the most of any member.
    fn injection(&self) -> [f64; 2];

    /// Bytes per second, one way, over the narrowest cut that halves the members as the part is built; None if not known.
    fn halving(&self) -> Option<f64>;

    /// What is worth knowing of the part.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}
