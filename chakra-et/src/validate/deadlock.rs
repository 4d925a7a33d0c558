//! Finds ranks that wait for one another.
//!
//! The graphs of all ranks are joined: the nodes of one collective become one, and each receive depends on its
//! send. A circle in the joined graph cannot be run in any order. Where there is none, the order in which
//! ASTRA-sim would issue the collectives of each rank, one at a time, may still make one: that is a warning.

use super::RankSurvey;
use super::collectives::Instances;
use super::csr::Csr;
use super::cycles::cycles;
use super::finding::{Finding, NodeRef};
use super::messages::Pairs;
use super::order::Order;
use super::rules::{self, Rule};
use super::survey::Survey;

pub(crate) fn check(survey: &Survey, pairs: &Pairs, instances: &Instances, findings: &mut Vec<Finding>) {
    let complete = survey.ranks.iter().all(|rank| rank.order.is_complete());
    let total: usize = survey.ranks.iter().map(RankSurvey::len).sum();
    let joins = !pairs.met.is_empty() || !instances.labels.is_empty();
    // A circle within a rank is known already, and would only be found again.
    if !survey.whole || !complete || !joins || u32::try_from(total + instances.labels.len()).is_err() {
        return;
    }
    let joined = Joined::of(survey, pairs, instances);
    let found = joined.circles();
    if found.is_empty() {
        unforced(survey, instances, findings);
    }
    for circle in found {
        joined.report(&circle, findings);
    }
}

/// The graphs of all ranks as one. Nodes are numbered rank by rank, then the collectives.
struct Joined<'a> {
    survey: &'a Survey,
    instances: &'a Instances,
    /// The number of the first node of each rank, and of the first collective.
    begins: Vec<usize>,
    deps: Csr,
    /// The nodes of each collective, by rank.
    taking_part: Vec<Vec<(usize, u32)>>,
    /// The joined number of nodes that take part in a collective, else their own.
    vertex: Vec<u32>,
}

/// What makes a node wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Within(usize),
    Message,
}

impl<'a> Joined<'a> {
    fn of(survey: &'a Survey, pairs: &Pairs, instances: &'a Instances) -> Self {
        let mut begins = vec![0];
        for rank in &survey.ranks {
            begins.push(begins[begins.len() - 1] + rank.len());
        }
        let total = begins[begins.len() - 1];
        let mut vertex: Vec<u32> = (0..total as u32).collect();
        let mut taking_part = vec![Vec::new(); instances.labels.len()];
        for (rank, list) in instances.of_rank.iter().enumerate() {
            for &(node, instance) in list {
                vertex[begins[rank] + node as usize] = total as u32 + instance;
                taking_part[instance as usize].push((rank, node));
            }
        }
        // The send that each receive waits for.
        let mut sends = vec![u32::MAX; total];
        for &(send, recv) in &pairs.met {
            let (send, recv) = (&pairs.ends[send], &pairs.ends[recv]);
            sends[begins[recv.rank()] + recv.node as usize] =
                (begins[send.rank()] + send.node as usize) as u32;
        }
        let mut deps = Csr::default();
        for (at, rank) in survey.ranks.iter().enumerate() {
            for node in 0..rank.len() as u32 {
                let number = begins[at] + node as usize;
                // Those of a collective come with it.
                if vertex[number] as usize == number {
                    rank.deps.list(node).iter().for_each(|&dep| deps.push(vertex[begins[at] + dep as usize]));
                    if sends[number] != u32::MAX {
                        deps.push(sends[number]);
                    }
                }
                deps.end_list();
            }
        }
        for nodes in &taking_part {
            for &(rank, node) in nodes {
                for &dep in survey.ranks[rank].deps.list(node) {
                    deps.push(vertex[begins[rank] + dep as usize]);
                }
            }
            deps.end_list();
        }
        Self { survey, instances, begins, deps, taking_part, vertex }
    }

    fn circles(&self) -> Vec<Vec<u32>> {
        let order = Order::of(&self.deps, u64::from);
        if order.is_complete() { Vec::new() } else { cycles(&self.deps, |node| order.runs(node)) }
    }

    /// Rank and node of a joined number, unless it is a collective.
    fn node(&self, number: u32) -> Option<(usize, u32)> {
        let number = number as usize;
        let total = self.begins[self.begins.len() - 1];
        let rank = self.begins.partition_point(|&begin| begin <= number) - 1;
        (number < total).then(|| (rank, (number - self.begins[rank]) as u32))
    }

    fn label(&self, number: u32) -> String {
        match self.node(number) {
            Some((rank, node)) => self.survey.ranks[rank].named(node),
            None => {
                let instance = number as usize - self.begins[self.begins.len() - 1];
                self.instances.labels[instance].clone()
            }
        }
    }

    /// Where one node waits for another.
    fn step(&self, from: u32, to: u32) -> Step {
        match (self.node(from), self.node(to)) {
            (Some((a, _)), Some((b, _))) if a != b => Step::Message,
            (Some((rank, _)), _) | (None, Some((rank, _))) => Step::Within(rank),
            (None, None) => {
                let instance = from as usize - self.begins[self.begins.len() - 1];
                let waits = |&&(rank, node): &&(usize, u32)| {
                    let deps = self.survey.ranks[rank].deps.list(node).iter();
                    deps.map(|&dep| self.vertex[self.begins[rank] + dep as usize]).any(|dep| dep == to)
                };
                Step::Within(self.taking_part[instance].iter().find(waits).map_or(0, |&(rank, _)| rank))
            }
        }
    }

    fn report(&self, circle: &[u32], findings: &mut Vec<Finding>) {
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
        let said = parts.iter().map(|&(step, from, to)| match step {
            Step::Within(rank) => {
                format!("on rank {rank}, {} comes after {}", self.label(from), self.label(to))
            }
            Step::Message => {
                let rank = |number| self.node(number).map_or(0, |(rank, _)| rank);
                format!(
                    "{} of rank {} receives what {} of rank {} sends",
                    self.label(from),
                    rank(from),
                    self.label(to),
                    rank(to)
                )
            }
        });
        let related: Vec<NodeRef> = circle.iter().flat_map(|&number| self.nodes(number)).collect();
        add(&rules::GROUP_ORDER, "ranks wait for one another", said.collect(), related, findings);
    }

    fn nodes(&self, number: u32) -> Vec<NodeRef> {
        match self.node(number) {
            Some((rank, node)) => vec![self.survey.ranks[rank].node_ref(node)],
            None => {
                let instance = number as usize - self.begins[self.begins.len() - 1];
                self.taking_part[instance]
                    .iter()
                    .map(|&(rank, node)| self.survey.ranks[rank].node_ref(node))
                    .collect()
            }
        }
    }
}

/// Most steps of a circle that a message shows.
const SHOWN: usize = 6;

fn add(
    rule: &'static Rule,
    what: &str,
    mut said: Vec<String>,
    related: Vec<NodeRef>,
    findings: &mut Vec<Finding>,
) {
    if said.len() > SHOWN + 1 {
        let more = said.len() - SHOWN;
        said.truncate(SHOWN);
        said.push(format!("and {more} more"));
    }
    let message = format!("{what}: {}", said.join("; "));
    findings.push(Finding::of_trace(rule, message).with_related(related));
}

/// Looks at the order in which collectives are issued one at a time.
fn unforced(survey: &Survey, instances: &Instances, findings: &mut Vec<Finding>) {
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for list in &instances.of_rank {
        edges.extend(list.windows(2).map(|pair| (pair[1].1, pair[0].1)));
    }
    edges.sort_unstable();
    edges.dedup();
    let mut deps = Csr::default();
    let mut at = 0;
    for instance in 0..instances.labels.len() as u32 {
        while let Some(&(_, dep)) = edges.get(at).filter(|edge| edge.0 == instance) {
            deps.push(dep);
            at += 1;
        }
        deps.end_list();
    }
    let order = Order::of(&deps, u64::from);
    if order.is_complete() {
        return;
    }
    for circle in cycles(&deps, |node| order.runs(node)) {
        let mut said = Vec::new();
        let mut related = Vec::new();
        // Each takes a look at all ranks, so of a long circle only the beginning is shown.
        for (at, &later) in circle.iter().enumerate().take(SHOWN) {
            let earlier = circle[(at + 1) % circle.len()];
            let found = instances.of_rank.iter().enumerate().find_map(|(rank, list)| {
                let pair = list.windows(2).find(|pair| pair[0].1 == earlier && pair[1].1 == later)?;
                Some((rank, pair[0].0, pair[1].0))
            });
            let Some((rank, first, second)) = found else { continue };
            let label = |instance: u32| instances.labels[instance as usize].as_str();
            said.push(format!("rank {rank} issues {} before {}", label(earlier), label(later)));
            related.push(survey.ranks[rank].node_ref(first));
            related.push(survey.ranks[rank].node_ref(second));
        }
        if circle.len() > SHOWN {
            said.push(format!("and {} more", circle.len() - SHOWN));
        }
        let what = "issued one at a time, collectives meet in different order";
        add(&rules::UNFORCED_ORDER, what, said, related, findings);
    }
}
