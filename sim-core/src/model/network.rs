//! What the engines ask of a model: the event engine a [`Network`], the sweep [`ContentionFree`].

use crate::error::Overflow;
use crate::events::{EventQueue, Message, MessageId, Messages};
use crate::report::LinkLoad;
use crate::topology::LinkId;
use crate::units::{Bytes, Picos};

/// Two ranks between which messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) src: u32,
    pub(crate) dst: u32,
}

/// What a processor may be occupied with, beside sending.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// A message of this size.
    Receive(Bytes),
    /// A COMP of this duration.
    Compute(Picos),
}

/// A message that a link carried from a time to a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Passed {
    pub(crate) link: LinkId,
    pub(crate) start: Picos,
    pub(crate) finish: Picos,
    /// The sending rank, and the SEND on it.
    pub(crate) rank: u32,
    pub(crate) node: u32,
}

/// A model at work: it moves messages by scheduling events, and says when they are delivered.
///
/// A network is made for the pairs of ranks of one run, so that it can prepare its routes.
pub(crate) trait Network {
    /// Whether sending, receiving and computing occupy a processor of the rank.
    ///
    /// If so, the model says by `Event::Received` when a SEND finishes, an arrival is only the first byte, and
    /// RECVs and COMPs take the time that [`Network::occupy`] says.
    const HAS_PROCESSORS: bool = false;

    /// When a RECV or COMP finishes that could start now.
    fn occupy(&mut self, _rank: u32, work: Work, now: Picos) -> Result<Picos, Overflow> {
        let duration = match work {
            Work::Receive(_) => Picos::ZERO,
            Work::Compute(duration) => duration,
        };
        now.checked_add(duration).ok_or(Overflow::TIME)
    }

    /// Takes over a message of the `pair`-th pair at the current time.
    fn inject(
        &mut self,
        message: MessageId,
        pair: u32,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow>;

    /// The message is at the end of a hop. True if it is delivered, else it was sent on.
    fn arrive(
        &mut self,
        message: MessageId,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<bool, Overflow>;

    /// What the model asked to be told about by this number has come: a link is free, flows end.
    fn link_free(
        &mut self,
        link: u32,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow>;

    /// Of a network that is divided: where a message that departed goes on; None if it is delivered.
    fn next_block(&self, _message: &Message) -> Option<u32> {
        None
    }

    /// What a message of the `pair`-th pair takes that has its links for itself: latency and serialisation. None
    /// if the model does not tell them apart.
    fn parts(&self, _pair: u32, _size: Bytes) -> Option<(Picos, Picos)> {
        None
    }

    /// Of a message that is at the end of a hop: the link, and from when to when the message occupied it. None in a model where
    /// a message flows over all links of its route at once.
    fn crossed(&self, _message: &Message, _now: Picos) -> Option<(LinkId, Picos, Picos)> {
        None
    }

    /// What has passed over links, if it was recorded by a model in which a message occupies one link after the other.
    fn passed(&mut self) -> Option<Vec<Passed>> {
        None
    }

    /// How long before its message arrives a SEND finishes, in a model where it does not wait for that.
    fn flight(&self) -> Option<Picos> {
        None
    }

    /// What the links carried, if the model knows links.
    fn link_loads(&self) -> Option<Vec<LinkLoad>>;
}

/// A model in which messages do not disturb each other.
///
/// All functions give None where a time does not fit.
pub(crate) trait ContentionFree: Sync {
    /// What a sender keeps of the way to another rank.
    type Route: Send + Sync;
    /// What a rank keeps from one node to the next.
    type Processor: Default + Send;
    /// What is kept from one message to the next, whoever sends it.
    type Memo: Default + Send;
    /// Whether the nodes of a rank that are ready do not disturb each other either: a message then takes its
    /// [`ContentionFree::passage`], and a node no longer than it states.
    const CONCURRENT: bool;

    /// The way between two different ranks.
    fn route(&self, src: u32, dst: u32) -> Option<Self::Route>;

    /// Whether messages of every size take the same on both ways.
    fn alike(&self, a: &Self::Route, b: &Self::Route) -> bool;

    /// A SEND that is ready.
    fn send(
        &self,
        route: &mut Self::Route,
        processor: &mut Self::Processor,
        ready: Picos,
        size: Bytes,
    ) -> Option<Sent>;

    /// How long a message takes between two different ranks, in a model that is [`ContentionFree::CONCURRENT`].
    fn passage(&self, memo: &mut Self::Memo, src: u32, dst: u32, size: Bytes) -> Option<Picos>;

    /// When a RECV finishes that is ready at a time, and whose message arrives at a time.
    fn receive(
        &self,
        processor: &mut Self::Processor,
        ready: Picos,
        arrival: Picos,
        size: Bytes,
    ) -> Option<Picos>;

    /// When a COMP finishes that is ready at a time.
    fn compute(&self, processor: &mut Self::Processor, ready: Picos, duration: Picos) -> Option<Picos>;
}

/// What becomes of a message that is sent.
pub(crate) struct Sent {
    /// When the SEND finishes.
    pub(crate) finish: Picos,
    /// When the message is there for its RECV.
    pub(crate) arrival: Picos,
}
