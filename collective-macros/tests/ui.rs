//! Wrong algorithms are errors of the compiler, at their place and with nothing after them. One rule a file;
//! `TRYBUILD=overwrite cargo test -p collective-macros --test ui` accepts changed messages.

#[test]
fn wrong_algorithms_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
