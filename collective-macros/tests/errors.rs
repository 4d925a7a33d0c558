//! `docs/errors.md`: wrong programs with their messages, what these mean, and the programs put right.
//!
//! The wrong ones and their messages are those of `ui`, which another test compares with the compiler; the right ones
//! are `fixed`, which are compiled and run here. `BLESS=1 cargo test -p collective-macros --test errors` writes the page.

use std::fmt::Write;
use std::path::Path;

macro_rules! programs {
    ($($name:ident,)*) => {
        $(
            mod $name {
                include!(concat!("fixed/", stringify!($name), ".rs"));

                #[test]
                fn is_right() {
                    main();
                }
            }
        )*

        const PROGRAMS: &[&str] = &[$(stringify!($name)),*];
    };
}

// In the order of the page.
programs! {
    lost_contribution,
    doubled_contribution,
    chunk_never_written,
    unmet_expectation,
    stale_reference,
    uninitialised_read,
    sent_before_it_is_computed,
    copied_onto_itself,
    chunk_out_of_range,
    rank_out_of_range,
    unequal_counts,
    group_with_a_gap,
    two_peers_in_one_thread_block,
    usize_underflow,
    chunks_underflow,
    overflow,
    untyped_overflow,
    division_by_zero,
    index_out_of_bounds,
    failed_assertion,
    requirement,
    endless_loop,
    endless_recursion,
    constants_from_elsewhere,
    unsupported_construct,
    own_types,
    attribute_in_the_body,
    missing_parameter,
    build_with_unknown_parameter,
    no_collective,
    no_ranks,
    wrong_root,
    size_that_cannot_be_divided,
    signature_without_ranks,
    signature_without_program,
    signature_with_other_types,
    never_read,
}

/// The program without its `main`, and the comment before it.
fn parts(source: &str) -> (Vec<&str>, String) {
    let comment = source.lines().take_while(|line| line.starts_with("//"));
    let comment: Vec<&str> = comment.map(|line| line.trim_start_matches('/').trim()).collect();
    let program: Vec<&str> =
        source.lines().skip(comment.len()).take_while(|line| !line.starts_with("fn main")).collect();
    (comment, program.join("\n").trim().to_owned())
}

fn page() -> String {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let read = |path: String| std::fs::read_to_string(tests.join(&path)).unwrap_or_else(|_| panic!("{path}"));
    let mut page = String::from(
        "# Errors of `#[collective]`\n\n\
         What the compiler says of wrong algorithms, what it means, and the programs put right. Line numbers are those of the \
         files in `collective-macros/tests/ui`, from which a test writes this page.\n",
    );
    for name in PROGRAMS {
        let fixed = read(format!("fixed/{name}.rs"));
        let (comment, fixed) = parts(&fixed);
        let source = read(format!("ui/{name}.rs"));
        let wrong = source.split("\nfn main").next().unwrap().trim();
        let message = read(format!("ui/{name}.stderr"));
        let (title, meaning) = comment.split_first().unwrap();
        let meaning = meaning.join(" ");
        write!(
            page,
            "\n## {title}\n\n```rust\n{wrong}\n```\n\n```text\n{}\n```\n\n{meaning}\n\n```rust\n{fixed}\n```\n",
            message.trim_end()
        )
        .unwrap();
    }
    page
}

#[test]
fn the_page_of_errors_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md");
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        known == page,
        "docs/errors.md is out of date: BLESS=1 cargo test -p collective-macros --test errors"
    );
}

#[test]
fn the_page_has_thirty_programs_with_a_message_each() {
    assert!(PROGRAMS.len() >= 30);
    assert_eq!(page().matches("\n## ").count(), PROGRAMS.len());
    assert!(page().matches("\nerror").count() >= PROGRAMS.len());
}
