//! Expressions, blocks and loops.

use std::rc::Rc;

use super::{Inference, Ty};
use crate::ast::{
    BinaryOp, Block, ClosureId, Condition, Expr, ExprKind, For, Guard, Literal, LiteralId, LoopId, Range,
    Statement,
};
use crate::integer::IntKind;

impl Inference<'_> {
    pub(super) fn exprs(&mut self, exprs: &[Expr]) -> Vec<Ty> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    pub(super) fn expr_of(&mut self, expr: &Expr, kind: IntKind) {
        let ty = self.expr(expr);
        self.want(&ty, kind);
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> Ty {
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
            ExprKind::Cost(_, number) => {
                self.expr_of(number, IntKind::Usize);
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
                let is_part = self.index(&parts[1]);
                let item = self.item(&list);
                if is_part { Ty::List(Rc::new(item)) } else { item }
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
                    self.expr_as(arg, &param);
                }
                self.results[id.0 as usize].clone()
            }
            ExprKind::Function(id) => {
                let params = self.params[id.0 as usize].as_slice().into();
                Ty::Fn(params, Rc::new(self.results[id.0 as usize].clone()))
            }
            ExprKind::Closure(id) => {
                let params: Vec<Ty> =
                    self.closures[id.0 as usize].params.iter().map(|_| self.any()).collect();
                self.closure(*id, &params)
            }
            ExprKind::Apply(function, args) => {
                let function = self.expr(function);
                match self.resolve(&function) {
                    Ty::Fn(params, result) => {
                        for (arg, param) in args.iter().zip(params.iter()) {
                            self.expr_as(arg, param);
                        }
                        (*result).clone()
                    }
                    _ => {
                        self.exprs(args);
                        self.vague()
                    }
                }
            }
            ExprKind::Range(range) => Ty::Iter(Rc::new(self.range(range))),
            ExprKind::IntMethod(method, this, args) => self.int_method(*method, this, args),
            ExprKind::Guarded(guard, op, sides) => {
                let left = self.expr(&sides[0]);
                match op {
                    BinaryOp::Pow | BinaryOp::Shl | BinaryOp::Shr => self.expr_of(&sides[1], IntKind::U32),
                    _ => {
                        let right = self.expr(&sides[1]);
                        self.unify(&left, &right);
                    }
                }
                match guard {
                    Guard::Checked => Ty::Option(Rc::new(left)),
                    Guard::Overflowing => Ty::Tuple([left, Ty::Plain].into()),
                    Guard::Wrapping | Guard::Saturating => left,
                }
            }
            ExprKind::None => Ty::Option(Rc::new(self.any())),
            ExprKind::Some(value) => Ty::Option(Rc::new(self.expr(value))),
            ExprKind::Try(option) => {
                let option = self.expr(option);
                self.value(&option)
            }
            ExprKind::Deref(inner) => self.expr(inner),
            ExprKind::BorrowMut(place) => self.place(place),
            ExprKind::Typed(inner, ty) => {
                let ty = self.written(ty);
                let inner = self.expr(inner);
                self.unify(&inner, &ty);
                // What is collected has its type only from here.
                self.settle_collected();
                ty
            }
            ExprKind::SwapPlaces(sides) => {
                let (left, right) = (self.expr(&sides[0]), self.expr(&sides[1]));
                self.unify(&left, &right);
                Ty::Plain
            }
            ExprKind::Successors(parts) => {
                let first = self.expr(&parts[0]);
                let item = self.value(&first);
                let next = self.result_of(&parts[1], std::slice::from_ref(&item));
                self.unify(&first, &next);
                Ty::Iter(Rc::new(item))
            }
            ExprKind::Format(format) | ExprKind::Print(format) => {
                self.exprs(&format.args);
                Ty::Plain
            }
            ExprKind::Method(method, receiver, args) => self.method(*method, receiver, args, expr.span),
            ExprKind::Mutate(method, place, args) => self.mutate(*method, place, args),
            ExprKind::Dsl(method, _, receiver, args) => self.dsl(*method, receiver, args),
            ExprKind::Assert(assert) => {
                if let Some(message) = &assert.message {
                    self.exprs(&message.args);
                }
                match &assert.condition {
                    Condition::Holds(condition) => {
                        self.expr(condition);
                        Ty::Plain
                    }
                    Condition::Compare { sides: [left, right], .. } => {
                        let (left, right) = (self.expr(left), self.expr(right));
                        self.unify(&left, &right);
                        Ty::Plain
                    }
                    Condition::Never => Ty::Never,
                }
            }
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
                        let init = match (&init.kind, self.resolve(&ty)) {
                            (ExprKind::Closure(id), Ty::Fn(params, _)) => self.closure(*id, &params),
                            _ => self.expr(init),
                        };
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
            self.settle_collected();
        }
        match &block.tail {
            Some(tail) => self.expr(tail),
            None if comes_back => Ty::Plain,
            None => Ty::Never,
        }
    }

    pub(super) fn leave(&mut self, id: LoopId, value: Option<&Expr>) -> Ty {
        let given = value.map_or(Ty::Plain, |value| self.expr(value));
        if let Some((value, is_left)) = self.loops.get_mut(&id.0) {
            *is_left = true;
            let value = value.clone();
            self.unify(&value, &given);
        }
        Ty::Never
    }

    fn for_loop(&mut self, each: &For) -> Ty {
        let items = self.expr(&each.items);
        let item = self.items(&items);
        self.pattern(&each.pattern, &item);
        self.block(&each.body);
        Ty::Plain
    }

    fn range(&mut self, range: &Range) -> Ty {
        let ends: Vec<Ty> =
            [&range.start, &range.end].into_iter().flatten().map(|end| self.expr(end)).collect();
        match ends.as_slice() {
            [start, end] => {
                self.unify(start, end);
                start.clone()
            }
            [end] => end.clone(),
            _ => Ty::Int(IntKind::Usize),
        }
    }

    /// The index of an element; true when it is a range, of a part.
    pub(super) fn index(&mut self, index: &Expr) -> bool {
        let ty = self.expr(index);
        match self.resolve(&ty) {
            Ty::Iter(end) => {
                self.want(&end, IntKind::Usize);
                true
            }
            _ => {
                self.want(&ty, IntKind::Usize);
                false
            }
        }
    }

    /// An expression where a type is wanted: a closure learns from it what its parameters are.
    pub(super) fn expr_as(&mut self, expr: &Expr, wanted: &Ty) {
        let given = match (&expr.kind, self.resolve(wanted)) {
            (ExprKind::Closure(id), Ty::Fn(params, _)) => self.closure(*id, &params),
            _ => self.expr(expr),
        };
        self.unify(&given, wanted);
    }

    fn closure(&mut self, id: ClosureId, params: &[Ty]) -> Ty {
        let closure = &self.closures[id.0 as usize];
        for ((pattern, ty), param) in closure.params.iter().zip(params) {
            let ty = self.written(ty);
            self.unify(&ty, param);
            self.pattern(pattern, &ty);
        }
        let result = self.written(&closure.result);
        let around = std::mem::replace(&mut self.result, result.clone());
        let body = self.expr(&closure.body);
        self.result = around;
        let result = if let (Ty::Never, Ty::Var(_)) = (&body, self.resolve(&result)) {
            result
        } else {
            self.unify(&result, &body);
            result
        };
        Ty::Fn(params.into(), Rc::new(result))
    }

    /// What a function gives for parameters of some types.
    pub(super) fn result_of(&mut self, function: &Expr, params: &[Ty]) -> Ty {
        let ty = match &function.kind {
            ExprKind::Closure(id) => self.closure(*id, params),
            _ => self.expr(function),
        };
        match self.resolve(&ty) {
            Ty::Fn(wanted, result) => {
                wanted.iter().zip(params).for_each(|(wanted, given)| self.unify(wanted, given));
                (*result).clone()
            }
            _ => self.vague(),
        }
    }
}

fn literal(expr: &Expr) -> Option<LiteralId> {
    match &expr.kind {
        ExprKind::Literal(Literal::Int(id)) => Some(*id),
        _ => None,
    }
}
