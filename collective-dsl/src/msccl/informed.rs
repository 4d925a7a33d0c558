//! What steps say about the other end of their connection. It means nothing, but where it is wrong the file was made
//! by hand or by a faulty tool.

use rustc_hash::FxHashMap;

use super::document::{Algorithm, RawPlace};
use super::meaning::locate;
use super::warnings::Warnings;
use super::write::end;
use crate::ids::RankId;
use crate::schedule::{Place, Schedule, Step, StepKind};

/// One end of a connection: the place and length of each message in order.
type Queue = Vec<(Place, u32)>;

/// Warns of sends and receives that state another place than the step that they meet has.
pub(super) fn check(algorithm: &Algorithm, schedule: &Schedule, warnings: &mut Warnings) {
    let mut sent: FxHashMap<(u32, u32, u32), Queue> = FxHashMap::default();
    let mut received: FxHashMap<(u32, u32, u32), Queue> = FxHashMap::default();
    for (r, rank) in (0..).zip(&schedule.ranks) {
        for block in &rank.thread_blocks {
            for step in &block.steps {
                let item = (end(step), step.count);
                if let Some(peer) = block.send.filter(|_| step.kind.sends()) {
                    sent.entry((r, peer.0, block.channel.0)).or_default().push(item);
                }
                if let Some(peer) = block.recv.filter(|_| step.kind.receives()) {
                    received.entry((peer.0, r, block.channel.0)).or_default().push(item);
                }
            }
        }
    }
    for gpu in &algorithm.gpus {
        for (t, raw_block) in gpu.blocks.iter().enumerate() {
            let block = &schedule.ranks[gpu.id as usize].thread_blocks[t];
            let (mut sends, mut receives) = (0, 0);
            let raw = raw_block.steps.iter().filter(|raw| raw.kind.is_some());
            for (raw, step) in raw.zip(&block.steps) {
                let channel = block.channel.0;
                if step.kind.receives() {
                    let stated = (!step.kind.reduces()).then_some(raw.src);
                    let met = block
                        .recv
                        .and_then(|peer| Some((peer, message(&sent, (peer.0, gpu.id, channel), receives)?)));
                    compare(schedule, step, stated, met, raw.line, "receive", warnings);
                    receives += 1;
                }
                if step.kind.sends() {
                    let stated = (step.kind == StepKind::Send).then_some(raw.dst);
                    let met = block
                        .send
                        .and_then(|peer| Some((peer, message(&received, (gpu.id, peer.0, channel), sends)?)));
                    compare(schedule, step, stated, met, raw.line, "send", warnings);
                    sends += 1;
                }
            }
        }
    }
}

/// The k-th message at an end of a connection.
fn message(
    queues: &FxHashMap<(u32, u32, u32), Queue>,
    key: (u32, u32, u32),
    k: usize,
) -> Option<(Place, u32)> {
    queues.get(&key)?.get(k).copied()
}

fn compare(
    schedule: &Schedule,
    step: &Step,
    stated: Option<RawPlace>,
    met: Option<(RankId, (Place, u32))>,
    line: u32,
    what: &'static str,
    warnings: &mut Warnings,
) {
    let (Some(stated), Some((peer, (place, _)))) = (stated, met) else { return };
    let (Some(buffer), Some(Ok(index))) = (stated.buffer, stated.index.map(u32::try_from)) else { return };
    let stated = locate(&schedule.collective, peer, Place { buffer, index }, step.count);
    if stated != place {
        warnings.add(what, line, || {
            format!(
                "this {what} names {stated} at rank {}, but the step that it meets there has {place}; the order on \
                 the connection counts",
                peer.0
            )
        });
    }
}
