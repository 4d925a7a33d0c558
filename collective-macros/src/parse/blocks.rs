//! Blocks, statements and the items in them.

use syn::{FnArg, ReturnType, Stmt};

use super::scopes::Item;
use super::{Parser, advice};
use crate::ast::{Block, Expr, ExprKind, FunctionId, Statement, Type};

impl Parser {
    pub(super) fn block_expr(&mut self, block: &syn::Block) -> Expr {
        let span = self.span(block);
        Expr { span, kind: ExprKind::Block(self.block(block)) }
    }

    pub(super) fn block(&mut self, block: &syn::Block) -> Block {
        self.scopes.enter();
        let ids = self.declare_items(block);
        let mut items = ids.into_iter();
        let mut parsed = Block::default();
        for (i, statement) in block.stmts.iter().enumerate() {
            let is_last = i + 1 == block.stmts.len();
            match statement {
                Stmt::Local(local) => parsed.statements.push(self.local(local)),
                Stmt::Item(item) => self.item(item, items.next().flatten()),
                Stmt::Expr(expr, None) if is_last => parsed.tail = Some(Box::new(self.expr(expr))),
                Stmt::Expr(expr, _) => parsed.statements.push(Statement::Expr(self.expr(expr))),
                Stmt::Macro(mac) => {
                    let span = self.span(mac);
                    let kind = self.macro_call(mac, &mac.mac);
                    let expr = Expr { span, kind };
                    if is_last && mac.semi_token.is_none() {
                        parsed.tail = Some(Box::new(expr));
                    } else {
                        parsed.statements.push(Statement::Expr(expr));
                    }
                }
            }
        }
        self.scopes.leave();
        parsed
    }

    fn local(&mut self, local: &syn::Local) -> Statement {
        // The value is parsed first: it cannot see the new names.
        let init = local.init.as_ref().map(|init| self.expr(&init.expr));
        let diverge = local.init.as_ref().and_then(|init| init.diverge.as_ref());
        let otherwise = diverge.map(|(_, otherwise)| self.expr(otherwise));
        let (pattern, ty) = self.pattern(&local.pat);
        Statement::Let { pattern, ty, init, otherwise }
    }

    /// Makes the names of a block's items known in all of the block. Returns the id of each item that has one.
    fn declare_items(&mut self, block: &syn::Block) -> Vec<Option<FunctionId>> {
        let items = block.stmts.iter().filter_map(|statement| match statement {
            Stmt::Item(item) => Some(item),
            _ => None,
        });
        let mut ids = Vec::new();
        for item in items {
            if let syn::Item::Struct(syn::ItemStruct { ident, .. })
            | syn::Item::Enum(syn::ItemEnum { ident, .. })
            | syn::Item::Type(syn::ItemType { ident, .. }) = item
            {
                self.own_types.push(ident.to_string());
            }
            ids.push(match item {
                syn::Item::Fn(function) => {
                    let id = self.declare();
                    let params = function.sig.inputs.len();
                    self.scopes.add_item(&function.sig.ident, Item::Function { id, params });
                    Some(id)
                }
                syn::Item::Const(constant) => {
                    let id = self.declare();
                    self.scopes.add_item(&constant.ident, Item::Constant(id));
                    Some(id)
                }
                _ => None,
            });
        }
        ids
    }

    fn item(&mut self, item: &syn::Item, id: Option<FunctionId>) {
        match (item, id) {
            (syn::Item::Fn(function), Some(id)) => self.helper(function, id),
            (syn::Item::Const(constant), Some(id)) => self.constant(constant, id),
            (syn::Item::Use(import), _) if !renames(&import.tree) => {}
            _ => self.error(item, advice::for_item(item)),
        }
    }

    pub(super) fn constant(&mut self, constant: &syn::ItemConst, id: FunctionId) {
        let ty = self.ty(&constant.ty);
        self.function(id, &constant.ident, ty, |parser| (Vec::new(), parser.expr(&constant.expr)));
    }

    pub(super) fn helper(&mut self, function: &syn::ItemFn, id: FunctionId) {
        let around = self.generics.len();
        self.generics(&function.sig.generics);
        if let Some(token) = &function.sig.asyncness {
            self.error(token, "algorithms are not asynchronous: remove this");
        }
        let result = match &function.sig.output {
            ReturnType::Default => Type::Other,
            ReturnType::Type(_, ty) => self.ty(ty),
        };
        self.function(id, &function.sig.ident, result, |parser| {
            let mut params = Vec::new();
            for input in &function.sig.inputs {
                match input {
                    FnArg::Typed(typed) => {
                        let (pattern, _) = parser.pattern(&typed.pat);
                        params.push((pattern, parser.ty(&typed.ty)));
                    }
                    FnArg::Receiver(receiver) => parser.error(receiver, "a helper function has no `self`"),
                }
            }
            (params, parser.block_expr(&function.block))
        });
        self.generics.truncate(around);
    }

    /// Type parameters that stand for functions and iterators.
    fn generics(&mut self, generics: &syn::Generics) {
        const OTHER: &str = "generic functions are not evaluated at build time: write the types out";
        if let Some(token) = generics.const_params().next() {
            self.error(token, OTHER);
        }
        for param in generics.type_params() {
            let name = param.ident.to_string();
            let bounds =
                generics.where_clause.iter().flat_map(|clause| &clause.predicates).find_map(|known| {
                    match known {
                        syn::WherePredicate::Type(known) => match &known.bounded_ty {
                            syn::Type::Path(path) if path.path.is_ident(&name) => Some(&known.bounds),
                            _ => None,
                        },
                        _ => None,
                    }
                });
            let bounds = if param.bounds.is_empty() { bounds } else { Some(&param.bounds) };
            let before = self.errors.len();
            let ty = bounds.map_or(Type::Other, |bounds| self.bounds(param, bounds));
            if bounds.is_none() || self.errors.len() > before {
                self.errors.truncate(before);
                self.error(param, OTHER);
            }
            self.generics.push((name, ty));
        }
    }
}

/// Whether a `use` gives something another name.
fn renames(tree: &syn::UseTree) -> bool {
    match tree {
        syn::UseTree::Path(path) => renames(&path.tree),
        syn::UseTree::Rename(_) => true,
        syn::UseTree::Group(group) => group.items.iter().any(renames),
        _ => false,
    }
}
