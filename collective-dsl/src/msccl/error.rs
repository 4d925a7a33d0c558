//! Why a text is not read, or a schedule not written.

use std::ops::Range;

use thiserror::Error;

use super::Target;
use crate::collective::CollectiveKind;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::site::SiteTable;

/// MSCCL XML that cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum XmlError {
    /// Not XML.
    #[error("{file}:{line}: this is not well-formed XML: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
        /// What is wrong.
        message: String,
    },
    /// XML, but no MSCCL algorithm.
    #[error("{file}:{line}: {at}: {message}")]
    Malformed {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
        /// The element: `algo`, or `gpu 0, tb 1, step 2`.
        at: String,
        /// The bytes of the text: the attribute at fault, where it is one.
        span: Option<Range<usize>>,
        /// The attribute and what was expected of it.
        message: String,
    },
    /// A collective that the dialect has no word for.
    #[error("the XML of {target} has no word for {kind}: {advice}")]
    NoSuchCollective {
        /// The dialect.
        target: Target,
        /// The collective.
        kind: CollectiveKind,
        /// What to do.
        advice: &'static str,
    },
    /// A range of sizes that contains none.
    #[error("minBytes {min} is more than maxBytes {max}: no size lies between them")]
    EmptyRange {
        /// The least number of bytes.
        min: u64,
        /// The most.
        max: u64,
    },
    /// A schedule that the runtime cannot hold, or that names what does not exist; a file whose steps name chunks before
    /// the beginning of a buffer.
    #[error("{0}")]
    Refused(Diagnostics),
}

/// The most findings that a refusal lists.
const MAX_FINDINGS: usize = 5;

impl XmlError {
    /// A refusal for one finding or more, of which the first are listed.
    pub(super) fn refused(name: String, mut findings: Vec<Diagnostic>, sites: SiteTable) -> Self {
        let more = findings.len().saturating_sub(MAX_FINDINGS);
        findings.truncate(MAX_FINDINGS);
        if let Some(last) = findings.last_mut().filter(|_| more > 0) {
            last.message.push_str(&format!("; and {more} more findings"));
        }
        XmlError::Refused(Diagnostics { name, findings, sites })
    }
}
