//! The committed Rust code is what the schema in `proto/` generates.
//!
//! Run with `BLESS=1` to rewrite it after a change of the schema.

use std::error::Error;
use std::path::Path;

#[test]
fn committed_code_is_what_the_schema_generates() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let schema = protox::compile(["et_def.proto"], [root.join("proto")])?;
    let out = tempfile::tempdir()?;
    prost_build::Config::new().out_dir(out.path()).compile_fds(schema)?;
    let generated = std::fs::read_to_string(out.path().join("chakra.rs"))?;

    let committed = root.join("src/generated/chakra.rs");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&committed, &generated)?;
    }
    let committed = std::fs::read_to_string(&committed)?;
    assert!(
        committed == generated,
        "src/generated/chakra.rs is out of date: run the tests of chakra-et with BLESS=1"
    );
    Ok(())
}
