//! JSON values that several commands print.

use collective::sim::units::Picos;
use serde_json::{Value, json};

/// A time in nanoseconds: a whole number where it is one, else with at most three decimals.
pub(crate) fn nanoseconds(time: Picos) -> Value {
    if time.0.is_multiple_of(1000) { json!(time.0 / 1000) } else { json!(time.0 as f64 / 1000.0) }
}
