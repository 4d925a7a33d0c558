//! What the engine keeps of a rank.

use rustc_hash::FxHashMap;

use super::account::Account;
use super::lanes::Lane;
use super::program::NONE;
use super::run;
use super::trace::Trace;
use crate::units::Picos;

/// A rank at work.
pub(super) struct RankState {
    pub(super) lanes: Vec<Lane>,
    pub(super) account: Account,
    /// By node of the trace: when it became ready, then when it started; and when it finished.
    pub(super) start: Vec<Picos>,
    pub(super) finish_of: Vec<Picos>,
    /// By node, the node of the rank that ended when it started, or NONE.
    pub(super) cause: Vec<u32>,
    /// By node, the rank and node elsewhere that determined when it finished: rank NONE if there is none.
    pub(super) via: Vec<(u32, u32)>,
    pub(super) finish: Picos,
    /// How many places there are for its shares in collectives, and which are free.
    pub(super) slots: u32,
    pub(super) free: Vec<u32>,
    /// The shares of collectives whose chunks others wait for or make, by node.
    pub(super) share_of: FxHashMap<u32, u32>,
    /// Of parts of computations that started when a chunk of a collective was there: the rank and node whose start
    /// determined when that was.
    pub(super) chunk_via: FxHashMap<u32, (u32, u32)>,
    /// By group, how many collectives it has come to. Only looked up, never walked.
    come_to: FxHashMap<u32, u32>,
}

impl RankState {
    pub(super) fn new(trace: &Trace, first_of_group: &[u32]) -> Self {
        let nodes = trace.program.len();
        Self {
            lanes: run::lanes(&trace.kinds, first_of_group),
            account: Account::default(),
            start: vec![Picos::ZERO; nodes],
            finish_of: vec![Picos::ZERO; nodes],
            cause: vec![NONE; nodes],
            via: vec![(NONE, NONE); nodes],
            finish: Picos::ZERO,
            slots: 0,
            free: Vec::new(),
            share_of: FxHashMap::default(),
            chunk_via: FxHashMap::default(),
            come_to: FxHashMap::default(),
        }
    }

    /// The rank comes to another collective of a group: which it is, counted from 0.
    pub(super) fn next_of_group(&mut self, group: u32) -> u32 {
        let next = self.come_to.entry(group).or_default();
        *next += 1;
        *next - 1
    }
}
