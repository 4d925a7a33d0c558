//! Measured times of collectives, each with its source, and what is run on a machine to compare with.

mod a100;
mod h100;
pub(crate) mod spark;
pub(crate) mod v100;

pub(crate) use h100::{H100_RINGS, H200_RINGS};

use crate::programs::Program;

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const GIB: u64 = 1 << 30;
/// No limit to sizes.
pub(crate) const ANY: u64 = u64::MAX;

/// Times from one source on one kind of machine.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) source: &'static str,
    /// What was measured, what is run, and what the difference says: Markdown.
    pub(crate) about: &'static str,
    /// The machine, by its name.
    pub(crate) machine: &'static str,
    pub(crate) series: &'static [Series],
    /// By rising size, without gaps.
    pub(crate) bands: &'static [Band],
}

/// Times of one collective on one network.
pub(crate) struct Series {
    pub(crate) label: &'static str,
    pub(crate) network: Network,
    /// The fastest counts, as a tuner would have it.
    pub(crate) programs: &'static [Program],
    pub(crate) runs: &'static [Run],
}

/// A size, and microseconds of it, of twice the size, and so on.
pub(crate) type Run = (u64, &'static [f64]);

/// What links the ranks.
pub(crate) enum Network {
    /// The machine's own topology.
    Own,
    /// A ring of so many, with the links' bandwidth.
    Ring(u32, &'static str),
    /// A switch with so many, with the links' bandwidth.
    Switch(u32, &'static str),
    /// So many nodes of eight GPUs with NVLinks of the first bandwidth, and so many cards a node with links of the second.
    Cluster { nodes: u32, cards: u32, nvlink: &'static str, card: &'static str },
    /// What a topology file has.
    Text(&'static str),
    /// So many on one switch of the network.
    OneSwitch(u32, &'static str),
}

/// Sizes of which the same is to be said.
pub(crate) struct Band {
    pub(crate) from: u64,
    /// Exclusive.
    pub(crate) to: u64,
    pub(crate) basis: Basis,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Figures of the machine were fitted to these times.
    Fitted,
    /// None was.
    NotFitted,
    /// Nor was any, but what was measured is known to be another program, or is not known.
    OtherProgram,
}

const fn band(from: u64, to: u64, basis: Basis) -> Band {
    Band { from, to, basis }
}

impl Section {
    pub(crate) fn basis(&self, bytes: u64) -> Basis {
        let band = self.bands.iter().find(|band| (band.from..band.to).contains(&bytes));
        band.map_or(Basis::OtherProgram, |band| band.basis)
    }
}

impl Series {
    /// Sizes and microseconds.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.runs
            .iter()
            .flat_map(|(first, times)| (0..).zip(*times).map(|(nth, time)| (*first << nth, *time)))
    }
}

/// All, in the order of the page.
pub(crate) fn sections() -> impl Iterator<Item = &'static Section> {
    [spark::SECTIONS, h100::SECTIONS, a100::SECTIONS, v100::SECTIONS].into_iter().flatten()
}
