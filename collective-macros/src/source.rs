//! Which file the algorithm stands in, as it is named at build time and at run time.

use std::path::{Path, PathBuf};

/// The file of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// Relative to the crate, where that is known.
    pub(crate) file: String,
    /// What the compiler puts before it in `Location::file`.
    pub(crate) root: String,
}

impl Source {
    /// The file of the span, for the crate that is being compiled.
    pub(crate) fn of(span: proc_macro2::Span) -> Self {
        let crate_dir = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let working_dir = std::env::current_dir().ok();
        Self::resolve(&span.file(), crate_dir.as_deref(), working_dir.as_deref())
    }

    /// `printed` is relative to the working directory of the compiler: the workspace for its members, the
    /// crate itself for a dependency from elsewhere.
    fn resolve(printed: &str, crate_dir: Option<&Path>, working_dir: Option<&Path>) -> Self {
        let relative = || {
            let absolute = working_dir?.join(printed);
            let relative = absolute.strip_prefix(crate_dir?).ok()?.to_str()?.to_owned();
            // Remapped paths may not end in what lies on the disk.
            let root = printed.strip_suffix(&relative)?.to_owned();
            Some(Self { file: relative, root })
        };
        relative().unwrap_or_else(|| Self { file: printed.to_owned(), root: String::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(printed: &str, crate_dir: &str, working_dir: &str, file: &str, root: &str) {
        let found = Source::resolve(printed, Some(Path::new(crate_dir)), Some(Path::new(working_dir)));
        assert_eq!(found, Source { file: file.to_owned(), root: root.to_owned() });
    }

    #[test]
    fn the_path_is_relative_to_the_crate() {
        check("src/lib.rs", "/ws", "/ws", "src/lib.rs", "");
        check("member/src/x.rs", "/ws/member", "/ws", "src/x.rs", "member/");
        check("member/tests/x.rs", "/ws/member", "/ws", "tests/x.rs", "member/");
        check("/registry/dep-1.0/src/lib.rs", "/registry/dep-1.0", "/ws", "src/lib.rs", "/registry/dep-1.0/");
    }

    #[test]
    fn a_file_outside_the_crate_keeps_its_name() {
        check("/tmp/doctest/main.rs", "/ws", "/ws", "/tmp/doctest/main.rs", "");
        check("<macro expansion>", "/ws/a", "/ws", "<macro expansion>", "");
    }
}
