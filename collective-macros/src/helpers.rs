//! The functions and constants of a `#[collective] mod`, which its algorithms may use.

use std::collections::HashMap;

use syn::ext::IdentExt;
use syn::{Item, ItemConst, ItemFn};

/// A helper: its position among the items of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HelperId(pub(crate) usize);

/// What a helper is.
#[derive(Clone, Copy)]
pub(crate) enum Helper<'a> {
    Function(&'a ItemFn),
    Constant(&'a ItemConst),
}

/// All helpers by name; none for an algorithm that stands alone.
#[derive(Default)]
pub(crate) struct Helpers {
    items: Vec<Item>,
    by_name: HashMap<String, usize>,
}

impl Helpers {
    pub(crate) fn of(items: &[Item]) -> Self {
        let mut by_name = HashMap::new();
        for (at, item) in items.iter().enumerate() {
            let ident = match item {
                Item::Fn(function) => &function.sig.ident,
                Item::Const(constant) => &constant.ident,
                _ => continue,
            };
            by_name.insert(ident.unraw().to_string(), at);
        }
        Self { items: items.to_vec(), by_name }
    }

    pub(crate) fn find(&self, name: &str) -> Option<HelperId> {
        self.by_name.get(name).copied().map(HelperId)
    }

    pub(crate) fn get(&self, id: HelperId) -> Option<Helper<'_>> {
        match self.items.get(id.0)? {
            Item::Fn(function) => Some(Helper::Function(function)),
            Item::Const(constant) => Some(Helper::Constant(constant)),
            _ => None,
        }
    }
}
