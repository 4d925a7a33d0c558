//! Outputs and messages that pages quote.

use std::fs;

use crate::page::{Block, Page};
use crate::{elsewhere, ring, root};

/// Whether an output is what a page shows of it: a line `…` stands for any lines, `…` within a line for any characters.
pub(crate) fn agrees(printed: &str, shown: &str) -> bool {
    let lines =
        |text: &str| text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    matches(&lines(printed), &lines(shown))
}

fn matches(printed: &[String], shown: &[String]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, _) => printed.is_empty(),
        (Some((gap, rest)), _) if gap.trim() == "…" => {
            (0..=printed.len()).any(|left_out| matches(&printed[left_out..], rest))
        }
        (Some((first, rest)), Some((line, others))) => line_matches(line, first) && matches(others, rest),
        (Some(_), None) => false,
    }
}

fn line_matches(line: &str, shown: &str) -> bool {
    let Some((start, rest)) = shown.split_once('…') else { return line == shown };
    let Some(behind) = line.strip_prefix(start) else { return false };
    (0..=behind.len()).any(|i| behind.is_char_boundary(i) && line_matches(&behind[i..], rest))
}

/// Why no test says whether a `text` block is right.
pub(crate) fn untested(page: &Page, block: &Block) -> Option<String> {
    if elsewhere(&page.name) || block.has("drawing") {
        return None;
    }
    let before = page.before(block);
    if block.has("error") {
        // What the compiler says: our tests of it, and the broken programs of the tutorial, know the messages.
        let known = compiler_messages();
        let first = |line: &&str| line.starts_with("error: ");
        return block
            .text
            .lines()
            .filter(first)
            .find(|line| !known.iter().any(|message| message == line))
            .map(|line| format!("no test gives this error: {line}"));
    }
    if block.has("output") {
        let right = ring::outputs().iter().any(|output| agrees(output, &block.text));
        return (!right).then(|| format!("none of the programs in ring.rs prints\n{}", block.text));
    }
    let after_commands = before.is_some_and(|before| before.kind() == "sh" && !before.has("external"));
    (!after_commands)
        .then(|| "say what it is: error, output, drawing, or the output of a `sh` block".to_owned())
}

fn compiler_messages() -> Vec<String> {
    let mut messages = ring::errors();
    for entry in fs::read_dir(root().join("collective-macros/tests/ui")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "stderr") {
            let text = fs::read_to_string(path).unwrap();
            messages.extend(text.lines().filter(|line| line.starts_with("error: ")).map(str::to_owned));
        }
    }
    messages
}

#[test]
fn left_out_parts_match_anything() {
    assert!(agrees("a\nb\nc\n", "a\n…\nc"));
    assert!(agrees("a\nc\n", "a\n…\nc\n"));
    assert!(!agrees("a\nb\n", "a\n…\nc"));
    assert!(agrees("time 12 us (12.5 ns)\n", "time … us (…)"));
    assert!(!agrees("time 12 us\n", "time … ns"));
    assert!(!agrees("a\nb\n", "a"));
}
