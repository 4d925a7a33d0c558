//! What is accepted, but should be known.

use std::fmt;
use std::path::PathBuf;

use crate::error::{Input, Place};
use crate::proto::{Node, NodeType};

/// Something in a trace that does not keep it from being read, but that other readers may stumble over or
/// that may not be what its writer meant.
///
/// Of one kind in one file only the first is kept, with how many there are.
///
/// ```
/// use chakra_et::{NodeReader, WarningKind};
///
/// // Metadata of version "0.0.4", then a message without bytes: a node with nothing but id 0.
/// let mut reader = NodeReader::new(&b"\x07\x0a\x050.0.4\x00"[..])?;
/// assert_eq!(reader.by_ref().count(), 1);
/// let [warning] = reader.warnings() else { panic!("{:?}", reader.warnings()) };
/// assert_eq!(warning.kind, WarningKind::EmptyNode);
/// assert!(warning.to_string().starts_with("byte 8, node 0 (id 0): empty-node: "));
/// # Ok::<(), chakra_et::FileError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The file or rank, if known.
    pub input: Option<Input>,
    /// Where the first is, if it is at a place in a file.
    pub place: Option<Place>,
    /// How many there are in the file.
    pub count: u64,
    /// What it is.
    pub kind: WarningKind,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(input) = &self.input {
            write!(f, "{input}: ")?;
        }
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}: {}", self.kind.id(), self.kind)?;
        if self.count > 1 {
            write!(f, " (the first of {})", self.count)?;
        }
        Ok(())
    }
}

/// The kinds of [`Warning`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// The file is compressed.
    Gzip,
    /// The file was converted from an older schema.
    Converted {
        /// The schema that it has.
        from: &'static str,
    },
    /// The metadata are a message without bytes.
    EmptyMetadata,
    /// The metadata state a version that is not known.
    UnknownVersion {
        /// The version stated.
        version: String,
    },
    /// The metadata state another version than those of rank 0.
    VersionsDiffer {
        /// The version of this rank.
        version: String,
        /// The version of rank 0.
        first: String,
    },
    /// There are no nodes.
    NoNodes,
    /// A node is a message without bytes.
    EmptyNode,
    /// The file ends with messages without bytes, which are no nodes as id 0 is taken.
    TrailingZeros {
        /// How many.
        count: u64,
    },
    /// The type of a node is none that the format defines.
    UnknownNodeType {
        /// The value of the type.
        node_type: i32,
    },
    /// A node has a dependence more than once.
    DuplicateDep {
        /// The id of that dependence.
        dep: u64,
    },
    /// A node has several attributes of one name.
    DuplicateAttr {
        /// The name.
        name: String,
    },
    /// An attribute has no value.
    AttrWithoutValue {
        /// Its name.
        name: String,
    },
    /// A collective involves some dimensions of the network only, which is ignored.
    InvolvedDim,
    /// A COMM_COLL node on the CPU without a kind is read as the computation that launches the collective.
    HostCollective,
    /// A dependence on the node itself or on none was left out.
    DroppedDep {
        /// The id of that dependence.
        dep: u64,
    },
    /// A communicator group that no node uses was left out.
    GroupLeftOut {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
    /// A file is named almost like one of the trace, and not read.
    StrayFile {
        /// The file.
        path: PathBuf,
        /// Why it is not read.
        reason: &'static str,
    },
}

impl WarningKind {
    /// A short name that stays the same, to search for and to suppress by.
    #[must_use]
    pub fn id(&self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Converted { .. } => "converted",
            Self::EmptyMetadata => "empty-metadata",
            Self::UnknownVersion { .. } => "unknown-version",
            Self::VersionsDiffer { .. } => "versions-differ",
            Self::NoNodes => "no-nodes",
            Self::EmptyNode => "empty-node",
            Self::TrailingZeros { .. } => "trailing-zeros",
            Self::UnknownNodeType { .. } => "unknown-node-type",
            Self::DuplicateDep { .. } => "duplicate-dependence",
            Self::DuplicateAttr { .. } => "duplicate-attribute",
            Self::AttrWithoutValue { .. } => "attribute-without-value",
            Self::InvolvedDim => "involved-dim",
            Self::HostCollective => "host-collective",
            Self::DroppedDep { .. } => "dropped-dependence",
            Self::GroupLeftOut { .. } => "group-left-out",
            Self::StrayFile { .. } => "stray-file",
        }
    }
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gzip => f.write_str("the file is compressed, which ASTRA-sim does not notice"),
            Self::Converted { from } => write!(f, "the file is of schema {from} and was converted"),
            Self::EmptyMetadata => {
                f.write_str("the metadata are a message of length 0, which some readers take for the end of the file")
            }
            Self::UnknownVersion { version } => {
                write!(f, "version {version:?} is not known; read as 0.0.4 / 1.0.0")
            }
            Self::VersionsDiffer { version, first } => {
                write!(f, "the version is {version:?}, but that of rank 0 is {first:?}")
            }
            Self::NoNodes => f.write_str("there are no nodes, which ASTRA-sim refuses"),
            Self::EmptyNode => f.write_str(
                "a message of length 0 is read as a node with nothing but id 0; some readers take it for the end of \
                 the file",
            ),
            Self::TrailingZeros { count } => write!(
                f,
                "the file ends with {count} message(s) of length 0, which are ignored as another node has id 0"
            ),
            Self::UnknownNodeType { node_type } => {
                write!(f, "the node has type {node_type}, which the format does not define")
            }
            Self::DuplicateDep { dep } => write!(
                f,
                "the node depends on id {dep} more than once, and the older reader then never starts it; read as once"
            ),
            Self::DuplicateAttr { name } => {
                write!(f, "the node has several attributes {name:?}; the first is used, but the last by the older reader")
            }
            Self::AttrWithoutValue { name } => write!(f, "the attribute {name:?} has no value"),
            Self::InvolvedDim => f.write_str(
                "involved_dim leaves out dimensions of the network, which is ignored: all ranks of its group take part",
            ),
            Self::HostCollective => f.write_str(
                "a COMM_COLL_NODE on the CPU without comm_type and comm_size is read as a computation of its duration: it \
                 launches the collective, which is another node",
            ),
            Self::DroppedDep { dep } => {
                write!(f, "the dependence on id {dep}, which is the node itself or none of the rank, is left out")
            }
            Self::GroupLeftOut { name, reason } => write!(f, "group {name:?} is left out: {reason}"),
            Self::StrayFile { path, reason } => write!(f, "{} is not read: {reason}", path.display()),
        }
    }
}

/// The warnings about one file.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    list: Vec<Warning>,
}

impl Warnings {
    pub(crate) fn list(&self) -> &[Warning] {
        &self.list
    }

    /// The warnings, with where they come from.
    pub(crate) fn of(self, input: &Input) -> impl Iterator<Item = Warning> + use<'_> {
        self.list.into_iter().map(|warning| Warning { input: Some(input.clone()), ..warning })
    }

    pub(crate) fn add(&mut self, place: Option<Place>, kind: WarningKind) {
        // There are few kinds.
        match self.list.iter_mut().find(|warning| warning.kind.id() == kind.id()) {
            Some(warning) => warning.count += 1,
            None => self.list.push(Warning { input: None, place, count: 1, kind }),
        }
    }

    /// What there is to say of a node.
    pub(crate) fn node(&mut self, place: Place, node: &Node) {
        if NodeType::try_from(node.r#type).is_err() {
            self.add(Some(place), WarningKind::UnknownNodeType { node_type: node.r#type });
        }
        let mut deps: Vec<u64> = [&node.data_deps[..], &node.ctrl_deps].concat();
        deps.sort_unstable();
        if let Some(twice) = deps.windows(2).find(|pair| pair[0] == pair[1]) {
            self.add(Some(place), WarningKind::DuplicateDep { dep: twice[0] });
        }
        if let Some(attr) = node.attr.iter().find(|attr| attr.value.is_none()) {
            self.add(Some(place), WarningKind::AttrWithoutValue { name: attr.name.clone() });
        }
        let mut names: Vec<&str> = node.attr.iter().map(|attr| attr.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            self.add(Some(place), WarningKind::DuplicateAttr { name: twice[0].to_owned() });
        }
    }
}
