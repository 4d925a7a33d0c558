//! In which order reductions add: floating-point addition gives other bits in another order.
//!
//! `a + b` and `b + a` are the same to the bit (but for the payloads of NaNs), `(a + b) + c` and `a + (b + c)` are not.
//! So two results are the same where their trees of additions are, operands of one addition swapped or not. Every tree is
//! stored once, and as two operands, so that equal trees have equal numbers and a chain is no longer than its parts.

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::FxHashMap;

use super::execute::{Algebra, Run, execute};
use super::plan::{At, Plan};
use crate::collective::{Contributors, Wanted};
use crate::ids::RankId;

/// A tree, by its number; compare for equality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Tree(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Empty,
    Undefined,
    Leaf {
        rank: u32,
        chunk: u32,
    },
    /// The smaller number first.
    Sum(Tree, Tree),
}

/// All distinct trees of a run.
#[derive(Clone, Debug)]
struct Trees {
    nodes: Vec<Node>,
    /// Leaves of each, and the lowest rank among them.
    shape: Vec<(u32, u32)>,
    ids: FxHashMap<Node, u32>,
}

impl Trees {
    fn new() -> Self {
        let (nodes, shape) = (vec![Node::Empty, Node::Undefined], vec![(0, 0); 2]);
        Self { nodes, shape, ids: FxHashMap::default() }
    }

    fn intern(&mut self, node: Node, shape: (u32, u32)) -> Tree {
        let next = self.nodes.len() as u32;
        let id = *self.ids.entry(node).or_insert(next);
        if id == next {
            self.nodes.push(node);
            self.shape.push(shape);
        }
        Tree(id)
    }
}

impl Algebra for Trees {
    type Content = Tree;
    const EMPTY: Tree = Tree(0);
    const UNDEFINED: Tree = Tree(1);

    fn own(&mut self, rank: RankId, chunk: u32) -> Tree {
        self.intern(Node::Leaf { rank: rank.0, chunk }, (1, rank.0))
    }

    fn add(&mut self, a: Tree, b: Tree) -> Tree {
        let (a, b) = (a.min(b), a.max(b));
        if a <= Self::UNDEFINED {
            return Self::UNDEFINED;
        }
        let (x, y) = (self.shape[a.0 as usize], self.shape[b.0 as usize]);
        self.intern(Node::Sum(a, b), (x.0.saturating_add(y.0), x.1.min(y.1)))
    }
}

/// In which order the reductions of a schedule add.
///
/// Its text has a line for each chunk that is a sum:
///
/// ```
/// use collective_dsl::{Buffer::Input, Collective, Program, lower, verify::{Settings, check}};
/// let p = Program::new(Collective::all_reduce(3)?.with_chunks(1)?.in_place()?);
/// let sum = p.chunk(1, Input, 0).reduce(p.chunk(0, Input, 0));
/// let sum = p.chunk(2, Input, 0).reduce(sum);
/// sum.copy_to(0, Input, 0);
/// sum.copy_to(1, Input, 0);
/// let report = check(&lower(&p.finish("star")?)?, &Settings { reductions: true, ..Settings::default() });
/// let reductions = report.reductions.ok_or("no reductions")?;
/// assert!(reductions.same_everywhere());
/// assert_eq!(reductions.to_string(), "chunk 0: (r0 + r1) + r2 on all 3 ranks\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reductions {
    chunks: Vec<ReducedChunk>,
    trees: Trees,
}

/// A sum that the collective wants, and in which outputs, by rank and index.
type WantedSum = (Wanted, Vec<(RankId, u32)>);

/// A chunk that several ranks add up.
#[derive(Clone, Debug)]
struct ReducedChunk {
    /// The logical chunk.
    chunk: u32,
    /// The different results, each with the ranks that end with it.
    results: Vec<(Tree, Vec<RankId>)>,
}

impl Reductions {
    /// Runs the steps in the order given; `None` if the collective wants no sums.
    pub(super) fn of(plan: &Plan<'_>, order: &[At]) -> Option<Self> {
        let collective = &plan.schedule.collective;
        let sums = |wanted: &Wanted| match &wanted.parts[..] {
            [(_, Contributors::One(_))] | [] => false,
            [(_, Contributors::These(ranks))] => ranks.len() > 1,
            _ => true,
        };
        // The outputs of which the same sum is wanted.
        let mut outputs: BTreeMap<u32, Vec<WantedSum>> = BTreeMap::new();
        for rank in (0..collective.ranks() as u32).map(RankId) {
            for index in 0..collective.output_chunks_of(rank) as u32 {
                let Some(wanted) = collective.wanted(rank, index).filter(sums) else { continue };
                let same_chunk = outputs.entry(wanted.parts[0].0).or_default();
                match same_chunk.iter_mut().find(|other| other.0 == wanted) {
                    Some((_, places)) => places.push((rank, index)),
                    None => same_chunk.push((wanted, vec![(rank, index)])),
                }
            }
        }
        if outputs.is_empty() {
            return None;
        }
        let run = execute(plan, order, Trees::new());
        let reduced = |(chunk, (_, places)): (u32, WantedSum)| ReducedChunk {
            chunk,
            results: results(plan, &run, &places),
        };
        let each =
            outputs.into_iter().flat_map(|(chunk, wanted)| wanted.into_iter().map(move |it| (chunk, it)));
        let chunks = each.map(reduced).collect();
        Some(Self { chunks, trees: run.algebra })
    }

    /// Whether all ranks that end with a chunk have added it up in the same order, so that their results are the same to
    /// the bit.
    #[must_use]
    pub fn same_everywhere(&self) -> bool {
        self.chunks.iter().all(|chunk| chunk.results.len() == 1)
    }

    /// The chunks that not all ranks add up in the same order.
    #[must_use]
    pub fn differing(&self) -> Vec<u32> {
        self.chunks.iter().filter(|chunk| chunk.results.len() > 1).map(|chunk| chunk.chunk).collect()
    }

    /// Each order in which a chunk is added up: the chunk, the order in words as in the text, such as
    /// `(r0 + r1) + r2`, and the ranks that end with it, ascending.
    pub fn orders(&self) -> impl Iterator<Item = (u32, String, &[RankId])> {
        self.chunks.iter().flat_map(|ReducedChunk { chunk, results }| {
            results.iter().map(|(tree, ranks)| (*chunk, self.trees.show(*tree, *chunk), ranks.as_slice()))
        })
    }
}

fn results(plan: &Plan<'_>, run: &Run<Trees>, places: &[(RankId, u32)]) -> Vec<(Tree, Vec<RankId>)> {
    let mut results: Vec<(Tree, Vec<RankId>)> = Vec::new();
    let mut at: FxHashMap<Tree, usize> = FxHashMap::default();
    for (rank, index) in places {
        let (_, tree, _) = run.output(plan, *rank, *index);
        let known = *at.entry(tree).or_insert(results.len());
        if known == results.len() {
            results.push((tree, Vec::new()));
        }
        let ranks = &mut results[known].1;
        if ranks.last() != Some(rank) {
            ranks.push(*rank);
        }
    }
    results
}

impl fmt::Display for Reductions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ReducedChunk { chunk, results } in &self.chunks {
            if let [(tree, ranks)] = &results[..] {
                let tree = self.trees.show(*tree, *chunk);
                match ranks[..] {
                    [rank] => writeln!(f, "chunk {chunk}: {tree} on rank {}", rank.0)?,
                    _ => writeln!(f, "chunk {chunk}: {tree} on all {} ranks", ranks.len())?,
                }
                continue;
            }
            writeln!(f, "chunk {chunk}: {} different orders", results.len())?;
            for (tree, ranks) in results {
                writeln!(f, "  {}: {}", names(ranks), self.trees.show(*tree, *chunk))?;
            }
        }
        Ok(())
    }
}

/// "rank 3" or "ranks 0 to 2, 5".
fn names(ranks: &[RankId]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for rank in ranks {
        match runs.last_mut() {
            Some(run) if run.1 + 1 == rank.0 => run.1 = rank.0,
            _ => runs.push((rank.0, rank.0)),
        }
    }
    let run = |(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    };
    let list: Vec<String> = runs.iter().map(run).collect();
    let word = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{word} {}", list.join(", "))
}

impl Trees {
    /// Leaves beyond which a tree is not written out.
    const MOST_LEAVES: u32 = 1 << 16;

    /// The tree of a sum of contributions to a chunk: `(r0 + r1) + r2`; the larger operand first.
    fn show(&self, tree: Tree, chunk: u32) -> String {
        enum Part {
            Tree(Tree, bool),
            Text(&'static str),
        }
        let (leaves, _) = self.shape[tree.0 as usize];
        if leaves > Self::MOST_LEAVES {
            return format!("a sum of {leaves} or more terms");
        }
        let mut text = String::new();
        // A chain may be deeper than the stack of a thread.
        let mut open = vec![Part::Tree(tree, true)];
        while let Some(part) = open.pop() {
            let (tree, outermost) = match part {
                Part::Text(word) => {
                    text.push_str(word);
                    continue;
                }
                Part::Tree(tree, outermost) => (tree, outermost),
            };
            match self.nodes[tree.0 as usize] {
                Node::Empty => text.push_str("nothing"),
                Node::Undefined => text.push_str("undefined"),
                Node::Leaf { rank, chunk: of } if of == chunk => text.push_str(&format!("r{rank}")),
                Node::Leaf { rank, chunk: of } => text.push_str(&format!("r{rank}.chunk{of}")),
                Node::Sum(a, b) => {
                    let key = |tree: Tree| {
                        let (leaves, lowest) = self.shape[tree.0 as usize];
                        (std::cmp::Reverse(leaves), lowest, tree)
                    };
                    let (first, second) = if key(a) <= key(b) { (a, b) } else { (b, a) };
                    if !outermost {
                        text.push('(');
                        open.push(Part::Text(")"));
                    }
                    open.push(Part::Tree(second, false));
                    open.push(Part::Text(" + "));
                    open.push(Part::Tree(first, false));
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_operands_are_the_same_and_another_nesting_is_not() {
        let mut trees = Trees::new();
        let [a, b, c] = [0, 1, 2].map(|rank| trees.own(RankId(rank), 5));
        let (ab, ba) = (trees.add(a, b), trees.add(b, a));
        assert_eq!(ab, ba);
        let (left, also_left) = (trees.add(ab, c), trees.add(c, ba));
        assert_eq!(left, also_left);
        let bc = trees.add(b, c);
        let right = trees.add(a, bc);
        assert_ne!(left, right);
        assert_eq!(trees.show(left, 5), "(r0 + r1) + r2");
        assert_eq!(trees.show(right, 5), "(r1 + r2) + r0");
        assert_eq!(trees.show(ab, 4), "r0.chunk5 + r1.chunk5");
    }

    #[test]
    fn deep_and_exponential_trees_are_no_trouble() {
        let mut trees = Trees::new();
        let leaf = trees.own(RankId(0), 0);
        let chain = (0..20_000).fold(leaf, |sum, _| trees.add(sum, leaf));
        assert_eq!(trees.show(chain, 0).matches("r0").count(), 20_001);
        let doubled = (0..40).fold(leaf, |sum, _| trees.add(sum, sum));
        assert!(trees.show(doubled, 0).contains("or more terms"));
        assert_eq!(trees.add(leaf, Trees::EMPTY), Trees::UNDEFINED);
    }

    #[test]
    fn ranks_are_listed_as_runs() {
        let ranks = |list: &[u32]| names(&list.iter().copied().map(RankId).collect::<Vec<_>>());
        assert_eq!(ranks(&[3]), "rank 3");
        assert_eq!(ranks(&[0, 1, 2, 5, 7, 8]), "ranks 0 to 2, 5, 7, 8");
    }
}
