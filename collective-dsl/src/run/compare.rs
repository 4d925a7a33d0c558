//! Compares the end of an execution with the collective's definition, element by element.

use std::fmt;

use super::definition::{self, From};
use super::element::Path;
use super::memory::{self, Cells};
use super::{Element, Executor, Operator};
use crate::buffer::Space;
use crate::ids::RankId;
use crate::schedule::{MemoryBuffer, Place};

/// How the end of an execution compares with the collective's definition.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// Elements that were compared; 0 where nothing states what is wanted.
    pub compared: u64,
    /// Elements that are wrong. Chunks that were never written, or that have another length, count whole.
    pub wrong: u64,
    /// The first of them.
    pub first: Option<WrongElement>,
    /// The largest difference.
    pub largest_error: f64,
    /// The largest difference over what is wanted.
    pub largest_relative_error: f64,
    /// The difference that rounding explains where the largest is; the largest such where there is none.
    pub allowed_error: f64,
    /// The most operations that a contribution to an output went through.
    pub depth: u32,
}

/// An element that is not what the collective wants.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrongElement {
    /// The rank.
    pub rank: RankId,
    /// Where the chunk really lies: in place, an output chunk may be one of the input.
    pub place: Place,
    /// The chunk of the rank's output.
    pub chunk: u32,
    /// The element in the chunk.
    pub element: u64,
    /// The element in the whole output.
    pub position: u64,
    /// What is wanted there.
    pub wanted: String,
    /// What is there.
    pub got: String,
}

impl fmt::Display for WrongElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, place, chunk, element, position, wanted, got } = self;
        write!(
            f,
            "rank {}, {place} (output chunk {chunk}), element {element} (of the output: {position}): wanted {wanted}, got {got}",
            rank.0
        )
    }
}

impl Comparison {
    /// Whether nothing is wrong; also where nothing was compared.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.wrong == 0
    }

    /// Both together: the first wrong element is the first one's if it has one.
    pub(super) fn and(&mut self, other: Comparison) {
        self.compared = self.compared.max(other.compared);
        self.wrong = self.wrong.max(other.wrong);
        if self.first.is_none() {
            self.first = other.first;
        }
        self.errors(other.largest_error, other.largest_relative_error, other.allowed_error);
        self.depth = self.depth.max(other.depth);
    }

    fn errors(&mut self, absolute: f64, relative: f64, allowed: f64) {
        let same = absolute == self.largest_error && allowed > self.allowed_error;
        if absolute > self.largest_error || absolute.is_nan() || same {
            (self.largest_error, self.allowed_error) = (absolute, allowed);
        }
        if relative > self.largest_relative_error || relative.is_nan() {
            self.largest_relative_error = relative;
        }
    }
}

impl<T: Element> Executor<'_, T> {
    pub(super) fn compare_cells(&self, memory: &Cells<T>) -> Comparison {
        let mut result = Comparison::default();
        for rank in (0..self.collective().ranks() as u32).map(RankId) {
            self.compare_rank(memory, rank, &mut result);
        }
        result
    }

    fn compare_rank(&self, memory: &Cells<T>, rank: RankId, result: &mut Comparison) {
        let collective = self.collective();
        let mut segments = definition::output(collective, self.elements, rank.0).into_iter().peekable();
        // Where we are in the segment.
        let (mut within, mut position) = (0, 0);
        for chunk in 0..collective.output_chunks_of(rank) as u32 {
            let (space, index) = collective.locate_output(rank, chunk);
            let buffer = if space == Space::Output { MemoryBuffer::Output } else { MemoryBuffer::Input };
            let place = Place { buffer, index };
            let Some(size) = memory::output_elements(collective, self.elements, rank, chunk) else {
                // A custom collective says nothing of this chunk; its segment has no elements.
                continue;
            };
            let held =
                self.layout.run(rank, place, 1).ok().and_then(|run| memory.get(&self.layout, run.start));
            let elements = held.map_or(&[][..], |(_, elements)| elements);
            let depth = held.map_or(0, |(cell, _)| cell.depth);
            result.depth = result.depth.max(depth);
            let wrong = |element, position, wanted, got| WrongElement {
                rank,
                place,
                chunk,
                element,
                position,
                wanted,
                got,
            };
            if elements.len() as u64 != size || held.is_none() {
                let got = if held.is_none() {
                    "nothing: never written".to_owned()
                } else {
                    format!("{} of them", elements.len())
                };
                result.wrong += size.max(1);
                result.first.get_or_insert_with(|| wrong(0, position, format!("{size} element(s)"), got));
            }
            // Even a chunk without elements is a chunk, but it may lie between segments.
            for element in 0..size {
                while segments.peek().is_some_and(|segment| within >= segment.length) {
                    segments.next();
                    within = 0;
                }
                let Some(segment) = segments.peek() else { break };
                let (from, at) = (&segment.from, within);
                within += 1;
                position += 1;
                let Some(got) = elements.get(element as usize).filter(|_| elements.len() as u64 == size)
                else {
                    continue;
                };
                let Some(wanted) = self.wanted(from, at) else { continue };
                let contributions = from.contributions(self.data.ranks);
                let averages = self.data.operator == Operator::Avg && !matches!(from, From::Rank(..));
                let operator = if averages || self.data.operator != Operator::Avg {
                    self.data.operator
                } else {
                    Operator::Sum
                };
                let got = if averages { got.divide(contributions) } else { *got };
                let deviation = got.deviation(wanted, Path { operator, depth, contributions });
                if !deviation.is_explained() {
                    result.wrong += 1;
                    let at = position - 1;
                    result
                        .first
                        .get_or_insert_with(|| wrong(element, at, wanted.to_string(), got.to_string()));
                }
                result.compared += 1;
                result.errors(deviation.absolute, deviation.relative, deviation.allowed);
            }
        }
    }

    /// The exact value of an element of a segment; `None` where anything will do.
    fn wanted(&self, from: &From, at: u64) -> Option<T::Exact> {
        let (data, operator) = (self.data, self.data.operator);
        let input = |rank: u32, position: u64| data.input::<T>(rank, position).exact();
        let combine = |a, b| T::combine_exact(operator, a, b);
        let divided = |value, by| if operator == Operator::Avg { T::divide_exact(value, by) } else { value };
        match from {
            From::Combined(begin) => self.combined.get((begin + at) as usize).copied(),
            From::Rank(rank, begin) => Some(input(*rank, begin + at)),
            From::These(inputs) => {
                let sum = inputs.iter().map(|(rank, begin)| input(*rank, begin + at)).reduce(combine)?;
                Some(divided(sum, inputs.len() as u32))
            }
            From::Token => Some(T::unit(true).exact()),
            From::Anything => None,
        }
    }

    /// All ranks' inputs combined, where the collective wants any of that.
    pub(super) fn combine_all(&self) -> Vec<T::Exact> {
        use crate::collective::CollectiveKind::{AllReduce, Reduce, ReduceScatter};
        let data = self.data;
        if !matches!(data.kind, AllReduce | Reduce | ReduceScatter) {
            return Vec::new();
        }
        let element = |position: u64| {
            let inputs = (0..data.ranks).map(|rank| data.input::<T>(rank, position).exact());
            let sum = inputs.reduce(|a, b| T::combine_exact(data.operator, a, b))?;
            Some(if data.operator == Operator::Avg { T::divide_exact(sum, data.ranks) } else { sum })
        };
        (0..self.elements).filter_map(element).collect()
    }
}
