//! The model `machine`: thread blocks that take turns, connections with slots, protocols with costs.
//!
//! The other models execute messages. What decides a collective on a real GPU is beside the links the thread blocks that move
//! the data: how many there are, what each can copy, how long a step and a slice of it take, how many slots a connection has. A
//! [`Machine`] is the figures of one; a graph says by [`Origin::step`](chakra_et::graph::Origin::step) which thread block does what.
//!
//! # What happens
//!
//! A *thread block* does its steps one after the other. A *step* receives, reduces and sends at most once each, in this order, and first
//! waits for the steps of other thread blocks of its rank that it depends on. A *connection* is the way from one thread block to
//! another: a FIFO of slots.
//!
//! * **Rounds.** A chunk, the size of the collective by its number of chunks, moves in pieces of at most [`Costs::piece`]: the thread
//!   blocks run their steps once for the first piece of every chunk, then for the second, and so on, as the runtimes loop over a buffer
//!   that is larger than theirs.
//! * **Slices.** What a step moves in a round it moves in [`Costs::slices`] equal parts, one slot each. For each slice it waits
//!   until one has come, if it receives, and until a slot is free, if it sends; then the overheads pass, [`Costs::slice`], and
//!   before the first slice [`Costs::step`].
//! * **Sending.** Then the slice flows over the links, [`Costs::wire`] bytes for each of data. Links are shared as under the model
//!   `fluid`; the flow has further limits: what the thread block copies, or reduces if the step does, and what its rank sends and the
//!   other receives at all ([`Machine::egress`], [`Machine::ingress`]). With its end the slot is filled and the thread block free.
//! * **Receiving.** The receiver sees the slice [`Costs::latency`] and the latency of the links later. A step that does not send it on
//!   takes it out at what a thread block copies or reduces. When it is taken out, or sent on, its slot is free, which the sender sees at
//!   once.
//! * **Beginning.** All thread blocks begin [`Costs::launch`] after the call, those of a late rank as much later.
//!
//! A COMP with a stated duration takes it, spread over the slices. The last thread block to end determines the time.
//!
//! # Large buffers
//!
//! After a few rounds of the loop over the buffer most programs repeat themselves. As soon as the whole state is that of an earlier
//! round, but for the time, all rounds that follow in the same way are left out and their time is added, which is exact. Programs
//! whose thread blocks drift against each other take the time of their rounds.

mod engine;
#[cfg(feature = "config")]
mod file;
mod fold;
mod loads;
mod network;
mod parameters;
mod program;
mod rounds;
mod state;
mod steady;
#[cfg(test)]
mod tests;
mod times;
mod waits;

use chakra_et::graph::{Graph, SymmetricGraph, Symmetry};

use self::engine::Engine;
use self::fold::Orbits;
use self::program::{NONE, Program};
use self::rounds::Rounds;
use self::times::Times;
use crate::engine::{Run, Setup};
use crate::error::{Overflow, SimError};
use crate::report::{Crossing, MessageTime, NodeTime, Recording, Report};
use crate::straggler::Slowdown;
use crate::topology::Topology;
use crate::units::{Bytes, Picos};

#[cfg(feature = "config")]
pub use file::{BUILTIN, builtin, find, load, parse, to_toml};
pub use parameters::{Completion, Costs, LinkCosts, LinkKind, Machine, Protocol};

/// Said in every report.
const OF_A_MODEL: &str = "machine models thread blocks, slots and protocols by a few figures; what it does not have: other kernels, \
the memory system, congestion control";

/// Runs a graph of thread blocks: by one rank for all, if it has one of the symmetries.
pub(crate) fn run(
    setup: Setup<'_>,
    graph: &Graph,
    symmetries: impl IntoIterator<Item = Symmetry>,
) -> Result<Run, SimError> {
    match fold::of_all(setup, graph, symmetries)? {
        Some(report) => Ok((report, None)),
        None => run_rounds(setup, graph, Rounds::of),
    }
}

/// Runs a graph in which all ranks do the same.
pub(crate) fn run_symmetric(setup: Setup<'_>, graph: &SymmetricGraph) -> Result<Report, SimError> {
    /// Of some 120 bytes each, with what is made of them.
    const MOST_NODES: u64 = 1 << 26;
    let nodes = graph.node_count();
    match fold::of_first(setup, graph.first(), graph.symmetry()) {
        Ok(Some(report)) => return Ok(report),
        Err(error @ SimError::Stopped(_)) => return Err(error),
        Err(error) if nodes > MOST_NODES => return Err(error),
        // Another error is said better of all ranks.
        Err(_) => {}
        Ok(None) if nodes > MOST_NODES => {
            return Err(SimError::CannotFold { model: setup.model, nodes, limit: MOST_NODES });
        }
        Ok(None) => {}
    }
    Ok(run_rounds(setup, &graph.expand(), Rounds::of)?.0)
}

/// What a run is made with.
struct Figures<'a> {
    machine: &'a Machine,
    topology: &'a Topology,
    protocol: Protocol,
    costs: &'a Costs,
}

impl<'a> Figures<'a> {
    /// Those of a setup and the protocol of a graph; an error if they do not fit each other.
    fn of(setup: Setup<'a>, graph: &Graph) -> Result<Self, SimError> {
        let machine = setup.machine.ok_or(SimError::NoMachine)?;
        let topology = setup.topology.ok_or(SimError::NoTopology { model: setup.model })?;
        check(setup)?;
        let protocol = protocol(machine, graph)?;
        let costs = machine.costs(protocol).ok_or_else(|| network::no_costs(machine, protocol.name()))?;
        Ok(Self { machine, topology, protocol, costs })
    }

    /// Runs a program until nothing can go on; where one rank stands for all, over the `orbits` of their links.
    fn execute(
        &self,
        setup: Setup<'a>,
        program: &'a Program,
        rounds: Rounds,
        orbits: Option<&Orbits>,
    ) -> Result<Engine<'a>, SimError> {
        let Self { machine, topology, protocol, costs } = *self;
        let options = setup.options;
        let ways = network::ways(machine, protocol, topology, program, orbits)?;
        let times = Times::new(program, options.message_times || options.recording);
        let costs = (costs, machine.completion);
        let mut engine = Engine::new(program, costs, rounds, ways, times, options.observer);
        let straggler = |rank| options.stragglers.iter().find(|it| it.rank == rank);
        engine.run(|rank| straggler(rank).map_or(Picos::ZERO, |it| it.delay))?;
        Ok(engine)
    }
}

fn run_rounds(
    setup: Setup<'_>,
    graph: &Graph,
    rounds: impl FnOnce(&Graph, &Program, &Costs) -> Rounds,
) -> Result<Run, SimError> {
    let figures = Figures::of(setup, graph)?;
    let (topology, options) = (figures.topology, setup.options);
    let program = Program::new(graph)?;
    let rounds = rounds(graph, &program, figures.costs);
    let engine = figures.execute(setup, &program, rounds, None)?;
    if engine.is_stuck() {
        return Err(SimError::Stuck(engine.diagnose(graph, None)));
    }
    let report = Report {
        message_times: options.message_times.then(|| message_times(graph, &engine)),
        recording: options.recording.then(|| recording(graph, &engine, topology)),
        ..report(setup, &engine, topology, None)?
    };
    let times = setup.times.then(|| node_times(graph, &engine, |_, (_, finish)| finish));
    Ok((report, times))
}

/// The report of a run that has come to its end, without what is recorded.
fn report(
    setup: Setup<'_>,
    engine: &Engine<'_>,
    topology: &Topology,
    orbits: Option<&Orbits>,
) -> Result<Report, SimError> {
    let (messages, bytes) = sent(engine.program)?;
    let finish = engine.times.finish(engine.program);
    Ok(Report {
        makespan: finish.iter().copied().max().unwrap_or(Picos::ZERO),
        finish,
        messages,
        bytes,
        model: setup.model,
        conventions: setup.conventions,
        notes: vec![OF_A_MODEL.to_owned()],
        links: Some(loads::of_links(engine, topology, orbits)?),
        folded: engine.program.folded,
        message_times: None,
        critical_path: None,
        recording: None,
    })
}

/// What the model does not have.
fn check(setup: Setup<'_>) -> Result<(), SimError> {
    let options = setup.options;
    let what = if let Some(compat) = setup.compat {
        format!("`--compat {compat}`")
    } else if options.send_overhead > Picos::ZERO || options.receive_overhead > Picos::ZERO {
        "an overhead of messages: the machine has those of its protocols".to_owned()
    } else if options.reduce_bandwidth.is_some() {
        "a reduce bandwidth: the machine has those of its protocols".to_owned()
    } else if options.roofline.is_some() {
        "a roofline".to_owned()
    } else if options.critical_path {
        "a critical path".to_owned()
    } else if options.stragglers.iter().any(|straggler| straggler.slowdown != Slowdown::NONE) {
        "a straggler that computes slowly: give it a delay".to_owned()
    } else {
        return Ok(());
    };
    Err(SimError::NotWithMachine { what })
}

/// The protocol that the graph states; Simple where it states none.
fn protocol(machine: &Machine, graph: &Graph) -> Result<Protocol, SimError> {
    match graph.info.as_ref().map(|info| info.protocol.as_str()) {
        None | Some("") => Ok(Protocol::Simple),
        Some(name) => name.parse().map_err(|_| network::no_costs(machine, name)),
    }
}

/// The number of messages and their bytes.
fn sent(program: &Program) -> Result<(u64, Bytes), Overflow> {
    let (sends, copies) = (|| program.steps.iter().filter(|step| step.send != NONE), program.copies());
    let bytes = sends().try_fold(0u64, |sum, step| sum.checked_add(step.bytes));
    let bytes = bytes.and_then(|bytes| bytes.checked_mul(copies)).ok_or(Overflow::BYTES)?;
    let messages = copies.checked_mul(sends().count() as u64).ok_or(Overflow::MESSAGES)?;
    Ok((messages, Bytes(bytes)))
}

/// Something of the time of each node, by rank and node, from when its step begins to when it ends.
fn node_times<T: Clone + Default>(
    graph: &Graph,
    engine: &Engine<'_>,
    of: impl Fn(u32, (Picos, Picos)) -> T,
) -> Vec<Vec<T>> {
    let mut times: Vec<Vec<T>> = graph.ranks().iter().map(|rank| vec![T::default(); rank.len()]).collect();
    for (number, step) in (0..).zip(&engine.program.steps) {
        let rank = engine.program.blocks[step.block as usize].rank as usize;
        for node in step.first_node..step.first_node + step.nodes {
            times[rank][node as usize] = of(node, engine.times.of(number));
        }
    }
    times
}

/// The messages in the order of ranks and thread blocks.
fn messages<'e>(graph: &'e Graph, engine: &'e Engine<'_>) -> impl Iterator<Item = (u32, u32, u32)> + 'e {
    (0..).zip(&engine.program.steps).filter(|(_, step)| step.send != NONE).map(|(number, step)| {
        let rank = engine.program.blocks[step.block as usize].rank;
        let nodes = graph.rank(rank as usize);
        let mut of_step = step.first_node..step.first_node + step.nodes;
        let send = of_step.find(|node| nodes.op(*node).is_send());
        (number, rank, send.unwrap_or(step.first_node))
    })
}

fn message_times(graph: &Graph, engine: &Engine<'_>) -> Vec<MessageTime> {
    let program = engine.program;
    let mut receives: Vec<std::collections::VecDeque<u64>> =
        vec![Default::default(); program.connections.len()];
    for step in program.steps.iter().filter(|step| step.receive != NONE) {
        let rank = program.blocks[step.block as usize].rank;
        receives[step.receive as usize].push_back(graph.rank(rank as usize).id(step.first_node));
    }
    let mut times: Vec<_> = messages(graph, engine)
        .map(|(number, rank, send)| {
            let step = &program.steps[number as usize];
            let connection = &program.connections[step.send as usize];
            let time = MessageTime {
                src: rank,
                dst: connection.dst,
                tag: connection.tag,
                bytes: Bytes(step.bytes),
                send: graph.rank(rank as usize).id(send),
                receive: receives[step.send as usize].pop_front(),
                issued: engine.times.of(number).0,
                delivered: engine.times.delivery(number),
            };
            (rank, send, time)
        })
        .collect();
    times.sort_by_key(|(rank, send, _)| (*rank, *send));
    times.into_iter().map(|(.., time)| time).collect()
}

/// When steps were under way, from their first round to their last, and their data on the links.
fn recording(graph: &Graph, engine: &Engine<'_>, topology: &Topology) -> Recording {
    let nodes = node_times(graph, engine, |_, (start, finish)| NodeTime { start, finish });
    let (mut crossings, mut route) = (Vec::new(), Vec::new());
    for (number, src, send) in messages(graph, engine) {
        let step = &engine.program.steps[number as usize];
        let dst = engine.program.connections[step.send as usize].dst;
        let (start, finish) = (engine.times.of(number).0, engine.times.delivery(number));
        topology.route(src, dst, &mut route);
        let bytes = Bytes(step.bytes);
        crossings.extend(route.drain(..).map(|link| Crossing { link, src, dst, send, bytes, start, finish }));
    }
    crossings.sort_by_key(|crossing| (crossing.link, crossing.start, crossing.src, crossing.send));
    Recording { nodes, crossings }
}
