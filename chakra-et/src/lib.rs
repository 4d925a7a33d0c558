//! Chakra execution traces: read, written, and as a compact graph.
//!
//! A Chakra trace describes the work of a distributed program as one graph for each rank, in a file
//! `PREFIX.RANK.et`: nodes that send, receive, compute or take part in a collective, and what each must
//! wait for. Simulators such as ASTRA-sim run them.
//!
//! * [`read_trace`] and [`graph_from_bytes`] give the compact [`Graph`] that a simulator walks;
//!   [`load_trace`] and [`load_bytes`] also say what there is to warn of.
//! * [`NodeReader`] gives the nodes of one file as they are, one at a time, and loses nothing.
//! * [`RankWriter`] and [`write_trace`] write.
//! * [`validate`] says what is wrong with a trace, [`summary`] what there is in it; [`groups`] are the
//!   communicators that its nodes name. With the feature `json`, the module `jsonl` turns traces into JSON lines
//!   and back, and group files are read.
//! * [`workload`] is the compact form of traces in which collectives are single nodes.
//! * [`proto`] has the messages, [`frame`] how they follow one another, [`attr`] their attributes,
//!   [`view`] what a node means, [`metadata`] what the first message says.
//!
//! What is read is strict where a mistake would change results (a truncated file, a dependence on
//! nothing, a size of the wrong kind is an error that says where) and tolerant where writers differ (any
//! integer arm for an integer, any order of nodes, unknown fields and types, gzip).
//!
//! ```
//! use chakra_et::graph::{Op, Origin};
//! use chakra_et::{RankWriter, metadata, read_trace, view, write_trace};
//!
//! // Two ranks: rank 0 sends 1 KiB to rank 1, which then adds it up.
//! let rank = |rank: usize| -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
//!     let mut writer = RankWriter::new(&metadata::write(None, &[])?)?;
//!     let origin = Origin::default();
//!     if rank == 0 {
//!         let send = Op::Send { dst: 1, tag: 0, bytes: 1024 };
//!         writer.node(&view::node(0, "COMM_SEND_NODE_0", send, vec![], origin)?)?;
//!     } else {
//!         let recv = Op::Recv { src: 0, tag: 0, bytes: 1024 };
//!         let add = Op::Comp { micros: 0, ops: 256, bytes: 1024 };
//!         writer.node(&view::node(0, "COMM_RECV_NODE_0", recv, vec![], origin)?)?;
//!         writer.node(&view::node(1, "COMP_NODE_1", add, vec![0], origin)?)?;
//!     }
//!     Ok(writer.finish())
//! };
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! write_trace(directory.join("pair"), 2, rank)?;
//!
//! let graph = read_trace(directory.join("pair"))?;
//! assert_eq!(graph.rank_count(), 2);
//! assert_eq!(graph.rank(1).deps(1), [0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod attr;
mod diagnose;
mod encode;
mod error;
mod figures;
mod files;
pub mod frame;
mod frame_reader;
pub mod graph;
pub mod groups;
mod hot;
mod input;
#[cfg(feature = "json")]
pub mod jsonl;
mod messages;
pub mod metadata;
mod node_reader;
mod old;
mod prefix;
pub mod proto;
mod rank;
mod rank_files;
mod read;
mod schema;
pub mod summary;
pub mod validate;
pub mod view;
mod warning;
mod wire;
mod wire_bytes;
pub mod workload;
mod write;

pub use error::{DepKind, FileError, Input, Place, Problem, ReadError};
pub use files::{WriteError, write_trace};
pub use graph::Graph;
pub use node_reader::{NodeReader, ReadNode};
pub use rank_files::RankFiles;
pub use read::{Loaded, graph_from_bytes, load_bytes, load_trace, read_trace};
pub use warning::{Warning, WarningKind};
pub use wire_bytes::{FieldOf, UnknownField, WireBytes};
pub use write::{EncodeError, RankWriter};

/// The examples of the README are tests too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
