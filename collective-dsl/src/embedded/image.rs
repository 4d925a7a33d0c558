//! What is embedded of a schedule, for those who embed it.

use thiserror::Error;

use super::pack;
use crate::et::{self, EtBytes, EtError, EtOptions};
use crate::schedule::Schedule;
use crate::size::Size;

/// Bytes of traces that an instance embeds as they are, unless said otherwise.
pub const DEFAULT_BUDGET: u64 = 2 << 20;

/// The most that can be asked for: what a compiler takes as literals without becoming slow.
pub const MAX_BUDGET: u64 = 64 << 20;

/// The most that a packed schedule may take, for the same reason: some millions of steps without any repetition.
pub const MAX_PACKED: usize = 16 << 20;

/// A node of a trace takes at least so many bytes, by the names of its attributes alone.
const LEAST_NODE: u64 = 100;

/// What is embedded of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The packed schedule.
    pub schedule: Vec<u8>,
    /// The traces, where they fit the budget.
    pub traces: Option<EtBytes>,
}

/// A schedule cannot be embedded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// It has no traces of the size.
    #[error(transparent)]
    Et(#[from] EtError),
    /// Too much for the compiler to swallow.
    #[error("the schedule takes {} MiB packed, more than the {} MiB that can be embedded", bytes >> 20, MAX_PACKED >> 20)]
    TooLarge {
        /// Bytes of the packed schedule.
        bytes: usize,
    },
}

impl Image {
    /// The image of a schedule; its traces are part of it when they take at most `budget` bytes.
    ///
    /// # Errors
    /// See [`ImageError`].
    pub fn new(schedule: &Schedule, size: Size, budget: u64) -> Result<Self, ImageError> {
        let options = EtOptions::new(size);
        let packed = pack(schedule);
        if packed.len() > MAX_PACKED {
            return Err(ImageError::TooLarge { bytes: packed.len() });
        }
        let traces = if size.in_bytes() > 0 && least_nodes(schedule) * LEAST_NODE > budget {
            // That there are traces at all is seen without writing them.
            et::graph(schedule, &options)?;
            None
        } else {
            let traces = et::bytes(schedule, &options)?;
            let total: usize = traces.ranks().iter().map(Vec::len).sum();
            (total as u64 <= budget).then_some(traces)
        };
        Ok(Self { schedule: packed, traces })
    }

    /// What it takes, in words.
    #[must_use]
    pub fn words(&self, budget: u64) -> String {
        let packed = self.schedule.len();
        match &self.traces {
            Some(traces) => {
                let total: usize = traces.ranks().iter().map(Vec::len).sum();
                format!("{total} bytes of traces, {packed} bytes of schedule")
            }
            None => format!(
                "packed in {packed} bytes, since its traces take more than the {budget} bytes of `options(embed = …)`: they \
                 are made when they are first asked for"
            ),
        }
    }
}

/// Every message is a SEND and a RECV node.
fn least_nodes(schedule: &Schedule) -> u64 {
    2 * schedule.message_count() as u64
}

/// The name of an instance's constant: `RANKS_16_CHANNELS_2`, and `DEFAULT` where no parameter is given.
#[must_use]
pub fn constant_name(given: &[(&str, usize)]) -> String {
    let words: Vec<String> =
        given.iter().map(|(name, value)| format!("{}_{value}", name.to_uppercase())).collect();
    if words.is_empty() { "DEFAULT".to_owned() } else { words.join("_") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer::{Input, Output};
    use crate::collective::Collective;
    use crate::program::Program;

    fn pair() -> Schedule {
        let p = Program::new(Collective::all_gather(2).unwrap());
        for (rank, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            p.chunk(rank, Input, 0).copy_to(to, Output, rank);
        }
        crate::compile(&p.finish("pair").unwrap()).unwrap()
    }

    #[test]
    fn traces_are_embedded_up_to_the_budget() {
        let size = Size::bytes(1 << 20);
        let schedule = pair();
        let traces = et::bytes(&schedule, &EtOptions::new(size)).unwrap();
        let total = traces.ranks().iter().map(Vec::len).sum::<usize>() as u64;
        // A message is two nodes, and a local copy one: what is known without writing them is less than there is.
        assert!(least_nodes(&schedule) * LEAST_NODE < total);
        assert_eq!(Image::new(&schedule, size, total).unwrap().traces, Some(traces));
        for budget in [0, total - 1] {
            assert_eq!(Image::new(&schedule, size, budget).unwrap().traces, None);
        }
    }

    #[test]
    fn a_size_without_traces_is_an_error_in_both_forms() {
        for budget in [0, DEFAULT_BUDGET] {
            assert!(matches!(Image::new(&pair(), Size::bytes(3), budget), Err(ImageError::Et(_))));
        }
    }

    #[test]
    fn constants_are_named_by_their_parameters() {
        assert_eq!(constant_name(&[("ranks", 16), ("channels", 2)]), "RANKS_16_CHANNELS_2");
        assert_eq!(constant_name(&[]), "DEFAULT");
    }
}
