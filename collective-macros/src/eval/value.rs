//! Values.

use std::rc::Rc;
use std::sync::Arc;

use collective_dsl::{Buffer, Handle};

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
    Input,
    Output,
    Scratch(Arc<str>),
    Tuple(Rc<Vec<Value>>),
    /// An array or a `Vec`.
    List(Rc<Vec<Value>>),
    None,
    Some(Rc<Value>),
}

impl Value {
    pub(super) fn list(items: Vec<Value>) -> Self {
        Value::List(Rc::new(items))
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
            Value::Input | Value::Output | Value::Scratch(_) => "a buffer",
            Value::Tuple(_) => "a tuple",
            Value::List(_) => "a list",
            Value::None | Value::Some(_) => "an Option",
        }
    }
}
