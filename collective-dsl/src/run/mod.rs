//! Runs a schedule on real data, and compares what comes out with the collective's definition.
//!
//! The second, independent way to be sure beside [`crate::verify`]. Every thread block of every rank is a task, every
//! connection a FIFO with a number of slots, every chunk a piece of memory of the size that its data have at the number of
//! elements asked for. A message is a copy of the data at the time of sending. Which task does its next step is decided by
//! an [`Order`]; a schedule that is right is right in all of them, and one with a race shows it in some.
//!
//! ```
//! use collective_dsl::run::{self, RunOptions};
//! use collective_dsl::{Buffer::Input, Collective, Program, lower};
//!
//! let p = Program::new(Collective::all_reduce(2)?.in_place()?);
//! for rank in 0..2 {
//!     let sum = p.chunk(rank, Input, rank).reduce(p.chunk(1 - rank, Input, rank));
//!     sum.copy_to(1 - rank, Input, rank);
//! }
//! let schedule = lower(&p.finish("exchange")?)?;
//! let report = run::run(&schedule, &RunOptions { elements: 1001, ..RunOptions::default() })?;
//! assert!(report.is_right());
//! assert_eq!(report.comparison.compared, 2 * 1001);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Sizes
//!
//! The number of elements is that of the buffer which [`crate::Size`] counts. Of N elements in k chunks the first N mod k
//! get one more; there may be none, or fewer than chunks. A chunk that does not fit where the schedule puts it, or that is
//! combined with one of another size, is an error ([`RunError::Size`]). The token of a barrier has at least as many
//! elements as there are ranks.
//!
//! # Data
//!
//! Inputs differ by rank and position. Integers are so small that a sum of all ranks fits; products wrap around. Floats have
//! all their digits, so that sums are rounded, and factors are near 1.
//!
//! # What is right
//!
//! The definition (`definition.rs`) is stated in elements of whole buffers and shares nothing with the verifier. Integers,
//! and floats that are only moved, must be equal to what is wanted. A sum that went through d additions at most, which the
//! execution counts, may differ from the exact one by ((1 + u)^d − 1) · Σ|x|, with the unit roundoff u: Higham's bound. An
//! average has one rounding more; a product of n factors has n − 1 roundings, relative to itself.

mod compare;
mod data;
mod definition;
mod element;
mod error;
mod float;
mod machine;
mod memory;
mod message;
mod operator;
mod order;
mod plan;

pub use compare::{Comparison, WrongElement};
pub use element::{Deviation, Element, Path};
pub use error::RunError;
pub use float::{Bf16, F16, Precise};
pub use operator::Operator;
pub use order::Order;

use crate::collective::{Collective, CollectiveKind};
use crate::ids::RankId;
use crate::schedule::{Place, Schedule};
use crate::size::ElementType;
use data::Data;
use machine::Machine;
use memory::{Cells, Layout};
use plan::Plan;

/// The most memory in bytes that the buffers of all ranks may take; messages on their way may take as much again.
pub const MEMORY_LIMIT: u64 = 4 << 30;

/// The number of elements with which every chunk of a collective has one.
///
/// ```
/// use collective_dsl::{Collective, run::one_element_a_chunk};
/// assert_eq!(one_element_a_chunk(&Collective::all_gather(4)?.with_chunks(3)?), 12);
/// # Ok::<(), collective_dsl::CollectiveError>(())
/// ```
#[must_use]
pub fn one_element_a_chunk(collective: &Collective) -> u64 {
    collective.division().parts()
}

/// What to run a schedule on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Number of elements (see the module).
    pub elements: u64,
    /// Their type.
    pub element_type: ElementType,
    /// How contributions are combined.
    pub operator: Operator,
    /// Messages that a connection holds; 0: sender and receiver meet; `None`: any number.
    pub slots: Option<u32>,
    /// The orders to run in, one after the other; at least one is run.
    pub orders: Vec<Order>,
}

impl Default for RunOptions {
    /// 1,024 elements of `f32` added up, two slots, in turn.
    fn default() -> Self {
        Self {
            elements: 1024,
            element_type: ElementType::F32,
            operator: Operator::Sum,
            slots: Some(2),
            orders: vec![Order::InTurn],
        }
    }
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunReport {
    /// Number of ranks.
    pub ranks: usize,
    /// Steps of all ranks.
    pub steps: usize,
    /// Messages.
    pub messages: usize,
    /// Orders in which the schedule was run.
    pub runs: usize,
    /// How the ends compare with what is wanted, the worst of each.
    pub comparison: Comparison,
    /// The first order that ended wrong.
    pub wrong_order: Option<Order>,
}

impl RunReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.comparison.is_right()
    }
}

/// Runs a schedule in every order asked for, up to the first that ends wrong.
///
/// # Errors
/// A size that does not fit, or a schedule that does not run to its end.
pub fn run(schedule: &Schedule, options: &RunOptions) -> Result<RunReport, RunError> {
    match options.element_type {
        ElementType::I8 => run_on::<i8>(schedule, options),
        ElementType::I32 => run_on::<i32>(schedule, options),
        ElementType::I64 => run_on::<i64>(schedule, options),
        ElementType::F16 => run_on::<F16>(schedule, options),
        ElementType::Bf16 => run_on::<Bf16>(schedule, options),
        ElementType::F32 => run_on::<f32>(schedule, options),
        ElementType::F64 => run_on::<f64>(schedule, options),
    }
}

fn run_on<T: Element>(schedule: &Schedule, options: &RunOptions) -> Result<RunReport, RunError> {
    let executor = Executor::<T>::new(schedule, options.elements, options.operator)?;
    let orders = if options.orders.is_empty() { &[Order::InTurn][..] } else { &options.orders };
    let mut report = RunReport {
        ranks: schedule.ranks.len(),
        steps: schedule.step_count(),
        messages: schedule.message_count(),
        runs: 0,
        comparison: Comparison::default(),
        wrong_order: None,
    };
    for order in orders {
        let end = executor.execute(*order, options.slots)?;
        report.runs += 1;
        report.comparison.and(executor.compare(&end));
        if !report.is_right() {
            report.wrong_order = Some(*order);
            break;
        }
    }
    Ok(report)
}

/// A schedule with its data, to be run any number of times.
///
/// ```
/// use collective_dsl::run::{Executor, Operator, Order};
/// use collective_dsl::{Buffer::{Input, Output}, Collective, MemoryBuffer, Place, Program, RankId, lower};
///
/// let p = Program::new(Collective::all_gather(2)?);
/// for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
///     p.chunk(from, Input, 0).copy_to(to, Output, from);
/// }
/// let schedule = lower(&p.finish("gather")?)?;
/// let executor = Executor::<i64>::new(&schedule, 2, Operator::Sum)?;
/// let end = executor.execute(Order::Random(1), None)?;
/// assert!(executor.compare(&end).is_right());
/// let chunk = |rank, index| executor.chunk(&end, RankId(rank), Place { buffer: MemoryBuffer::Output, index });
/// assert_eq!(chunk(0, 1), chunk(1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Executor<'s, T: Element> {
    plan: Plan<'s>,
    layout: Layout,
    data: Data,
    elements: u64,
    start: Cells<T>,
    /// All inputs combined, where the collective wants that.
    combined: Vec<T::Exact>,
}

/// What lies in the memory of all ranks; see [`Executor::chunk`].
#[derive(Clone, Debug)]
pub struct Memory<T>(Cells<T>);

impl<'s, T: Element> Executor<'s, T> {
    /// Prepares a schedule for a number of elements.
    ///
    /// # Errors
    /// A malformed schedule, a size that the collective cannot have, or more than [`MEMORY_LIMIT`].
    pub fn new(schedule: &'s Schedule, elements: u64, operator: Operator) -> Result<Self, RunError> {
        let plan = Plan::new(schedule).map_err(RunError::Malformed)?;
        let collective = &schedule.collective;
        let elements = memory::real_elements(collective, elements);
        let layout = Layout::new::<T>(schedule, elements, MEMORY_LIMIT)?;
        // A barrier collects who was there, whatever the operator.
        let is_barrier = collective.kind() == CollectiveKind::Barrier;
        let operator = if is_barrier { Operator::Max } else { operator };
        let data = Data { kind: collective.kind(), ranks: collective.ranks() as u32, operator };
        let start = Cells::start(schedule, &layout, elements, data);
        let mut executor = Self { plan, layout, data, elements, start, combined: Vec::new() };
        executor.combined = executor.combine_all();
        Ok(executor)
    }

    fn collective(&self) -> &'s Collective {
        &self.plan.schedule.collective
    }

    /// Runs the schedule once. `slots` as in [`RunOptions::slots`].
    ///
    /// # Errors
    /// A step that does something wrong, or steps that never run.
    pub fn execute(&self, order: Order, slots: Option<u32>) -> Result<Memory<T>, RunError> {
        let slots = slots.map_or(usize::MAX, |slots| slots as usize);
        let memory = self.start.clone();
        let operator = self.data.operator;
        let machine = Machine::new(&self.plan, &self.layout, memory, operator, order, slots, MEMORY_LIMIT);
        machine.run().map(Memory)
    }

    /// What lies in memory before the first step.
    #[must_use]
    pub fn start(&self) -> Memory<T> {
        Memory(self.start.clone())
    }

    /// The elements of a chunk; `None` if it does not exist or nobody has written it. Averages are still sums.
    #[must_use]
    pub fn chunk<'m>(&self, memory: &'m Memory<T>, rank: RankId, place: Place) -> Option<&'m [T]> {
        if rank.index() >= self.plan.schedule.ranks.len() {
            return None;
        }
        let run = self.layout.run(rank, place, 1).ok()?;
        memory.0.get(&self.layout, run.start).map(|(_, elements)| elements)
    }

    /// Compares memory at the end with the collective's definition.
    #[must_use]
    pub fn compare(&self, end: &Memory<T>) -> Comparison {
        self.compare_cells(&end.0)
    }
}
