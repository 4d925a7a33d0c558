//! The metadata of a rank's file: all that a schedule says beside its steps, so that it can be rebuilt.
//!
//! The same on every rank: the collective (`collective`, `in_place`, `division_chunks`, and where it has them `root`,
//! `destination`, `output_chunks`), the `operator`, the size and the element type, the `protocol`, the `order`
//! of the nodes, and the pairs of unequal chunks that are added (`mixed_reductions`). Of the rank: its `scratch_chunks`; of each of its
//! `thread_blocks` the peer that it sends to, the peer that it receives from (-1 for none) and the channel; its row
//! of the size table of all-to-all-v (`sends`); what a custom collective wants in its output (`expected`: of each
//! chunk its index, the number of contributions, and chunk and rank of each).

use chakra_et::attr::{self, AttrError};
use chakra_et::graph::CollectiveInfo;
use chakra_et::metadata;
use chakra_et::proto::attribute_proto::Value;
use chakra_et::proto::{AttributeProto, GlobalMetadata, Int32List};

use super::{EtOptions, NodeOrder, info};
use crate::collective::{Collective, CollectiveKind, Division, Expectations};
use crate::ids::RankId;
use crate::options::Protocol;
use crate::schedule::Schedule;
use crate::size::{ElementType, Size};

const OPERATOR: &str = "operator";
/// The number of chunks that sizes are computed with; see [`Division`].
const DIVISION: &str = "division_chunks";
const PROTOCOL: &str = "protocol";
const ORDER: &str = "order";
const ROOT: &str = "root";
const DESTINATION: &str = "destination";
const OUTPUTS: &str = "output_chunks";
const SCRATCH: &str = "scratch_chunks";
const BLOCKS: &str = "thread_blocks";
const SENDS: &str = "sends";
const EXPECTED: &str = "expected";

/// The pairs of logical chunks that the algorithm adds together although they are different parts of the data: into
/// which, which. They must have the same size.
pub(super) const MIXED: &str = "mixed_reductions";

/// What is the same for all ranks.
pub(super) fn write(
    schedule: &Schedule,
    options: &EtOptions,
    files: &[String],
) -> Result<GlobalMetadata, AttrError> {
    let collective = &schedule.collective;
    let mut header = metadata::write(Some(&info(schedule, options.size)), files)?;
    let attrs = &mut header.attr;
    attrs.push(attr::string(OPERATOR, "sum"));
    attrs.push(attr::int32_from(DIVISION, collective.division().chunks)?);
    attrs.push(attr::string(PROTOCOL, schedule.protocol.name()));
    attrs.push(attr::string(ORDER, options.order.name()));
    if has_root(collective.kind()) {
        attrs.push(attr::int32_from(ROOT, collective.root().0)?);
    }
    if collective.kind() == CollectiveKind::SendRecv {
        attrs.push(attr::int32_from(DESTINATION, collective.destination().0)?);
    }
    if collective.kind() == CollectiveKind::Custom {
        attrs.push(attr::int32_from(OUTPUTS, collective.output_chunks() as u32)?);
    }
    let chunks = |id| schedule.data.chunks(id);
    let mut pairs: Vec<(u32, u32)> =
        schedule.mixed.iter().flat_map(|mixed| chunks(mixed.into).zip(chunks(mixed.from))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    if !pairs.is_empty() {
        attrs.push(list(MIXED, pairs.into_iter().flat_map(|(into, from)| [into, from])));
    }
    Ok(header)
}

/// Adds what is the rank's own.
pub(super) fn add_rank(
    header: &mut GlobalMetadata,
    schedule: &Schedule,
    rank: usize,
) -> Result<(), AttrError> {
    let (id, attrs) = (RankId(rank as u32), &mut header.attr);
    attrs.push(attr::int32_from(SCRATCH, schedule.ranks[rank].scratch_chunks)?);
    let peer = |peer: Option<RankId>| peer.map_or(-1, |peer| peer.0 as i32);
    let ends = schedule.ranks[rank]
        .thread_blocks
        .iter()
        .flat_map(|block| [peer(block.send), peer(block.recv), block.channel.0 as i32]);
    attrs.push(signed_list(BLOCKS, ends.collect()));
    if let Some(row) = schedule.collective.table_row(id) {
        attrs.push(list(SENDS, row.iter().copied()));
    }
    if let Some(expected) = schedule.collective.expected() {
        let of_rank = expected.range((id.0, 0)..=(id.0, u32::MAX));
        let values = of_rank.flat_map(|((_, index), contributions)| {
            let pairs = contributions.iter().flat_map(|(chunk, from)| [*chunk, *from]);
            [*index, contributions.len() as u32].into_iter().chain(pairs)
        });
        attrs.push(list(EXPECTED, values));
    }
    Ok(())
}

fn has_root(kind: CollectiveKind) -> bool {
    use CollectiveKind::{Broadcast, Gather, Reduce, Scatter, SendRecv};
    matches!(kind, Broadcast | Reduce | Gather | Scatter | SendRecv)
}

/// A list of ranks, chunks or counts of them: there are at most [`Collective::MAX_CELLS`].
fn list(name: &str, values: impl Iterator<Item = u32>) -> AttributeProto {
    signed_list(name, values.map(|value| value as i32).collect())
}

pub(super) fn signed_list(name: &str, values: Vec<i32>) -> AttributeProto {
    let value = Some(Value::Int32List(Int32List { values }));
    AttributeProto { name: name.to_owned(), value, ..AttributeProto::default() }
}

/// The same metadata for another size.
pub(super) fn resize(header: &mut GlobalMetadata, size: Size) -> Result<(), AttrError> {
    let bytes = attr::int64_from("collective_size", size.in_bytes())?;
    let element = attr::string("element_type", size.element_type().name());
    for attribute in &mut header.attr {
        for new in [&bytes, &element] {
            if attribute.name == new.name {
                attribute.value.clone_from(&new.value);
            }
        }
    }
    Ok(())
}

/// How the collective of some metadata divides its elements; `None` if they are not of this project.
pub(super) fn division(name: &str, metadata: &[AttributeProto], ranks: usize) -> Option<Division> {
    let kind = CollectiveKind::from_name(name)?;
    let chunks = attr::find_u32(metadata, DIVISION).ok()??;
    let ranks = u32::try_from(ranks).ok()?;
    (chunks > 0 && ranks > 0).then_some(Division { kind, ranks, chunks })
}

/// What a custom collective wants of a rank: of each output chunk chunk and rank of the contributions.
type Contributions = Vec<(u32, Vec<(u32, u32)>)>;

/// What the metadata of one rank say.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) common: Common,
    pub(super) scratch: u32,
    /// Peer to send to, peer to receive from, channel.
    pub(super) blocks: Vec<(Option<u32>, Option<u32>, u32)>,
    sends: Vec<u32>,
    expected: Option<Contributions>,
}

/// What the metadata of all ranks must agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Common {
    pub(super) info: CollectiveInfo,
    pub(super) protocol: Protocol,
    pub(super) order: NodeOrder,
    pub(super) mixed: Vec<(u32, u32)>,
    kind: CollectiveKind,
    element: ElementType,
    chunks: u32,
    outputs: u32,
    root: u32,
    destination: u32,
}

/// Why metadata are no header.
#[derive(Debug)]
pub(super) enum NoHeader {
    /// They lack what this project writes.
    Foreign(String),
    /// They contradict themselves.
    Malformed(String),
}

impl From<AttrError> for NoHeader {
    fn from(error: AttrError) -> Self {
        NoHeader::Malformed(format!("in its metadata, {error}"))
    }
}

/// Reads the metadata of one rank's file.
pub(super) fn read(metadata: &GlobalMetadata) -> Result<Header, NoHeader> {
    let attrs = &metadata.attr;
    let foreign = |what: &str| NoHeader::Foreign(format!("its metadata do not state {what}"));
    let malformed = NoHeader::Malformed;
    let info = metadata::info(metadata).ok_or_else(|| foreign("a collective with its size and chunks"))?;
    let kind = CollectiveKind::from_name(&info.collective)
        .ok_or_else(|| foreign(&format!("a collective that is known: {} is not", info.collective)))?;
    let protocol = attr::find_str(attrs, PROTOCOL)?.ok_or_else(|| foreign(PROTOCOL))?;
    let order = attr::find_str(attrs, ORDER)?.ok_or_else(|| foreign(ORDER))?;
    let blocks = find_list(attrs, BLOCKS)?.ok_or_else(|| foreign(BLOCKS))?;
    let operator = attr::find_str(attrs, OPERATOR)?.ok_or_else(|| foreign(OPERATOR))?;
    if operator != "sum" {
        return Err(malformed(format!("in its metadata, the operator is {operator}; sum is expected")));
    }
    let common = Common {
        protocol: protocol.parse().map_err(|error| malformed(format!("in its metadata, {error}")))?,
        order: order.parse().map_err(|error| malformed(format!("in its metadata, {error}")))?,
        element: info.element_type.parse().map_err(|error| malformed(format!("in its metadata, {error}")))?,
        kind,
        chunks: attr::need_u32(attrs, DIVISION)?,
        outputs: if kind == CollectiveKind::Custom { attr::need_u32(attrs, OUTPUTS)? } else { 0 },
        root: if has_root(kind) { attr::need_u32(attrs, ROOT)? } else { 0 },
        destination: if kind == CollectiveKind::SendRecv { attr::need_u32(attrs, DESTINATION)? } else { 0 },
        mixed: pairs(find_list(attrs, MIXED)?.unwrap_or(&[]))
            .ok_or_else(|| malformed(format!("in its metadata, {MIXED} are no pairs of chunks")))?,
        info,
    };
    let ends = blocks.chunks(3).map(|ends| {
        let peer = |peer: i32| if peer == -1 { Some(None) } else { u32::try_from(peer).ok().map(Some) };
        let [send, recv, channel] = *ends else { return None };
        Some((peer(send)?, peer(recv)?, u32::try_from(channel).ok()?))
    });
    let blocks = ends.collect::<Option<_>>().ok_or_else(|| {
        malformed(format!("in its metadata, {BLOCKS} are not a peer, a peer and a channel for each"))
    })?;
    let sends = match kind {
        CollectiveKind::AllToAllV => find_list(attrs, SENDS)?.and_then(unsigned),
        _ => Some(Vec::new()),
    };
    let sends =
        sends.ok_or_else(|| malformed(format!("in its metadata, {SENDS} are no row of a size table")))?;
    let expected = match find_list(attrs, EXPECTED)? {
        Some(values) if kind == CollectiveKind::Custom => Some(
            unsigned(values)
                .and_then(|values| expectations(&values))
                .ok_or_else(|| malformed(format!("in its metadata, {EXPECTED} are no contributions")))?,
        ),
        _ => None,
    };
    Ok(Header { common, scratch: attr::need_u32(attrs, SCRATCH)?, blocks, sends, expected })
}

/// The collective that all headers describe together; else the rank at fault and why.
pub(super) fn collective(headers: &[Header]) -> Result<Collective, (usize, String)> {
    let Some(Header { common, .. }) = headers.first() else {
        return Err((0, "there is no rank".to_owned()));
    };
    if let Some(rank) = headers.iter().position(|header| header.common != *common) {
        return Err((rank, "its metadata describe another algorithm than those of rank 0".to_owned()));
    }
    let error = |error: crate::collective::CollectiveError| (0, format!("in its metadata, {error}"));
    let (ranks, chunks) = (headers.len(), common.chunks as usize);
    let built = match common.kind {
        CollectiveKind::AllToAllV => {
            let rows = headers.iter().map(|header| header.sends.iter().map(|n| *n as usize).collect());
            Collective::all_to_all_v(&rows.collect::<Vec<Vec<usize>>>())
        }
        CollectiveKind::Custom => Collective::custom(ranks, chunks, common.outputs as usize),
        kind => Collective::new(kind, ranks, chunks),
    };
    let mut collective = built.map_err(error)?;
    if common.kind == CollectiveKind::SendRecv {
        let (from, to) = (common.root as usize, common.destination as usize);
        collective = collective.between(from, to).map_err(error)?;
    } else if has_root(common.kind) {
        collective = collective.rooted(common.root as usize).map_err(error)?;
    }
    if common.info.in_place {
        collective = collective.in_place().map_err(error)?;
    }
    let stated = (u64::from(common.chunks), common.info.chunks);
    let built = (u64::from(collective.division().chunks), collective.logical_chunks() as u64);
    if stated != built {
        return Err((
            0,
            format!(
                "in its metadata, {DIVISION} {} and chunks {} do not fit {} over {ranks} ranks: {} and {} are expected",
                stated.0, stated.1, common.kind, built.0, built.1
            ),
        ));
    }
    if headers.iter().any(|header| header.expected.is_some()) {
        collective = expecting(headers, collective)?;
    }
    Ok(collective)
}

fn expecting(headers: &[Header], collective: Collective) -> Result<Collective, (usize, String)> {
    let (ranks, inputs, outputs) =
        (headers.len() as u32, collective.input_chunks() as u32, collective.output_chunks() as u32);
    let mut all = Expectations::new();
    for (rank, header) in headers.iter().enumerate() {
        let missing = || (rank, format!("its metadata do not state {EXPECTED}, as those of others do"));
        for (index, contributions) in header.expected.as_ref().ok_or_else(missing)? {
            let exist = contributions.iter().all(|(chunk, from)| *chunk < inputs && *from < ranks);
            if *index >= outputs || !exist {
                let message = format!("in its metadata, what is {EXPECTED} of chunk {index} does not exist");
                return Err((rank, message));
            }
            let mut contributions = contributions.clone();
            contributions.sort_unstable();
            all.insert((rank as u32, *index), contributions);
        }
    }
    Ok(collective.expecting(all))
}

impl Common {
    /// The size.
    pub(super) fn size(&self) -> Size {
        Size::bytes(self.info.size_bytes).with_type(self.element)
    }
}

pub(super) fn find_list<'a>(
    attrs: &'a [AttributeProto],
    name: &'static str,
) -> Result<Option<&'a [i32]>, NoHeader> {
    match attr::find(attrs, name).map(|attribute| &attribute.value) {
        None => Ok(None),
        Some(Some(Value::Int32List(list))) => Ok(Some(&list.values)),
        Some(_) => Err(NoHeader::Malformed(format!("attribute {name} is no list of 32-bit integers"))),
    }
}

fn unsigned(values: &[i32]) -> Option<Vec<u32>> {
    values.iter().map(|value| u32::try_from(*value).ok()).collect()
}

fn pairs(values: &[i32]) -> Option<Vec<(u32, u32)>> {
    let values = unsigned(values)?;
    values.chunks(2).map(|pair| if let [a, b] = *pair { Some((a, b)) } else { None }).collect()
}

fn expectations(mut values: &[u32]) -> Option<Contributions> {
    let mut found = Vec::new();
    while let [index, count, rest @ ..] = values {
        let (pairs, rest) = rest.split_at_checked((*count as usize).checked_mul(2)?)?;
        found.push((*index, pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()));
        values = rest;
    }
    values.is_empty().then_some(found)
}
