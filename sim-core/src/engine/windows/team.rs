//! The threads that run the blocks of each window.
//!
//! Nobody has to be there: a thread takes a block that nobody has taken in this window, its own one first, for the
//! sake of its cache. Whoever finishes the last block of a window opens the next. So the caller alone gets to the end
//! when the pool has no thread for it, as in a sweep of many simulations, and a thread that the machine keeps waiting holds
//! back one block at most. What is taken is finished: nobody waits for anything within a block.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::super::block::{Block, EVENTS_BETWEEN_LOOKS};
use super::super::crossing::Parcel;
use super::pace::{Advice, Pace};
use super::signal::Signal;
use crate::model::network::Network;
use crate::options::Watch;
use crate::progress::{PartialReport, Progress};
use crate::units::{Bytes, Picos};

/// How a run in windows ends.
pub(super) enum Ending<'a, N> {
    /// Nothing is left to happen.
    Finished(Vec<Block<'a, N>>),
    /// The observer has had enough.
    Stopped(Box<PartialReport>),
    /// Something is wrong, or windows do not pay.
    Abandoned,
}

pub(super) struct Team<'a, N> {
    places: Vec<Place<'a, N>>,
    lookahead: Picos,
    observer: Option<Watch<'a>>,
    nodes: usize,
    /// Opens windows.
    signal: Signal,
    /// The last time of the window that is open.
    until: AtomicU64,
    /// Number of blocks that are not finished with it.
    left: AtomicUsize,
    failed: AtomicBool,
    leader: Mutex<Leader>,
}

/// A block, and what the others have to know of it.
struct Place<'a, N> {
    block: Mutex<Block<'a, N>>,
    mail: Mutex<Vec<Parcel>>,
    /// The last window for which it was taken.
    taken: AtomicU64,
    /// When the next thing happens in it, or elsewhere by what it sent away; [`NEVER`] if nothing does.
    next: AtomicU64,
    /// Number of its events.
    events: AtomicU64,
}

/// What whoever opens the windows keeps.
struct Leader {
    pace: Pace,
    looked: u64,
    stopped: Option<Box<PartialReport>>,
    abandoned: bool,
}

const NEVER: u64 = u64::MAX;

impl<'a, N: Network + Send> Team<'a, N> {
    /// For blocks that have begun.
    pub(super) fn new(
        blocks: Vec<Block<'a, N>>,
        lookahead: Picos,
        observer: Option<Watch<'a>>,
        nodes: usize,
        always: bool,
    ) -> Self {
        let place = |block| Place {
            block: Mutex::new(block),
            mail: Mutex::new(Vec::new()),
            taken: AtomicU64::new(0),
            next: AtomicU64::new(NEVER),
            events: AtomicU64::new(0),
        };
        let leader = Leader { pace: Pace::new(nodes, always), looked: 0, stopped: None, abandoned: false };
        let team = Self {
            places: blocks.into_iter().map(place).collect(),
            lookahead,
            observer,
            nodes,
            signal: Signal::new(),
            until: AtomicU64::new(0),
            left: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            leader: Mutex::new(leader),
        };
        for place in &team.places {
            team.post(place, &mut lock(&place.block));
        }
        team
    }

    /// Runs all windows, in at most so many threads of the current pool.
    pub(super) fn run(self, threads: usize) -> Ending<'a, N> {
        rayon::scope(|scope| {
            for number in 1..threads.min(self.places.len()) {
                let team = &self;
                scope.spawn(move |_| team.work(number));
            }
            self.open_next(0);
            self.work(0);
        });
        let leader = self.leader.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(partial) = leader.stopped {
            return Ending::Stopped(partial);
        }
        if leader.abandoned || self.failed.into_inner() {
            return Ending::Abandoned;
        }
        let blocks = self.places.into_iter();
        let blocks = blocks.map(|place| place.block.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ending::Finished(blocks.collect())
    }

    /// Takes part until the end, with the block of this number as one's own.
    fn work(&self, own: usize) {
        let _guard = EndOnPanic(&self.signal);
        let count = self.places.len();
        let mut window = 0;
        while let Some(open) = self.signal.wait(window) {
            window = open;
            for at in own..own + count {
                let place = &self.places[at % count];
                let take =
                    place.taken.compare_exchange(window - 1, window, Ordering::AcqRel, Ordering::Relaxed);
                if take.is_err() {
                    continue;
                }
                self.run_block(place);
                if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
                    self.open_next(window);
                }
            }
        }
    }

    /// Runs a block to the end of the window.
    fn run_block(&self, place: &Place<'_, N>) {
        let mut block = lock(&place.block);
        let mut mail = std::mem::take(&mut *lock(&place.mail));
        let mut run = || {
            for parcel in mail.drain(..) {
                block.receive_parcel(parcel)?;
            }
            block.run(Picos(self.until.load(Ordering::Relaxed)))
        };
        if run().is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        self.post(place, &mut block);
    }

    /// Puts what a block sends away into the mailboxes, and notes when it goes on.
    fn post(&self, place: &Place<'_, N>, block: &mut Block<'_, N>) {
        for (to, parcels) in self.places.iter().zip(block.exchange.outbox()) {
            if !parcels.is_empty() {
                lock(&to.mail).append(parcels);
            }
        }
        let own = block.queue.next_time().map_or(NEVER, |time| time.0);
        let sent = block.exchange.take_earliest().map_or(NEVER, |time| time.0);
        place.next.store(own.min(sent), Ordering::Relaxed);
        place.events.store(block.events, Ordering::Relaxed);
    }

    /// Opens the window behind one of which all blocks are finished. Small windows are run here, one after the other.
    fn open_next(&self, mut window: u64) {
        let mut leader = lock(&self.leader);
        while let Some((until, share)) = self.next_window(&mut leader) {
            self.until.store(until, Ordering::Relaxed);
            if share {
                self.left.store(self.places.len(), Ordering::Relaxed);
                self.signal.open(window + 1);
                return;
            }
            window += 1;
            for place in &self.places {
                place.taken.store(window, Ordering::Relaxed);
                self.run_block(place);
            }
        }
        self.signal.end();
    }

    /// The last time of the next window, and whether to share it; None if there is none.
    fn next_window(&self, leader: &mut Leader) -> Option<(u64, bool)> {
        let first = self.places.iter().map(|place| place.next.load(Ordering::Relaxed)).min();
        let first = first.filter(|first| *first != NEVER && !self.failed.load(Ordering::Relaxed))?;
        let events = self.places.iter().map(|place| place.events.load(Ordering::Relaxed)).sum();
        let advice = leader.pace.advise(events);
        if advice == Advice::GiveUp {
            leader.abandoned = true;
            return None;
        }
        if events - leader.looked >= EVENTS_BETWEEN_LOOKS {
            leader.looked = events;
            leader.stopped = self.observe(first, events);
            if leader.stopped.is_some() {
                return None;
            }
        }
        // What crosses is there at the first event and the lookahead, at the earliest.
        Some((first.saturating_add(self.lookahead.0.saturating_sub(1)), advice == Advice::Share))
    }

    /// Tells the observer how far the run is; what was found out, if that is to be all.
    fn observe(&self, first: u64, events: u64) -> Option<Box<PartialReport>> {
        let observer = self.observer?;
        let mut progress = Progress {
            time: Picos(first),
            finished: self.nodes,
            nodes: self.nodes,
            messages: 0,
            bytes: Bytes(0),
            events,
        };
        let mut finish = Vec::new();
        for place in &self.places {
            let block = lock(&place.block);
            progress.finished -= block.unfinished;
            progress.messages += block.delivered;
            progress.bytes = Bytes(progress.bytes.0.saturating_add(block.bytes));
            finish.extend_from_slice(&block.finish);
        }
        observer.0.observe(&progress).is_break().then(|| Box::new(PartialReport { progress, finish }))
    }
}

/// Lets the others go when a thread panics, so that the panic gets to the caller.
struct EndOnPanic<'a>(&'a Signal);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}

/// Where a thread has panicked with a lock, the panic goes to the caller and the result to nobody.
pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
