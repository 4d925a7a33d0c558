//! Gives collectives their algorithms by rules.

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chakra_et::graph::{Graph, RankGraph};
use chakra_et::workload::CollectiveKind;

use super::error::RuleError;
use super::parameters::{self, GPUS};
use super::rule::Overlap;
use super::rules::{MACHINE, Rules};
use super::shape::Shape;
use super::source::{Source, fault, kind_of};
use super::tuner;
use super::uses::{Used, Uses};
use crate::algorithms;
use crate::et::{self, ChunkNodes, EtOptions, NodeOrder, ReduceRate};
use crate::sim::topology::Topology;
use crate::sim::workload::{Algorithm, Algorithms, Choice, Use};
use crate::{AlgorithmDef, ElementType, Schedule, Size, compile};

/// Gives the collectives of a workload their algorithms by [`Rules`].
///
/// Algorithms work in place where they can, as training frameworks call them. Each is compiled and verified once for a number of ranks and a
/// root, its graph made once for a size; all collectives alike get the same one.
///
/// **Sizes.** Elements are of 4 bytes, or of one where the parts of the collective are no multiple of 4. They are divided into chunks
/// by the rule for uneven chunks, so that nothing is lost; chunks without elements are messages of 0 bytes.
///
/// **Nothing to do.** In a group of one, and where the size is 0, nobody does anything, as in NCCL; so no rule is asked for. A barrier
/// has messages whatever its size; where that is 0, of one element.
#[derive(Debug)]
pub struct Expander {
    rules: Rules,
    /// By rule.
    sources: Vec<Source>,
    reduce_rate: ReduceRate,
    order: NodeOrder,
    /// The number of consecutive ranks of a machine.
    machine: u32,
    /// Whether each of them is known to have a network card of its own.
    card_each: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    choices: HashMap<Key, (Choice, String)>,
    programs: HashMap<ProgramKey, Arc<Compiled>>,
    graphs: HashMap<GraphKey, Arc<Algorithm>>,
    uses: Uses,
    /// Defaults that are one ring across machines with several ranks each: kind, ranks, machines.
    one_ring: BTreeSet<(CollectiveKind, u32, u32)>,
}

/// All that an answer depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// None for the default, and where there is nothing to do.
    rule: Option<usize>,
    kind: CollectiveKind,
    ranks: u32,
    bytes: u64,
    root: u32,
    /// Where the answer depends on it.
    shape: Option<Shape>,
}

/// A function with the value of each of its parameters, or a rule's schedule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ProgramKey {
    Library(&'static str, Vec<usize>),
    Registered(&'static str, Vec<usize>),
    Rule(usize, usize),
}

/// A program for a size, with its chunks or without.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct GraphKey {
    program: ProgramKey,
    size: u64,
    element: ElementType,
    with_chunks: bool,
}

/// A schedule that was verified.
#[derive(Debug)]
struct Compiled {
    name: String,
    schedule: Schedule,
}

impl Expander {
    /// Checks the rules, and reads the files that they name.
    ///
    /// # Errors
    /// The first rule that cannot be: an algorithm that there is not, or a file that cannot be read or is wrong; one for another collective than
    /// the rule's; a parameter that it does not have; conditions that no collective meets.
    pub fn new(rules: Rules) -> Result<Self, RuleError> {
        let sources = rules.rules.iter().map(|rule| Source::of(rule, &rules)).collect::<Result<_, _>>()?;
        let machine = rules.machine.unwrap_or(MACHINE);
        Ok(Self {
            rules,
            sources,
            machine,
            card_each: false,
            reduce_rate: ReduceRate::Free,
            order: NodeOrder::ThreadBlock,
            state: Mutex::default(),
        })
    }

    /// The same with reductions that take time, in whole microseconds; they take none otherwise. What traces of other tools state stays.
    #[must_use]
    pub fn reduce_rate(self, reduce_rate: ReduceRate) -> Self {
        Self { reduce_rate, state: Mutex::default(), ..self }
    }

    /// The same with another order of the nodes of algorithms; [`NodeOrder::ThreadBlock`] otherwise.
    #[must_use]
    pub fn order(self, order: NodeOrder) -> Self {
        Self { order, state: Mutex::default(), ..self }
    }

    /// The same for workloads on a topology. Of a cluster it says how many ranks a machine has, unless the rules do; and where each has a
    /// network card of its own, the default has a ring for each card, as NCCL does ([`default_choice`](super::default_choice)).
    ///
    /// ```
    /// use chakra_et::workload::{CollectiveKind, Group};
    /// use collective::sim::topology::{CardOrder, Cluster, Dimension, Topology};
    /// use collective::sim::workload::{Algorithms, Use};
    /// use collective::workload::{Expander, Rules};
    ///
    /// let cluster = Cluster {
    ///     nodes: 2,
    ///     node: Topology::new([Dimension::switch(4, "450 GB/s".parse()?, "250 ns".parse()?)])?,
    ///     cards: 4,
    ///     card_link: None,
    ///     network: Topology::new([Dimension::switch(8, "50 GB/s".parse()?, "1 us".parse()?)])?,
    ///     order: CardOrder::ByNode,
    ///     through_peer: false,
    /// };
    /// let all = Group { name: String::new(), members: (0..8).collect() };
    /// let sum = Use::new(CollectiveKind::AllReduce, 1 << 30, 0, &all);
    /// let of = |expander: Expander| expander.algorithm(&sum).map(|choice| choice.algorithm.name().to_owned());
    /// // By itself 8 ranks are one machine.
    /// assert_eq!(of(Expander::new(Rules::new())?)?, "allreduce_ring(channels=1)");
    /// let known = Expander::new(Rules::new())?.on(&cluster.build()?);
    /// assert_eq!(of(known)?, "allreduce_rotated_rings(gpus=4)");
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    #[must_use]
    pub fn on(self, topology: &Topology) -> Self {
        let Some((ranks, cards)) = topology.node() else { return self };
        let machine = self.rules.machine.unwrap_or(ranks);
        Self { machine, card_each: machine == ranks && cards == ranks, state: Mutex::default(), ..self }
    }

    /// What was asked for so far: by rule in their order, the default last; then by kind, ranks and algorithm.
    #[must_use]
    pub fn used(&self) -> Vec<Used> {
        self.state().uses.list(|rule| Some(self.rules.rules.get(rule)?.place.clone()))
    }

    /// What a report on a workload should say of the rules.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let used = self.used();
        let mut notes: Vec<String> = self.state().one_ring.iter().map(one_ring).collect();
        for (rule, source) in self.rules.rules.iter().zip(&self.sources) {
            let sizes = used.iter().filter(|used| used.rule.as_ref() == Some(&rule.place));
            if sizes.clone().next().is_none() {
                notes.push(format!("{}: no collective came to it", rule.place));
            } else if let Source::Foreign(foreign) = source {
                let (place, name) = (&rule.place, foreign.name());
                notes.push(format!(
                    "{place}: the traces {name} do not say what they compute, so nobody has checked it"
                ));
                if foreign.is_literal() {
                    notes.push(format!(
                        "{place}: the traces {name} state no size of their collective, so messages with a literal size \
                         keep it"
                    ));
                }
            }
        }
        notes
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half done by a panic of another thread.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The index of the rule for a collective of a size.
    fn rule_for(&self, collective: &Use<'_>, size: u64) -> Option<usize> {
        self.rules.rules.iter().zip(&self.sources).position(|(rule, source)| {
            (!rule.when.kinds.is_empty() || source.is_meant_for(collective.kind))
                && rule.when.holds(collective, size)
        })
    }

    /// The answer that a key stands for, and what to call it.
    fn choose(&self, key: &Key, size: u64) -> Result<(Choice, String), RuleError> {
        let rule = key.rule.map(|rule| &self.rules.rules[rule]);
        let wrong = |message: String| fault(rule.map(|rule| &rule.place), message);
        if key.is_nothing() {
            let ranks = (0..key.ranks).map(|_| RankGraph::builder().finish()).collect();
            let nothing = Algorithm::new("nothing to do", Graph::new(ranks));
            return Ok((Choice::new(Arc::new(nothing)), "nothing to do".to_owned()));
        }
        let overlap = rule.map_or(Overlap::None, |rule| rule.overlap);
        let algorithm = match key.rule.map(|rule| &self.sources[rule]) {
            Some(Source::Foreign(foreign)) => {
                if foreign.ranks() != key.ranks as usize {
                    return Err(wrong(other_ranks(foreign.name(), &[foreign.ranks()], key.ranks)));
                }
                Arc::new(Algorithm::new(foreign.name(), foreign.at(size).map_err(wrong)?))
            }
            Some(Source::Default) | None => {
                let shape = key.shape.unwrap_or(Shape { machines: key.ranks, each: Some(1) });
                let choice = tuner::default_for(key.kind, size, key.ranks, shape, self.card_each);
                if choice.is_one_ring_across(shape) {
                    self.state().one_ring.insert((key.kind, key.ranks, shape.machines));
                }
                let library = algorithms::find(choice.algorithm)
                    .ok_or_else(|| wrong(format!("there is no {}", choice.algorithm)))?;
                let set: Vec<_> =
                    choice.set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
                self.of_function(&library.def, Some(library), &set, key, overlap).map_err(wrong)?
            }
            Some(Source::Function { def, library }) => {
                let set = rule.map_or(&[][..], |rule| &rule.set);
                self.of_function(def, *library, set, key, overlap).map_err(|message| {
                    let culprit = set.iter().find(|(name, value)| {
                        library
                            .is_some_and(|library| !parameters::is_choice(library, key.ranks, name, *value))
                    });
                    let possible = culprit
                        .zip(*library)
                        .map(|((name, _), library)| parameters::possible(library, key.ranks, name));
                    wrong(message + &possible.unwrap_or_default())
                })?
            }
            Some(Source::Fixed { name, schedules, order }) => {
                let order = order.unwrap_or(self.order);
                self.of_schedule(name, schedules, order, key, overlap).map_err(wrong)?
            }
        };
        let name = algorithm.name().to_owned();
        let mut choice = Choice::new(algorithm);
        choice.split_consumers = overlap.of_consumers();
        choice.split_producers = overlap.of_producers();
        Ok((choice, name))
    }

    fn of_function(
        &self,
        def: &AlgorithmDef,
        library: Option<&'static algorithms::Algorithm>,
        set: &[(String, usize)],
        key: &Key,
        overlap: Overlap,
    ) -> Result<Arc<Algorithm>, String> {
        let values = parameters::values(def, library, set, (key.ranks, key.root), key.shape)?;
        let program = match library {
            Some(_) => ProgramKey::Library(def.name, values.clone()),
            None => ProgramKey::Registered(def.name, values.clone()),
        };
        self.graph(program, self.order, key, overlap, || {
            let in_place = library.map_or(def.in_place, |library| library.placement.allows(true));
            let name = parameters::label(def, &values);
            // Where in the algorithm's source it is refused helps nobody here.
            let refused = |wrong: crate::Diagnostics| {
                let found = wrong.findings.first().map_or("it is refused", |finding| &finding.message);
                format!("{name} is not for {} ranks: {found}", key.ranks)
            };
            let trace = (def.trace)(in_place, &values).map_err(refused)?;
            Ok(Compiled { schedule: compile(&trace).map_err(refused)?, name })
        })
    }

    fn of_schedule(
        &self,
        name: &str,
        schedules: &[Schedule],
        order: NodeOrder,
        key: &Key,
        overlap: Overlap,
    ) -> Result<Arc<Algorithm>, String> {
        let Some(at) = schedules.iter().position(|schedule| schedule.ranks.len() == key.ranks as usize)
        else {
            let known: Vec<usize> = schedules.iter().map(|schedule| schedule.ranks.len()).collect();
            return Err(other_ranks(name, &known, key.ranks));
        };
        let root = schedules[at].collective.root().0;
        if key.kind.has_root() && root != key.root {
            return Err(format!(
                "the root of {name} is rank {root}, that of the collective is member {}",
                key.root
            ));
        }
        let program = ProgramKey::Rule(key.rule.unwrap_or(usize::MAX), at);
        self.graph(program, order, key, overlap, || {
            Ok(Compiled { name: name.to_owned(), schedule: schedules[at].clone() })
        })
    }

    /// The algorithm of a program for the size of a key, compiled and made once.
    fn graph(
        &self,
        program: ProgramKey,
        order: NodeOrder,
        key: &Key,
        overlap: Overlap,
        compile: impl FnOnce() -> Result<Compiled, String>,
    ) -> Result<Arc<Algorithm>, String> {
        let size = size_of(key)?;
        let with_chunks = overlap != Overlap::None;
        let (bytes, element) = (size.in_bytes(), size.element_type());
        let graph_key = GraphKey { program, size: bytes, element, with_chunks };
        if let Some(known) = self.state().graphs.get(&graph_key) {
            return Ok(Arc::clone(known));
        }
        let known = self.state().programs.get(&graph_key.program).map(Arc::clone);
        let compiled = match known {
            Some(known) => known,
            None => {
                // Others are not kept waiting meanwhile; who comes second throws its own away.
                let new = Arc::new(compile()?);
                once(&mut self.state().programs, graph_key.program.clone(), new)
            }
        };
        let options = EtOptions { reduce_rate: self.reduce_rate, order, ..EtOptions::new(size) };
        let Compiled { name, schedule } = &*compiled;
        let graph = et::graph_uneven(schedule, &options).map_err(|error| format!("{name}: {error}"))?;
        let mut algorithm = Algorithm::new(name, graph);
        if with_chunks {
            let ChunkNodes { inputs, outputs } =
                et::chunk_nodes(schedule).map_err(|error| format!("{name}: {error}"))?;
            algorithm = algorithm.with_chunks(inputs, outputs);
        }
        Ok(once(&mut self.state().graphs, graph_key, Arc::new(algorithm)))
    }
}

impl Algorithms for Expander {
    fn algorithm(&self, collective: &Use<'_>) -> Result<Choice, Box<dyn Error + Send + Sync>> {
        let ranks = collective.ranks();
        let Some(size) = collective.kind.size(collective.bytes, ranks.into()) else {
            let message = format!("{ranks} times {} bytes are more than 2^64", collective.bytes);
            return Err(fault(None, message).into());
        };
        let mut key = Key {
            rule: None,
            kind: collective.kind,
            ranks,
            bytes: collective.bytes,
            root: if collective.kind.has_root() { collective.root } else { 0 },
            shape: None,
        };
        if !key.is_nothing() {
            key.rule = self.rule_for(collective, size);
            if self.wants_shape(key.rule) {
                key.shape = Some(Shape::of(&collective.group.members, self.machine));
            }
        }
        let known = self.state().choices.get(&key).cloned();
        let (choice, name) = match known {
            Some(known) => known,
            None => {
                let new = self.choose(&key, size)?;
                self.state().choices.entry(key.clone()).or_insert(new).clone()
            }
        };
        self.state().uses.add(key.rule, key.kind, ranks, &name, size);
        Ok(choice)
    }
}

impl Expander {
    /// Whether the answer of a rule depends on how the group lies on machines.
    fn wants_shape(&self, rule: Option<usize>) -> bool {
        match rule.map(|rule| &self.sources[rule]) {
            None | Some(Source::Default) => true,
            Some(Source::Function { def, .. }) => def.params.iter().any(|param| param.name == GPUS),
            Some(_) => false,
        }
    }
}

impl Key {
    fn is_nothing(&self) -> bool {
        self.ranks <= 1 || self.bytes == 0 && self.kind != CollectiveKind::Barrier
    }
}

/// What a report says of a default that is one ring.
fn one_ring((kind, ranks, machines): &(CollectiveKind, u32, u32)) -> String {
    let each = ranks / machines.max(&1);
    let rule = match kind {
        CollectiveKind::AllGather => "algorithm = \"allgather_hierarchical\"".to_owned(),
        CollectiveKind::ReduceScatter | CollectiveKind::ReduceScatterBlock => {
            "algorithm = \"reduce_scatter_hierarchical\"".to_owned()
        }
        _ => format!("algorithm = \"allreduce_rotated_rings\" with set = {{ gpus = {each} }}"),
    };
    format!(
        "{kind} of {ranks} ranks on {machines} machines: the default is one ring, which leaves a machine through one network card, \
         where NCCL has a ring for each card; nearer to it is a rule with {rule} (docs/workload-rules.md)"
    )
}

/// What is there for a key already, else what is new, which then is there.
fn once<K: Hash + Eq, V>(map: &mut HashMap<K, Arc<V>>, key: K, new: Arc<V>) -> Arc<V> {
    Arc::clone(map.entry(key).or_insert(new))
}

/// "ring.xml is for 8 ranks, the group has 6".
fn other_ranks(name: &str, known: &[usize], ranks: u32) -> String {
    let known: Vec<String> = known.iter().map(usize::to_string).collect();
    format!("{name} is for {} ranks, the group has {ranks}", known.join(" or "))
}

/// The bytes of a barrier that states none.
const ELEMENT: u64 = 4;

/// The size of a collective, with the elements that it is divided by.
fn size_of(key: &Key) -> Result<Size, String> {
    let ranks = u64::from(key.ranks);
    let bytes = if key.bytes == 0 { ELEMENT } else { key.bytes };
    let size =
        key.kind.size(bytes, ranks).ok_or_else(|| format!("{ranks} times {bytes} bytes are too many"))?;
    // Where every rank has a part of its own, elements divide that, if all parts can be equal.
    let is_divided = matches!(
        kind_of(key.kind),
        crate::CollectiveKind::AllGather
            | crate::CollectiveKind::Gather
            | crate::CollectiveKind::ReduceScatter
            | crate::CollectiveKind::Scatter
            | crate::CollectiveKind::AllToAll
    );
    let part = if is_divided && size.is_multiple_of(ranks) { size / ranks } else { size };
    let element = if part.is_multiple_of(4) { ElementType::F32 } else { ElementType::I8 };
    Ok(Size::bytes(size).with_type(element))
}
