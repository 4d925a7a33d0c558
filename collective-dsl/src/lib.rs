//! The language of collective algorithms, and its compiler.
//!
//! Data flows one way, each stage a value that can be printed, tested and stored:
//!
//! ```text
//! source fn → Trace → Schedule (per rank: thread blocks of steps) → Chakra ET per rank
//!   program    trace     lower, verify                                 et
//! ```
//!
//! [`Program`] records what a function does; [`compile`] lowers the [`Trace`] to a [`Schedule`] and verifies
//! it; [`msccl`] writes and reads schedules as MSCCL XML; [`et`] writes the schedule as a Chakra execution trace, in memory or as bytes;
//! [`run`] executes it on real data.

mod algorithm;
mod buffer;
pub mod checked;
mod clocks;
mod collective;
mod compute;
mod diagnostic;
pub mod embedded;
pub mod et;
mod ids;
pub mod lint;
mod lower;
pub mod msccl;
mod options;
mod program;
pub mod run;
mod schedule;
mod site;
mod size;
mod trace;
pub mod verify;

pub use algorithm::{AlgorithmDef, Param, Setting, compile};
pub use buffer::{Buffer, Space};
pub use collective::{Collective, CollectiveError, CollectiveKind, Contributors, Wanted};
pub use compute::{ChunkRun, Computation, Cost};
pub use diagnostic::{Diagnostic, Diagnostics, Location, Rule, Severity};
pub use embedded::{Embedded, EmbeddedError, pack, unpack};
pub use ids::{ChannelId, DataId, RankId, SiteId, ThreadBlockId};
pub use lower::{Dag, DagNode, Dependence, Hazard, lower};
pub use options::{Options, Protocol, Replication, UnknownOption};
pub use program::{ChunkRef, Compute, Handle, Program, Tracer, Work};
pub use schedule::{MemoryBuffer, Place, RankSchedule, Schedule, Step, StepId, StepKind, ThreadBlock};
pub use site::{Site, SiteTable};
pub use size::{ElementType, Size, SizeError};
pub use trace::{DataTable, MixedReduction, Op, OpKind, ScratchBuffer, Slice, Trace};
