//! The example of `docs/workloads.md` runs, and prints what the page says.

use std::error::Error;

/// The first block of Rust on a page.
fn code_of_the_page(page: &str) -> &str {
    let begin = page.find("```rust\n").expect("an example") + "```rust\n".len();
    let length = page[begin..].find("```").expect("its end");
    &page[begin..begin + length]
}

include!("page_example.rs");

#[test]
fn the_example_is_the_one_that_is_tested() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/workloads.md")).unwrap();
    assert_eq!(code_of_the_page(&page), include_str!("page_example.rs"));
    let lines = example().unwrap();
    let printed = format!("```text\n{}\n```", lines.join("\n"));
    assert!(page.contains(&printed), "{printed}");
}
