//! Quantities with their units: time, sizes, bandwidths, latencies.
//!
//! Everything that a person writes carries its unit (`"400 GB/s"`, `"1.5 us"`, `"64KiB"`). SI
//! prefixes are powers of 1000, binary prefixes (`Ki`, `Mi`, …) powers of 1024, `B` is a byte and
//! `b` a bit: `"400 Gb/s"` is `"50 GB/s"`.
//!
//! ```
//! use sim_core::units::{Bandwidth, Bytes, Latency, Picos};
//!
//! let nic: Bandwidth = "400Gbps".parse()?;
//! assert_eq!(nic, "50 GB/s".parse()?);
//! assert_eq!(nic.transfer_time("1 MB".parse()?), Some("20 us".parse()?));
//! assert!("50".parse::<Bandwidth>().is_err(), "which unit?");
//! # Ok::<(), sim_core::units::UnitError>(())
//! ```

mod bandwidth;
mod parse;
mod size;
mod time;

pub use bandwidth::Bandwidth;
pub(crate) use bandwidth::transfer_time;
pub use parse::UnitError;
pub use size::Bytes;
pub use time::{Latency, Picos};
