//! The graphs of all ranks as one: the nodes of a collective are one vertex, and a receive depends on its send.

use std::ops::Range;

use super::Workload;
use super::collectives::Collective;
use super::matching::describe;
use super::messages::Messages;
use super::rank_file::label;
use crate::validate::NodeRef;
use crate::validate::csr::Csr;
use crate::validate::cycles::cycles;

/// Nodes are numbered rank by rank, then the collectives.
pub(super) struct Joined<'a> {
    workload: &'a Workload,
    all: &'a [Collective],
    /// The number of the first node of each rank, and of the first collective.
    begins: Vec<usize>,
    /// The number of each node: where it takes part in a collective, that of the collective.
    vertex: Vec<u32>,
    deps: Csr,
}

/// Ranks that wait for one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Circle {
    /// Who waits for what.
    pub(super) message: String,
    /// The nodes in it, each with what it waits for next.
    pub(super) nodes: Vec<NodeRef>,
    /// The group, if nothing but its collectives and dependences within ranks make the circle.
    pub(super) within_group: Option<u32>,
}

/// What makes a vertex wait for the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A dependence on a rank.
    Within(u32),
    Message,
}

impl<'a> Joined<'a> {
    /// `chains` are ranges of collectives of which each is to run after the one before.
    pub(super) fn of(
        workload: &'a Workload,
        all: &'a [Collective],
        messages: &Messages,
        chains: &[Range<usize>],
    ) -> Self {
        let mut begins = vec![0];
        for rank in &workload.ranks {
            begins.push(begins[begins.len() - 1] + rank.len());
        }
        let total = begins[begins.len() - 1];
        let mut vertex: Vec<u32> = (0..total as u32).collect();
        for (number, collective) in (total as u32..).zip(all) {
            let members = &workload.groups[collective.group as usize].members;
            for (&rank, &node) in members.iter().zip(&collective.nodes) {
                vertex[begins[rank as usize] + node as usize] = number;
            }
        }
        // The send that each receive waits for.
        let mut sends = vec![u32::MAX; if messages.met.is_empty() { 0 } else { total }];
        for (send, recv) in &messages.met {
            let number = |rank: u32, node: u32| begins[rank as usize] + node as usize;
            sends[number(recv.rank(), recv.node)] = number(send.rank(), send.node) as u32;
        }
        let mut deps = Csr::default();
        for (rank, &begin) in workload.ranks.iter().zip(&begins) {
            for node in 0..rank.len() {
                // Those of a collective come with it.
                if vertex[begin + node] as usize == begin + node {
                    rank.graph
                        .deps(node as u32)
                        .iter()
                        .for_each(|&dep| deps.push(vertex[begin + dep as usize]));
                    if let Some(&send) = sends.get(begin + node).filter(|&&send| send != u32::MAX) {
                        deps.push(send);
                    }
                }
                deps.end_list();
            }
        }
        let mut chained = vec![false; all.len()];
        chains.iter().flat_map(|chain| chain.clone().skip(1)).for_each(|at| chained[at] = true);
        for (at, collective) in all.iter().enumerate() {
            let members = &workload.groups[collective.group as usize].members;
            for (&rank, &node) in members.iter().zip(&collective.nodes) {
                let begin = begins[rank as usize];
                let of_node = workload.ranks[rank as usize].graph.deps(node).iter();
                of_node.for_each(|&dep| deps.push(vertex[begin + dep as usize]));
            }
            if chained[at] {
                deps.push((total + at - 1) as u32);
            }
            deps.end_list();
        }
        Self { workload, all, begins, vertex, deps }
    }

    fn total(&self) -> usize {
        self.begins[self.begins.len() - 1]
    }

    /// For each vertex its place in an order in which all can run, those first that can run first; `u32::MAX` for those
    /// that cannot.
    fn order(&self) -> Vec<u32> {
        let waiters = self.deps.reversed();
        let count = self.deps.len() as u32;
        let mut missing: Vec<u32> = (0..count).map(|at| self.deps.list(at).len() as u32).collect();
        let mut places = vec![u32::MAX; count as usize];
        let mut queue: Vec<u32> = (0..count).filter(|&at| missing[at as usize] == 0).collect();
        let mut next = 0;
        while let Some(&at) = queue.get(next) {
            places[at as usize] = next as u32;
            next += 1;
            for &waiter in waiters.list(at) {
                missing[waiter as usize] -= 1;
                if missing[waiter as usize] == 0 {
                    queue.push(waiter);
                }
            }
        }
        places
    }

    /// For each collective its place in an order in which all can run; none if some cannot.
    pub(super) fn places(&self) -> Option<Vec<u32>> {
        let mut places = self.order();
        let complete = places.iter().all(|&place| place != u32::MAX);
        complete.then(|| places.split_off(self.total()))
    }

    /// Where ranks wait for one another: a shortest circle of each knot.
    pub(super) fn circles(&self) -> Vec<Circle> {
        let places = self.order();
        let circles = cycles(&self.deps, |at| places[at as usize] != u32::MAX);
        circles.iter().map(|circle| self.circle(circle)).collect()
    }

    /// Rank and node of a number, unless it is a collective.
    fn node(&self, number: u32) -> Option<(u32, u32)> {
        let number = number as usize;
        let rank = self.begins.partition_point(|&begin| begin <= number) - 1;
        (number < self.total()).then(|| (rank as u32, (number - self.begins[rank]) as u32))
    }

    fn collective(&self, number: u32) -> Option<&Collective> {
        self.all.get((number as usize).checked_sub(self.total())?)
    }

    /// The node that stands for a number on a rank.
    fn on(&self, rank: u32, number: u32) -> u32 {
        match (self.node(number), self.collective(number)) {
            (Some((_, node)), _) => node,
            (None, Some(collective)) => {
                let group = &self.workload.groups[collective.group as usize];
                group.position(rank).map_or(0, |position| collective.nodes[position])
            }
            (None, None) => 0,
        }
    }

    /// Where one waits for the next.
    fn step(&self, from: u32, to: u32) -> Step {
        match (self.node(from), self.node(to)) {
            (Some((a, _)), Some((b, _))) if a != b => Step::Message,
            (Some((rank, _)), _) | (None, Some((rank, _))) => Step::Within(rank),
            (None, None) => {
                let ranks =
                    self.collective(from).map(|from| &self.workload.groups[from.group as usize].members);
                let waits = |&&rank: &&u32| {
                    let deps = self.workload.ranks[rank as usize].graph.deps(self.on(rank, from)).iter();
                    deps.map(|&dep| self.vertex[self.begins[rank as usize] + dep as usize])
                        .any(|dep| dep == to)
                };
                Step::Within(ranks.into_iter().flatten().find(waits).copied().unwrap_or(0))
            }
        }
    }

    fn label(&self, rank: u32, number: u32) -> String {
        let named = label(&self.workload.ranks[rank as usize], self.on(rank, number));
        match self.collective(number) {
            None => named,
            Some(of) => {
                let group = &self.workload.groups[of.group as usize];
                let root = group.members.get(of.root as usize).copied().unwrap_or(of.root);
                format!("{named} ({} on {})", describe(Some(of.kind), of.bytes, root), group.label())
            }
        }
    }

    fn circle(&self, circle: &[u32]) -> Circle {
        let next = |at: usize| circle[(at + 1) % circle.len()];
        let steps: Vec<Step> = (0..circle.len()).map(|at| self.step(circle[at], next(at))).collect();
        // Begin where the reason for waiting changes.
        let begin = (0..steps.len()).find(|&at| steps[at] != steps[(at + steps.len() - 1) % steps.len()]);
        let begin = begin.unwrap_or(0);
        let mut parts: Vec<(Step, u32, u32)> = Vec::new();
        for at in (0..steps.len()).map(|offset| (begin + offset) % steps.len()) {
            match parts.last_mut() {
                Some((step, _, last)) if *step == steps[at] && *step != Step::Message => *last = next(at),
                _ => parts.push((steps[at], circle[at], next(at))),
            }
        }
        // For people, the lowest rank comes first.
        let rank = |&(step, from, _): &(Step, u32, u32)| match step {
            Step::Within(rank) => rank,
            Step::Message => self.node(from).map_or(0, |(rank, _)| rank),
        };
        let lowest = parts.iter().enumerate().min_by_key(|(_, part)| rank(part)).map_or(0, |(at, _)| at);
        parts.rotate_left(lowest);
        let mut nodes = Vec::new();
        let mut add = |rank: u32, number: u32| {
            let node = self.workload.ranks[rank as usize].graph.id(self.on(rank, number));
            nodes.push(NodeRef { rank: rank as usize, node });
        };
        let said: Vec<String> = parts
            .iter()
            .map(|&(step, from, to)| match step {
                Step::Within(rank) => {
                    add(rank, from);
                    add(rank, to);
                    format!("on rank {rank}, {} waits for {}", self.label(rank, from), self.label(rank, to))
                }
                Step::Message => {
                    let rank = |number| self.node(number).map_or(0, |(rank, _)| rank);
                    let (receiver, sender) = (rank(from), rank(to));
                    add(receiver, from);
                    add(sender, to);
                    format!(
                        "on rank {receiver}, {} waits for the message of {} on rank {sender}",
                        self.label(receiver, from),
                        self.label(sender, to)
                    )
                }
            })
            .collect();
        let mut groups: Vec<u32> =
            circle.iter().filter_map(|&number| self.collective(number)).map(|of| of.group).collect();
        groups.dedup();
        let within = !steps.contains(&Step::Message) && groups.iter().all(|group| *group == groups[0]);
        let within_group = groups.first().copied().filter(|_| within);
        Circle { message: said.join("; "), nodes, within_group }
    }
}
