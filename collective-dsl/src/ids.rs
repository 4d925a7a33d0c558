//! Numbers that must not be mixed up.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index.
            #[inline]
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// A participating GPU, counted from 0; `r3` in dumps.
    RankId,
    "r"
);
id!(
    /// An independent FIFO connection between two ranks; `ch0` in dumps.
    ChannelId,
    "ch"
);
id!(
    /// A thread block of one rank; `tb2` in dumps.
    ThreadBlockId,
    "tb"
);
id!(
    /// A place in the user's source; an index into [`crate::SiteTable`].
    SiteId,
    "site"
);
id!(
    /// Which part of the collective's data a piece of a buffer holds: an index into [`crate::DataTable`].
    DataId,
    "data"
);
