//! Values.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use collective_dsl::{Buffer, Cost, Handle, Work};

use super::closures::Closure;
use super::iter::{Iter, Stream};
use super::places::Pointer;
use crate::ast::FunctionId;
use crate::integer::Int;

/// A value of the evaluated subset. Compound ones are shared until they are changed, which gives Rust's moves
/// and copies alike.
#[derive(Clone, Debug, Default)]
pub(crate) enum Value {
    #[default]
    Unit,
    Bool(bool),
    Int(Int),
    Text(Arc<str>),
    /// The `&Program`.
    Program,
    Chunk(Handle),
    Cost(Cost),
    Compute(Work),
    Input,
    Output,
    Scratch(Arc<str>),
    Tuple(Rc<Vec<Value>>),
    /// An array or a `Vec`.
    List(Rc<Vec<Value>>),
    None,
    Some(Rc<Value>),
    /// A range or an iterator. Shared: moving it does not copy its state.
    Iter(Stream),
    Function(FunctionId),
    Closure(Rc<Closure>),
    /// A `&mut`.
    Place(Rc<Pointer>),
}

impl Value {
    pub(super) fn list(items: Vec<Value>) -> Self {
        Value::List(Rc::new(items))
    }

    pub(super) fn tuple(items: Vec<Value>) -> Self {
        Value::Tuple(Rc::new(items))
    }

    pub(super) fn iter(iter: Iter) -> Self {
        Value::Iter(Rc::new(RefCell::new(iter)))
    }

    pub(super) fn option(value: Option<Value>) -> Self {
        value.map_or(Value::None, |value| Value::Some(Rc::new(value)))
    }

    pub(super) fn buffer(&self) -> Option<Buffer<'_>> {
        match self {
            Value::Input => Some(Buffer::Input),
            Value::Output => Some(Buffer::Output),
            Value::Scratch(name) => Some(Buffer::Scratch(name)),
            _ => None,
        }
    }

    /// What it is, in a message.
    pub(super) fn words(&self) -> &'static str {
        match self {
            Value::Unit => "nothing",
            Value::Bool(_) => "a bool",
            Value::Int(_) => "an integer",
            Value::Text(_) => "a text",
            Value::Program => "the program",
            Value::Chunk(_) => "a chunk reference",
            Value::Cost(_) => "a cost",
            Value::Compute(_) => "a computation",
            Value::Input | Value::Output | Value::Scratch(_) => "a buffer",
            Value::Tuple(_) => "a tuple",
            Value::List(_) => "a list",
            Value::None | Value::Some(_) => "an Option",
            Value::Iter(_) => "an iterator",
            Value::Function(_) | Value::Closure(_) => "a function",
            Value::Place(_) => "a `&mut`",
        }
    }

    /// `clone()`: what has a state of its own gets a copy of it.
    pub(super) fn duplicate(&self) -> Self {
        match self {
            Value::Iter(stream) => Value::iter(stream.borrow().duplicate()),
            Value::Closure(closure) => Value::Closure(Rc::new(closure.duplicate())),
            Value::Some(value) if value.has_state() => Value::Some(Rc::new(value.duplicate())),
            Value::Tuple(items) if items.iter().any(Value::has_state) => {
                Value::tuple(items.iter().map(Value::duplicate).collect())
            }
            Value::List(items) if items.first().is_some_and(Value::has_state) => {
                Value::list(items.iter().map(Value::duplicate).collect())
            }
            other => other.clone(),
        }
    }

    /// Whether there is an iterator or a closure in it.
    fn has_state(&self) -> bool {
        match self {
            Value::Iter(_) | Value::Closure(_) => true,
            Value::Some(value) => value.has_state(),
            Value::Tuple(items) => items.iter().any(Value::has_state),
            Value::List(items) => items.first().is_some_and(Value::has_state),
            _ => false,
        }
    }
}
