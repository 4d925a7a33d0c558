//! What is fastest, as a configuration of NCCL's example tuner plugin (`plugins/tuner/example` of NCCL,
//! `ext-tuner/example` before 2.29): lines of comma-separated values
//! that say which algorithm to take for which sizes; lines with # are comments. The plugin reads lines of at most 255 bytes.

use collective::CollectiveKind;
use collective::sweep::{Field, Sweep};

use super::best;
use super::ranges::{check, ranges};
use crate::failure::Failure;

/// Longer comments are cut: what comes after would be taken for a line of its own.
const LONGEST: usize = 200;

/// What NCCL calls an algorithm of the library, if it has the same: rings (on several nodes NCCL's are rotated, one for each card), pipelined chains (which are NCCL's rings for broadcast and
/// reduce), the double binary tree, and PAT.
pub(super) fn counterpart(algorithm: &str) -> Option<&'static str> {
    match algorithm {
        "allreduce_ring"
        | "allreduce_rotated_rings"
        | "allgather_ring"
        | "reduce_scatter_ring"
        | "broadcast_chain"
        | "reduce_chain" => Some("ring"),
        "allreduce_double_binary_tree" => Some("tree"),
        "allgather_pat" | "reduce_scatter_pat" => Some("pat"),
        _ => None,
    }
}

/// What the plugin calls a collective.
fn word(kind: CollectiveKind) -> Option<&'static str> {
    match kind {
        CollectiveKind::AllReduce => Some("allreduce"),
        CollectiveKind::AllGather => Some("allgather"),
        CollectiveKind::ReduceScatter => Some("reducescatter"),
        CollectiveKind::Broadcast => Some("broadcast"),
        CollectiveKind::Reduce => Some("reduce"),
        _ => None,
    }
}

/// The configuration: of what NCCL has, the fastest; and in comments what is faster but missing there. `best` is of all
/// algorithms, `possible` of those with a counterpart.
pub(super) fn configuration(sweep: &Sweep, best: &[Field], possible: &[Field]) -> Result<String, Failure> {
    check(sweep, best)?;
    let mut text = String::from(
        "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff\n\
         # simulated by the collective command; protocols are told apart on machines only, nodes and buffers are any\n",
    );
    let mut lines = 0;
    for field in best {
        let network = best::network(sweep, field);
        comment(&mut text, &format!("{} among {} ranks {network}", field.collective.name(), field.ranks));
        let Some(collective) = word(field.collective) else {
            comment(&mut text, "the plugin does not know this collective");
            continue;
        };
        for (stretch, from, until) in ranges(field) {
            if counterpart(sweep.subject(&sweep.units()[stretch.unit]).name()).is_none() {
                let label = sweep.unit_label(stretch.unit);
                comment(
                    &mut text,
                    &format!("{from} to {until} bytes: {label} is fastest, which NCCL does not have"),
                );
            }
        }
        let same = |other: &&Field| {
            (other.collective, other.ranks, other.network) == (field.collective, field.ranks, field.network)
        };
        let Some(possible) = possible.iter().find(same) else {
            comment(&mut text, "no algorithm of the sweep has a counterpart in NCCL");
            continue;
        };
        let is_simulated = sweep.networks()[field.network].machine.is_some();
        for (stretch, from, until) in ranges(possible) {
            let unit = &sweep.units()[stretch.unit];
            let Some(algorithm) = counterpart(sweep.subject(unit).name()) else { continue };
            // NCCL chooses the number itself where the algorithm has no such parameter.
            let channels = unit.parameters.iter().find(|(name, _)| *name == "channels");
            let instances = unit.variant.instances.unwrap_or(1) as usize;
            let channels = channels
                .map_or("-1".to_owned(), |(_, channels)| channels.saturating_mul(instances).to_string());
            // Only machines tell protocols apart; instances are further channels.
            let protocol = unit.variant.protocol.filter(|_| is_simulated).unwrap_or_default();
            let protocol = protocol.name().to_lowercase();
            text.push_str(&format!(
                "{collective},{from},{until},{algorithm},{protocol},{channels},-1,{},-1,-1\n",
                field.ranks
            ));
            lines += 1;
        }
    }
    if lines == 0 {
        return Err(Failure::Verdict(
            "no algorithm of the sweep has a counterpart in NCCL: there are allreduce_ring, allreduce_rotated_rings, \
             allreduce_double_binary_tree, allgather_ring, allgather_pat, reduce_scatter_ring, reduce_scatter_pat, broadcast_chain and reduce_chain"
                .to_owned(),
        ));
    }
    Ok(text)
}

fn comment(text: &mut String, what: &str) {
    let mut end = what.len().min(LONGEST);
    while !what.is_char_boundary(end) {
        end -= 1;
    }
    text.push_str(&format!("# {}\n", &what[..end]));
}
