//! What is on its way between two ranks: a copy, made when it was sent.

use std::collections::VecDeque;

use super::memory::Cell;

/// Chunks and their elements, end to end.
#[derive(Clone, Debug)]
pub(super) struct Message<T> {
    pub(super) cells: Vec<Cell>,
    pub(super) elements: Vec<T>,
}

impl<T> Default for Message<T> {
    fn default() -> Self {
        Self { cells: Vec::new(), elements: Vec::new() }
    }
}

impl<T: Copy> Message<T> {
    pub(super) fn push(&mut self, cell: Cell, elements: &[T]) {
        self.cells.push(cell);
        self.elements.extend_from_slice(elements);
    }

    /// Each chunk with its elements.
    pub(super) fn chunks(&self) -> impl Iterator<Item = (Cell, &[T])> {
        let mut begin = 0;
        self.cells.iter().map(move |cell| {
            let elements = &self.elements[begin..begin + cell.length];
            begin += cell.length;
            (*cell, elements)
        })
    }

    /// Each chunk with its elements, to be changed.
    pub(super) fn chunks_mut(&mut self) -> impl Iterator<Item = (&mut Cell, &mut [T])> {
        let mut rest = &mut self.elements[..];
        self.cells.iter_mut().map(move |cell| {
            let (elements, others) = std::mem::take(&mut rest).split_at_mut(cell.length);
            rest = others;
            (cell, elements)
        })
    }

    pub(super) fn bytes(&self) -> u64 {
        (size_of_val(&self.cells[..]) + size_of_val(&self.elements[..])) as u64
    }
}

/// The messages of all connections, and the memory of those that have arrived, for the next ones.
#[derive(Debug)]
pub(super) struct Messages<T> {
    queues: Vec<VecDeque<Message<T>>>,
    spare: Vec<Message<T>>,
    /// Bytes on their way.
    pub(super) bytes: u64,
}

impl<T: Copy> Messages<T> {
    pub(super) fn new(connections: usize) -> Self {
        Self { queues: (0..connections).map(|_| VecDeque::new()).collect(), spare: Vec::new(), bytes: 0 }
    }

    pub(super) fn waiting(&self, connection: u32) -> usize {
        self.queues[connection as usize].len()
    }

    pub(super) fn empty(&mut self) -> Message<T> {
        self.spare.pop().unwrap_or_default()
    }

    pub(super) fn done(&mut self, mut message: Message<T>) {
        message.cells.clear();
        message.elements.clear();
        self.spare.push(message);
    }

    pub(super) fn send(&mut self, connection: u32, message: Message<T>) {
        self.bytes += message.bytes();
        self.queues[connection as usize].push_back(message);
    }

    pub(super) fn receive(&mut self, connection: u32) -> Option<Message<T>> {
        let message = self.queues[connection as usize].pop_front()?;
        self.bytes -= message.bytes();
        Some(message)
    }

    /// The first connection with a message that nobody has taken, and the chunks of the message.
    pub(super) fn left(&self) -> Option<(u32, usize)> {
        let queues = (0..).zip(&self.queues);
        queues.filter_map(|(id, queue)| Some((id, queue.front()?.cells.len()))).next()
    }
}
