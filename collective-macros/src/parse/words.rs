//! Source text in messages.

use quote::ToTokens;

use crate::ast::Words;

pub(super) fn words(whole: &syn::Expr, left: &syn::Expr, right: &syn::Expr) -> Words {
    let is_short =
        |expr: &syn::Expr| matches!(expr, syn::Expr::Path(_) | syn::Expr::Lit(_) | syn::Expr::Paren(_));
    let (a, b) = (text(left), text(right));
    // The advice is for ranks and chunk numbers; what is made of the number of ranks is something else.
    let is_rank = is_short(left) && is_short(right) && !a.contains("ranks");
    Words { text: text(whole), instead: is_rank.then(|| format!("({a} + ranks - {b}) % ranks")) }
}

/// Source text as a person would write it.
pub(super) fn text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (spaced, tight) in [
        (" . ", "."),
        (" :: ", "::"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" ,", ","),
        (" [", "["),
        (" ]", "]"),
    ] {
        text = text.replace(spaced, tight);
    }
    // Only a call has its parenthesis right behind a name.
    for op in ["+", "-", "*", "/", "%", "=", "<", ">", "&", "|", "^"] {
        text = text.replace(&format!("{op}("), &format!("{op} ("));
    }
    text
}
