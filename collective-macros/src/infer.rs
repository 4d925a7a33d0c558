//! The types of integer literals, as the compiler infers them.
//!
//! A literal without a suffix has the type of what it is put together with, wherever that is written down: a
//! variable's annotation, the other items of a list, the other branch of an `if`. What nothing gives a type is an
//! `i32`. What depends on the type (where it overflows, what `saturating_add` gives) is right only with the same one.
//!
//! References are left out of types, as they are of values. The compiler checks the program too: what it would
//! refuse may have any type here.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::{
    Adapter, Block, DslMethod, Expr, ExprKind, For, Function, FunctionId, IntMethod, ListMethod, Literal,
    LoopId, Mutation, OptionMethod, Pattern, Place, Projection, Range, Source, Statement, Target, Type,
};
use crate::ast::{BinaryOp, LiteralId};
use crate::integer::{Int, IntKind};
use crate::span::SpanId;

/// An integer literal and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiteralInt {
    pub(crate) int: Int,
    pub(crate) span: SpanId,
}

/// Steps after which types are taken for too large: a tuple of tuples of tuples doubles each time.
const MAX_STEPS: u32 = 2_000_000;

/// Gives every literal its type. `entries` are the functions that give a `usize`.
pub(crate) fn infer(
    functions: &[Function],
    entries: &[FunctionId],
    literals: &[LiteralInt],
) -> Result<Vec<Int>, Vec<(SpanId, String)>> {
    let mut inference = Inference::new(functions, literals);
    for entry in entries {
        let result = inference.results[entry.0 as usize].clone();
        inference.want(&result, IntKind::Usize);
    }
    for (i, function) in functions.iter().enumerate() {
        inference.function(i, function);
    }
    inference.finish(functions, literals)
}

#[derive(Clone, Debug)]
enum Ty {
    /// Of what does not come back, such as `return`.
    Never,
    /// Without integers.
    Plain,
    Int(IntKind),
    Tuple(Rc<[Ty]>),
    List(Rc<Ty>),
    Option(Rc<Ty>),
    Var(usize),
}

#[derive(Clone, Debug)]
enum Var {
    Free {
        is_int: bool,
        /// Whether something that could give it a type was not understood.
        is_vague: bool,
    },
    Bound(Ty),
}

struct Inference {
    params: Vec<Vec<Ty>>,
    results: Vec<Ty>,
    vars: Vec<Var>,
    literals: Vec<Ty>,
    /// Whether the literal stands behind a minus sign.
    negated: Vec<bool>,
    /// Of the function at hand.
    slots: Vec<Ty>,
    result: Ty,
    /// The value of each loop, and whether a `break` gives it.
    loops: HashMap<u32, (Ty, bool)>,
    /// Signed types whose unsigned ones are wanted, with what is to be them.
    unsigned: Vec<(Ty, Ty)>,
    steps: u32,
}

impl Inference {
    fn new(functions: &[Function], literals: &[LiteralInt]) -> Self {
        let mut this = Self {
            params: Vec::new(),
            results: Vec::new(),
            vars: Vec::new(),
            literals: Vec::new(),
            negated: vec![false; literals.len()],
            slots: Vec::new(),
            result: Ty::Plain,
            loops: HashMap::new(),
            unsigned: Vec::new(),
            steps: 0,
        };
        this.literals = literals.iter().map(|literal| this.int_type(literal.int.kind)).collect();
        this.params = functions
            .iter()
            .map(|function| function.params.iter().map(|(_, ty)| this.written(ty)).collect())
            .collect();
        this.results = functions.iter().map(|function| this.written(&function.result)).collect();
        this
    }

    fn finish(
        mut self,
        functions: &[Function],
        literals: &[LiteralInt],
    ) -> Result<Vec<Int>, Vec<(SpanId, String)>> {
        while self.settle_unsigned() {}
        for (_, unsigned) in std::mem::take(&mut self.unsigned) {
            self.want(&unsigned, IntKind::U32);
        }
        if let (true, Some(function)) = (self.steps >= MAX_STEPS, functions.first()) {
            let message = "the types in this are too large for build time: use fewer tuples in tuples";
            return Err(vec![(function.body.span, message.to_owned())]);
        }
        let mut errors = Vec::new();
        let mut typed = Vec::with_capacity(literals.len());
        for (i, literal) in literals.iter().enumerate() {
            let kind = match self.resolve(&self.literals[i]) {
                Ty::Int(kind) => kind,
                Ty::Var(var) if matches!(self.vars[var], Var::Free { is_vague: true, .. }) => {
                    let message =
                        "the type of this number is not known at build time: write it, such as `0usize`";
                    errors.push((literal.span, message.to_owned()));
                    continue;
                }
                _ => IntKind::I32,
            };
            let int = Int::new(literal.int.value, kind);
            // `-i32::MIN` is a constant behind a minus sign, and overflows where it is evaluated.
            let sign = if self.negated[i] && int.value >= 0 { -1 } else { 1 };
            if !kind.holds(sign * int.value) {
                let message = format!("this is {}, which {} cannot hold", sign * int.value, kind.name());
                errors.push((literal.span, message));
            }
            typed.push(int);
        }
        if errors.is_empty() { Ok(typed) } else { Err(errors) }
    }

    fn fresh(&mut self, is_int: bool, is_vague: bool) -> Ty {
        self.vars.push(Var::Free { is_int, is_vague });
        Ty::Var(self.vars.len() - 1)
    }

    fn any(&mut self) -> Ty {
        self.fresh(false, false)
    }

    /// Of something whose type the compiler knows, but not this.
    fn vague(&mut self) -> Ty {
        self.fresh(false, true)
    }

    fn int_type(&mut self, kind: IntKind) -> Ty {
        if kind == IntKind::Untyped { self.fresh(true, false) } else { Ty::Int(kind) }
    }

    fn written(&mut self, ty: &Type) -> Ty {
        match ty {
            Type::Int(kind) => Ty::Int(*kind),
            Type::Tuple(types) => Ty::Tuple(types.iter().map(|ty| self.written(ty)).collect()),
            Type::List(item) => Ty::List(Rc::new(self.written(item))),
            Type::Option(value) => Ty::Option(Rc::new(self.written(value))),
            Type::Other => self.any(),
        }
    }

    /// The type behind a variable, as far as it is known.
    fn resolve(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        while let Ty::Var(var) = ty {
            match &self.vars[var] {
                Var::Bound(bound) => ty = bound.clone(),
                Var::Free { .. } => break,
            }
        }
        ty
    }

    fn contains(&mut self, ty: &Ty, var: usize) -> bool {
        self.steps += 1;
        if self.steps >= MAX_STEPS {
            return true;
        }
        match self.resolve(ty) {
            Ty::Var(other) => other == var,
            Ty::Tuple(types) => types.iter().any(|ty| self.contains(ty, var)),
            Ty::List(inner) | Ty::Option(inner) => self.contains(&inner, var),
            Ty::Never | Ty::Plain | Ty::Int(_) => false,
        }
    }

    /// Makes two types the same. Where they cannot be, the compiler refuses the program.
    fn unify(&mut self, a: &Ty, b: &Ty) {
        self.steps += 1;
        if self.steps >= MAX_STEPS {
            return;
        }
        match (self.resolve(a), self.resolve(b)) {
            (Ty::Var(a), Ty::Var(b)) => {
                if let (
                    true,
                    Var::Free { is_int: int_a, is_vague: vague_a },
                    Var::Free { is_int, is_vague },
                ) = (a != b, self.vars[a].clone(), &mut self.vars[b])
                {
                    *is_int |= int_a;
                    *is_vague |= vague_a;
                    self.vars[a] = Var::Bound(Ty::Var(b));
                }
            }
            (Ty::Var(var), ty) | (ty, Ty::Var(var)) => {
                let Var::Free { is_int, .. } = self.vars[var] else { return };
                let fits = match ty {
                    Ty::Never => false,
                    Ty::Int(_) => true,
                    _ => !is_int && !self.contains(&ty, var),
                };
                if fits {
                    self.vars[var] = Var::Bound(ty);
                }
            }
            (Ty::Tuple(a), Ty::Tuple(b)) if a.len() == b.len() => {
                a.iter().zip(b.iter()).for_each(|(a, b)| self.unify(a, b));
            }
            (Ty::List(a), Ty::List(b)) | (Ty::Option(a), Ty::Option(b)) => self.unify(&a, &b),
            _ => {}
        }
    }

    fn want(&mut self, ty: &Ty, kind: IntKind) {
        self.unify(ty, &Ty::Int(kind));
    }

    /// The type of what comes from either of two ways.
    fn join(&mut self, a: Ty, b: Ty) -> Ty {
        if let Ty::Never = a {
            return b;
        }
        self.unify(&a, &b);
        a
    }

    fn function(&mut self, index: usize, function: &Function) {
        self.slots = (0..function.slots).map(|_| self.any()).collect();
        self.loops.clear();
        self.result = self.results[index].clone();
        for ((pattern, _), ty) in function.params.iter().zip(self.params[index].clone()) {
            self.pattern(pattern, &ty);
        }
        let body = self.expr(&function.body);
        let result = self.result.clone();
        self.unify(&body, &result);
    }

    /// Works out the unsigned types of those that are known. Returns whether there were any.
    fn settle_unsigned(&mut self) -> bool {
        let before = self.unsigned.len();
        for (signed, unsigned) in std::mem::take(&mut self.unsigned) {
            match self.resolve(&signed) {
                Ty::Int(kind) => self.want(&unsigned, kind.unsigned()),
                _ => self.unsigned.push((signed, unsigned)),
            }
        }
        self.unsigned.len() < before
    }

    fn exprs(&mut self, exprs: &[Expr]) -> Vec<Ty> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn expr_of(&mut self, expr: &Expr, kind: IntKind) {
        let ty = self.expr(expr);
        self.want(&ty, kind);
    }

    fn expr(&mut self, expr: &Expr) -> Ty {
        match &expr.kind {
            ExprKind::Unit | ExprKind::Input | ExprKind::Output => Ty::Plain,
            ExprKind::Literal(Literal::Int(id)) => self.literals[id.0 as usize].clone(),
            ExprKind::Literal(_) => Ty::Plain,
            ExprKind::Local(slot) => self.slots[slot.0 as usize].clone(),
            ExprKind::Constant(id) => self.results[id.0 as usize].clone(),
            ExprKind::Scratch(name) => {
                self.expr(name);
                Ty::Plain
            }
            ExprKind::Not(inner) => self.expr(inner),
            ExprKind::Negate(inner) => {
                if let Some(id) = literal(inner) {
                    self.negated[id.0 as usize] = true;
                }
                self.expr(inner)
            }
            ExprKind::Binary(binary) => {
                let (left, right) = (self.expr(&binary.left), self.expr(&binary.right));
                self.binary(binary.op, left, right)
            }
            ExprKind::And(sides) | ExprKind::Or(sides) => {
                self.exprs(&**sides);
                Ty::Plain
            }
            ExprKind::Cast(inner, kind) => {
                let ty = self.expr(inner);
                // A literal that is cast has the type that it is cast to.
                let mut operand = &**inner;
                while let ExprKind::Negate(inner) | ExprKind::Not(inner) = &operand.kind {
                    operand = inner;
                }
                if literal(operand).is_some() {
                    self.want(&ty, *kind);
                }
                Ty::Int(*kind)
            }
            ExprKind::Assign(target, value) => {
                let value = self.expr(value);
                let target = self.target(target);
                self.unify(&target, &value);
                Ty::Plain
            }
            ExprKind::AssignBinary(assign) => {
                let value = self.expr(&assign.value);
                let place = self.place(&assign.place);
                self.binary(assign.op, place, value);
                Ty::Plain
            }
            ExprKind::Tuple(items) => Ty::Tuple(self.exprs(items).into()),
            ExprKind::List(items) => {
                let item = self.any();
                for ty in self.exprs(items) {
                    self.unify(&item, &ty);
                }
                Ty::List(Rc::new(item))
            }
            ExprKind::Repeat(parts) => {
                let item = self.expr(&parts[0]);
                self.expr_of(&parts[1], IntKind::Usize);
                Ty::List(Rc::new(item))
            }
            ExprKind::Field(tuple, field) => {
                let tuple = self.expr(tuple);
                self.field(&tuple, *field)
            }
            ExprKind::Index(parts) => {
                let list = self.expr(&parts[0]);
                self.expr_of(&parts[1], IntKind::Usize);
                self.item(&list)
            }
            ExprKind::Block(block) => self.block(block),
            ExprKind::LabelledBlock(id, block) => {
                let value = self.any();
                self.loops.insert(id.0, (value.clone(), false));
                let tail = self.block(block);
                let is_left = self.loops.get(&id.0).is_some_and(|(_, is_left)| *is_left);
                if is_left { self.join(value, tail) } else { tail }
            }
            ExprKind::If(branch) => {
                self.expr(&branch.condition);
                let then = self.block(&branch.then);
                match &branch.otherwise {
                    Some(otherwise) => {
                        let otherwise = self.expr(otherwise);
                        self.join(then, otherwise)
                    }
                    None => Ty::Plain,
                }
            }
            ExprKind::Match(matching) => {
                let scrutinee = self.expr(&matching.scrutinee);
                let mut result = Ty::Never;
                for arm in &matching.arms {
                    self.pattern(&arm.pattern, &scrutinee);
                    if let Some(guard) = &arm.guard {
                        self.expr(guard);
                    }
                    let body = self.expr(&arm.body);
                    result = self.join(result, body);
                }
                result
            }
            ExprKind::For(each) => self.for_loop(each),
            ExprKind::While(each) => {
                self.expr(&each.condition);
                self.block(&each.body);
                Ty::Plain
            }
            ExprKind::Loop(id, body) => {
                let value = self.any();
                self.loops.insert(id.0, (value.clone(), false));
                self.block(body);
                let is_left = self.loops.get(&id.0).is_some_and(|(_, is_left)| *is_left);
                if is_left { value } else { Ty::Never }
            }
            ExprKind::Break(id, value) => self.leave(*id, value.as_deref()),
            ExprKind::Continue(_) => Ty::Never,
            ExprKind::Return(value) => {
                if let Some(value) = value {
                    let (value, result) = (self.expr(value), self.result.clone());
                    self.unify(&value, &result);
                }
                Ty::Never
            }
            ExprKind::Call(id, args) => {
                let params = self.params[id.0 as usize].clone();
                for (arg, param) in args.iter().zip(params) {
                    let arg = self.expr(arg);
                    self.unify(&arg, &param);
                }
                self.results[id.0 as usize].clone()
            }
            ExprKind::InRange(parts) => {
                let (range, item) = &**parts;
                let (bound, item) = (self.range(range), self.expr(item));
                self.unify(&bound, &item);
                Ty::Plain
            }
            ExprKind::IntMethod(method, this, args) => self.int_method(*method, this, args),
            ExprKind::Checked(_, sides) => {
                let (left, right) = (self.expr(&sides[0]), self.expr(&sides[1]));
                self.unify(&left, &right);
                Ty::Option(Rc::new(left))
            }
            ExprKind::ListMethod(method, list, args) => {
                let list = self.expr(list);
                for arg in args {
                    self.expr_of(arg, IntKind::Usize);
                }
                match method {
                    ListMethod::Len => Ty::Int(IntKind::Usize),
                    ListMethod::IsEmpty => Ty::Plain,
                    ListMethod::Get | ListMethod::First | ListMethod::Last => {
                        Ty::Option(Rc::new(self.item(&list)))
                    }
                }
            }
            ExprKind::ListContains(parts) => {
                let (list, wanted) = (self.expr(&parts[0]), self.expr(&parts[1]));
                let item = self.item(&list);
                self.unify(&item, &wanted);
                Ty::Plain
            }
            ExprKind::None => Ty::Option(Rc::new(self.any())),
            ExprKind::Some(value) => Ty::Option(Rc::new(self.expr(value))),
            ExprKind::OptionMethod(method, option, args) => {
                let option = self.expr(option);
                let args = self.exprs(args);
                let value = self.value(&option);
                match (method, args.first()) {
                    (OptionMethod::IsSome | OptionMethod::IsNone, _) => Ty::Plain,
                    (OptionMethod::UnwrapOr, Some(otherwise)) => {
                        self.unify(&value, otherwise);
                        value
                    }
                    (OptionMethod::Unwrap | OptionMethod::UnwrapOr, _) => value,
                }
            }
            ExprKind::Mutate(mutation, place, args) => self.mutate(*mutation, place, args),
            ExprKind::Dsl(method, _, receiver, args) => self.dsl(*method, receiver, args),
            ExprKind::Assert(assert) => match &assert.condition {
                Some(condition) => {
                    self.expr(condition);
                    Ty::Plain
                }
                None => Ty::Never,
            },
            ExprKind::Invalid => self.vague(),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: Ty, right: Ty) -> Ty {
        use BinaryOp as Op;
        match op {
            Op::Shl | Op::Shr => left,
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                self.unify(&left, &right);
                Ty::Plain
            }
            _ => self.join(left, right),
        }
    }

    fn block(&mut self, block: &Block) -> Ty {
        let mut comes_back = true;
        for statement in &block.statements {
            let value = match statement {
                Statement::Expr(expr) => self.expr(expr),
                Statement::Let { pattern, ty, init, otherwise } => {
                    let ty = self.written(ty);
                    let init = init.as_ref().map_or(Ty::Plain, |init| {
                        let init = self.expr(init);
                        self.unify(&ty, &init);
                        init
                    });
                    if let Some(otherwise) = otherwise {
                        self.expr(otherwise);
                    }
                    self.pattern(pattern, &ty);
                    init
                }
            };
            comes_back &= !matches!(value, Ty::Never);
        }
        match &block.tail {
            Some(tail) => self.expr(tail),
            None if comes_back => Ty::Plain,
            None => Ty::Never,
        }
    }

    fn leave(&mut self, id: LoopId, value: Option<&Expr>) -> Ty {
        let given = value.map_or(Ty::Plain, |value| self.expr(value));
        if let Some((value, is_left)) = self.loops.get_mut(&id.0) {
            *is_left = true;
            let value = value.clone();
            self.unify(&value, &given);
        }
        Ty::Never
    }

    fn for_loop(&mut self, each: &For) -> Ty {
        let mut item = match &each.source {
            Source::Range(range) => self.range(range),
            Source::List(list) => {
                let list = self.expr(list);
                self.item(&list)
            }
        };
        for adapter in &each.adapters {
            match adapter {
                Adapter::Rev => {}
                Adapter::StepBy(step) => self.expr_of(step, IntKind::Usize),
                Adapter::Enumerate => item = Ty::Tuple([Ty::Int(IntKind::Usize), item].into()),
            }
        }
        self.pattern(&each.pattern, &item);
        self.block(&each.body);
        Ty::Plain
    }

    fn range(&mut self, range: &Range) -> Ty {
        let (start, end) = (self.expr(&range.start), self.expr(&range.end));
        self.unify(&start, &end);
        start
    }

    fn int_method(&mut self, method: IntMethod, this: &Expr, args: &[Expr]) -> Ty {
        use IntMethod as M;
        let this = self.expr(this);
        if method == M::Pow {
            args.iter().for_each(|arg| self.expr_of(arg, IntKind::U32));
            return this;
        }
        for arg in self.exprs(args) {
            self.unify(&this, &arg);
        }
        match method {
            M::Ilog2 | M::Ilog | M::TrailingZeros | M::LeadingZeros | M::CountOnes => Ty::Int(IntKind::U32),
            M::IsPowerOfTwo | M::IsMultipleOf => Ty::Plain,
            M::AbsDiff => {
                let unsigned = self.fresh(true, false);
                self.unsigned.push((this, unsigned.clone()));
                self.settle_unsigned();
                unsigned
            }
            _ => this,
        }
    }

    fn mutate(&mut self, mutation: Mutation, place: &Place, args: &[Expr]) -> Ty {
        let args = self.exprs(args);
        let list = self.place(place);
        let item = self.item(&list);
        match mutation {
            Mutation::Push => args.iter().for_each(|arg| self.unify(&item, arg)),
            Mutation::Pop => return Ty::Option(Rc::new(item)),
            Mutation::Swap => args.iter().for_each(|arg| self.want(arg, IntKind::Usize)),
            Mutation::Reverse | Mutation::Clear => {}
        }
        Ty::Plain
    }

    fn dsl(&mut self, method: DslMethod, receiver: &Expr, args: &[Expr]) -> Ty {
        use DslMethod as M;
        self.expr(receiver);
        for (i, arg) in args.iter().enumerate() {
            let ty = self.expr(arg);
            let is_number = match method {
                M::Chunk | M::Chunks | M::CopyTo | M::DeclareScratch => i != 1,
                M::Require | M::Reduce | M::Group => false,
                _ => true,
            };
            if is_number {
                self.want(&ty, IntKind::Usize);
            }
        }
        match method {
            M::Ranks | M::InputChunks | M::OutputChunks | M::Rank | M::Count => Ty::Int(IntKind::Usize),
            M::Split => Ty::List(Rc::new(Ty::Plain)),
            _ => Ty::Plain,
        }
    }

    fn target(&mut self, target: &Target) -> Ty {
        match target {
            Target::Place(place) => self.place(place),
            Target::Tuple(targets) => Ty::Tuple(targets.iter().map(|target| self.target(target)).collect()),
            Target::Ignore => self.any(),
        }
    }

    fn place(&mut self, place: &Place) -> Ty {
        let mut ty = self.slots[place.slot.0 as usize].clone();
        for projection in &place.path {
            ty = match projection {
                Projection::Field(field) => self.field(&ty, *field),
                Projection::Index(index) => {
                    self.expr_of(index, IntKind::Usize);
                    self.item(&ty)
                }
            };
        }
        ty
    }

    fn field(&mut self, tuple: &Ty, field: usize) -> Ty {
        match self.resolve(tuple) {
            Ty::Tuple(types) if field < types.len() => types[field].clone(),
            _ => self.vague(),
        }
    }

    fn item(&mut self, list: &Ty) -> Ty {
        let item = self.any();
        self.unify(list, &Ty::List(Rc::new(item.clone())));
        item
    }

    fn value(&mut self, option: &Ty) -> Ty {
        let value = self.any();
        self.unify(option, &Ty::Option(Rc::new(value.clone())));
        value
    }

    fn pattern(&mut self, pattern: &Pattern, ty: &Ty) {
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
            Pattern::Sequence { items, .. } => {
                let item = self.item(ty);
                items.iter().for_each(|pattern| self.pattern(pattern, &item));
            }
        }
    }

    fn bind(&mut self, slot: u32, ty: &Ty) {
        let slot = self.slots[slot as usize].clone();
        self.unify(&slot, ty);
    }

    fn tuple_pattern(&mut self, items: &[Pattern], rest: Option<usize>, ty: &Ty) {
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
            let at = if rest.is_some_and(|rest| i >= rest) { i + skipped } else { i };
            self.pattern(pattern, &fields[at]);
        }
    }
}

fn literal(expr: &Expr) -> Option<LiteralId> {
    match &expr.kind {
        ExprKind::Literal(Literal::Int(id)) => Some(*id),
        _ => None,
    }
}
