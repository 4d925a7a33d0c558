//! How a program is lowered, beside what it says itself.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// How a runtime moves data over a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Protocol {
    /// Large slices, with a fence for each: best for large sizes.
    #[default]
    Simple,
    /// A flag beside every 4 bytes: lowest latency, half the bandwidth.
    Ll,
    /// A flag beside every 120 bytes.
    Ll128,
}

impl Protocol {
    /// All protocols.
    pub const ALL: [Protocol; 3] = [Protocol::Simple, Protocol::Ll, Protocol::Ll128];

    /// The name in MSCCL XML: `Simple`, `LL`, `LL128`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Simple => "Simple",
            Protocol::Ll => "LL",
            Protocol::Ll128 => "LL128",
        }
    }

    /// Messages that a connection holds before its sender has to wait: the NCCL connection has 8 slots, and
    /// Simple takes 4 for a message.
    #[must_use]
    pub fn slots(self) -> u32 {
        match self {
            Protocol::Simple => 2,
            Protocol::Ll | Protocol::Ll128 => 8,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is none of those known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no {what} \"{name}\": expected {known}")]
pub struct UnknownOption {
    what: &'static str,
    name: String,
    known: &'static str,
}

impl UnknownOption {
    pub(crate) fn new(what: &'static str, name: &str, known: &'static str) -> Self {
        Self { what, name: name.to_owned(), known }
    }
}

impl FromStr for Protocol {
    type Err = UnknownOption;

    fn from_str(name: &str) -> Result<Self, UnknownOption> {
        Self::ALL.into_iter().find(|protocol| protocol.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
            UnknownOption { what: "protocol", name: name.to_owned(), known: "Simple, LL or LL128" }
        })
    }
}

/// Where the shares of the instances of a program lie in its chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Replication {
    /// Every chunk is divided among the instances: instance i works on the i-th part of each chunk.
    #[default]
    Interleaved,
    /// Every rank's part of the data is divided among the instances: instance i works on a run of its own, so
    /// that an operation on several chunks stays one operation.
    Blocked,
}

impl FromStr for Replication {
    type Err = UnknownOption;

    fn from_str(name: &str) -> Result<Self, UnknownOption> {
        match name {
            "interleaved" => Ok(Replication::Interleaved),
            "blocked" => Ok(Replication::Blocked),
            _ => {
                let (what, known) = ("replication", "interleaved or blocked");
                Err(UnknownOption { what, name: name.to_owned(), known })
            }
        }
    }
}

/// How a program is lowered, beside what it says itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The protocol of all connections.
    pub protocol: Protocol,
    /// Number of replicas of the whole program, each over a share of the data.
    pub instances: u32,
    /// Where the shares of the replicas lie.
    pub replication: Replication,
    /// Whether a receive and the send that passes its data on become one step.
    pub fusion: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            protocol: Protocol::default(),
            instances: 1,
            replication: Replication::default(),
            fusion: true,
        }
    }
}
