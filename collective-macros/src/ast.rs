//! The Rust subset that is evaluated at build time, between syn and evaluation.
//!
//! Names are resolved: a local variable is a slot of its function, a helper function an index. Nothing here
//! belongs to the compiler's thread, so that builds are evaluated in parallel.

use std::sync::Arc;

use crate::detail::Detail;
use crate::integer::{Int, IntKind};
use crate::span::SpanId;

/// A local variable: an index into the frame of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(pub(crate) u32);

/// A function or constant: an index into [`Ast::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FunctionId(pub(crate) u32);

/// A loop or labelled block of a function, the target of `break` and `continue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopId(pub(crate) u32);

/// A call of the language that records its source line: an index into [`Ast::calls`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallId(pub(crate) u32);

/// An integer literal: an index into [`Ast::literals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LiteralId(pub(crate) u32);

#[derive(Debug)]
pub(crate) struct Ast {
    /// The algorithm, its helper functions and constants.
    pub(crate) functions: Vec<Function>,
    pub(crate) main: FunctionId,
    /// What the arguments of the attribute compute from the parameters.
    pub(crate) details: Vec<(Detail, FunctionId)>,
    pub(crate) calls: Vec<CallSite>,
    /// The integer literals, each with its type.
    pub(crate) literals: Vec<Int>,
}

/// Where a call of the language stands: the position of its method name, as `Location::caller` has it, and
/// the whole expression for errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSite {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) span: SpanId,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) params: Vec<(Pattern, Type)>,
    pub(crate) slots: usize,
    pub(crate) result: Type,
    pub(crate) body: Expr,
}

/// What a type annotation says that inference needs: the types of integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Int(IntKind),
    Tuple(Vec<Type>),
    List(Box<Type>),
    Option(Box<Type>),
    /// Without integers, or left to inference.
    Other,
}

#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) span: SpanId,
    pub(crate) kind: ExprKind,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    Unit,
    Literal(Literal),
    Input,
    Output,
    Scratch(Box<Expr>),
    Local(Slot),
    Constant(FunctionId),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary(Box<Binary>),
    And(Box<[Expr; 2]>),
    Or(Box<[Expr; 2]>),
    Cast(Box<Expr>, IntKind),
    Assign(Box<Target>, Box<Expr>),
    AssignBinary(Box<AssignBinary>),
    Tuple(Vec<Expr>),
    List(Vec<Expr>),
    Repeat(Box<[Expr; 2]>),
    Field(Box<Expr>, usize),
    Index(Box<[Expr; 2]>),
    Block(Block),
    LabelledBlock(LoopId, Block),
    If(Box<If>),
    Match(Box<Match>),
    For(Box<For>),
    While(Box<While>),
    Loop(LoopId, Block),
    Break(LoopId, Option<Box<Expr>>),
    Continue(LoopId),
    Return(Option<Box<Expr>>),
    Call(FunctionId, Vec<Expr>),
    InRange(Box<(Range, Expr)>),
    IntMethod(IntMethod, Box<Expr>, Vec<Expr>),
    /// `checked_sub` and its like: the operator, or nothing where it has no value.
    Checked(BinaryOp, Box<[Expr; 2]>),
    ListMethod(ListMethod, Box<Expr>, Vec<Expr>),
    ListContains(Box<[Expr; 2]>),
    None,
    Some(Box<Expr>),
    OptionMethod(OptionMethod, Box<Expr>, Vec<Expr>),
    Mutate(Mutation, Box<Place>, Vec<Expr>),
    Dsl(DslMethod, CallId, Box<Expr>, Vec<Expr>),
    Assert(Box<Assert>),
    /// Not in the subset; the error is already recorded.
    Invalid,
}

#[derive(Clone, Debug)]
pub(crate) enum Literal {
    Int(LiteralId),
    Bool(bool),
    Text(Arc<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Debug)]
pub(crate) struct Binary {
    pub(crate) op: BinaryOp,
    pub(crate) left: Expr,
    pub(crate) right: Expr,
    pub(crate) words: Words,
}

/// How messages name an arithmetic expression.
#[derive(Debug)]
pub(crate) struct Words {
    /// The expression as it is written.
    pub(crate) text: String,
    /// What to write instead where a subtraction from a rank goes below zero.
    pub(crate) instead: Option<String>,
}

#[derive(Debug)]
pub(crate) struct AssignBinary {
    pub(crate) op: BinaryOp,
    pub(crate) place: Place,
    pub(crate) value: Expr,
    pub(crate) words: Words,
}

/// The left side of an assignment.
#[derive(Debug)]
pub(crate) enum Target {
    Place(Place),
    Tuple(Vec<Target>),
    Ignore,
}

/// A variable, or an element or field of one.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) slot: Slot,
    pub(crate) path: Vec<Projection>,
}

#[derive(Debug)]
pub(crate) enum Projection {
    Field(usize),
    Index(Expr),
}

#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) statements: Vec<Statement>,
    pub(crate) tail: Option<Box<Expr>>,
}

#[derive(Debug)]
pub(crate) enum Statement {
    /// Where the pattern does not match, `otherwise` leaves the block.
    Let {
        pattern: Pattern,
        ty: Type,
        init: Option<Expr>,
        otherwise: Option<Expr>,
    },
    Expr(Expr),
}

#[derive(Debug)]
pub(crate) struct If {
    pub(crate) condition: Expr,
    pub(crate) then: Block,
    pub(crate) otherwise: Option<Expr>,
}

#[derive(Debug)]
pub(crate) struct Match {
    pub(crate) scrutinee: Expr,
    pub(crate) arms: Vec<Arm>,
}

#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) pattern: Pattern,
    pub(crate) guard: Option<Expr>,
    pub(crate) body: Expr,
}

#[derive(Debug)]
pub(crate) enum Pattern {
    Wild,
    Bind(Slot),
    BindAt(Slot, Box<Pattern>),
    Int(Int),
    Bool(bool),
    Range {
        first: Option<Int>,
        last: Option<Int>,
        inclusive: bool,
    },
    Constant(FunctionId),
    None,
    Some(Box<Pattern>),
    Either(Vec<Pattern>),
    /// A tuple or an array; `rest` is the position of `..`.
    Sequence {
        items: Vec<Pattern>,
        rest: Option<usize>,
        is_tuple: bool,
    },
}

#[derive(Debug)]
pub(crate) struct While {
    pub(crate) id: LoopId,
    pub(crate) condition: Expr,
    pub(crate) body: Block,
}

#[derive(Debug)]
pub(crate) struct For {
    pub(crate) id: LoopId,
    pub(crate) pattern: Pattern,
    pub(crate) source: Source,
    pub(crate) adapters: Vec<Adapter>,
    pub(crate) body: Block,
}

/// What a `for` loop runs over.
#[derive(Debug)]
pub(crate) enum Source {
    Range(Range),
    List(Expr),
}

#[derive(Debug)]
pub(crate) struct Range {
    pub(crate) start: Expr,
    pub(crate) end: Expr,
    pub(crate) inclusive: bool,
}

#[derive(Debug)]
pub(crate) enum Adapter {
    Rev,
    StepBy(Expr),
    Enumerate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntMethod {
    Pow,
    Ilog2,
    Ilog,
    Min,
    Max,
    Clamp,
    AbsDiff,
    Abs,
    DivCeil,
    DivEuclid,
    RemEuclid,
    NextMultipleOf,
    TrailingZeros,
    LeadingZeros,
    CountOnes,
    IsPowerOfTwo,
    NextPowerOfTwo,
    IsMultipleOf,
    Isqrt,
    SaturatingSub,
    SaturatingAdd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListMethod {
    Len,
    IsEmpty,
    Get,
    First,
    Last,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionMethod {
    IsSome,
    IsNone,
    /// Also `expect`.
    Unwrap,
    UnwrapOr,
}

/// A method that changes a `Vec` or an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutation {
    Push,
    Pop,
    Swap,
    Reverse,
    Clear,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DslMethod {
    Chunk,
    Chunks,
    Ranks,
    InputChunks,
    OutputChunks,
    Require,
    DeclareScratch,
    Expect,
    CopyTo,
    Reduce,
    OnChannel,
    Split,
    Group,
    OnSendBlock,
    OnRecvBlock,
    Rank,
    Count,
}

/// A condition without which the algorithm must not go on; `None` for `panic!` and its like.
#[derive(Debug)]
pub(crate) struct Assert {
    pub(crate) condition: Option<Expr>,
    pub(crate) message: String,
}
