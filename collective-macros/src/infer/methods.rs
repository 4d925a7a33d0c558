//! Methods.

use std::rc::Rc;

use super::{Collected, Inference, Ty};
use crate::ast::{DslMethod, Expr, IntMethod, Place};
use crate::integer::IntKind;
use crate::method::Method;
use crate::span::SpanId;

impl Inference<'_> {
    pub(super) fn int_method(&mut self, method: IntMethod, this: &Expr, args: &[Expr]) -> Ty {
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
            M::Ilog2
            | M::Ilog
            | M::Ilog10
            | M::TrailingZeros
            | M::LeadingZeros
            | M::TrailingOnes
            | M::LeadingOnes
            | M::CountZeros
            | M::CountOnes => Ty::Int(IntKind::U32),
            M::IsPowerOfTwo | M::IsMultipleOf | M::IsPositive | M::IsNegative => Ty::Plain,
            M::AbsDiff | M::UnsignedAbs => {
                let unsigned = self.fresh(true, false);
                self.unsigned.push((this, unsigned.clone()));
                self.settle_unsigned();
                unsigned
            }
            _ => this,
        }
    }

    pub(super) fn method(&mut self, method: Method, this: &Expr, args: &[Expr], span: SpanId) -> Ty {
        let this = self.expr(this);
        match (method, self.resolve(&this)) {
            (Method::Clone, _) => this,
            (Method::ToString, _) => Ty::Plain,
            (Method::Then, _) => Ty::Option(Rc::new(self.result_of_first(args, &[]))),
            (Method::ThenSome, _) => {
                let value = self.first(args);
                Ty::Option(Rc::new(value))
            }
            (_, Ty::Option(value)) => self.option_method(method, &this, &value, args),
            // Of an array.
            (Method::Map, Ty::List(item)) => {
                let mapped = self.result_of_first(args, std::slice::from_ref(&*item));
                Ty::List(Rc::new(mapped))
            }
            (_, Ty::List(item) | Ty::Iter(item)) => self.list_method(method, &item, args, span),
            _ => {
                self.exprs(args);
                self.vague()
            }
        }
    }

    /// The type of the only argument.
    fn first(&mut self, args: &[Expr]) -> Ty {
        args.first().map_or(Ty::Plain, |arg| self.expr(arg))
    }

    /// What the only argument, a function, gives.
    fn result_of_first(&mut self, args: &[Expr], params: &[Ty]) -> Ty {
        args.first().map_or(Ty::Plain, |arg| self.result_of(arg, params))
    }

    fn option_method(&mut self, method: Method, this: &Ty, value: &Ty, args: &[Expr]) -> Ty {
        use Method as M;
        let given = std::slice::from_ref(value);
        match (method, args) {
            (M::IsSomeAnd | M::IsNoneOr, _) => {
                self.result_of_first(args, given);
                Ty::Plain
            }
            (M::Unwrap, _) => value.clone(),
            (M::Expect, _) => {
                self.exprs(args);
                value.clone()
            }
            (M::UnwrapOr, [otherwise]) => {
                self.expr_as(otherwise, value);
                value.clone()
            }
            (M::UnwrapOrElse, [otherwise]) => {
                let otherwise = self.result_of(otherwise, &[]);
                self.unify(value, &otherwise);
                value.clone()
            }
            (M::Map, _) => Ty::Option(Rc::new(self.result_of_first(args, given))),
            (M::AndThen, _) => self.result_of_first(args, given),
            (M::MapOr, [otherwise, function]) => {
                let otherwise = self.expr(otherwise);
                let mapped = self.result_of(function, given);
                self.join(otherwise, mapped)
            }
            (M::MapOrElse, [otherwise, function]) => {
                let otherwise = self.result_of(otherwise, &[]);
                let mapped = self.result_of(function, given);
                self.join(otherwise, mapped)
            }
            (M::Or | M::Xor, [other]) => {
                self.expr_as(other, this);
                this.clone()
            }
            (M::OrElse, [other]) => {
                let other = self.result_of(other, &[]);
                self.unify(this, &other);
                this.clone()
            }
            (M::Filter, _) => {
                self.result_of_first(args, given);
                this.clone()
            }
            (M::Zip, [other]) => {
                let other = self.expr(other);
                let other = self.value(&other);
                Ty::Option(Rc::new(Ty::Tuple([value.clone(), other].into())))
            }
            (M::Flatten, _) => value.clone(),
            (M::Iter | M::IntoIter, _) => Ty::Iter(Rc::new(value.clone())),
            _ => {
                self.exprs(args);
                Ty::Plain
            }
        }
    }

    fn list_method(&mut self, method: Method, item: &Ty, args: &[Expr], span: SpanId) -> Ty {
        use Method as M;
        let given = std::slice::from_ref(item);
        let option = || Ty::Option(Rc::new(item.clone()));
        let list = || Ty::List(Rc::new(item.clone()));
        let iter = |item: Ty| Ty::Iter(Rc::new(item));
        match (method, args) {
            (M::Len, _) => Ty::Int(IntKind::Usize),
            (M::Contains, [wanted]) => {
                self.expr_as(wanted, item);
                Ty::Plain
            }
            (M::StartsWith | M::EndsWith, [other]) => {
                self.expr_as(other, &list());
                Ty::Plain
            }
            (M::Get, [index]) => match self.index(index) {
                true => Ty::Option(Rc::new(list())),
                false => option(),
            },
            (M::First | M::Last | M::Next | M::NextBack | M::Peek | M::Smallest | M::Largest, _) => option(),
            (M::Nth, [at]) => {
                self.expr_of(at, IntKind::Usize);
                option()
            }
            (M::Find | M::MinByKey | M::MaxByKey, _) => {
                self.result_of_first(args, given);
                option()
            }
            (M::FindMap, _) => self.result_of_first(args, given),
            (M::Position, _) => {
                self.result_of_first(args, given);
                Ty::Option(Rc::new(Ty::Int(IntKind::Usize)))
            }
            (M::All | M::Any | M::ForEach, _) => {
                self.result_of_first(args, given);
                Ty::Plain
            }
            (M::SplitFirst | M::SplitLast, _) => {
                Ty::Option(Rc::new(Ty::Tuple([item.clone(), list()].into())))
            }
            (M::SplitAt, [at]) => {
                self.expr_of(at, IntKind::Usize);
                Ty::Tuple([list(), list()].into())
            }
            (M::Concat, _) => {
                let inner = self.items(item);
                Ty::List(Rc::new(inner))
            }
            (M::Windows | M::Chunks | M::ChunksExact, [length]) => {
                self.expr_of(length, IntKind::Usize);
                iter(list())
            }
            (M::StepBy | M::Take | M::Skip, [number]) => {
                self.expr_of(number, IntKind::Usize);
                iter(item.clone())
            }
            (M::Filter | M::TakeWhile | M::SkipWhile | M::Inspect, _) => {
                self.result_of_first(args, given);
                iter(item.clone())
            }
            (M::Iter | M::IntoIter | M::Rev | M::Cycle | M::Peekable, _) => iter(item.clone()),
            (M::Enumerate, _) => iter(Ty::Tuple([Ty::Int(IntKind::Usize), item.clone()].into())),
            (M::Zip, [other]) => {
                let other = self.expr(other);
                let other = self.items(&other);
                iter(Ty::Tuple([item.clone(), other].into()))
            }
            (M::Chain, [other]) => {
                let other = self.expr(other);
                let other = self.items(&other);
                self.unify(item, &other);
                iter(item.clone())
            }
            (M::Map, _) => iter(self.result_of_first(args, given)),
            (M::FilterMap | M::MapWhile, _) => {
                let mapped = self.result_of_first(args, given);
                iter(self.value(&mapped))
            }
            (M::FlatMap, _) => {
                let mapped = self.result_of_first(args, given);
                iter(self.items(&mapped))
            }
            (M::Flatten, _) => iter(self.items(item)),
            (M::Collect, _) => {
                let into = self.any();
                self.collected.push(Collected { span, into: into.clone(), item: item.clone() });
                into
            }
            (M::ToVec, _) => list(),
            (M::Sum | M::Product, [first]) => {
                let first = self.expr(first);
                self.unify(item, &first);
                first
            }
            (M::Fold, [first, function]) => {
                let first = self.expr(first);
                let next = self.result_of(function, &[first.clone(), item.clone()]);
                self.join(first, next)
            }
            (M::Partition, _) => {
                self.result_of_first(args, given);
                Ty::Tuple([list(), list()].into())
            }
            (M::Unzip, _) => match self.resolve(item) {
                Ty::Tuple(fields) => {
                    Ty::Tuple(fields.iter().map(|ty| Ty::List(Rc::new(ty.clone()))).collect())
                }
                _ => self.vague(),
            },
            _ => {
                self.exprs(args);
                Ty::Plain
            }
        }
    }

    pub(super) fn mutate(&mut self, method: Method, place: &Place, args: &[Expr]) -> Ty {
        use Method as M;
        let this = self.place(place);
        if let M::TakeOut | M::AsMut = method {
            return this;
        }
        if let M::Replace = method {
            let value = self.value(&this);
            args.iter().for_each(|arg| self.expr_as(arg, &value));
            return this;
        }
        let item = self.item(&this);
        let given = std::slice::from_ref(&item);
        let option = || Ty::Option(Rc::new(item.clone()));
        match (method, args) {
            (M::Push | M::Fill, [value]) => self.expr_as(value, &item),
            (M::Insert | M::Resize, [number, value]) => {
                self.expr_of(number, IntKind::Usize);
                self.expr_as(value, &item);
            }
            (M::Remove | M::SwapRemove, [at]) => {
                self.expr_of(at, IntKind::Usize);
                return item;
            }
            (M::Extend | M::ExtendFromSlice | M::Append, [other]) => {
                let other = self.expr(other);
                let other = self.items(&other);
                self.unify(&item, &other);
            }
            (M::SplitOff, [at]) => {
                self.expr_of(at, IntKind::Usize);
                return Ty::List(Rc::new(item));
            }
            (M::Drain, [range]) => {
                self.index(range);
                return Ty::Iter(Rc::new(item));
            }
            (M::SortByKey | M::Retain, _) => _ = self.result_of_first(args, given),
            (M::IterMut, _) => return Ty::Iter(Rc::new(item)),
            (M::GetMut, [index]) => {
                self.index(index);
                return option();
            }
            (M::Pop | M::FirstMut | M::LastMut, _) => return option(),
            _ => args.iter().for_each(|arg| self.expr_of(arg, IntKind::Usize)),
        }
        Ty::Plain
    }

    pub(super) fn dsl(&mut self, method: DslMethod, receiver: &Expr, args: &[Expr]) -> Ty {
        use DslMethod as M;
        let this = self.expr(receiver);
        // Methods of iterators with the same names.
        match (method, self.resolve(&this)) {
            (M::Count, Ty::Iter(_) | Ty::List(_)) => return Ty::Int(IntKind::Usize),
            (M::Reduce, Ty::Iter(item)) => {
                let next = self.result_of_first(args, &[(*item).clone(), (*item).clone()]);
                self.unify(&item, &next);
                return Ty::Option(item);
            }
            _ => {}
        }
        for (i, arg) in args.iter().enumerate() {
            let ty = self.expr(arg);
            let is_number = match method {
                M::Chunk | M::Chunks | M::CopyTo | M::DeclareScratch => i != 1,
                M::Require | M::Reduce | M::Group | M::Reads => false,
                M::Compute | M::Writes if i == 0 => method == M::Compute,
                M::Compute => false,
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
}
