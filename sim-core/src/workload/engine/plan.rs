//! Prepares a workload for the run: its collectives with their algorithms, its messages, and which pairs of ranks
//! exchange any.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chakra_et::graph::Op;
use chakra_et::workload::{Collective, CollectiveKind, Workload};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::algorithms::{Prepared, key};
use super::program::NONE;
use super::split::{self, Fate, Undivided, Wish};
use super::trace::Trace;
use crate::compat::Compat;
use crate::error::Overflow;
use crate::events::MOST_RANKS;
use crate::model::Conventions;
use crate::model::network::Pair;
use crate::workload::algorithm::{Algorithms, Use};
use crate::workload::error::WorkloadError;

/// A workload ready for the run.
pub(super) struct Plan<'a> {
    pub(super) workload: &'a Workload,
    /// By rank.
    pub(super) traces: Vec<Trace>,
    /// As joined, and by it what carries it out.
    pub(super) collectives: Vec<Collective>,
    pub(super) uses: Vec<Carried>,
    /// By group, the number of its first collective, and the number of all.
    pub(super) first_of_group: Vec<u32>,
    /// By group, the position of each rank.
    pub(super) positions: Vec<FxHashMap<u32, u32>>,
    pub(super) algorithms: Vec<Prepared>,
    /// By binding of an algorithm to a group, by connection the pair of ranks.
    pub(super) bindings: Vec<Vec<u32>>,
    /// The connections of messages outside collectives: their ranks and pairs.
    pub(super) direct: Vec<(u32, u32, u32)>,
    pub(super) pairs: Vec<Pair>,
    /// Of which collectives a rule wants computations divided, and why none is; a sentence each.
    pub(super) undivided: Vec<String>,
}

/// What carries a collective out.
#[derive(Clone, Copy)]
pub(super) struct Carried {
    pub(super) algorithm: u32,
    pub(super) binding: u32,
    consumers: bool,
    producers: bool,
}

/// The pairs of ranks so far.
#[derive(Default)]
struct Pairs {
    numbers: FxHashMap<(u32, u32), u32>,
    pairs: Vec<Pair>,
}

impl Pairs {
    fn number(&mut self, src: u32, dst: u32) -> u32 {
        *self.numbers.entry((src, dst)).or_insert_with(|| {
            self.pairs.push(Pair { src, dst });
            self.pairs.len() as u32 - 1
        })
    }
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        workload: &'a Workload,
        algorithms: &dyn Algorithms,
        conventions: Conventions,
        compat: Option<Compat>,
    ) -> Result<Self, WorkloadError> {
        if workload.rank_count() >= MOST_RANKS {
            return Err(Overflow::RANKS.into());
        }
        let collectives = workload.collectives()?.all;
        let mut pairs = Pairs::default();
        let mut plan = Self {
            workload,
            traces: Vec::new(),
            first_of_group: first_of_group(workload, &collectives),
            positions: workload
                .groups()
                .iter()
                .map(|group| group.members.iter().copied().zip(0..).collect())
                .collect(),
            collectives,
            uses: Vec::new(),
            algorithms: Vec::new(),
            bindings: Vec::new(),
            direct: Vec::new(),
            pairs: Vec::new(),
            undivided: Vec::new(),
        };
        plan.choose(algorithms, conventions, &mut pairs)?;
        plan.prepare_traces(compat)?;
        plan.connect(conventions, &mut pairs)?;
        plan.pairs = pairs.pairs;
        Ok(plan)
    }

    /// Asks for the algorithm of each collective.
    fn choose(
        &mut self,
        algorithms: &dyn Algorithms,
        conventions: Conventions,
        pairs: &mut Pairs,
    ) -> Result<(), WorkloadError> {
        let (mut known, mut bound) = (FxHashMap::default(), FxHashMap::default());
        for collective in &self.collectives {
            let group = &self.workload.groups()[collective.group as usize];
            let nodes = self.workload.rank(group.members[0] as usize);
            let (node, name) = (nodes.graph().id(collective.nodes[0]), nodes.name(collective.nodes[0]));
            let wanted =
                Use::new(collective.kind, collective.bytes, collective.root, group).of_node(node, name);
            let error = |source| WorkloadError::Algorithm { collective: describe(&wanted), source };
            let choice = algorithms.algorithm(&wanted).map_err(error)?;
            // The plan keeps the algorithm, so its address is not used again.
            let address = Arc::as_ptr(&choice.algorithm) as usize;
            let number = match known.get(&address) {
                Some(number) => *number,
                None => {
                    let ranks = group.members.len();
                    let prepared = Prepared::new(choice.algorithm, ranks, conventions);
                    self.algorithms.push(prepared.map_err(|unfit| error(unfit.into()))?);
                    let number = self.algorithms.len() as u32 - 1;
                    known.insert(address, number);
                    number
                }
            };
            let prepared = &mut self.algorithms[number as usize];
            if choice.split_consumers {
                prepared.index_outputs();
            }
            if choice.split_producers {
                prepared.index_inputs();
            }
            if prepared.programs.len() != group.members.len() {
                let unfit = super::algorithms::Unfit::Ranks {
                    name: prepared.algorithm.name().to_owned(),
                    has: prepared.programs.len(),
                    wants: group.members.len(),
                };
                return Err(error(unfit.into()));
            }
            let binding = *bound.entry((number, collective.group)).or_insert_with(|| {
                let rank = |position: u32| group.members[position as usize];
                let pair = |(src, dst): &(u32, u32)| pairs.number(rank(*src), rank(*dst));
                self.bindings.push(prepared.connections.iter().map(pair).collect());
                self.bindings.len() as u32 - 1
            });
            self.uses.push(Carried {
                algorithm: number,
                binding,
                consumers: choice.split_consumers,
                producers: choice.split_producers,
            });
        }
        Ok(())
    }

    /// Makes the traces of all ranks, with the numbers of their collectives.
    fn prepare_traces(&mut self, compat: Option<Compat>) -> Result<(), WorkloadError> {
        // By rank, its nodes with the collective of each and the rank's position in it.
        let mut parts: Vec<Vec<(u32, u32, u32)>> = vec![Vec::new(); self.workload.rank_count()];
        for (number, collective) in (0..).zip(&self.collectives) {
            let members = &self.workload.groups()[collective.group as usize].members;
            for ((position, rank), node) in (0..).zip(members).zip(&collective.nodes) {
                parts[*rank as usize].push((*node, number, position));
            }
        }
        let traces = parts.into_par_iter().enumerate().map(|(rank, mut parts)| {
            parts.sort_unstable();
            let nodes = self.workload.rank(rank);
            let divides = |part: &(u32, u32, u32)| {
                let carried = &self.uses[part.1 as usize];
                carried.consumers || carried.producers
            };
            let (splits, fates) = match parts.iter().any(divides) {
                false => Default::default(),
                true => split::splits(nodes.graph(), |node| {
                    let at = parts.binary_search_by_key(&node, |part| part.0).ok()?;
                    let carried = &self.uses[parts[at].1 as usize];
                    Some(Wish {
                        consumers: carried.consumers,
                        producers: carried.producers,
                        algorithm: &self.algorithms[carried.algorithm as usize],
                        position: parts[at].2 as usize,
                    })
                }),
            };
            let mut trace = Trace::new(nodes, &splits, compat)?;
            let collective_of: FxHashMap<u32, u32> = match fates.is_empty() {
                true => FxHashMap::default(),
                false => parts.iter().map(|(node, number, _)| (*node, *number)).collect(),
            };
            for (node, number, _) in parts {
                let node = trace.node(node);
                trace.program.attached[node as usize] = number;
            }
            let number = |node: u32| collective_of.get(&node).copied().unwrap_or(NONE);
            let fates: Vec<Fate> =
                fates.into_iter().map(|(node, after, fate)| (number(node), after, fate)).collect();
            Ok((trace, fates))
        });
        // The first error is that of the lowest rank, whichever thread was first.
        let traces: Vec<Result<(Trace, Vec<Fate>), Overflow>> = traces.collect();
        let (traces, fates): (Vec<Trace>, Vec<Vec<Fate>>) =
            traces.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        self.traces = traces;
        self.undivided = self.without_effect(fates.into_iter().flatten());
        Ok(())
    }

    /// Of the collectives of a kind that one algorithm carries out, and of which on no rank a computation is divided though that is
    /// wanted, how many there are and why.
    fn without_effect(&self, fates: impl Iterator<Item = Fate>) -> Vec<String> {
        #[derive(Default)]
        struct Wishes {
            is_divided: bool,
            collectives: BTreeSet<u32>,
            reasons: BTreeSet<Undivided>,
        }
        let mut wishes: BTreeMap<(CollectiveKind, u32, bool), Wishes> = BTreeMap::new();
        for (number, after, fate) in fates {
            let Some(collective) = self.collectives.get(number as usize) else { continue };
            let key = (collective.kind, self.uses[number as usize].algorithm, after);
            let of_key = wishes.entry(key).or_default();
            of_key.is_divided |= fate.is_none();
            of_key.collectives.insert(number);
            of_key.reasons.extend(fate);
        }
        let none = wishes.into_iter().filter(|(_, wishes)| !wishes.is_divided);
        none.map(|((kind, algorithm, after), Wishes { collectives, reasons, .. })| {
            let side = if after { "consumers" } else { "producers" };
            let reasons: Vec<&str> = reasons.into_iter().map(|reason| reason.words(after)).collect();
            format!(
                "overlap of {side} divides no computation at {} × {kind} by {}: {}",
                collectives.len(),
                self.algorithms[algorithm as usize].algorithm.name(),
                reasons.join(", or "),
            )
        })
        .collect()
    }

    /// Numbers the connections of messages outside collectives.
    fn connect(&mut self, conventions: Conventions, pairs: &mut Pairs) -> Result<(), WorkloadError> {
        let mut numbers = FxHashMap::default();
        let ranks = self.traces.len() as u32;
        for (rank, trace) in (0..).zip(&mut self.traces) {
            for at in 0..trace.program.len() {
                let (src, dst, peer, tag, bytes) = match trace.program.ops[at] {
                    Op::Send { dst, tag, bytes } => (rank, dst, dst, tag, bytes),
                    Op::Recv { src, tag, bytes } => (src, rank, src, tag, bytes),
                    _ => continue,
                };
                let what = if peer == rank {
                    "exchanges a message with its own rank".to_owned()
                } else if peer >= ranks {
                    format!("names the peer {peer}: expected a rank below {ranks}")
                } else {
                    let key = (src, dst, key(conventions, tag, bytes));
                    let number = *numbers.entry(key).or_insert_with(|| {
                        self.direct.push((src, dst, pairs.number(src, dst)));
                        self.direct.len() as u32 - 1
                    });
                    trace.program.attached[at] = number;
                    continue;
                };
                let nodes = self.workload.rank(rank as usize);
                let number = trace.number(at as u32);
                let (node, name) = (nodes.graph().id(number), nodes.name(number).to_owned());
                return Err(WorkloadError::Node { rank, node, name, what });
            }
        }
        Ok(())
    }

    /// The number of the group's k-th collective.
    pub(super) fn nth_of_group(&self, group: u32, k: u32) -> Option<u32> {
        let number = self.first_of_group[group as usize].checked_add(k)?;
        (number < self.first_of_group[group as usize + 1]).then_some(number)
    }
}

/// By group, the number of its first collective, and in the end the number of all.
fn first_of_group(workload: &Workload, collectives: &[Collective]) -> Vec<u32> {
    (0..=workload.groups().len() as u32)
        .map(|group| collectives.partition_point(|collective| collective.group < group) as u32)
        .collect()
}

/// A collective as errors name it.
fn describe(collective: &Use<'_>) -> String {
    let Use { kind, bytes, group, node, name, .. } = collective;
    let rank = group.members.first().copied().unwrap_or(NONE);
    let size = if *kind == CollectiveKind::Barrier { String::new() } else { format!(" of {bytes} bytes") };
    format!("the {kind}{size} on {} (rank {rank}, node {node} {name:?})", group.label())
}
