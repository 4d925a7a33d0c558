//! The values of arguments: numbers, lists and ranges of them, names, sizes.

use std::fmt::Display;
use std::str::FromStr;

use collective_dsl::embedded::MAX_BUDGET;
use syn::{Expr, ExprLit, Lit, RangeLimits};

use crate::show::Show;
use crate::size::parse_bytes;
use crate::span::SpanRange;

/// The most instances of one algorithm.
pub(crate) const MAX_INSTANCES: usize = 256;

pub(crate) fn too_many(instances: usize) -> String {
    format!(
        "these are {instances} instances, and at most {MAX_INSTANCES} of an algorithm are built: leave some to the \
         run-time path"
    )
}

pub(crate) fn whole_number(value: &Expr) -> Option<usize> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => literal.base10_parse().ok(),
        _ => None,
    }
}

/// A number of bytes, or a text.
fn read_bytes(value: &Expr) -> Option<u64> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Int(bytes), .. }) => bytes.base10_parse().ok(),
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => parse_bytes(&text.value()),
        _ => None,
    }
}

pub(crate) fn read_size(value: &Expr) -> Result<u64, String> {
    match read_bytes(value) {
        None => Err("a size is a number of bytes, or a text such as \"1MiB\" or \"64KB\"".to_owned()),
        Some(0) => {
            Err("traces of no bytes move nothing: give at least one element, as 4 bytes of f32".to_owned())
        }
        // Messages are counted in signed numbers.
        Some(size) if i64::try_from(size).is_err() => Err(format!("a size is at most {} bytes", i64::MAX)),
        Some(size) => Ok(size),
    }
}

pub(crate) fn read_budget(value: &Expr) -> Result<u64, String> {
    match read_bytes(value) {
        None => Err(
            "how much of an instance is embedded as it is, is a number of bytes, or a text such as \"8MiB\""
                .to_owned(),
        ),
        Some(bytes) if bytes > MAX_BUDGET => Err(format!(
            "at most {} MiB of an instance are embedded as they are: more is slow to compile, and the packed form gives the \
             same bytes",
            MAX_BUDGET >> 20
        )),
        Some(bytes) => Ok(bytes),
    }
}

pub(crate) fn read_bool(value: &Expr, name: &str) -> Result<bool, String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Bool(is), .. }) => Ok(is.value),
        _ => Err(format!("`{name}` is true or false")),
    }
}

pub(crate) fn read_show(value: &Expr) -> Result<Show, String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Show::parse(&text.value()),
        _ => Err(Show::wanted()),
    }
}

pub(crate) fn read_instances(value: &Expr) -> Result<u32, String> {
    let number = match value {
        Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => literal.base10_parse().ok(),
        _ => None,
    };
    number
        .filter(|number| *number > 0)
        .ok_or_else(|| "the number of instances is a whole number from 1".to_owned())
}

/// One of some known names.
pub(crate) fn read_name<T: FromStr<Err: Display>>(value: &Expr, wanted: &str) -> Result<T, String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            text.value().parse().map_err(|error: T::Err| error.to_string())
        }
        _ => Err(wanted.to_owned()),
    }
}

/// The values of a parameter: one, a list of several, or a range; at least one, and each once.
pub(crate) fn read_values(value: &Expr) -> Result<Vec<usize>, syn::Error> {
    let wrong = |at: &Expr, message: String| SpanRange::of(at).error(message);
    let values = match value {
        Expr::Array(array) => {
            let (mut values, mut repeated): (Vec<usize>, Vec<(&Expr, usize)>) = (Vec::new(), Vec::new());
            for element in &array.elems {
                let Some(value) = whole_number(element) else {
                    return Err(wrong(element, "this is a list of whole numbers, such as [4, 8]".to_owned()));
                };
                if values.contains(&value) {
                    repeated.push((element, value));
                    continue;
                }
                values.push(value);
            }
            if let [(first, _), ..] = repeated[..] {
                let mut numbers: Vec<usize> = repeated.iter().map(|(_, value)| *value).collect();
                numbers.sort_unstable();
                numbers.dedup();
                let message = match numbers[..] {
                    [number] => format!("{number} stands here twice: remove one"),
                    _ => {
                        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
                        format!("{} stand here twice: remove one of each", numbers.join(", "))
                    }
                };
                return Err(wrong(first, message));
            }
            values
        }
        Expr::Range(range) => {
            let bound = |bound: &Option<Box<Expr>>| bound.as_deref().and_then(whole_number);
            let (Some(first), Some(last)) = (bound(&range.start), bound(&range.end)) else {
                return Err(wrong(value, "a range of values has both ends, as in 2..=8".to_owned()));
            };
            let end = match range.limits {
                RangeLimits::Closed(_) => last.saturating_add(1),
                RangeLimits::HalfOpen(_) => last,
            };
            if end.saturating_sub(first) > MAX_INSTANCES {
                return Err(wrong(value, too_many(end - first)));
            }
            (first..end).collect()
        }
        _ => {
            let wanted = "the value of a parameter is a whole number, such as 8, several as in [4, 8], or a range as in \
                          2..=8";
            vec![whole_number(value).ok_or_else(|| wrong(value, wanted.to_owned()))?]
        }
    };
    if values.is_empty() {
        let message = "there is no value in it, so nothing is built: give one, or remove the `build(…)`";
        return Err(wrong(value, message.to_owned()));
    }
    Ok(values)
}
