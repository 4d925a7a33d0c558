//! In which round of its loops something happened.

use super::{Machine, Value};
use crate::ast::{Expr, ExprKind, Pattern, Rest, Slot, Type};

/// The variables of the loops around an expression, the outermost first, with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Context(Vec<(String, String)>);

impl Context {
    /// `index = 0, step = 1`; nothing outside of loops.
    pub(crate) fn words(&self) -> Option<String> {
        let pairs: Vec<String> = self.0.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if pairs.is_empty() { None } else { Some(pairs.join(", ")) }
    }
}

/// What tells the rounds of a loop apart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shown<'a> {
    Pattern(&'a Pattern),
    Params(&'a [(Pattern, Type)]),
    /// The variables in a condition.
    Condition(&'a Expr),
    Nothing,
}

/// Variables that are shown; more say nothing.
const MAX_SHOWN: usize = 8;

impl Machine<'_> {
    pub(super) fn context(&self) -> Context {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for active in &self.loops {
            let mut slots = Vec::new();
            match active.shown {
                Shown::Pattern(pattern) => bound(pattern, &mut slots),
                Shown::Params(params) => params.iter().for_each(|(pattern, _)| bound(pattern, &mut slots)),
                Shown::Condition(condition) => used(condition, &mut slots),
                Shown::Nothing => {}
            }
            for slot in slots {
                let name = active.function.and_then(|function| function.slots.get(slot.0 as usize));
                let value = self.stack.get(active.frame + slot.0 as usize);
                let (Some(name), Some(Value::Int(int))) = (name, value) else { continue };
                // An inner variable hides an outer one of the same name.
                pairs.retain(|(known, _)| known != name);
                pairs.push((name.clone(), int.value.to_string()));
            }
        }
        let skipped = pairs.len().saturating_sub(MAX_SHOWN);
        Context(pairs.split_off(skipped))
    }
}

/// The variables that a pattern binds.
fn bound(pattern: &Pattern, slots: &mut Vec<Slot>) {
    match pattern {
        Pattern::Bind(slot) => slots.push(*slot),
        Pattern::BindAt(slot, inner) => {
            slots.push(*slot);
            bound(inner, slots);
        }
        Pattern::Some(inner) | Pattern::Deref(inner) => bound(inner, slots),
        Pattern::Sequence { items, rest, .. } => {
            items.iter().for_each(|item| bound(item, slots));
            if let Some(Rest { name: Some(slot), .. }) = rest {
                slots.push(*slot);
            }
        }
        Pattern::Either(cases) => cases.iter().take(1).for_each(|case| bound(case, slots)),
        _ => {}
    }
}

/// The variables in a condition.
fn used(expr: &Expr, slots: &mut Vec<Slot>) {
    match &expr.kind {
        ExprKind::Local(slot) if !slots.contains(slot) => slots.push(*slot),
        ExprKind::Not(inner)
        | ExprKind::Negate(inner)
        | ExprKind::Deref(inner)
        | ExprKind::Cast(inner, _) => {
            used(inner, slots);
        }
        ExprKind::Binary(binary) => {
            used(&binary.left, slots);
            used(&binary.right, slots);
        }
        ExprKind::And(sides) | ExprKind::Or(sides) => sides.iter().for_each(|side| used(side, slots)),
        ExprKind::IntMethod(_, this, args) => {
            used(this, slots);
            args.iter().for_each(|arg| used(arg, slots));
        }
        _ => {}
    }
}
