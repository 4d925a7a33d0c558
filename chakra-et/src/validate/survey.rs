//! What validation keeps of a trace: read once, a node at a time.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::error::{FileError, Input, Place, Problem, ReadError};
use crate::groups::Groups;
use crate::metadata;
use crate::node_reader::NodeReader;
use crate::proto::{GlobalMetadata, Node, NodeType};
use crate::rank_files::RankFiles;
use crate::warning::{Warning, WarningKind};

use super::csr::Csr;
use super::deps;
use super::finding::{Finding, NodeRef};
use super::node::{Act, Item, Judge};
use super::order::Order;
use super::rules;

/// A trace as the validator sees it: its graph, what the nodes do and their names, and what is wrong with
/// single nodes. About 100 bytes a node and the names.
#[derive(Debug)]
pub struct Survey {
    pub(crate) ranks: Vec<RankSurvey>,
    /// Whether these are all ranks of the trace.
    pub(crate) whole: bool,
    /// Findings about files, not ranks.
    pub(crate) findings: Vec<Finding>,
}

impl Survey {
    /// Reads a trace by its prefix, in parallel by rank, or a single file of one. What is said of each node as it is
    /// read goes to `progress`: bytes read so far in some file.
    ///
    /// Of a single file, only what can be told without the other ranks is judged. Its rank is taken from its
    /// name, `PREFIX.RANK.et`, and is 0 if that has none.
    ///
    /// ```
    /// use chakra_et::validate::{Options, Survey, validate};
    /// use chakra_et::{RankWriter, metadata, view, write_trace};
    /// use chakra_et::graph::{Op, Origin};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// // Nobody receives what rank 0 sends.
    /// write_trace(directory.join("t"), 2, |rank| -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    ///     let op = match rank {
    ///         0 => Op::Send { dst: 1, tag: 0, bytes: 8 },
    ///         _ => Op::Comp { micros: 1, ops: 0, bytes: 0 },
    ///     };
    ///     let mut writer = RankWriter::new(&metadata::write(None, &[])?)?;
    ///     writer.node(&view::node(7, "COMM_SEND_NODE", op, vec![], Origin::default())?)?;
    ///     Ok(writer.finish())
    /// })?;
    /// let survey = Survey::read(directory.join("t"), |_| ())?;
    /// let findings = validate(&survey, &Options::default());
    /// assert_eq!(findings[0].rule.id, "unmatched-send");
    /// assert_eq!(findings[0].node, Some(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If files are missing or cannot be decoded, as for [`crate::load_trace`]. What the nodes say is no error
    /// here but a finding.
    pub fn read(path: impl AsRef<Path>, progress: impl Fn(u64) + Sync) -> Result<Self, ReadError> {
        let files = RankFiles::find(path.as_ref(), "et")?;
        let read = |(rank, path): &(usize, std::path::PathBuf)| {
            let file = File::open(path)
                .map_err(|error| FileError { place: Place::default(), problem: Problem::Io(error) })?;
            RankSurvey::read(*rank, file, &progress)
        };
        let ranks: Vec<Result<RankSurvey, FileError>> = files.ranks().par_iter().map(read).collect();
        let mut survey = Self::join(ranks, |at| Input::File(files.ranks()[at].1.clone()))?;
        survey.whole = files.is_whole();
        survey.findings = files
            .stray()
            .iter()
            .map(|(path, reason)| {
                let kind = WarningKind::StrayFile { path: path.clone(), reason };
                Finding::of_trace(&rules::STRAY_FILE, kind.to_string())
            })
            .collect();
        Ok(survey)
    }

    /// Reads a whole trace from memory: the contents of one file for each rank.
    ///
    /// # Errors
    /// If a file cannot be decoded.
    pub fn from_bytes<B: AsRef<[u8]> + Sync>(ranks: &[B]) -> Result<Self, ReadError> {
        let read = |(rank, bytes): (usize, &B)| RankSurvey::read(rank, bytes.as_ref(), &|_| ());
        let surveys: Vec<Result<RankSurvey, FileError>> = ranks.par_iter().enumerate().map(read).collect();
        Self::join(surveys, Input::Rank)
    }

    fn join(
        ranks: Vec<Result<RankSurvey, FileError>>,
        input: impl Fn(usize) -> Input,
    ) -> Result<Self, ReadError> {
        let mut all = Vec::with_capacity(ranks.len());
        for (at, rank) in ranks.into_iter().enumerate() {
            all.push(rank.map_err(|error| ReadError::Rank { input: input(at), error: Box::new(error) })?);
        }
        let differ: Vec<Finding> = match all.split_first() {
            None => Vec::new(),
            Some((first, rest)) => rest.iter().filter_map(|rank| versions_differ(rank, first)).collect(),
        };
        Ok(Self { ranks: all, whole: true, findings: differ })
    }

    /// What is known of each rank, in order.
    #[must_use]
    pub fn ranks(&self) -> &[RankSurvey] {
        &self.ranks
    }

    /// Whether these are all ranks of the trace, and not a single file of it.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Whether the trace is an algorithm: sends and receives without collectives, for a simulator to run in the
    /// place of one.
    #[must_use]
    pub fn is_algorithm(&self) -> bool {
        let any = |wanted: fn(&Item) -> bool| self.ranks.iter().any(|rank| rank.items.iter().any(wanted));
        any(|item| matches!(item.act, Act::Send(_) | Act::Recv(_)))
            && !any(|item| NodeType::try_from(item.node_type) == Ok(NodeType::CommCollNode))
    }

    /// The process groups that METADATA nodes of the ranks define, as PyTorch's converter writes them; the first
    /// definition of a name counts. Known only with the feature `json`.
    #[must_use]
    pub fn process_groups(&self) -> Groups {
        let mut all = Groups::default();
        for rank in &self.ranks {
            all.add_missing(&rank.process_groups);
        }
        all
    }
}

fn versions_differ(rank: &RankSurvey, first: &RankSurvey) -> Option<Finding> {
    let (version, expected) = (&rank.metadata.version, &first.metadata.version);
    (version != expected).then(|| {
        let kind = WarningKind::VersionsDiffer { version: version.clone(), first: expected.clone() };
        Finding::of_rank(&rules::VERSIONS_DIFFER, rank.rank, kind.to_string())
    })
}

/// One rank of a [`Survey`].
#[derive(Debug)]
pub struct RankSurvey {
    pub(crate) rank: usize,
    pub(crate) metadata: GlobalMetadata,
    pub(crate) items: Vec<Item>,
    /// Dependences that exist, by position in the file and without duplicates.
    pub(crate) deps: Csr,
    pub(crate) order: Order,
    pub(crate) findings: Vec<Finding>,
    pub(crate) process_groups: Groups,
    names: Names,
    groups: Vec<String>,
    /// For each node one more than the index of its group, or 0 for all ranks.
    group_of: Vec<u32>,
}

/// All names in one text.
#[derive(Debug, Default)]
struct Names {
    text: String,
    ends: Vec<usize>,
}

impl RankSurvey {
    fn read(rank: usize, input: impl Read, progress: &(impl Fn(u64) + Sync)) -> Result<Self, FileError> {
        let mut reader = NodeReader::new(input)?;
        let collective_size = metadata::collective_size(reader.metadata());
        let mut survey = Self {
            rank,
            metadata: reader.metadata().clone(),
            items: Vec::new(),
            deps: Csr::default(),
            order: Order::default(),
            findings: Vec::new(),
            process_groups: Groups::default(),
            names: Names::default(),
            groups: Vec::new(),
            group_of: Vec::new(),
        };
        let mut raw = deps::Raw::default();
        let mut numbers = FxHashMap::default();
        let mut said = 0;
        for read in &mut reader {
            let read = read?;
            survey.add(&read.node, collective_size, &mut numbers);
            raw.add(&read.node);
            if read.place.offset - said >= PROGRESS_STEP {
                progress(read.place.offset - said);
                said = read.place.offset;
            }
        }
        let warnings =
            reader.warnings().iter().filter_map(|warning| survey.warning(warning)).collect::<Vec<_>>();
        survey.findings.extend(warnings);
        survey.deps = raw.resolve(&survey.items, rank, &mut survey.findings, |at| survey.names.get(at));
        survey.order = Order::of(&survey.deps, |node| survey.items[node as usize].id);
        Ok(survey)
    }

    fn add(&mut self, node: &Node, collective_size: Option<u64>, numbers: &mut FxHashMap<String, u32>) {
        let position = self.items.len();
        let item = Judge::new(self.rank, position, node, &mut self.findings).item(collective_size);
        self.items.push(item);
        self.names.push(&node.name);
        let group = match crate::attr::find_str(&node.attr, "pg_name") {
            Ok(Some(name)) if !name.is_empty() && name != "0" => match numbers.get(name) {
                Some(&number) => number,
                None => {
                    self.groups.push(name.to_owned());
                    let number = self.groups.len() as u32;
                    numbers.insert(name.to_owned(), number);
                    number
                }
            },
            _ => 0,
        };
        self.group_of.push(group);
        if NodeType::try_from(node.r#type) == Ok(NodeType::MetadataNode) {
            self.process_groups.add_missing(&Groups::from_node(node));
        }
    }

    /// What the reader warned of, where no rule here looks for it itself.
    fn warning(&self, warning: &Warning) -> Option<Finding> {
        let rule = match &warning.kind {
            WarningKind::Gzip => &rules::GZIP,
            WarningKind::Converted { .. } => &rules::CONVERTED,
            WarningKind::EmptyMetadata => &rules::EMPTY_METADATA,
            WarningKind::UnknownVersion { .. } => &rules::UNKNOWN_VERSION,
            WarningKind::NoNodes => &rules::NO_NODES,
            WarningKind::EmptyNode => &rules::EMPTY_NODE,
            WarningKind::TrailingZeros { .. } => &rules::TRAILING_ZEROS,
            _ => return None,
        };
        Some(Finding::of_rank(rule, self.rank, warning.kind.to_string()))
    }

    /// The number of the rank.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The metadata of its file.
    #[must_use]
    pub fn metadata(&self) -> &GlobalMetadata {
        &self.metadata
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The id of the node at a position in the file.
    #[must_use]
    pub fn id(&self, position: usize) -> Option<u64> {
        self.items.get(position).map(|item| item.id)
    }

    /// The type of the node at a position in the file, as it is stored.
    #[must_use]
    pub fn node_type(&self, position: usize) -> Option<i32> {
        self.items.get(position).map(|item| item.node_type)
    }

    /// The name of the node at a position in the file.
    #[must_use]
    pub fn name(&self, position: usize) -> &str {
        self.names.get(position)
    }

    /// The dependences that exist, of both kinds, as positions in the file.
    #[must_use]
    pub fn deps(&self, position: usize) -> &[u32] {
        u32::try_from(position).map_or(&[], |position| self.deps.list(position))
    }

    /// The ids of the nodes that depend on the node with an id, in the order of the file.
    #[must_use]
    pub fn dependants(&self, id: u64) -> Vec<u64> {
        let depends = |at: &usize| self.deps(*at).iter().any(|&dep| self.id(dep as usize) == Some(id));
        (0..self.len()).filter(depends).filter_map(|at| self.id(at)).collect()
    }

    /// The group of a node; `None` for all ranks.
    pub(crate) fn group(&self, node: u32) -> Option<&str> {
        let group = *self.group_of.get(node as usize)?;
        self.groups.get((group as usize).checked_sub(1)?).map(String::as_str)
    }

    /// The groups that its nodes are on: the name of each, the first node and the number of nodes.
    pub(crate) fn groups(&self) -> Vec<(&str, u32, u64)> {
        let mut groups: Vec<(&str, u32, u64)> =
            self.groups.iter().map(|name| (name.as_str(), 0, 0)).collect();
        for (node, &group) in self.group_of.iter().enumerate() {
            if let Some((_, first, count)) = (group as usize).checked_sub(1).and_then(|at| groups.get_mut(at))
            {
                if *count == 0 {
                    *first = node as u32;
                }
                *count += 1;
            }
        }
        groups
    }

    pub(crate) fn node_ref(&self, node: u32) -> NodeRef {
        NodeRef { rank: self.rank, node: self.items[node as usize].id }
    }

    /// A node as messages name it.
    pub(crate) fn named(&self, node: u32) -> String {
        super::named(self.items[node as usize].id, self.name(node as usize))
    }
}

/// Bytes between two reports of progress.
const PROGRESS_STEP: u64 = 1 << 16;

impl Names {
    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    fn get(&self, at: usize) -> &str {
        let begin = if at == 0 { 0 } else { self.ends.get(at - 1).copied().unwrap_or(0) };
        self.ends.get(at).and_then(|&end| self.text.get(begin..end)).unwrap_or("")
    }
}
