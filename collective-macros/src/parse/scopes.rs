//! What names mean where.

use std::collections::HashMap;

use proc_macro2::Ident;
use syn::ext::IdentExt;

use crate::ast::{FunctionId, LoopId, Slot};

/// A function or constant in the body.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    Function { id: FunctionId, params: usize },
    Constant(FunctionId),
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    Local(Slot),
    Item(Item),
}

#[derive(Debug, Default)]
struct Scope {
    locals: HashMap<String, Slot>,
    items: HashMap<String, Item>,
}

/// A target of `break` and `continue`.
#[derive(Debug)]
struct LoopScope {
    id: LoopId,
    label: Option<String>,
    /// A labelled block, which only a `break` with its label leaves.
    is_block: bool,
}

/// All scopes around the place being parsed. Locals are seen within their function, items also from
/// functions inside.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    scopes: Vec<Scope>,
    /// The first scope of the current function.
    function: usize,
    /// The name of each variable of the current function.
    slots: Vec<String>,
    loops: Vec<LoopScope>,
    next_loop: u32,
    /// The closures around the place, of the current function.
    closures: Vec<OpenClosure>,
}

#[derive(Debug)]
struct OpenClosure {
    /// The first of its own variables.
    first: u32,
    captures: Vec<Slot>,
    /// The loops around it, which nothing in it can leave.
    loops: Vec<LoopScope>,
}

/// What a closure uses.
#[derive(Debug)]
pub(super) struct Used {
    pub(super) captures: Vec<Slot>,
    pub(super) own: (u32, u32),
}

/// The part of [`Scopes`] that belongs to the surrounding function.
#[derive(Debug)]
pub(super) struct Outer {
    function: usize,
    slots: Vec<String>,
    loops: Vec<LoopScope>,
    next_loop: u32,
    closures: Vec<OpenClosure>,
}

impl Scopes {
    pub(super) fn enter_function(&mut self) -> Outer {
        let outer = Outer {
            function: self.function,
            slots: std::mem::take(&mut self.slots),
            loops: std::mem::take(&mut self.loops),
            next_loop: self.next_loop,
            closures: std::mem::take(&mut self.closures),
        };
        self.function = self.scopes.len();
        self.next_loop = 0;
        self.scopes.push(Scope::default());
        outer
    }

    /// Returns the names of the variables of the function that is left.
    pub(super) fn leave_function(&mut self, outer: Outer) -> Vec<String> {
        self.scopes.truncate(self.function);
        self.function = outer.function;
        self.loops = outer.loops;
        self.next_loop = outer.next_loop;
        self.closures = outer.closures;
        std::mem::replace(&mut self.slots, outer.slots)
    }

    pub(super) fn enter_closure(&mut self) {
        let (first, loops) = (self.slots.len() as u32, std::mem::take(&mut self.loops));
        self.closures.push(OpenClosure { first, captures: Vec::new(), loops });
        self.enter();
    }

    pub(super) fn leave_closure(&mut self) -> Used {
        self.leave();
        let end = self.slots.len() as u32;
        match self.closures.pop() {
            Some(closure) => {
                self.loops = closure.loops;
                Used { captures: closure.captures, own: (closure.first, end) }
            }
            None => Used { captures: Vec::new(), own: (end, end) },
        }
    }

    /// Notes that a variable is used here.
    pub(super) fn capture(&mut self, slot: Slot) {
        for closure in &mut self.closures {
            if slot.0 < closure.first && !closure.captures.contains(&slot) {
                closure.captures.push(slot);
            }
        }
    }

    pub(super) fn enter(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    /// A new variable, which hides an older one of the same name.
    pub(super) fn bind(&mut self, name: &Ident) -> Slot {
        let slot = Slot(self.slots.len() as u32);
        self.slots.push(name.unraw().to_string());
        if let Some(scope) = self.scopes.last_mut() {
            scope.locals.insert(name.unraw().to_string(), slot);
        }
        slot
    }

    pub(super) fn add_item(&mut self, name: &Ident, item: Item) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.items.insert(name.unraw().to_string(), item);
        }
    }

    /// What a name stands for here: of one block's, a variable hides an item, and both hide what is outside.
    pub(super) fn lookup(&self, name: &str) -> Option<Name> {
        self.scopes.iter().enumerate().rev().find_map(|(i, scope)| {
            let local = scope.locals.get(name).filter(|_| i >= self.function).copied().map(Name::Local);
            local.or_else(|| scope.items.get(name).copied().map(Name::Item))
        })
    }

    /// Whether a variable of this name exists in a function around the current one.
    pub(super) fn is_captured(&self, name: &str) -> bool {
        self.scopes[..self.function].iter().any(|scope| scope.locals.contains_key(name))
    }

    pub(super) fn enter_loop(&mut self, label: Option<&syn::Label>, is_block: bool) -> LoopId {
        let id = LoopId(self.next_loop);
        self.next_loop += 1;
        let label = label.map(|label| label.name.ident.to_string());
        self.loops.push(LoopScope { id, label, is_block });
        id
    }

    pub(super) fn leave_loop(&mut self) {
        self.loops.pop();
    }

    /// The loop that a `break` or `continue` means.
    pub(super) fn loop_of(&self, label: Option<&syn::Lifetime>) -> Option<LoopId> {
        let wanted = label.map(|label| label.ident.to_string());
        let mut around = self.loops.iter().rev();
        let found = match &wanted {
            Some(_) => around.find(|scope| scope.label == wanted),
            None => around.find(|scope| !scope.is_block),
        };
        found.map(|scope| scope.id)
    }
}
