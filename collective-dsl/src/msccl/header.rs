//! What a file says beside its schedule.

use std::collections::BTreeMap;

/// Attributes by name, in the order of the file.
pub type Attributes = Vec<(String, String)>;

/// What a file says of its algorithm beside the schedule: when a runtime may choose it, and everything that this
/// crate does not know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// `inplace`.
    pub in_place: Option<bool>,
    /// `outofplace`.
    pub out_of_place: Option<bool>,
    /// `minBytes`: the smallest size that a runtime may choose it for.
    pub min_bytes: Option<u64>,
    /// `maxBytes`: the largest such size; 0 for no bound.
    pub max_bytes: Option<u64>,
    /// What this crate does not know.
    pub extras: Extras,
}

/// Unknown attributes and elements, by the place in the schedule where they stood, to be written again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// Attributes of `algo`.
    pub algorithm: Attributes,
    /// Attributes of `gpu`, by rank.
    pub ranks: BTreeMap<u32, Attributes>,
    /// Attributes of `tb`, by rank and thread block.
    pub blocks: BTreeMap<(u32, u32), Attributes>,
    /// Attributes of `step`, by rank, thread block and step of the schedule.
    pub steps: BTreeMap<(u32, u32, u32), Attributes>,
    /// Unknown elements as XML text, by the element that they stood in.
    pub elements: BTreeMap<Parent, Vec<String>>,
}

/// The element that an unknown element stood in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parent {
    /// `algo`.
    Algorithm,
    /// The `gpu` of a rank.
    Rank(u32),
    /// The `tb` of a rank and thread block.
    Block(u32, u32),
}
