//! What the first message of a file says of the whole trace.
//!
//! A trace of an algorithm states which collective it implements, for which size, and the source files
//! that its nodes refer to. Readers that do not know these attributes ignore them.

use crate::attr::{self, AttrError};
use crate::graph::CollectiveInfo;
use crate::proto::GlobalMetadata;

/// The version that is written. It has been in force since 2023; "1.0.0" is another label for it.
pub const VERSION: &str = "0.0.4";

/// The value of the attribute `schema` that is written: which attributes beyond the format to expect.
pub const SCHEMA: &str = "chakra-et.1";

/// The labels of the version that is read.
const KNOWN: [&str; 2] = [VERSION, "1.0.0"];

/// Whether the metadata state the version that is read. Several converters leave the version empty and state
/// what they wrote in the attribute `schema`.
pub(crate) fn is_known(metadata: &GlobalMetadata) -> bool {
    match metadata.version.as_str() {
        "" => attr::find(&metadata.attr, "schema").is_some(),
        version => KNOWN.contains(&version),
    }
}

/// The metadata of a trace, with the collective that it implements and the files that its nodes name.
///
/// # Errors
/// If a figure does not fit 63 bits.
pub fn write(info: Option<&CollectiveInfo>, source_files: &[String]) -> Result<GlobalMetadata, AttrError> {
    let mut attrs = vec![attr::string("schema", SCHEMA)];
    if let Some(info) = info {
        attrs.push(attr::string("algorithm", &info.name));
        attrs.push(attr::string("collective", &info.collective));
        attrs.push(attr::bool("in_place", info.in_place));
        attrs.push(attr::int64_from("collective_size", info.size_bytes)?);
        attrs.push(attr::string("element_type", &info.element_type));
        attrs.push(attr::int64_from("chunks", info.chunks)?);
    }
    if !source_files.is_empty() {
        attrs.push(attr::string_list("source_files", source_files));
    }
    Ok(GlobalMetadata { version: VERSION.to_owned(), attr: attrs })
}

/// The collective that the trace implements, if the metadata describes it fully, as [`write()`] does.
///
/// Other writers use some of these names too (`collective`, for one), so what is incomplete or of another
/// kind is not ours and counts as absent.
#[must_use]
pub fn info(metadata: &GlobalMetadata) -> Option<CollectiveInfo> {
    let string = |name| attr::find_str(&metadata.attr, name).ok().flatten().map(str::to_owned);
    Some(CollectiveInfo {
        name: string("algorithm")?,
        collective: string("collective")?,
        in_place: attr::find_bool(&metadata.attr, "in_place").ok().flatten()?,
        size_bytes: collective_size(metadata)?,
        element_type: string("element_type")?,
        chunks: attr::find_u64(&metadata.attr, "chunks").ok().flatten()?,
        protocol: string("protocol").unwrap_or_default(),
    })
}

/// Bytes of the collective, from which the sizes of messages without a literal size follow.
#[must_use]
pub fn collective_size(metadata: &GlobalMetadata) -> Option<u64> {
    attr::find_u64(&metadata.attr, "collective_size").ok().flatten()
}

/// The files that the `source_file` of the nodes counts, from 0.
#[must_use]
pub fn source_files(metadata: &GlobalMetadata) -> &[String] {
    attr::find_string_list(&metadata.attr, "source_files").ok().flatten().unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring() -> CollectiveInfo {
        CollectiveInfo {
            name: "ring".into(),
            collective: "all_reduce".into(),
            in_place: true,
            size_bytes: 1 << 20,
            element_type: "f32".into(),
            chunks: 8,
            protocol: String::new(),
        }
    }

    #[test]
    fn what_is_written_is_read() -> Result<(), AttrError> {
        let files = ["a.rs".to_owned(), "b.rs".to_owned()];
        let metadata = write(Some(&ring()), &files)?;
        assert_eq!(metadata.version, "0.0.4");
        assert_eq!(info(&metadata), Some(ring()));
        assert_eq!(source_files(&metadata), files);
        assert_eq!(collective_size(&metadata), Some(1 << 20));
        Ok(())
    }

    #[test]
    fn foreign_metadata_describes_no_collective() {
        let mut metadata = GlobalMetadata::default();
        assert_eq!(info(&metadata), None);
        metadata.attr.push(attr::string("collective", "allreduce"));
        metadata.attr.push(attr::string("collective_size", "1MB"));
        assert_eq!((info(&metadata), collective_size(&metadata)), (None, None));
        assert!(source_files(&metadata).is_empty());
    }

    #[test]
    fn a_size_beyond_63_bits_is_refused() {
        let info = CollectiveInfo { size_bytes: u64::MAX, ..ring() };
        assert!(write(Some(&info), &[]).is_err());
    }
}
