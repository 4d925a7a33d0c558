//! A progress bar for what takes long, where somebody looks.

use std::path::Path;

use chakra_et::RankFiles;
use indicatif::{ProgressBar, ProgressStyle};

use crate::console;

/// Smaller traces are read before a bar could be seen.
const WORTHWHILE: u64 = 64 << 20;

/// Progress in bytes of the files of a trace.
pub(super) struct Progress(Option<ProgressBar>);

impl Progress {
    /// A bar for large traces if standard error is a terminal.
    pub(super) fn of(what: &Path) -> Self {
        if !console::wants_progress() {
            return Self(None);
        }
        // A trace that cannot be found has no size; reading it says why.
        let files = RankFiles::find(what, "et").ok();
        let sizes = files.iter().flat_map(|files| files.ranks()).filter_map(|(_, path)| path.metadata().ok());
        let total: u64 = sizes.map(|metadata| metadata.len()).sum();
        if total < WORTHWHILE {
            return Self(None);
        }
        let bar = ProgressBar::new(total);
        if let Ok(style) = ProgressStyle::with_template("reading {bar:40} {bytes}/{total_bytes} {eta}") {
            bar.set_style(style);
        }
        Self(Some(bar))
    }

    pub(super) fn add(&self, bytes: u64) {
        if let Some(bar) = &self.0 {
            bar.inc(bytes);
        }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
