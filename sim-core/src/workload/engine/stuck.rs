//! Finds out why a workload cannot go on.

use chakra_et::graph::Op;
use chakra_et::workload::CollectiveKind;
use rustc_hash::FxHashMap;

use super::lanes::LaneKind;
use super::part::{FINISHED, ISSUED};
use super::program::NONE;
use super::run::Engine;
use crate::model::network::Network;
use crate::workload::stuck::{StuckWorkload, Wait};

/// A node of a rank's trace.
type At = (u32, u32);

/// What is looked up again and again. Only looked up, never walked.
struct Clues {
    /// By connection of messages outside collectives, the first SEND that was not issued.
    unsent: FxHashMap<u32, At>,
    /// By node of a share that is under way, the number of the collective's instance.
    running: FxHashMap<At, usize>,
}

impl<N: Network> Engine<'_, '_, N> {
    pub(super) fn diagnose(&self) -> StuckWorkload {
        let nodes = self.plan.traces.iter().map(|trace| trace.program.len()).sum();
        let mut report = StuckWorkload {
            time: self.queue.now(),
            unfinished: self.unfinished,
            nodes,
            waits: Vec::new(),
            is_circle: false,
        };
        // Follow from each unfinished node: the first circle is the answer, else the first chain. Nodes that were looked at
        // lead to no circle.
        let clues = self.clues();
        let mut seen = FxHashMap::default();
        let mut first_chain = Vec::new();
        for start in self.unfinished_nodes() {
            let (mut chain, mut at) = (Vec::<(At, String)>::new(), Some(start));
            while let Some(here) = at {
                if let Some(walk) = seen.insert(here, start) {
                    if walk == start
                        && let Some(begin) = chain.iter().position(|(node, _)| *node == here)
                    {
                        chain.drain(..begin);
                        report.is_circle = true;
                    }
                    break;
                }
                let (why, next) = self.why(&clues, here);
                chain.push((here, why));
                at = next;
            }
            if report.is_circle || first_chain.is_empty() {
                first_chain = chain;
            }
            if report.is_circle {
                break;
            }
        }
        report.waits = first_chain.into_iter().map(|(at, why)| self.wait(at, why)).collect();
        report
    }

    fn clues(&self) -> Clues {
        let mut clues = Clues { unsent: FxHashMap::default(), running: FxHashMap::default() };
        for (rank, trace) in (0..).zip(&self.plan.traces) {
            for (node, op) in (0..).zip(&trace.program.ops) {
                let phase = self.parts[rank as usize].states[node as usize].phase;
                if op.is_send() && phase < FINISHED {
                    clues.unsent.entry(trace.program.attached[node as usize]).or_insert((rank, node));
                }
            }
        }
        for (number, instance) in self.instances.iter().enumerate() {
            let parts = instance.iter().flat_map(|instance| &instance.parts).filter(|part| **part != NONE);
            for part in parts.map(|part| &self.parts[*part as usize]) {
                clues.running.insert((part.rank, part.node), number);
            }
        }
        clues
    }

    fn unfinished_nodes(&self) -> impl Iterator<Item = At> + '_ {
        (0..self.ranks.len() as u32).flat_map(move |rank| {
            let states = &self.parts[rank as usize].states;
            let left = (0..states.len() as u32).filter(move |node| !self.has_finished((rank, *node)));
            left.map(move |node| (rank, node))
        })
    }

    fn has_finished(&self, (rank, node): At) -> bool {
        let phase = self.parts[rank as usize].states[node as usize].phase;
        phase == FINISHED || phase == super::part::EARLY
    }

    /// Why a node waits, in words, and for which other, if there is one.
    fn why(&self, clues: &Clues, at: At) -> (String, Option<At>) {
        let (rank, node) = at;
        let part = &self.parts[rank as usize];
        let trace = &self.plan.traces[rank as usize];
        let phase = part.states[node as usize].phase;
        if phase >= FINISHED {
            return match trace.program.ops[node as usize] {
                Op::Recv { src, .. } => self.why_receive(clues, rank, node, src),
                Op::Coll { .. } => self.why_collective(clues, rank, node),
                _ => ("is under way".to_owned(), None),
            };
        }
        if phase > 0 {
            let graph = self.plan.workload.rank(rank as usize).graph();
            let unfinished = |number: &u32| {
                let nodes = trace.node(*number)..trace.node(*number + 1);
                nodes.into_iter().find(|dep| !self.has_finished((rank, *dep)))
            };
            // A collective whose chunks the node waits for comes after what it waits for as a whole.
            let number = trace.number(node);
            let by_chunks = |dep: &u32| {
                let waiters = trace.waiters.get(&trace.node(*dep));
                waiters.is_some_and(|waiters| waiters.iter().any(|waiter| waiter.1 == node))
            };
            let deps = graph.deps(number).iter().filter(|dep| !by_chunks(dep));
            let blocked = deps.into_iter().find_map(unfinished);
            return match blocked {
                Some(dep) => (format!("depends on {}", self.name((rank, dep))), Some((rank, dep))),
                None => match graph.deps(number).iter().find(|dep| by_chunks(dep)) {
                    Some(of) => {
                        let of = (rank, trace.node(*of));
                        (format!("waits for a chunk of {}", self.name(of)), Some(of))
                    }
                    None => ("waits".to_owned(), None),
                },
            };
        }
        let lane_number = trace.lanes[node as usize];
        let (lane, kind) =
            (&self.ranks[rank as usize].lanes[lane_number as usize], trace.kinds[lane_number as usize]);
        if lane.serves != NONE {
            let why = match kind {
                LaneKind::Communication => {
                    "may not start, as a rank has one SEND, collective or access to memory at a time, before the end of"
                }
                LaneKind::Group(_) => "comes, on its group, after",
                _ => "runs on the same stream as",
            };
            let busy = (rank, lane.serves);
            return (format!("{why} {}", self.name(busy)), Some(busy));
        }
        // In its order, an earlier collective has not come yet.
        let earlier = self.plan.collectives.get(lane.next as usize).and_then(|collective| {
            let position = self.plan.positions[collective.group as usize].get(&rank)?;
            Some(trace.node(collective.nodes[*position as usize]))
        });
        match earlier {
            Some(earlier) => {
                let earlier = (rank, earlier);
                (format!("comes, on its group, after {}", self.name(earlier)), Some(earlier))
            }
            None => ("waits".to_owned(), None),
        }
    }

    fn why_receive(&self, clues: &Clues, rank: u32, node: u32, src: u32) -> (String, Option<At>) {
        let connection = self.plan.traces[rank as usize].program.attached[node as usize];
        match clues.unsent.get(&connection) {
            Some(send) => (format!("waits for {}", self.name(*send)), Some(*send)),
            None => (format!("waits for a message that rank {src} never sends"), None),
        }
    }

    fn why_collective(&self, clues: &Clues, rank: u32, node: u32) -> (String, Option<At>) {
        let trace = &self.plan.traces[rank as usize];
        let own = trace.program.attached[node as usize];
        let group = self.plan.collectives[own as usize].group;
        let members = &self.plan.workload.groups()[group as usize].members;
        let running = clues.running.get(&(rank, node)).and_then(|number| self.instances[*number].as_deref());
        let Some(instance) = running else {
            return ("is one more than the others of its group have".to_owned(), None);
        };
        let missing = instance.parts.iter().position(|part| *part == NONE);
        if let Some(position) = missing {
            let late = members[position];
            return match self.next_to_come(group, position, late) {
                Some(at) => (format!("waits for rank {late} to come to it, {}", self.name(at)), Some(at)),
                None => (format!("waits for rank {late}, which has no more collectives on the group"), None),
            };
        }
        // All have come, so the algorithm itself does not end: a RECV of it is not served.
        let stuck = instance.parts.iter().map(|part| &self.parts[*part as usize]).find_map(|part| {
            let waits = |node: &u32| {
                part.states[*node as usize].phase == ISSUED
                    && matches!(part.program.ops[*node as usize], Op::Recv { .. })
            };
            (0..part.program.len() as u32).find(waits).map(|node| (part, node))
        });
        let used = self.plan.uses[instance.collective as usize];
        let algorithm = &self.plan.algorithms[used.algorithm as usize].algorithm;
        match stuck {
            Some((part, node)) => {
                let id = algorithm.graph().rank(part.position as usize).id(node);
                let Op::Recv { src, tag, bytes } = part.program.ops[node as usize] else {
                    return ("waits".to_owned(), None);
                };
                let why = format!(
                    "does not end: of the algorithm {:?}, node {id} of rank {} waits for {bytes} bytes from rank {src} with tag \
                     {tag}, which it never sends",
                    algorithm.name(),
                    part.position
                );
                (why, None)
            }
            None => (format!("does not end, by the algorithm {:?}", algorithm.name()), None),
        }
    }

    /// The collective of a group that a rank comes to next, as far as that is fixed: the one of the lowest number that it has
    /// not come to.
    fn next_to_come(&self, group: u32, position: usize, rank: u32) -> Option<At> {
        let [first, end] = [0, 1].map(|next| self.plan.first_of_group[group as usize + next] as usize);
        let nodes = self.plan.collectives[first..end].iter().map(|collective| collective.nodes[position]);
        let nodes = nodes.map(|number| self.plan.traces[rank as usize].node(number));
        let mut left = nodes.filter(|node| self.parts[rank as usize].states[*node as usize].phase < FINISHED);
        let next = if self.settings.compat.is_some() { left.min() } else { left.next() };
        next.map(|node| (rank, node))
    }

    fn name(&self, (rank, node): At) -> String {
        let number = self.plan.traces[rank as usize].number(node);
        let nodes = self.plan.workload.rank(rank as usize);
        format!("rank {rank}, node {} {:?}", nodes.graph().id(number), nodes.name(number))
    }

    fn wait(&self, (rank, node): At, why: String) -> Wait {
        let number = self.plan.traces[rank as usize].number(node);
        let nodes = self.plan.workload.rank(rank as usize);
        let what = match nodes.graph().op(number) {
            Op::Coll { kind, bytes } => {
                let kind = CollectiveKind::from_wire(kind).map_or("collective", CollectiveKind::name);
                let group = &self.plan.workload.groups()[nodes.traits(number).group as usize];
                format!("{kind} of {bytes} bytes on {}", group.label())
            }
            Op::Send { dst, tag, bytes } => format!("SEND of {bytes} bytes to rank {dst}, tag {tag}"),
            Op::Recv { src, tag, bytes } => format!("RECV of {bytes} bytes from rank {src}, tag {tag}"),
            Op::Comp { .. } => "COMP".to_owned(),
            Op::Mem { .. } => "MEM".to_owned(),
            _ => "node without work".to_owned(),
        };
        Wait { rank, node: nodes.graph().id(number), name: nodes.name(number).to_owned(), what, why }
    }
}
