//! Which sizes an algorithm is to be taken for, and the MSCCL XML files that say so.

use std::fs;
use std::path::Path;

use collective::msccl::{self, Target, XmlOptions};
use collective::sweep::{Field, Stretch, Sweep};

use super::best;
use crate::failure::Failure;
use crate::output;

/// The stretches of a field with the first and last byte of each: one ends where the next begins, so that no size in between is
/// left out; the last ends at the largest size of the sweep.
pub(super) fn ranges(field: &Field) -> Vec<(Stretch, u64, u64)> {
    let stretches = field.stretches();
    let ends = stretches.iter().skip(1).map(|next| next.from.in_bytes().saturating_sub(1));
    let last = stretches.last().map(|last| last.until.in_bytes());
    let ends: Vec<u64> = ends.chain(last).collect();
    stretches.into_iter().zip(ends).map(|(stretch, end)| (stretch, stretch.from.in_bytes(), end)).collect()
}

/// Refuses fields of which a runtime could not say which is meant: it knows the collective and the number of ranks, not the network.
pub(super) fn check(sweep: &Sweep, fields: &[Field]) -> Result<(), Failure> {
    for (index, field) in fields.iter().enumerate() {
        let same = |other: &&Field| (other.collective, other.ranks) == (field.collective, field.ranks);
        if let Some(other) = fields[..index].iter().find(same) {
            return Err(Failure::input(format!(
                "for {} among {} ranks the sweep has more than one network, {} and {}: a runtime can have the best of one only",
                field.collective.name(),
                field.ranks,
                best::network(sweep, other),
                best::network(sweep, field),
            )));
        }
    }
    Ok(())
}

/// Writes a file for each stretch, such as `all_reduce-8-1024-65535-allreduce_ring_channels2.xml`. What the runtime cannot hold is left
/// out and said at the end.
pub(super) fn write(sweep: &Sweep, fields: &[Field], folder: &Path, target: Target) -> Result<(), Failure> {
    check(sweep, fields)?;
    fs::create_dir_all(folder).map_err(|error| Failure::input(format!("{}: {error}", folder.display())))?;
    let mut failures = Vec::new();
    for field in fields {
        for (stretch, from, until) in ranges(field) {
            let label = sweep.unit_label(stretch.unit);
            let plain: String = label
                .chars()
                .filter_map(|c| match c {
                    c if c.is_ascii_alphanumeric() || c == '_' || c == '.' => Some(c),
                    '(' | ',' | '/' => Some('_'),
                    _ => None,
                })
                .collect();
            let plain = plain.trim_end_matches(".xml");
            let name = format!("{}-{}-{from}-{until}-{plain}.xml", field.collective.name(), field.ranks);
            let path = folder.join(name);
            let fault = |error: &dyn std::fmt::Display| {
                let reason = error.to_string().lines().next().unwrap_or_default().to_owned();
                Failure::Verdict(format!("{}: left out: {label}: {reason}", path.display()))
            };
            let schedule = match sweep.schedule(stretch.unit) {
                Ok(schedule) => schedule,
                Err(none) => {
                    failures.push(fault(&none.reason));
                    continue;
                }
            };
            let mut options = XmlOptions::new(target);
            options.min_bytes = Some(from);
            // 0 would be no bound.
            options.max_bytes = Some(until.max(1));
            match msccl::write(&schedule, &options) {
                Ok(text) => output::write_file(&path, &text)?,
                Err(error) => failures.push(fault(&error)),
            }
        }
    }
    Failure::several(failures)
}
