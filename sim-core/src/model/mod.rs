//! How long messages take: the models, chosen by name, and the conventions of their arithmetic.
//!
//! | name | what it is | formula |
//! |---|---|---|
//! | `analytical` | contention-free | see [`Model::Analytical`] |
//! | `link-queue` | store and forward, a queue for each link | see [`Model::LinkQueue`] |
//! | `fluid` | cut-through, links shared max-min fairly | see [`Model::Fluid`] |
//! | `loggp` | overheads and gaps on the ranks, no topology | see [`Model::LogGp`] |
//! | `machine` | thread blocks, slots and protocols on links shared as by `fluid` | see [`Model::Machine`] |
//!
//! Under every model but `loggp` a SEND finishes when its message is delivered, and a RECV when the message has
//! arrived and the RECV was issued. Under every model buffers are unlimited: nobody waits for a receiver.

pub(crate) mod analytical;
pub(crate) mod division;
pub(crate) mod fluid;
pub(crate) mod link_queue;
pub(crate) mod loggp;
pub(crate) mod network;
mod timing;
pub(crate) mod unit;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// How messages use the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Model {
    /// Contention-free, named `analytical`.
    ///
    /// Exact conventions: a message takes Σ latency over the hops of its route + size / smallest
    /// bandwidth on it. ASTRA-sim's: ⌊hops · latency + size / bandwidth⌋ whole ns, where all three are
    /// those of the lowest-numbered dimension in which the ranks differ; further dimensions are free.
    /// Messages never disturb each other: there is no injection limit.
    Analytical,
    /// Store and forward with one FIFO queue for each directed link, named `link-queue`.
    ///
    /// A message queues for the links of its route one after the other, first come, first served. It
    /// occupies a link for size / bandwidth and is at the next device after latency + size / bandwidth.
    /// Under ASTRA-sim's conventions these are ⌊size / bandwidth⌋ and ⌊latency + size / bandwidth⌋
    /// whole ns, and the topology has one dimension.
    LinkQueue,
    /// Cut-through, the bandwidth of every directed link shared max-min fairly, named `fluid`.
    ///
    /// A message flows over all links of its route at once, at a rate that changes as others come and go:
    /// no link carries more than its bandwidth, and every flow crosses a full link on which no other is
    /// faster. It is delivered Σ latency of its hops after its last byte has left. Alone it takes what
    /// [`Model::Analytical`] says; k equal messages that start together on one link take
    /// k · size / bandwidth each. Flows end at the nearest picosecond, half up. Only under
    /// [`Conventions::Exact`].
    Fluid,
    /// LogGP on the ranks, without a topology, named `loggp`.
    ///
    /// Sending occupies the processor of a rank for o, receiving for o + (s−1)·G; a message of s bytes is
    /// under way for L, and the next may follow g + (s−1)·G after it. A SEND finishes when the
    /// processor is free again, not when its message is delivered. See [`LogGp`](crate::LogGp) for the parameters.
    LogGp,
    /// Thread blocks, connections with slots and protocols with costs, on links shared as under [`Model::Fluid`], named `machine`.
    ///
    /// See the module [`machine`](crate::machine) and [`Simulation::machine`](crate::Simulation::machine). Only under
    /// [`Conventions::Exact`].
    Machine,
}

/// The arithmetic of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Conventions {
    /// Named `exact`: whole picoseconds, bandwidths in whole bytes per second, every duration rounded
    /// once, half up; a COMP takes its stated duration; messages match by source, destination and tag.
    Exact,
    /// Named `astra-sim`: to the nanosecond what ASTRA-sim's analytical backends say. Durations are
    /// computed in doubles and cut to whole ns, a COMP without a duration takes 1 ns, and messages
    /// match by source, destination, tag modulo 500,000,000 and size.
    AstraSim,
}

/// A name that is not one of those known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no {what} {name:?}: expected one of {known}")]
pub struct UnknownName {
    what: &'static str,
    name: String,
    known: String,
}

impl Model {
    /// All models.
    pub const ALL: [Self; 5] = [Self::Analytical, Self::LinkQueue, Self::Fluid, Self::LogGp, Self::Machine];

    /// The name, as on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Analytical => "analytical",
            Self::LinkQueue => "link-queue",
            Self::Fluid => "fluid",
            Self::LogGp => "loggp",
            Self::Machine => "machine",
        }
    }
}

impl Conventions {
    /// All conventions.
    pub const ALL: [Self; 2] = [Self::Exact, Self::AstraSim];

    /// The name, as on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::AstraSim => "astra-sim",
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Conventions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Model {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        by_name("model", name, Self::ALL, Self::name)
    }
}

impl FromStr for Conventions {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        by_name("set of conventions", name, Self::ALL, Self::name)
    }
}

pub(crate) fn by_name<T: Copy, const N: usize>(
    what: &'static str,
    name: &str,
    all: [T; N],
    name_of: fn(T) -> &'static str,
) -> Result<T, UnknownName> {
    all.into_iter().find(|&item| name_of(item) == name).ok_or_else(|| UnknownName {
        what,
        name: name.to_owned(),
        known: all.map(name_of).join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_unknown_ones_answered_with_the_known() {
        for model in Model::ALL {
            assert_eq!(model.to_string().parse(), Ok(model));
        }
        for conventions in Conventions::ALL {
            assert_eq!(conventions.to_string().parse(), Ok(conventions));
        }
        assert_eq!(
            "packet".parse::<Model>().unwrap_err().to_string(),
            "there is no model \"packet\": expected one of analytical, link-queue, fluid, loggp, machine"
        );
    }
}
