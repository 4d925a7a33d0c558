//! Patterns and places.

use std::rc::Rc;

use super::{Inference, Ty};
use crate::ast::{Pattern, Place, Projection, Rest, Root, Target};
use crate::integer::IntKind;

impl Inference<'_> {
    pub(super) fn target(&mut self, target: &Target) -> Ty {
        match target {
            Target::Place(place) => self.place(place),
            Target::Sequence(targets) => {
                Ty::Tuple(targets.iter().map(|target| self.target(target)).collect())
            }
            Target::Ignore => self.any(),
        }
    }

    pub(super) fn place(&mut self, place: &Place) -> Ty {
        let mut ty = match &place.root {
            Root::Local(slot) => self.slots[slot.0 as usize].clone(),
            Root::Expr(expr) => self.expr(expr),
        };
        for projection in &place.path {
            ty = match projection {
                Projection::Deref => ty,
                Projection::Field(field) => self.field(&ty, *field),
                Projection::Index(index) => {
                    self.expr_of(index, IntKind::Usize);
                    self.item(&ty)
                }
            };
        }
        ty
    }

    pub(super) fn field(&mut self, tuple: &Ty, field: usize) -> Ty {
        match self.resolve(tuple) {
            Ty::Tuple(types) if field < types.len() => types[field].clone(),
            // `start` and `end` of a range.
            Ty::Iter(item) => (*item).clone(),
            _ => self.vague(),
        }
    }

    pub(super) fn item(&mut self, list: &Ty) -> Ty {
        let item = self.any();
        self.unify(list, &Ty::List(Rc::new(item.clone())));
        item
    }

    /// What a `for` loop over something gives.
    pub(super) fn items(&mut self, ty: &Ty) -> Ty {
        match self.resolve(ty) {
            Ty::List(item) | Ty::Iter(item) | Ty::Option(item) => (*item).clone(),
            _ => self.vague(),
        }
    }

    pub(super) fn value(&mut self, option: &Ty) -> Ty {
        let value = self.any();
        self.unify(option, &Ty::Option(Rc::new(value.clone())));
        value
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern, ty: &Ty) {
        match pattern {
            Pattern::Wild | Pattern::Bool(_) => {}
            Pattern::Bind(slot) => self.bind(slot.0, ty),
            Pattern::BindAt(slot, inner) => {
                self.bind(slot.0, ty);
                self.pattern(inner, ty);
            }
            Pattern::Int(int) => {
                let int = self.int_type(int.kind);
                self.unify(ty, &int);
            }
            Pattern::Range { first, last, .. } => {
                for end in [first, last].into_iter().flatten() {
                    let end = self.int_type(end.kind);
                    self.unify(ty, &end);
                }
            }
            Pattern::Constant(id) => {
                let constant = self.results[id.0 as usize].clone();
                self.unify(ty, &constant);
            }
            Pattern::None => _ = self.value(ty),
            Pattern::Some(inner) => {
                let value = self.value(ty);
                self.pattern(inner, &value);
            }
            Pattern::Either(cases) => cases.iter().for_each(|case| self.pattern(case, ty)),
            Pattern::Sequence { items, rest, is_tuple: true } => self.tuple_pattern(items, *rest, ty),
            Pattern::Deref(inner) => self.pattern(inner, ty),
            Pattern::Sequence { items, rest, .. } => {
                let item = self.item(ty);
                items.iter().for_each(|pattern| self.pattern(pattern, &item));
                if let Some(Rest { name: Some(slot), .. }) = rest {
                    self.bind(slot.0, &Ty::List(Rc::new(item)));
                }
            }
        }
    }

    fn bind(&mut self, slot: u32, ty: &Ty) {
        let slot = self.slots[slot as usize].clone();
        self.unify(&slot, ty);
    }

    fn tuple_pattern(&mut self, items: &[Pattern], rest: Option<Rest>, ty: &Ty) {
        if rest.is_none() {
            let fields = items.iter().map(|_| self.any()).collect();
            self.unify(ty, &Ty::Tuple(fields));
        }
        let fields = match self.resolve(ty) {
            Ty::Tuple(fields) if fields.len() >= items.len() => fields,
            _ => items.iter().map(|_| self.vague()).collect(),
        };
        let skipped = fields.len() - items.len();
        for (i, pattern) in items.iter().enumerate() {
            let at = if rest.is_some_and(|rest| i >= rest.at) { i + skipped } else { i };
            self.pattern(pattern, &fields[at]);
        }
    }
}
