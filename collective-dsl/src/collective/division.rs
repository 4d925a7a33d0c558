//! How elements are divided into chunks.

use super::CollectiveKind;

/// How the elements of a collective are divided into logical chunks: all that sizes depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    pub(crate) kind: CollectiveKind,
    pub(crate) ranks: u32,
    /// Of the vector, of a rank's part, of the input of a custom collective; for all-to-all-v of the rank that sends
    /// most. At least 1, as are the ranks.
    pub(crate) chunks: u32,
}

impl Division {
    /// Whether the collective can have so many elements; if not, why.
    pub(crate) fn check(self, elements: u64) -> Result<(), String> {
        let (divisor, what) = match self.kind {
            CollectiveKind::AllToAll => (self.ranks, "all-to-all sends every rank an equal part"),
            CollectiveKind::AllToAllV => (self.chunks, "the chunks of all-to-all-v are equal"),
            _ => return Ok(()),
        };
        if elements.is_multiple_of(u64::from(divisor)) {
            Ok(())
        } else {
            Err(format!("{what}: {elements} elements are not a multiple of {divisor}"))
        }
    }

    /// Number of parts that the elements are divided into.
    pub(crate) fn parts(self) -> u64 {
        let by_rank = if self.kind.divides_by_rank() { self.ranks } else { 1 };
        u64::from(by_rank) * u64::from(self.chunks)
    }

    /// See [`Collective::elements`].
    pub(crate) fn elements(self, elements: u64, chunk: u32) -> u64 {
        let part = |total: u64, parts: u32, index: u32| {
            total / u64::from(parts) + u64::from(u64::from(index) < total % u64::from(parts))
        };
        if self.kind.divides_by_rank() {
            let of_rank = part(elements, self.ranks, chunk / self.chunks);
            return part(of_rank, self.chunks, chunk % self.chunks);
        }
        match self.kind {
            CollectiveKind::AllToAllV => elements / u64::from(self.chunks),
            CollectiveKind::Barrier => elements,
            // The size of a custom collective is that of its input; an output chunk holds input chunks.
            _ if chunk < self.chunks => part(elements, self.chunks, chunk),
            _ => 0,
        }
    }
}
