//! As a designer I start from the library, and trust what each entry says about itself.
//!
//! `cargo test --release --test algorithms -- --ignored` runs the full matrix: every number of ranks that matters.

mod alltoallv;
mod costs;
mod figures;
mod matrix;
mod messages;
mod shapes;
