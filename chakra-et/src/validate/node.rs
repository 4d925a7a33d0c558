//! Rules about one node by itself, and what the other rules need to know of it.

use crate::attr::{self, AttrError};
use crate::figures;
use crate::proto::attribute_proto::Value;
use crate::proto::{AttributeProto, CollectiveCommType, Node, NodeType};

use super::finding::{Finding, NodeRef};
use super::rules::{self, Rule};

/// What a node does, as far as that can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Send(Message),
    Recv(Message),
    Coll {
        kind: u32,
        bytes: u64,
    },
    /// A communication whose attributes are broken.
    Broken,
    Comp,
    Other,
}

/// A message, seen from one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) peer: u32,
    pub(crate) tag: u32,
    /// `None` if the size is unknown.
    pub(crate) bytes: Option<u64>,
}

/// What is kept of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) id: u64,
    pub(crate) act: Act,
    pub(crate) node_type: i32,
    /// The rank that the node says it is on.
    pub(crate) own: Option<u32>,
    /// Whether a collective spans some dimensions of the network only, so that its members are unknown.
    pub(crate) partial: bool,
}

/// The arms that the older C++ feeder reads. A `pg_name` in another is an error for all readers.
const ARMS: [(&str, Arm); 9] = [
    ("comm_type", Arm::Int64),
    ("comm_size", Arm::Int64),
    ("comm_src", Arm::Int32),
    ("comm_dst", Arm::Int32),
    ("comm_tag", Arm::Int32),
    ("comm_priority", Arm::Int32),
    ("num_ops", Arm::Int64),
    ("tensor_size", Arm::Uint64),
    ("is_cpu_op", Arm::Bool),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Arm {
    Int32,
    Int64,
    Uint64,
    Bool,
}

impl Arm {
    fn name(self) -> &'static str {
        match self {
            Self::Int32 => "int32_val",
            Self::Int64 => "int64_val",
            Self::Uint64 => "uint64_val",
            Self::Bool => "bool_val",
        }
    }

    fn fits(self, value: &Value) -> bool {
        matches!(
            (self, value),
            (Self::Int32, Value::Int32Val(_))
                | (Self::Int64, Value::Int64Val(_))
                | (Self::Uint64, Value::Uint64Val(_))
                | (Self::Bool, Value::BoolVal(_))
        )
    }
}

/// ASTRA-sim takes tags modulo this.
const TAGS: u32 = 500_000_000;
/// An exbibyte: what is larger is a negative number or a mistake.
const HUGE: u64 = 1 << 60;

/// Judges a node.
pub(crate) struct Judge<'a> {
    at: NodeRef,
    position: usize,
    node: &'a Node,
    findings: &'a mut Vec<Finding>,
}

impl<'a> Judge<'a> {
    /// For the node at a position of the file of a rank.
    pub(crate) fn new(rank: usize, position: usize, node: &'a Node, findings: &'a mut Vec<Finding>) -> Self {
        Self { at: NodeRef { rank, node: node.id }, position, node, findings }
    }

    fn add(&mut self, rule: &'static Rule, message: impl Into<String>) {
        let what = super::named(self.node.id, &self.node.name);
        let message = format!("{what}: {}", message.into());
        self.findings.push(Finding::of_node(rule, self.at, self.position, message));
    }

    /// What a fallible look at an attribute gives; an error is reported.
    fn look<T>(&mut self, result: Result<T, AttrError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                let rule = match error {
                    AttrError::Missing { .. } | AttrError::NoSize { .. } => &rules::MISSING_ATTR,
                    _ => &rules::MISTYPED_ATTR,
                };
                self.add(rule, error.to_string());
                None
            }
        }
    }

    /// Applies all rules about single nodes.
    pub(crate) fn item(mut self, collective_size: Option<u64>) -> Item {
        self.names();
        self.attributes();
        let node = self.node;
        let mut item =
            Item { id: node.id, act: Act::Other, node_type: node.r#type, own: None, partial: false };
        match NodeType::try_from(node.r#type) {
            Ok(NodeType::CommSendNode) => {
                item.act = self.message(["comm_dst", "comm_src"], &mut item.own, collective_size, Act::Send);
            }
            Ok(NodeType::CommRecvNode) => {
                item.act = self.message(["comm_src", "comm_dst"], &mut item.own, collective_size, Act::Recv);
            }
            Ok(NodeType::CommCollNode) => self.collective(&mut item),
            Ok(NodeType::CompNode) => {
                self.look(attr::find_u64(&node.attr, "num_ops"));
                self.look(attr::find_u64(&node.attr, "tensor_size"));
                item.act = Act::Comp;
            }
            Ok(NodeType::MemLoadNode | NodeType::MemStoreNode) => {
                self.look(attr::need_u64(&node.attr, "tensor_size"));
                self.add(
                    &rules::MEMORY_NODE,
                    "it accesses memory, which ASTRA-sim refuses without a memory model",
                );
            }
            Ok(NodeType::MetadataNode) => {
                self.add(
                    &rules::METADATA_NODE,
                    "it is a METADATA_NODE, on which ASTRA-sim's statistics stop",
                );
            }
            Ok(NodeType::InvalidNode) => {
                self.add(
                    &rules::INVALID_NODE,
                    "its type is absent or INVALID_NODE, after which ASTRA-sim may hang",
                );
            }
            Err(_) => {
                let message = format!("its type {} is none that the format defines (0 to 7)", node.r#type);
                self.add(&rules::UNKNOWN_NODE_TYPE, message);
            }
        }
        item
    }

    fn names(&mut self) {
        if self.node.name.contains([',', '=']) {
            self.add(&rules::NAME_CHARACTERS, "its name has a comma or '='");
        }
    }

    /// Rules about attributes whatever the type of the node.
    fn attributes(&mut self) {
        let attrs = &self.node.attr;
        for name in repeated(attrs) {
            self.add(&rules::DUPLICATE_ATTR, format!("it has the attribute {name:?} more than once"));
        }
        for attribute in attrs {
            let name = attribute.name.as_str();
            let Some(value) = &attribute.value else {
                self.add(&rules::WITHOUT_VALUE, format!("the attribute {name:?} has no value"));
                continue;
            };
            if let Some((_, arm)) = ARMS.iter().find(|(known, _)| *known == name)
                && !arm.fits(value)
                && is_integer(value)
                && !is_zero(value)
            {
                let expected = arm.name();
                let message =
                    format!("attribute {name} is not stored as {expected}, so the older feeder reads 0");
                self.add(&rules::WRONG_ARM, message);
            }
        }
    }

    fn message(
        &mut self,
        [peer, own]: [&'static str; 2],
        own_rank: &mut Option<u32>,
        collective_size: Option<u64>,
        act: fn(Message) -> Act,
    ) -> Act {
        let attrs = &self.node.attr;
        self.communication();
        *own_rank = self.look(attr::find_u32(attrs, own)).flatten();
        let peer = self.look(attr::need_u32(attrs, peer));
        let tag = self.look(attr::need_u32(attrs, "comm_tag"));
        if let Some(tag) = tag.filter(|&tag| tag >= TAGS) {
            let folded = tag % TAGS;
            self.add(
                &rules::TAG_RANGE,
                format!("tag {tag} is not below {TAGS}: ASTRA-sim takes it for {folded}"),
            );
        }
        let (Some(peer), Some(tag)) = (peer, tag) else { return Act::Broken };
        let bytes = self.look(figures::message_size(attrs.as_slice(), collective_size));
        if let Some(bytes) = bytes {
            self.size(bytes, "message");
            if attr::find(attrs, "comm_size").is_none() {
                let message = format!("comm_size is missing; {bytes} bytes follow from the chunk counts");
                self.add(&rules::SYMBOLIC_SIZE, message);
            }
        }
        act(Message { peer, tag, bytes })
    }

    fn collective(&mut self, item: &mut Item) {
        let attrs = &self.node.attr;
        self.communication();
        let kind = self.look(attr::need_u32(attrs, "comm_type"));
        let bytes = self.look(attr::need_u64(attrs, "comm_size"));
        let known = kind.and_then(|kind| i32::try_from(kind).ok()).map(CollectiveCommType::try_from);
        match (kind, known) {
            (Some(_), Some(Ok(known))) => self.supported(known),
            (Some(kind), _) => {
                let message = format!("comm_type {kind} is none that the format defines (0 to 9)");
                self.add(&rules::UNKNOWN_COMM_TYPE, message);
            }
            (None, _) => {}
        }
        let barrier = matches!(known, Some(Ok(CollectiveCommType::Barrier)));
        if let Some(bytes) = bytes.filter(|_| !barrier) {
            self.size(bytes, "collective");
        }
        self.involved_dim(item);
        item.act = match (kind, bytes) {
            (Some(kind), Some(bytes)) => Act::Coll { kind, bytes },
            _ => Act::Broken,
        };
    }

    /// Rules about all communication nodes.
    fn communication(&mut self) {
        let attrs = &self.node.attr;
        if self.look(attr::find_bool(attrs, "is_cpu_op")).flatten() == Some(true) {
            self.add(&rules::CPU_COMM, "is_cpu_op is true, but communication does not run on the CPU");
        }
        self.look(attr::find_str(attrs, "pg_name"));
        if let Some(priority) = attr::find(attrs, "comm_priority")
            && !priority.value.as_ref().is_some_and(is_integer)
        {
            self.add(&rules::MISTYPED_ATTR, "attribute comm_priority is no integer");
        }
    }

    fn supported(&mut self, kind: CollectiveCommType) {
        use CollectiveCommType as Kind;
        if !matches!(
            kind,
            Kind::AllReduce | Kind::AllGather | Kind::ReduceScatter | Kind::AllToAll | Kind::Broadcast
        ) {
            let message = format!("ASTRA-sim does not simulate {}", kind.as_str_name());
            self.add(&rules::UNSUPPORTED_COLLECTIVE, message);
        }
    }

    fn involved_dim(&mut self, item: &mut Item) {
        let Some(attribute) = attr::find(&self.node.attr, "involved_dim") else { return };
        match &attribute.value {
            Some(Value::BoolList(list)) if list.values.contains(&true) => {
                item.partial = list.values.contains(&false);
            }
            Some(Value::BoolList(list)) => {
                let message = match list.values.len() {
                    0 => "involved_dim is empty; at least one dimension must be true",
                    _ => "involved_dim has no true; at least one dimension must be true",
                };
                self.add(&rules::INVOLVED_DIM, message);
            }
            Some(_) => self.add(&rules::MISTYPED_ATTR, "attribute involved_dim is no list of bools"),
            None => self.add(
                &rules::MISTYPED_ATTR,
                "attribute involved_dim has no value; a list of bools is expected",
            ),
        }
    }

    fn size(&mut self, bytes: u64, what: &str) {
        if bytes == 0 {
            self.add(&rules::ZERO_SIZE, format!("it is a {what} of 0 bytes"));
        } else if bytes > HUGE {
            self.add(&rules::HUGE_SIZE, format!("it is a {what} of {bytes} bytes, which is more than 2^60"));
        }
    }
}

/// Names that occur more than once, each once.
fn repeated(attrs: &[AttributeProto]) -> Vec<&str> {
    let mut names: Vec<&str> = attrs.iter().map(|attr| attr.name.as_str()).collect();
    names.sort_unstable();
    let mut twice: Vec<&str> =
        names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    twice.dedup();
    twice
}

/// Whether a reader that takes it for zero is right.
fn is_zero(value: &Value) -> bool {
    matches!(
        value,
        Value::Int32Val(0)
            | Value::Int64Val(0)
            | Value::Uint32Val(0)
            | Value::Uint64Val(0)
            | Value::Sint32Val(0)
            | Value::Sint64Val(0)
            | Value::Fixed32Val(0)
            | Value::Fixed64Val(0)
            | Value::Sfixed32Val(0)
            | Value::Sfixed64Val(0)
            | Value::BoolVal(false)
    )
}

fn is_integer(value: &Value) -> bool {
    matches!(
        value,
        Value::Int32Val(_)
            | Value::Int64Val(_)
            | Value::Uint32Val(_)
            | Value::Uint64Val(_)
            | Value::Sint32Val(_)
            | Value::Sint64Val(_)
            | Value::Fixed32Val(_)
            | Value::Fixed64Val(_)
            | Value::Sfixed32Val(_)
            | Value::Sfixed64Val(_)
            | Value::BoolVal(_)
    )
}
