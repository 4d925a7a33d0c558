//! In which order thread blocks get to run.

use crate::ids::{RankId, ThreadBlockId};
use crate::schedule::{Schedule, StepId};

/// Which of the thread blocks that could run does its next step. Every order is one that a machine may take, and the
/// same each time: a schedule that is right is right in all of them.
///
/// ```
/// use collective_dsl::run::Order;
/// let orders = [Order::InTurn, Order::Random(7), Order::RunAhead];
/// assert_eq!(orders[1].to_string(), "in random order 7");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// Who could run first runs first.
    InTurn,
    /// At random; the number is the seed.
    Random(u64),
    /// Ranks and thread blocks of lower number first.
    LowestFirst,
    /// Those of higher number first.
    HighestFirst,
    /// One thread block as far as it gets, then the one that it woke last.
    RunAhead,
    /// A rank runs only when no other can.
    DelayRank(RankId),
    /// A thread block runs only when no other can.
    DelayBlock(RankId, ThreadBlockId),
    /// A step is done only when nothing else can be. Whatever is not ordered after the step comes before it, so that of
    /// two steps in no order each comes first once, if both are held in turn.
    HoldStep(RankId, StepId),
    /// A step receives and reads when it can, but writes and sends only when nothing else can be done: an update between
    /// the two is lost.
    HoldWrite(RankId, StepId),
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Order::InTurn => f.write_str("in turn"),
            Order::Random(seed) => write!(f, "in random order {seed}"),
            Order::LowestFirst => f.write_str("lowest rank first"),
            Order::HighestFirst => f.write_str("highest rank first"),
            Order::RunAhead => f.write_str("each as far as it gets"),
            Order::DelayRank(rank) => write!(f, "rank {} last", rank.0),
            Order::DelayBlock(rank, block) => write!(f, "rank {}, {block} last", rank.0),
            Order::HoldStep(rank, step) => {
                write!(f, "rank {}, {}, step {} last", rank.0, step.thread_block, step.step)
            }
            Order::HoldWrite(rank, step) => {
                write!(f, "write of rank {}, {}, step {} last", rank.0, step.thread_block, step.step)
            }
        }
    }
}

impl Order {
    /// Orders that are likely to show a mistake: the extremes, and each rank and each thread block last.
    pub fn adverse(schedule: &Schedule) -> impl Iterator<Item = Order> + '_ {
        let ranks = || (0..).map(RankId).zip(&schedule.ranks);
        let blocks = ranks().flat_map(|(rank, of_rank)| {
            (0..of_rank.thread_blocks.len() as u32)
                .map(move |block| Order::DelayBlock(rank, ThreadBlockId(block)))
        });
        [Order::InTurn, Order::LowestFirst, Order::HighestFirst, Order::RunAhead]
            .into_iter()
            .chain(ranks().map(|(rank, _)| Order::DelayRank(rank)))
            .chain(blocks)
    }

    /// Each step last, and the write of each step that also reads. With unlimited slots any two steps that nothing orders
    /// come in both orders, and each between the other's read and write.
    pub fn each_step_last(schedule: &Schedule) -> impl Iterator<Item = Order> + '_ {
        let ranks = (0..).map(RankId).zip(&schedule.ranks);
        ranks.flat_map(|(rank, of_rank)| {
            (0..).map(ThreadBlockId).zip(&of_rank.thread_blocks).flat_map(move |(thread_block, block)| {
                (0..).zip(&block.steps).flat_map(move |(number, step)| {
                    let id = StepId { thread_block, step: number };
                    let halves = step.kind.reads_src() && step.kind.writes_dst();
                    [Order::HoldStep(rank, id)]
                        .into_iter()
                        .chain(halves.then_some(Order::HoldWrite(rank, id)))
                })
            })
        })
    }

    /// The place among all steps that could run, the lowest first: of the `n`-th that could, a step of the `task`-th thread
    /// block.
    pub(super) fn key(self, rank: RankId, step: StepId, task: u32, n: u64) -> (bool, u64) {
        match self {
            Order::InTurn | Order::HoldWrite(..) => (false, n),
            Order::Random(seed) => (false, super::data::mix(seed ^ super::data::mix(n))),
            Order::LowestFirst => (false, task.into()),
            Order::HighestFirst => (false, u64::MAX - u64::from(task)),
            Order::RunAhead => (false, u64::MAX - n),
            Order::DelayRank(last) => (rank == last, n),
            Order::DelayBlock(last, block) => (rank == last && step.thread_block == block, n),
            Order::HoldStep(last, held) => (rank == last && step == held, n),
        }
    }
}
