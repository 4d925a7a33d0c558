//! Which collective a file is for.

use super::document::{Algorithm, Gpu};
use super::error::XmlError;
use super::target::{COLLECTIVE_NAMES, collective_kind};
use super::warnings::Warnings;
use super::{Placement, ReadOptions};
use crate::buffer::Space;
use crate::collective::{Collective, CollectiveError, CollectiveKind};
use crate::ids::RankId;
use crate::schedule::{MemoryBuffer, Place};

/// The collective of a file.
///
/// # Errors
/// A word that no dialect has, or chunks that do not fit it.
pub(super) fn collective(
    algorithm: &Algorithm,
    ranks: u32,
    options: &ReadOptions,
    file: &str,
    warnings: &mut Warnings,
) -> Result<Collective, XmlError> {
    let line = algorithm.line;
    let error = |message: String| XmlError::Malformed {
        file: file.to_owned(),
        line,
        at: "algo".to_owned(),
        span: None,
        message,
    };
    let kind = match algorithm.collective.as_deref() {
        None => {
            warnings.add("no collective", line, || {
                "attribute coll is missing: there is no post-condition to check".to_owned()
            });
            CollectiveKind::Custom
        }
        Some(name) => {
            let unknown = || error(format!("attribute coll is \"{name}\": expected {COLLECTIVE_NAMES}"));
            let kind = collective_kind(name).ok_or_else(unknown)?;
            let unsaid = match name {
                "send" | "recv" => Some(format!("who {name} is between")),
                "alltoallv" => Some("how much each pair of ranks exchanges".to_owned()),
                _ => None,
            };
            if let Some(unsaid) = unsaid {
                warnings.add("says too little", line, || {
                    format!("the file does not say {unsaid}: it is read as custom, without a post-condition")
                });
            }
            kind
        }
    };
    let chunks = chunks(algorithm, kind, ranks).ok_or_else(|| {
        error("attribute nchunksperloop is missing, and no gpu has input or output chunks".to_owned())
    })?;
    let by_rank = !matches!(
        kind,
        CollectiveKind::AllReduce
            | CollectiveKind::Broadcast
            | CollectiveKind::Reduce
            | CollectiveKind::Custom
    );
    if by_rank && !chunks.is_multiple_of(ranks) {
        return Err(error(format!(
            "attribute nchunksperloop is {chunks}: {kind} over {ranks} gpus needs a multiple of {ranks}"
        )));
    }
    let part = if by_rank { chunks / ranks } else { chunks };
    let refused = |refused: CollectiveError| error(refused.to_string());
    let mut collective = Collective::new(kind, ranks as usize, part as usize).map_err(refused)?;
    if matches!(
        kind,
        CollectiveKind::Broadcast | CollectiveKind::Reduce | CollectiveKind::Gather | CollectiveKind::Scatter
    ) {
        collective = collective.rooted(root(algorithm, kind, ranks, warnings)).map_err(refused)?;
    }
    if in_place(algorithm, options, warnings) {
        collective = collective.in_place().map_err(refused)?;
    }
    for gpu in &algorithm.gpus {
        check_chunks(gpu, &collective, warnings);
    }
    Ok(collective)
}

/// `nchunksperloop`, else what the buffers say.
fn chunks(algorithm: &Algorithm, kind: CollectiveKind, ranks: u32) -> Option<u32> {
    let largest = |of: fn(&Gpu) -> Option<u32>| algorithm.gpus.iter().filter_map(of).max().unwrap_or(0);
    let (inputs, outputs) = (largest(|gpu| gpu.inputs), largest(|gpu| gpu.outputs));
    let by_use = match kind {
        CollectiveKind::AllGather | CollectiveKind::Gather => outputs.max(inputs.saturating_mul(ranks)),
        CollectiveKind::ReduceScatter | CollectiveKind::Scatter => inputs.max(outputs.saturating_mul(ranks)),
        _ => inputs.max(outputs),
    };
    algorithm.chunks.or((by_use > 0).then_some(by_use))
}

fn in_place(algorithm: &Algorithm, options: &ReadOptions, warnings: &mut Warnings) -> bool {
    match (algorithm.in_place, algorithm.out_of_place) {
        (Some(true), Some(true)) => options.placement == Placement::InPlace,
        (Some(in_place), None) => in_place,
        (None, Some(out_of_place)) => !out_of_place,
        (Some(true), Some(false)) => true,
        (Some(false), Some(false)) => {
            warnings.add("no place", algorithm.line, || {
                "both inplace and outofplace are 0: no runtime would choose it; it is read as out of place".to_owned()
            });
            false
        }
        _ => false,
    }
}

/// The root, which the format does not name: the only rank with an input, or with an output; else the only one that
/// receives nothing, or sends nothing.
fn root(algorithm: &Algorithm, kind: CollectiveKind, ranks: u32, warnings: &mut Warnings) -> usize {
    let gives = matches!(kind, CollectiveKind::Broadcast | CollectiveKind::Scatter);
    let only = |is_root: &dyn Fn(&Gpu) -> bool| {
        let mut candidates = algorithm.gpus.iter().filter(|gpu| is_root(gpu));
        candidates.next().filter(|_| candidates.next().is_none()).map(|gpu| gpu.id)
    };
    let owns = |gpu: &Gpu| (if gives { gpu.inputs } else { gpu.outputs }).is_some_and(|chunks| chunks > 0);
    let ends = |gpu: &Gpu| {
        let steps = gpu.blocks.iter().flat_map(|block| &block.steps);
        !steps.filter_map(|step| step.kind).any(|kind| if gives { kind.receives() } else { kind.sends() })
    };
    let found = if ranks == 1 { Some(0) } else { only(&owns).or_else(|| only(&ends)) };
    let found = found.filter(|root| *root < ranks);
    if found.is_none() {
        warnings.add("no root", algorithm.line, || {
            format!("the file does not tell which rank is the root of {kind}: it is taken to be rank 0")
        });
    }
    found.unwrap_or(0) as usize
}

/// Warns where a `gpu` states other buffers than the collective has; the collective is right.
fn check_chunks(gpu: &Gpu, collective: &Collective, warnings: &mut Warnings) {
    let rank = RankId(gpu.id);
    if rank.index() >= collective.ranks() {
        return;
    }
    let sides = [
        ("i_chunks", gpu.inputs, collective.input_chunks_of(rank)),
        ("o_chunks", gpu.outputs, collective.output_chunks_of(rank)),
    ];
    for (name, stated, real) in sides {
        let Some(stated) = stated.filter(|stated| *stated != 0 && *stated as usize != real) else { continue };
        warnings.add(name, gpu.line, || {
            format!(
                "gpu {}: {name} is {stated}, but {} with this nchunksperloop has {real}; {real} is used",
                gpu.id,
                collective.kind()
            )
        });
    }
}

/// Where a run of chunks really lies. A run that leaves its buffer stays as it is, for the verifier to name. So does one of
/// a collective that the file does not define: how its buffers lie in each other, its author knows alone.
pub(super) fn locate(collective: &Collective, rank: RankId, place: Place, count: u32) -> Place {
    if collective.is_unspecified() {
        return place;
    }
    let Some(last) = place.index.checked_add(count.saturating_sub(1)) else { return place };
    let within = |chunks: usize| (last as usize) < chunks;
    let in_place = collective.is_in_place();
    let (space, index) = match (place.buffer, collective.kind()) {
        // On every rank the two are one buffer, also where the collective wants none.
        (MemoryBuffer::Input, CollectiveKind::Broadcast) if in_place => (Space::Output, place.index),
        (MemoryBuffer::Output, CollectiveKind::Reduce) if in_place => (Space::Input, place.index),
        (MemoryBuffer::Input, _) if within(collective.input_chunks_of(rank)) => {
            collective.locate_input(rank, place.index)
        }
        (MemoryBuffer::Output, _) if within(collective.output_chunks_of(rank)) => {
            collective.locate_output(rank, place.index)
        }
        _ => return place,
    };
    let buffer = if space == Space::Output { MemoryBuffer::Output } else { MemoryBuffer::Input };
    Place { buffer, index }
}
