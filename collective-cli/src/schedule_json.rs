//! A schedule as JSON. The names of the fields are part of the command's interface.

use collective::{ChunkRun, CollectiveKind, Cost, Place, RankId, Schedule, SiteId, Space, Step, ThreadBlock};
use serde_json::{Map, Value, json};

/// One JSON document, the entry of each rank on a line of its own.
pub(crate) fn text(schedule: &Schedule) -> String {
    let head = json!({
        "name": schedule.name,
        "protocol": schedule.protocol.name(),
        "channels": schedule.channel_count(),
        "collective": collective(schedule),
    });
    let mut text = head.to_string();
    // The ranks are many: they are not held as values all at once.
    text.truncate(text.len() - 1);
    text.push_str(",\"ranks\":[");
    for rank in 0..schedule.ranks.len() {
        text.push_str(if rank == 0 { "\n" } else { ",\n" });
        text.push_str(&rank_value(schedule, rank).to_string());
    }
    text.push_str("\n]}\n");
    text
}

fn collective(schedule: &Schedule) -> Value {
    use CollectiveKind::{Broadcast, Gather, Reduce, Scatter, SendRecv};
    let collective = &schedule.collective;
    let rooted = matches!(collective.kind(), Broadcast | Reduce | Gather | Scatter | SendRecv);
    json!({
        "kind": collective.kind().name(),
        "in_place": collective.is_in_place(),
        "ranks": collective.ranks(),
        "chunks": collective.logical_chunks(),
        "root": rooted.then(|| collective.root().0),
    })
}

fn rank_value(schedule: &Schedule, rank: usize) -> Value {
    let (id, own) = (RankId(rank as u32), &schedule.ranks[rank]);
    let blocks: Vec<Value> =
        own.thread_blocks.iter().enumerate().map(|(t, block)| block_value(schedule, t, block)).collect();
    json!({
        "rank": rank,
        "input_chunks": schedule.collective.space_chunks(id, Space::Input),
        "output_chunks": schedule.collective.space_chunks(id, Space::Output),
        "scratch_chunks": own.scratch_chunks,
        "thread_blocks": blocks,
    })
}

fn block_value(schedule: &Schedule, id: usize, block: &ThreadBlock) -> Value {
    let steps: Vec<Value> =
        block.steps.iter().enumerate().map(|(s, step)| step_value(schedule, s, step)).collect();
    json!({
        "id": id,
        "send": block.send.map(|peer| peer.0),
        "recv": block.recv.map(|peer| peer.0),
        "channel": block.channel.0,
        "steps": steps,
    })
}

fn step_value(schedule: &Schedule, number: usize, step: &Step) -> Value {
    let place = |place: Place| json!({"buffer": place.buffer.letter(), "index": place.index});
    let line =
        |site: SiteId| schedule.sites.get(site).map(|site| json!({"file": site.file, "line": site.line}));
    let depends: Vec<Value> =
        step.depends.iter().map(|on| json!({"thread_block": on.thread_block.0, "step": on.step})).collect();
    let mut value = Map::new();
    value.insert("step".to_owned(), json!(number));
    value.insert("type".to_owned(), json!(step.kind.name()));
    // What the step does not touch is left out.
    if step.kind.reads_src() {
        value.insert("src".to_owned(), place(step.src));
    }
    if step.kind.writes_dst() {
        value.insert("dst".to_owned(), place(step.dst));
    }
    if let Some(work) = &step.work {
        let runs = |runs: &[ChunkRun<Place>]| -> Vec<Value> {
            let run = |run: &ChunkRun<Place>| json!({"buffer": run.first.buffer.letter(), "index": run.first.index, "count": run.count});
            runs.iter().map(run).collect()
        };
        let Cost { flops, bytes, micros } = work.cost;
        value.insert("flops".to_owned(), json!(flops));
        value.insert("bytes".to_owned(), json!(bytes));
        value.insert("duration_us".to_owned(), json!(micros));
        value.insert("reads".to_owned(), json!(runs(&work.reads)));
        value.insert("writes".to_owned(), json!(runs(&work.writes)));
    } else {
        value.insert("count".to_owned(), json!(step.count));
        value.insert("chunks".to_owned(), json!(schedule.data.chunks(step.data).collect::<Vec<u32>>()));
    }
    value.insert("depends".to_owned(), json!(depends));
    value.insert("source".to_owned(), json!(line(step.site)));
    if step.kind.receives() && step.kind.sends() {
        value.insert("send_source".to_owned(), json!(line(step.send_site)));
    }
    Value::Object(value)
}
