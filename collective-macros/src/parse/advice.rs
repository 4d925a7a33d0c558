//! What to write instead of what is not in the subset.

use quote::ToTokens;
use syn::{Expr, Item, Pat};

const ELSE: &str = "leave out `build(…)` and use the run-time path, or `collective::build` in a build script";

pub(super) const ATTRIBUTE: &str = "this attribute is not understood at build time: remove it";

pub(super) const TYPE: &str = "this type is not known at build time; known are the integer types up to 64 bits, bool, \
                               ChunkRef, Buffer, Cost, Compute, &str, String, tuples, arrays, Vec, Option, ranges, `impl Fn(…)`, \
                               `impl Iterator<Item = …>` and references to them";

pub(super) const COLLECT: &str =
    "at build time an iterator is collected into a Vec: write `collect::<Vec<_>>()`";

/// What to use in place of a type.
pub(super) fn for_type(ty: &syn::Type) -> String {
    let text = ty.to_token_stream().to_string();
    let name = text.split(['<', ' ']).next().unwrap_or_default();
    match name {
        "HashMap" | "BTreeMap" | "HashSet" | "BTreeSet" | "VecDeque" | "BinaryHeap" => {
            format!("`{name}` is not evaluated at build time: use a Vec, by rank or by chunk")
        }
        "f32" | "f64" => "floating-point numbers are not evaluated at build time: use integers".to_owned(),
        "u128" | "i128" => {
            format!("`{name}` is not evaluated at build time: use `u64`, `i64` or `usize`")
        }
        "Result" => {
            "`Result` is not evaluated at build time: use an Option, or state what the parameters must \
                     satisfy with `p.require(…)`"
                .to_owned()
        }
        "char" => "characters are not evaluated at build time: use integers".to_owned(),
        _ => TYPE.to_owned(),
    }
}

/// Why an expression cannot be evaluated, and what to do.
pub(super) fn for_expr(expr: &Expr) -> String {
    let why = match expr {
        Expr::Struct(_) => "structs are not evaluated at build time: use a tuple or separate variables",
        Expr::Let(_) => "a `let` condition stands in an `if` or a `while`",
        Expr::Async(_) | Expr::Await(_) => "algorithms are not asynchronous: remove this",
        Expr::Unsafe(_) => "`unsafe` is not evaluated at build time: remove it",
        Expr::Const(_) => "`const` blocks are not evaluated at build time: write a `const` item",
        Expr::Macro(_) => {
            "of macros only vec!, matches!, format!, println!, assert!, assert_eq!, assert_ne!, their debug_ forms, \
             panic!, unreachable!, todo! and their like are evaluated at build time"
        }
        Expr::Infer(_) => "`_` is no value",
        _ => "this is not evaluated at build time",
    };
    match expr {
        Expr::Async(_) | Expr::Await(_) | Expr::Let(_) | Expr::Const(_) | Expr::Infer(_) => why.to_owned(),
        _ => format!("{why}; for everything else {ELSE}"),
    }
}

pub(super) fn for_item(item: &Item) -> &'static str {
    match item {
        Item::Static(_) => "statics are not evaluated at build time: use a `const`",
        Item::Macro(_) => "macros are not expanded at build time: write a `fn` in the body",
        Item::Struct(_) | Item::Enum(_) | Item::Union(_) => {
            "own types are not evaluated at build time: use tuples and integers"
        }
        Item::Trait(_) | Item::Impl(_) => {
            "traits and methods of your own are not evaluated at build time: write a `fn` in the body"
        }
        Item::Type(_) => "type aliases are not followed at build time: write the type out",
        Item::Use(_) => "a `use` that renames is not followed at build time: use the original name",
        _ => "of items only functions, constants and `use` may stand in an algorithm",
    }
}

pub(super) fn for_pattern(pattern: &Pat) -> &'static str {
    match pattern {
        Pat::TupleStruct(path) if path.path.is_ident("Ok") || path.path.is_ident("Err") => {
            "`Result` is not evaluated at build time: use an Option"
        }
        Pat::Struct(_) | Pat::TupleStruct(_) => {
            "structs and enums are not evaluated at build time: match on integers, booleans and tuples"
        }
        Pat::Path(_) => {
            "this constant is not known at build time: write the number, or a `const` in the body"
        }
        _ => "this pattern is not evaluated at build time: use names, `_`, literals, ranges, `|` and tuples",
    }
}

pub(super) fn for_unknown_name(name: &str, is_captured: bool) -> String {
    if is_captured {
        return format!(
            "`{name}` belongs to the function around this one, which a `fn` cannot see: pass it as a parameter, or write \
             a closure"
        );
    }
    if let Some(instead) = for_std(name) {
        return format!("`{name}` is not evaluated at build time: {instead}");
    }
    format!(
        "`{name}` is not known at build time: move its definition into the body of the algorithm, or beside it into a \
         `#[collective] mod`; else {ELSE}"
    )
}

pub(super) fn for_unknown_pattern_name(name: &str) -> String {
    format!(
        "`{name}` is not known at build time: move the constant into the body of the algorithm, or beside it into a \
         `#[collective] mod`; if a new variable is meant, give it a lower-case name"
    )
}

/// What to write instead of something of the standard library, which has no definition that could be moved.
fn for_std(path: &str) -> Option<String> {
    let last = path.rsplit("::").next().unwrap_or_default();
    let is_std =
        ["std::", "core::", "alloc::", "::std::", "::core::"].iter().any(|root| path.starts_with(root));
    match last {
        "Reverse" if is_std || path == "Reverse" || path == "cmp::Reverse" => {
            Some("for descending order use `sort()`, then `reverse()`".to_owned())
        }
        "identity" if is_std || path == "convert::identity" => Some("write a closure, `|x| x`".to_owned()),
        _ if is_std => Some(format!("this part of std is not in the subset: write it out, or {ELSE}")),
        _ => None,
    }
}

pub(super) fn for_unknown_function(names: &[&str]) -> String {
    let name = names.join("::");
    let std = for_std(&name);
    let instead = match names {
        ["Ok" | "Err"] => {
            "use an Option, or state what the parameters must satisfy with `p.require(…)`".to_owned()
        }
        [.., "try_from"] => "convert with `as`, and check the range with `assert!`".to_owned(),
        [.., "mem", "take" | "replace"] => {
            "assign the new value, and keep the old one in a variable".to_owned()
        }
        [.., "iter", "from_fn"] => "write a `for` loop, or `std::iter::successors(…)`".to_owned(),
        [.., "HashMap" | "BTreeMap" | "HashSet" | "BTreeSet" | "VecDeque", _] => {
            "use a Vec, by rank or by chunk".to_owned()
        }
        _ => std.unwrap_or_else(|| {
            format!(
                "move it into the body of the algorithm, or beside it into a `#[collective] mod`; else {ELSE}"
            )
        }),
    };
    format!("the function `{name}` is not known at build time: {instead}")
}

pub(super) fn for_unknown_method(name: &str) -> String {
    let instead = match name {
        "sort_by" | "sort_unstable_by" => {
            "use `sort_by_key(…)`; for descending order `sort()`, then `reverse()`".to_owned()
        }
        "sort_unstable_by_key" | "sort_by_cached_key" => "use `sort_by_key(…)`".to_owned(),
        "min_by" | "max_by" => "use `min_by_key(…)`, `max_by_key(…)`".to_owned(),
        "cmp" | "partial_cmp" => "compare with `<`, `==` and `>`".to_owned(),
        "scan" | "try_fold" | "try_for_each" | "rfold" | "rfind" | "rposition" => {
            "write a `for` loop".to_owned()
        }
        "split_at_mut" | "chunks_mut" | "copy_from_slice" | "clone_from_slice" | "swap_with_slice" => {
            "change the elements in a `for` loop".to_owned()
        }
        "into" | "try_into" => "convert with `as`".to_owned(),
        "ok" | "err" | "ok_or" | "is_ok" | "is_err" | "unwrap_or_default" | "map_err" => {
            "use `unwrap_or(…)`, or an Option".to_owned()
        }
        "among" => {
            "it takes the program, which an algorithm is only lent; call the function at run time with \
                    `Program::new(…).among(…)`"
                .to_owned()
        }
        "with_options" => {
            "say `options(protocol = …, instances = …, replication = …)` in the attribute".to_owned()
        }
        "wrapping_shl" | "wrapping_shr" | "overflowing_shl" | "overflowing_shr" | "unbounded_shl"
        | "unbounded_shr" => "write `<<` or `>>`, or `checked_shl`, `checked_shr`".to_owned(),
        _ if name.starts_with("wrapping_") || name.starts_with("overflowing_") => {
            "use the plain operator, with operands that fit".to_owned()
        }
        _ => format!("use the methods that the documentation of `collective` lists; else {ELSE}"),
    };
    format!("the method `{name}` is not evaluated at build time: {instead}")
}
