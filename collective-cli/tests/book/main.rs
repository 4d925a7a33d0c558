//! The book: every code block and command line of README.md and `docs/` is run, or checked by somebody who is named here.
//!
//! `CONTRIBUTING.md` says what a page may contain. `BLESS=1 cargo test -p collective-cli --test book` writes the outputs that
//! pages show, where nothing of them is left out.

mod links;
mod page;
mod quoted;
mod ring;
mod session;

use std::fs;
use std::path::{Path, PathBuf};

use page::Page;

/// Pages whose examples other tests write or run; where.
const TESTED_ELSEWHERE: [(&str, &str); 5] = [
    ("docs/algorithms.md", "tests/algorithms/document.rs"),
    ("docs/command.md", "collective-cli/tests"),
    ("docs/errors.md", "collective-macros/tests/errors.rs"),
    ("docs/mscclang.md", "tests/mscclang/document.rs"),
    ("docs/workloads.md", "tests/workloads/page.rs"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn elsewhere(page: &str) -> bool {
    TESTED_ELSEWHERE.iter().any(|(name, _)| *name == page)
}

/// README.md and all of `docs/`, in the order of their names.
fn pages() -> Vec<Page> {
    let mut names = vec!["README.md".to_owned()];
    let mut docs: Vec<String> = fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "md"))
        .map(|name| format!("docs/{name}"))
        .collect();
    docs.sort();
    names.extend(docs);
    names.into_iter().map(|name| Page::read(&root(), name)).collect()
}

#[test]
fn command_lines_do_what_pages_say() {
    let (bless, mut wrong) = (std::env::var_os("BLESS").is_some(), Vec::new());
    for page in pages() {
        wrong.extend(session::run(&page, bless));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Nothing escapes: each block is of a kind that a test takes.
#[test]
fn every_block_is_tested() {
    let sources = ["src/lib.rs", "src/workload/mod.rs"];
    let doctested: String =
        sources.iter().map(|file| fs::read_to_string(root().join(file)).unwrap()).collect();
    let mut wrong = Vec::new();
    for page in pages() {
        for block in &page.blocks {
            let at = format!("{}:{}", page.name, block.line);
            match block.kind() {
                "rust" if block.has("ignore") => wrong.push(format!("{at}: a block that no test compiles")),
                "rust" if elsewhere(&page.name) => {}
                "rust" if doctested.contains(&format!("{}\")", page.name)) => {}
                "rust" => wrong.push(format!("{at}: Rust on a page that is no doc test (src/lib.rs)")),
                "sh" => wrong.extend(session::unknown_commands(block).map(|what| format!("{at}: {what}"))),
                "toml" | "json" => wrong.extend(block.parse_error().map(|what| format!("{at}: {what}"))),
                // YAML and XML are read by the commands that follow.
                "yaml" | "xml" if block.files().is_empty() => {
                    wrong.push(format!("{at}: say with file=NAME where it lies, so that a command reads it"));
                }
                // The other language of the reference, to be looked at beside ours.
                "yaml" | "xml" | "python" | "bibtex" => {}
                "text" => wrong.extend(quoted::untested(&page, block).map(|what| format!("{at}: {what}"))),
                kind => wrong.push(format!("{at}: no test takes a block of the kind {kind:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn links_lead_somewhere() {
    let pages = pages();
    let wrong: Vec<String> = pages.iter().flat_map(|page| links::broken(&root(), page, &pages)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_summary_lists_every_page() {
    let pages = pages();
    let summary = pages.iter().find(|page| page.name == "docs/SUMMARY.md").expect("docs/SUMMARY.md");
    let missing: Vec<&str> = (pages.iter().map(|page| page.name.as_str()))
        .filter(|name| name.starts_with("docs/") && *name != "docs/SUMMARY.md")
        .filter(|name| !summary.text.contains(&format!("({})", &name["docs/".len()..])))
        .collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md leaves out {missing:?}");
}

#[test]
fn the_citation_is_of_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    assert!(read("CITATION.cff").lines().any(|line| line == format!("version: {version}")));
    assert!(read("docs/citing.md").contains(&format!("version = {{{version}}}")));
}

/// Who is named as testing a page exists, and mentions it.
#[test]
fn pages_tested_elsewhere_are() {
    for (page, test) in TESTED_ELSEWHERE {
        let path = root().join(test);
        assert!(path.exists(), "{page}: {test}");
        if path.is_file() {
            let file = page.trim_start_matches("docs/");
            assert!(fs::read_to_string(path).unwrap().contains(file), "{test} does not mention {page}");
        }
    }
}
