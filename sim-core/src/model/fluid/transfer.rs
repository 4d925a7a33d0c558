//! How long a flow takes that has its links for itself.

use crate::error::Overflow;
use crate::units::{Bytes, Picos, transfer_time};

/// The last answer: most messages of a collective have one size.
pub(super) struct LastTransfer {
    size: Bytes,
    bytes_per_s: u64,
    time: Picos,
}

impl Default for LastTransfer {
    fn default() -> Self {
        Self { size: Bytes(0), bytes_per_s: 1, time: Picos::ZERO }
    }
}

impl LastTransfer {
    #[inline]
    pub(super) fn of(&mut self, size: Bytes, bytes_per_s: u64) -> Result<Picos, Overflow> {
        if (size, bytes_per_s) != (self.size, self.bytes_per_s) {
            let time = transfer_time(size, bytes_per_s).ok_or(Overflow::TIME)?;
            *self = Self { size, bytes_per_s, time };
        }
        Ok(self.time)
    }
}
