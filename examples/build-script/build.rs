//! Runs the algorithms, checks them, and writes what is embedded.

use collective::Size;
use collective::build::Algorithm;

#[path = "src/algorithms.rs"]
mod algorithms;

fn main() {
    collective::build::compile(
        "algorithms.rs",
        &[
            Algorithm::new(algorithms::allgather_by_distance::DEF)
                .build(&[("ranks", 8), ("node", 4)])
                .build(&[("ranks", 12), ("node", 4)]),
            Algorithm::new(algorithms::broadcast_tree::DEF)
                .build(&[("ranks", 9)])
                .size(Size::bytes(64 << 10)),
        ],
    );
}
