//! The model `machine`: thread blocks that take turns, connections with slots, protocols with costs.
//!
//! The other models execute messages. What decides a collective on a real GPU is beside the links the thread blocks that move
//! the data: how many there are, what each can copy, how long a step and a slice of it take, how many slots a connection has. A
//! [`Machine`] is the figures of one; a graph says by [`Origin::step`](chakra_et::graph::Origin::step) which thread block does what.

mod engine;
#[cfg(feature = "config")]
mod file;
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

use chakra_et::graph::{Graph, SymmetricGraph};

use self::engine::Engine;
use self::program::{NONE, Program};
use self::rounds::Rounds;
use self::times::Times;
use crate::engine::{Run, Setup};
use crate::error::{Overflow, SimError};
use crate::report::{Crossing, LinkLoad, MessageTime, NodeTime, Recording, Report};
use crate::straggler::Slowdown;
use crate::topology::Topology;
use crate::units::{Bytes, Picos};

#[cfg(feature = "config")]
pub use file::{BUILTIN, builtin, find, load, parse, to_toml};
pub use parameters::{Completion, Costs, LinkCosts, LinkKind, Machine, Protocol};

/// Said in every report.
const OF_A_MODEL: &str = "machine models thread blocks, slots and protocols by a few figures; what it does not have: other kernels, \
the memory system, congestion control";

/// Runs a graph of thread blocks.
pub(crate) fn run(setup: Setup<'_>, graph: &Graph) -> Result<Run, SimError> {
    run_rounds(setup, graph, Rounds::of)
}

fn run_rounds(
    setup: Setup<'_>,
    graph: &Graph,
    rounds: impl FnOnce(&Graph, &Program, &Costs) -> Rounds,
) -> Result<Run, SimError> {
    let machine = setup.machine.ok_or(SimError::NoMachine)?;
    let topology = setup.topology.ok_or(SimError::NoTopology { model: setup.model })?;
    check(setup)?;
    let options = setup.options;
    let protocol = protocol(machine, graph)?;
    let program = Program::new(graph)?;
    let costs = machine.costs(protocol).ok_or_else(|| network::no_costs(machine, protocol.name()))?;
    let rounds = rounds(graph, &program, costs);
    let ways = network::ways(machine, protocol, topology, &program)?;
    let times = Times::new(&program, options.message_times || options.recording);
    let mut engine =
        Engine::new(&program, (costs, machine.completion), rounds, ways, times, options.observer);
    let delay =
        |rank| options.stragglers.iter().find(|it| it.rank == rank).map_or(Picos::ZERO, |it| it.delay);
    engine.run(delay)?;
    if engine.is_stuck() {
        return Err(SimError::Stuck(engine.diagnose(graph)));
    }
    let sent = sent(&program)?;
    let finish = engine.times.finish(&program, graph.rank_count());
    let makespan = finish.iter().copied().max().unwrap_or(Picos::ZERO);
    let report = Report {
        makespan,
        finish,
        messages: sent.0,
        bytes: sent.1,
        model: setup.model,
        conventions: setup.conventions,
        notes: vec![OF_A_MODEL.to_owned()],
        links: Some(link_loads(&engine, topology)?),
        folded: false,
        message_times: options.message_times.then(|| message_times(graph, &engine)),
        critical_path: None,
        recording: options.recording.then(|| recording(graph, &engine, topology)),
    };
    let times = setup.times.then(|| node_times(graph, &engine, |_, (_, finish)| finish));
    Ok((report, times))
}

/// Runs a graph in which all ranks do the same.
pub(crate) fn run_symmetric(setup: Setup<'_>, graph: &SymmetricGraph) -> Result<Report, SimError> {
    Ok(run(setup, &graph.expand())?.0)
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
    let sends = || program.steps.iter().filter(|step| step.send != NONE);
    let bytes = sends().try_fold(0u64, |sum, step| sum.checked_add(step.bytes));
    Ok((sends().count() as u64, Bytes(bytes.ok_or(Overflow::BYTES)?)))
}

/// What the links carried: bytes of data, and the time in which something flowed.
fn link_loads(engine: &Engine<'_>, topology: &Topology) -> Result<Vec<LinkLoad>, Overflow> {
    use crate::model::network::Network;
    let mut loads = engine.network.link_loads().unwrap_or_default();
    for (load, skipped) in loads.iter_mut().zip(&engine.steady.busy) {
        load.busy = load.busy.checked_add(*skipped).ok_or(Overflow::TIME)?;
    }
    loads.iter_mut().for_each(|load| load.bytes = Bytes(0));
    let mut of_connection = vec![0u64; engine.program.connections.len()];
    for step in engine.program.steps.iter().filter(|step| step.send != NONE) {
        let sum = &mut of_connection[step.send as usize];
        *sum = sum.checked_add(step.bytes).ok_or(Overflow::BYTES)?;
    }
    let mut route = Vec::new();
    for (connection, bytes) in engine.program.connections.iter().zip(of_connection) {
        if connection.copies || connection.reduces {
            topology.route(connection.src, connection.dst, &mut route);
        }
        for link in route.drain(..) {
            if let Ok(at) = loads.binary_search_by_key(&link, |load| load.link) {
                let sum = loads[at].bytes.0.checked_add(bytes);
                loads[at].bytes = Bytes(sum.ok_or(Overflow::BYTES)?);
            }
        }
    }
    Ok(loads)
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
