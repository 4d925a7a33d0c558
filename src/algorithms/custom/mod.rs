//! Collectives that no library has: what must hold at the end is said by the algorithm itself.

mod all_to_next;

pub use all_to_next::alltonext;

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] = &[all_to_next::ENTRY];
