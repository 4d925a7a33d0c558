//! What to write instead of what is not in the subset.

use syn::{Expr, Item, Pat};

const ELSE: &str = "leave out `build(…)` and use the run-time path, or `collective::build` in a build script";

pub(super) const ATTRIBUTE: &str = "this attribute is not understood at build time: remove it";

pub(super) const TYPE: &str = "this type is not known at build time; known are the integer types up to 64 bits, bool, \
                               ChunkRef, Buffer, &str, tuples, arrays, Vec, Option and references to them";

pub(super) const REF_MUT: &str =
    "`&mut` is not evaluated at build time: return the new value from the function and assign it";

/// Why an expression cannot be evaluated, and what to do.
pub(super) fn for_expr(expr: &Expr) -> String {
    let why = match expr {
        Expr::Closure(_) => {
            "closures are not evaluated at build time: write a `fn` in the body, or a `for` loop"
        }
        Expr::Try(_) => {
            "`?` is not evaluated at build time: an algorithm returns nothing; state what its parameters \
                         must satisfy with `p.require(…)`"
        }
        Expr::Struct(_) => "structs are not evaluated at build time: use a tuple or separate variables",
        Expr::Let(_) => "a `let` condition stands in an `if` or a `while`",
        Expr::Range(_) => {
            "a range can only be iterated by `for`, or asked with `(a..b).contains(&x)`: write it there"
        }
        Expr::Async(_) | Expr::Await(_) => "algorithms are not asynchronous: remove this",
        Expr::Unsafe(_) => "`unsafe` is not evaluated at build time: remove it",
        Expr::Macro(_) => {
            "of macros only vec!, matches!, assert!, assert_eq!, assert_ne!, their debug_ forms, panic! and \
                           unreachable! are evaluated at build time"
        }
        Expr::Infer(_) => "`_` is no value",
        _ => "this is not evaluated at build time",
    };
    match expr {
        Expr::Closure(_)
        | Expr::Try(_)
        | Expr::Async(_)
        | Expr::Await(_)
        | Expr::Let(_)
        | Expr::Range(_)
        | Expr::Infer(_) => why.to_owned(),
        _ => format!("{why}; for everything else {ELSE}"),
    }
}

pub(super) fn for_item(item: &Item) -> &'static str {
    match item {
        Item::Static(_) => "statics are not evaluated at build time: use a `const`",
        Item::Macro(_) => "macros are not expanded at build time: write a `fn` in the body",
        Item::Struct(_) | Item::Enum(_) => {
            "own types are not evaluated at build time: use tuples and integers"
        }
        Item::Use(_) => "a `use` that renames is not followed at build time: use the original name",
        _ => "of items only functions, constants and `use` may stand in an algorithm",
    }
}

pub(super) fn for_pattern(pattern: &Pat) -> &'static str {
    match pattern {
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
        return format!("`{name}` belongs to the function around this one: pass it as a parameter");
    }
    format!(
        "`{name}` is not known at build time: move its definition into the body of the algorithm, or beside it into a \
         `#[collective] mod`; else {ELSE}"
    )
}

pub(super) fn for_unknown_pattern_name(name: &str) -> String {
    format!(
        "`{name}` is not known at build time: move the constant into the body of the algorithm, or beside it into a \
         `#[collective] mod`, or write a variable in lower case"
    )
}

pub(super) fn for_unknown_function(name: &str) -> String {
    format!(
        "the function `{name}` is not known at build time: move it into the body of the algorithm, or beside it into a \
         `#[collective] mod`; else {ELSE}"
    )
}

pub(super) fn for_unknown_method(name: &str) -> String {
    let instead = match name {
        "map" | "for_each" | "filter" | "fold" | "sum" | "collect" | "flat_map" | "product" => {
            "write a `for` loop".to_owned()
        }
        "zip" | "skip" | "take" | "chain" | "windows" | "cycle" => {
            "run over the indices with a `for` loop".to_owned()
        }
        _ if name.starts_with("wrapping_") || name.starts_with("overflowing_") => {
            "use the plain operator, with operands that fit".to_owned()
        }
        "among" => {
            "it takes the program, which an algorithm is only lent; call the function at run time with \
                    `Program::new(…).among(…)`"
                .to_owned()
        }
        "with_options" => {
            "say `options(protocol = …, instances = …, replication = …)` in the attribute".to_owned()
        }
        _ => format!("use the methods that the documentation of `collective` lists; else {ELSE}"),
    };
    format!("the method `{name}` is not evaluated at build time: {instead}")
}
