//! The Rust subset that is evaluated at build time, between syn and evaluation.
//!
//! Names are resolved: a local variable is a slot of its function, a helper function an index. Nothing here
//! belongs to the compiler's thread, so that builds are evaluated in parallel.

use std::sync::Arc;

use crate::detail::Detail;
use crate::integer::{Int, IntKind};
use crate::method::Method;
use crate::span::SpanId;

/// A local variable: an index into the frame of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(pub(crate) u32);

/// A function or constant: an index into [`Ast::functions`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FunctionId(pub(crate) u32);

/// A closure: an index into [`Ast::closures`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClosureId(pub(crate) u32);

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
    pub(crate) closures: Vec<Closure>,
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
    /// The method's name.
    pub(crate) method: SpanId,
    /// The whole expression.
    pub(crate) span: SpanId,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) params: Vec<(Pattern, Type)>,
    /// The name of each local variable, those of its closures among them.
    pub(crate) slots: Vec<String>,
    pub(crate) result: Type,
    pub(crate) body: Expr,
}

/// A closure. Its variables lie in the frame of the function around it.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) function: FunctionId,
    pub(crate) params: Vec<(Pattern, Type)>,
    pub(crate) result: Type,
    pub(crate) body: Expr,
    /// The variables from around it that it uses.
    pub(crate) captures: Vec<Slot>,
    /// Whether it has copies of them: it says `move`, or there are none.
    pub(crate) owns: bool,
    /// Its own variables: the first, and the one after the last.
    pub(crate) own: (u32, u32),
}

/// What a type annotation says that inference needs: the types of integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Int(IntKind),
    Tuple(Vec<Type>),
    List(Box<Type>),
    Option(Box<Type>),
    /// A range or an iterator, by what it gives.
    Iter(Box<Type>),
    Fn(Vec<Type>, Box<Type>),
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
    Cost(CostUnit, Box<Expr>),
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
    /// A function as a value.
    Function(FunctionId),
    Closure(ClosureId),
    /// A call of a closure, or of a function that is a value.
    Apply(Box<Expr>, Vec<Expr>),
    Range(Box<Range>),
    IntMethod(IntMethod, Box<Expr>, Vec<Expr>),
    /// `checked_sub` and its like.
    Guarded(Guard, BinaryOp, Box<[Expr; 2]>),
    None,
    Some(Box<Expr>),
    /// `?` on an Option.
    Try(Box<Expr>),
    /// `*x`, where `x` may be a `&mut`.
    Deref(Box<Expr>),
    /// `&mut place`.
    BorrowMut(Box<Place>),
    Method(Method, Box<Expr>, Vec<Expr>),
    /// A method that changes its receiver.
    Mutate(Method, Box<Place>, Vec<Expr>),
    /// `std::mem::swap`.
    SwapPlaces(Box<[Expr; 2]>),
    Successors(Box<[Expr; 2]>),
    /// An expression with a type that is written down.
    Typed(Box<Expr>, Type),
    Format(Format),
    /// What is printed at run time, and only evaluated at build time.
    Print(Format),
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
    /// Only in `checked_pow` and its like.
    Pow,
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

/// What `checked_sub` and its like do where the operator alone would fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    Checked,
    Wrapping,
    Saturating,
    Overflowing,
}

/// The left side of an assignment.
#[derive(Debug)]
pub(crate) enum Target {
    Place(Place),
    /// A tuple or an array.
    Sequence(Vec<Target>),
    Ignore,
}

/// A variable, what a `&mut` points to, or an element or field of one.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) root: Root,
    pub(crate) path: Vec<Projection>,
}

#[derive(Debug)]
pub(crate) enum Root {
    Local(Slot),
    /// A `&mut` that is computed, or a value without a name.
    Expr(Expr),
}

#[derive(Debug)]
pub(crate) enum Projection {
    Deref,
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
    /// `&mut pattern`.
    Deref(Box<Pattern>),
    /// A tuple or an array.
    Sequence {
        items: Vec<Pattern>,
        rest: Option<Rest>,
        is_tuple: bool,
    },
}

/// `..` among the items of a pattern, or `name @ ..`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    pub(crate) at: usize,
    pub(crate) name: Option<Slot>,
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
    pub(crate) items: Expr,
    pub(crate) body: Block,
}

#[derive(Debug)]
pub(crate) struct Range {
    pub(crate) start: Option<Expr>,
    pub(crate) end: Option<Expr>,
    pub(crate) inclusive: bool,
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
    Ilog10,
    Signum,
    IsPositive,
    IsNegative,
    UnsignedAbs,
    CountZeros,
    LeadingOnes,
    TrailingOnes,
    ReverseBits,
    Midpoint,
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
    Compute,
    Reads,
    Writes,
    Bytes,
}

/// What a cost is first stated in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CostUnit {
    Flops,
    Micros,
}

/// A condition without which the algorithm must not go on.
#[derive(Debug)]
pub(crate) struct Assert {
    pub(crate) condition: Condition,
    /// The condition as it is written.
    pub(crate) shown: String,
    pub(crate) message: Option<Format>,
}

#[derive(Debug)]
pub(crate) enum Condition {
    Holds(Expr),
    /// Two values that must be equal, or must not.
    Compare {
        is_equal: bool,
        sides: [Expr; 2],
    },
    /// `panic!` and its like.
    Never,
}

/// A format string with its arguments.
#[derive(Debug, Default)]
pub(crate) struct Format {
    pub(crate) pieces: Vec<Piece>,
    /// Each argument once, in the order in which they are evaluated.
    pub(crate) args: Vec<Expr>,
}

#[derive(Debug)]
pub(crate) enum Piece {
    Text(String),
    /// An argument, and how it is shown.
    Arg(usize, Spec),
}

/// `{}`, `{:?}`, `{:02}`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spec {
    pub(crate) is_debug: bool,
    pub(crate) is_zero_padded: bool,
    pub(crate) width: usize,
}
