//! How many bytes each piece of data has, for one size of the collective.

use super::EtError;
use crate::ids::DataId;
use crate::schedule::Schedule;
use crate::size::{Size, SizeError};

pub(super) struct Sizes {
    /// Elements by [`DataId`].
    elements: Vec<u64>,
    element_bytes: u64,
    /// Elements in all.
    pub(super) total: u64,
    /// Whether all logical chunks are equal, so that sizes can be written symbolically.
    pub(super) even: bool,
}

impl Sizes {
    pub(super) fn of(schedule: &Schedule, size: Size) -> Result<Self, EtError> {
        schedule.collective.division().check(size.elements()?).map_err(SizeError::Indivisible)?;
        Self::uneven(schedule, size)
    }

    /// As many elements as there are, also where the collective's definition wants equal parts.
    pub(super) fn uneven(schedule: &Schedule, size: Size) -> Result<Self, EtError> {
        let total = size.elements()?;
        let collective = &schedule.collective;
        let of_chunk = |chunk| collective.elements(total, chunk);
        let elements: Vec<u64> = (0..schedule.data.len() as u32)
            .map(|id| schedule.data.chunks(DataId(id)).map(of_chunk).sum())
            .collect();
        let even = total.is_multiple_of(collective.logical_chunks() as u64);
        for mixed in &schedule.mixed {
            // Chunk by chunk: equal sums of unequal chunks would not do.
            let into = schedule.data.chunks(mixed.into).map(of_chunk);
            let mut from = schedule.data.chunks(mixed.from).map(of_chunk);
            for into in into {
                let from = from.next().unwrap_or(0);
                if into != from {
                    let place = schedule
                        .sites
                        .get(mixed.site)
                        .map_or_else(|| schedule.name.clone(), |site| format!("{}:{}", site.file, site.line));
                    return Err(EtError::UnevenReduction { place, from, into, elements: total });
                }
            }
        }
        Ok(Self { elements, element_bytes: size.element_type().bytes(), total, even })
    }

    /// For the structure of the nodes alone, whatever the size.
    pub(super) fn unknown(schedule: &Schedule) -> Self {
        Self { elements: vec![0; schedule.data.len()], element_bytes: 1, total: 1, even: false }
    }

    pub(super) fn elements(&self, data: DataId) -> u64 {
        self.elements[data.index()]
    }

    pub(super) fn bytes(&self, data: DataId) -> u64 {
        self.elements(data) * self.element_bytes
    }
}
