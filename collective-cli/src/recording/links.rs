//! What links carried.

use collective::sim::report::{LinkLoad, Recording};
use collective::sim::topology::{LinkId, Topology};
use collective::sim::units::{Bandwidth, Bytes, Latency, Picos};

/// A link that carried something.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Link {
    pub(crate) id: LinkId,
    /// Which one it is, such as "leaf 3 → spine 1".
    pub(crate) name: String,
    pub(crate) bandwidth: Bandwidth,
    pub(crate) latency: Latency,
    /// Sum of the sizes of the messages that crossed it.
    pub(crate) bytes: Bytes,
    /// How long it was occupied by one or more messages.
    pub(crate) busy: Picos,
}

/// A message on a link: under `link-queue` while it occupies the link, else while it is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crossing {
    /// Index into the links of the recording.
    pub(crate) link: u32,
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) bytes: Bytes,
    pub(crate) start: Picos,
    pub(crate) finish: Picos,
}

/// The links that carried anything, and what crossed them.
///
/// `loads` are those of the report; where the model has none they are those of the crossings.
pub(super) fn of(
    recording: &Recording,
    topology: &Topology,
    loads: Option<&[LinkLoad]>,
) -> (Vec<Link>, Vec<Crossing>) {
    let (mut links, mut crossings) = (Vec::<Link>::new(), Vec::new());
    for of_link in recording.crossings.chunk_by(|one, next| one.link == next.link) {
        let Some(first) = of_link.first() else { continue };
        let Some(known) = topology.link(first.link) else { continue };
        let link = links.len() as u32;
        let bytes = of_link.iter().fold(0u64, |sum, crossing| sum.saturating_add(crossing.bytes.0));
        let load = loads.and_then(|loads| {
            let at = loads.binary_search_by_key(&first.link, |load| load.link).ok()?;
            loads.get(at)
        });
        crossings.extend(of_link.iter().map(|crossing| Crossing {
            link,
            src: crossing.src,
            dst: crossing.dst,
            bytes: crossing.bytes,
            start: crossing.start,
            finish: crossing.finish,
        }));
        let busy =
            load.map_or_else(|| covered(of_link.iter().map(|it| (it.start, it.finish))), |load| load.busy);
        links.push(Link {
            id: first.link,
            name: known.description,
            bandwidth: known.bandwidth,
            latency: known.latency,
            bytes: Bytes(bytes),
            busy,
        });
    }
    (links, crossings)
}

/// How long at least one of several spans lasts; they come in the order in which they begin.
fn covered(spans: impl Iterator<Item = (Picos, Picos)>) -> Picos {
    let (mut sum, mut until) = (0, 0);
    for (start, finish) in spans {
        let start = start.0.max(until);
        sum += finish.0.saturating_sub(start);
        until = until.max(finish.0);
    }
    Picos(sum)
}
