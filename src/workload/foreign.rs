//! Algorithms from traces of other tools, whose nodes say how much they move and not what.

use chakra_et::attr::{self, AttrError};
use chakra_et::graph::{Graph, Op};
use chakra_et::proto::attribute_proto::Value;
use chakra_et::proto::{AttributeProto, GlobalMetadata};
use chakra_et::{NodeReader, RankWriter, graph_from_bytes, metadata};

use crate::CollectiveKind;

/// The traces of an algorithm as they were read.
#[derive(Clone, Debug)]
pub(super) struct Foreign {
    name: String,
    ranks: Vec<Vec<u8>>,
    /// The size that they say they are for.
    stated: Option<u64>,
}

/// The attribute with the size of the collective.
const SIZE: &str = "collective_size";

impl Foreign {
    /// Checks that the traces are those of an algorithm.
    pub(super) fn new(name: String, ranks: Vec<Vec<u8>>) -> Result<Self, String> {
        let mut stated = None;
        for (rank, bytes) in ranks.iter().enumerate() {
            let reader =
                NodeReader::new(bytes.as_slice()).map_err(|error| format!("{name}.{rank}.et: {error}"))?;
            let size = metadata::collective_size(reader.metadata());
            if rank > 0 && size != stated {
                return Err(format!("{name}.{rank}.et: states another {SIZE} than rank 0"));
            }
            stated = size;
        }
        let foreign = Self { name, ranks, stated };
        // Every number of chunks divides 0.
        foreign.check(&foreign.at(foreign.stated.unwrap_or(0))?)?;
        Ok(foreign)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The collective; not known.
    pub(super) fn collective(&self) -> Option<CollectiveKind> {
        None
    }

    pub(super) fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// Whether its messages have the sizes in the traces whatever the collective's is.
    pub(super) fn is_literal(&self) -> bool {
        self.stated.is_none()
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        let ranks = graph.rank_count() as u32;
        for (rank, nodes) in graph.ranks().iter().enumerate() {
            for (node, op) in (0..).zip(nodes.ops()) {
                let what = match *op {
                    Op::Send { dst: peer, .. } | Op::Recv { src: peer, .. } if peer >= ranks => {
                        format!("is for rank {peer}, but there are {ranks}")
                    }
                    Op::Send { .. } | Op::Recv { .. } | Op::Comp { .. } => continue,
                    _ => "is no SEND, RECV or COMP, of which an algorithm consists".to_owned(),
                };
                return Err(format!("{}.{rank}.et: node {} {what}", self.name, nodes.id(node)));
            }
        }
        Ok(())
    }

    /// The graph for a size of the collective.
    ///
    /// Sizes that follow from numbers of chunks do so from the size. Literal ones are to the size as in the traces they are to
    /// the size that is stated there, rounded down; where none is, they are taken as they are.
    pub(super) fn at(&self, size: u64) -> Result<Graph, String> {
        let ranks = self.ranks.iter().enumerate().map(|(rank, bytes)| {
            self.rank_at(bytes, size).map_err(|error| format!("{}.{rank}.et: {error}", self.name))
        });
        let ranks: Vec<Vec<u8>> = ranks.collect::<Result<_, _>>()?;
        graph_from_bytes(&ranks).map_err(|error| format!("{}: {error}", self.name))
    }

    fn rank_at(&self, bytes: &[u8], size: u64) -> Result<Vec<u8>, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let reader = NodeReader::new(bytes).map_err(|error| text(&error))?;
        let header = resized(reader.metadata(), size).map_err(|error| text(&error))?;
        let mut writer = RankWriter::new(&header).map_err(|error| text(&error))?;
        for node in reader {
            let mut node = node.map_err(|error| text(&error))?.node;
            if let Some(stated) = self.stated {
                for attribute in node.attr.iter_mut().filter(|attribute| attribute.name == "comm_size") {
                    scale(attribute, size, stated).map_err(|error| text(&error))?;
                }
            }
            writer.node(&node).map_err(|error| text(&error))?;
        }
        Ok(writer.finish())
    }
}

/// The same metadata for another size.
fn resized(metadata: &GlobalMetadata, size: u64) -> Result<GlobalMetadata, AttrError> {
    let mut resized = metadata.clone();
    resized.attr.retain(|attribute| attribute.name != SIZE);
    resized.attr.push(attr::int64_from(SIZE, size)?);
    Ok(resized)
}

/// Brings a literal size from one size of the collective to another.
fn scale(attribute: &mut AttributeProto, size: u64, stated: u64) -> Result<(), AttrError> {
    let Some(literal) = attr::find_u64(std::slice::from_ref(attribute), "comm_size")? else { return Ok(()) };
    let scaled = match stated {
        0 => 0,
        stated => u128::from(literal) * u128::from(size) / u128::from(stated),
    };
    // What does not fit is refused as one that does not fit the format.
    let scaled = attr::int64_from("comm_size", u64::try_from(scaled).unwrap_or(u64::MAX))?;
    attribute.value = scaled.value.or(Some(Value::Int64Val(0)));
    Ok(())
}
