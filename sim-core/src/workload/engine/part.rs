//! Parts: the nodes of a rank's trace, or of its share in a collective that is carried out, with how far they are.

use super::program::{NONE, Program};
use crate::units::Picos;

/// How far a node is: the number of nodes that it waits for, or one of these.
pub(super) type Phase = u32;
/// Issued and at work; of a SEND: its RECV is not issued yet.
pub(super) const ISSUED: Phase = u32::MAX;
/// A SEND under way whose RECV waits for it.
pub(super) const MATCHED: Phase = u32::MAX - 1;
/// A SEND that finished before its RECV was issued.
pub(super) const EARLY: Phase = u32::MAX - 2;
/// Finished.
pub(super) const FINISHED: Phase = u32::MAX - 3;

/// What the engine keeps of a node: 12 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) phase: Phase,
    /// The next node that waits on the same connection, or of a matched SEND its RECV.
    pub(super) link: u32,
    /// What the node started after. In a trace: the node that finished last of those it waited for. In a collective: the
    /// position of the rank whose start began the chain of nodes and messages that ends here.
    pub(super) origin: u32,
}

/// The nodes of a rank that run: a trace, or a share in a collective.
pub(super) struct Part<'a> {
    pub(super) program: &'a Program,
    pub(super) rank: u32,
    /// The number of the collective's instance, and the rank's position in it; of a trace NONE.
    pub(super) instance: u32,
    pub(super) position: u32,
    /// The rank's node in its trace, and how long the rank had computed when the share began.
    pub(super) node: u32,
    pub(super) computed_before: u64,
    pub(super) states: Vec<State>,
    pub(super) unfinished: u32,
    /// By chunk of the output that somebody waits for, how many nodes are still to finish.
    pub(super) gates: Vec<u32>,
    /// When each node was issued, if that is of interest.
    pub(super) starts: Vec<Picos>,
}

impl<'a> Part<'a> {
    /// A place that no part takes.
    pub(super) fn unused(program: &'a Program) -> Self {
        Self {
            program,
            rank: NONE,
            instance: NONE,
            position: NONE,
            node: NONE,
            computed_before: 0,
            states: Vec::new(),
            unfinished: 0,
            gates: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// Nodes before the start, with room from an earlier part.
    pub(super) fn new(
        program: &'a Program,
        rank: u32,
        instance: u32,
        position: u32,
        mut states: Vec<State>,
    ) -> Self {
        states.clear();
        let state = |deps: &u32| State { phase: *deps, link: NONE, origin: NONE };
        states.extend(program.deps.iter().map(state));
        Self { rank, instance, position, unfinished: program.len() as u32, states, ..Self::unused(program) }
    }
}

/// Which end of a connection a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Send,
    Recv,
}

/// A connection: the nodes of one of its sides that wait for a partner, first issued first. They form a list through their
/// states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    head: u32,
    tail: u32,
    side: Side,
}

impl Connection {
    pub(super) const NEW: Self = Self { head: NONE, tail: NONE, side: Side::Send };

    /// Issues a node of the part `own` at one side: its partner in the part `other`, if that was issued before, else the
    /// node waits.
    #[inline]
    pub(super) fn issue(
        &mut self,
        side: Side,
        node: u32,
        own: u32,
        other: u32,
        parts: &mut [Part<'_>],
    ) -> Option<u32> {
        if self.head != NONE && self.side != side {
            let partner = self.head;
            let state = &mut parts[other as usize].states[partner as usize];
            self.head = std::mem::replace(&mut state.link, NONE);
            return Some(partner);
        }
        if self.head == NONE {
            (self.head, self.side) = (node, side);
        } else {
            parts[own as usize].states[self.tail as usize].link = node;
        }
        self.tail = node;
        None
    }
}

/// A collective that is under way.
pub(super) struct Instance<'a> {
    /// As the plan numbers it.
    pub(super) collective: u32,
    /// The pair of ranks of each connection.
    pub(super) pairs: &'a [u32],
    pub(super) connections: Vec<Connection>,
    /// By position, the part of the rank, or NONE before it has started.
    pub(super) parts: Vec<u32>,
    pub(super) started: u32,
    pub(super) ended: u32,
    /// When the first rank started.
    pub(super) since: Picos,
}
