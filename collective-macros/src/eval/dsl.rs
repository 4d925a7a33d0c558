//! The calls of the language itself: each goes to the tracer as the run-time call does.

use collective_dsl::{Buffer, ChannelId, Diagnostic, Handle, Rule, Site, SiteId, ThreadBlockId, Tracer};

use super::{Eval, Flow, Machine, Sites, Value};
use crate::ast::{CallId, DslMethod, Expr};
use crate::integer::Int;
use crate::span::SpanId;

impl<'a> Machine<'a> {
    pub(super) fn dsl(
        &mut self,
        method: DslMethod,
        call: CallId,
        receiver: &'a Expr,
        args: &'a [Expr],
        span: SpanId,
    ) -> Eval {
        let this = self.eval(receiver)?;
        let this = self.plain(this, receiver.span)?;
        match (this, method, args) {
            // Methods of iterators with the same names.
            (this @ (Value::Iter(_) | Value::List(_)), DslMethod::Count, []) => {
                let items = self.stream(this, receiver.span)?;
                self.count(&items, span)
            }
            (this @ Value::Iter(_), DslMethod::Reduce, [function]) => {
                let items = self.stream(this, receiver.span)?;
                let function = self.eval(function)?;
                self.reduce(&items, &function, span)
            }
            (Value::Program, DslMethod::Chunk, [rank, buffer, index]) => {
                let (rank, buffer, index) = self.location(rank, buffer, index)?;
                self.record(call, span, |tracer, site| tracer.chunks(rank, named(&buffer), index, 1, site))
            }
            (Value::Program, DslMethod::Chunks, [rank, buffer, index, count]) => {
                let (rank, buffer, index) = self.location(rank, buffer, index)?;
                let count = self.usize_arg(count)?;
                self.record(call, span, |tracer, site| {
                    tracer.chunks(rank, named(&buffer), index, count, site)
                })
            }
            (Value::Program, DslMethod::Ranks, []) => self.ask(span, |tracer| tracer.collective().ranks()),
            (Value::Program, DslMethod::InputChunks, []) => {
                self.ask(span, |tracer| tracer.collective().input_chunks())
            }
            (Value::Program, DslMethod::OutputChunks, []) => {
                self.ask(span, |tracer| tracer.collective().output_chunks())
            }
            (Value::Program, DslMethod::Require, [condition, message]) => {
                self.require(call, condition, message, span)
            }
            (Value::Program, DslMethod::DeclareScratch, [rank, name, chunks]) => {
                self.declare_scratch(call, rank, name, chunks, span)
            }
            (Value::Program, DslMethod::Expect, [rank, index, from_rank, from_index]) => {
                let at = (self.usize_arg(rank)?, self.usize_arg(index)?);
                let from = (self.usize_arg(from_rank)?, self.usize_arg(from_index)?);
                self.at_site(call, span, |tracer, site| tracer.expect(at, from, site))?;
                Ok(Value::Unit)
            }
            (Value::Chunk(chunk), DslMethod::CopyTo, [rank, buffer, index]) => {
                let (rank, buffer, index) = self.location(rank, buffer, index)?;
                self.record(call, span, |tracer, site| tracer.copy(chunk, rank, named(&buffer), index, site))
            }
            (Value::Chunk(chunk), DslMethod::Reduce, [source]) => {
                let source = self.chunk_arg(source)?;
                self.record(call, span, |tracer, site| tracer.reduce(chunk, source, site))
            }
            (Value::Chunk(chunk), DslMethod::Group, [other]) => {
                let other = self.chunk_arg(other)?;
                self.record(call, span, |tracer, site| tracer.group(chunk, other, site))
            }
            (Value::Chunk(chunk), DslMethod::OnChannel, [channel]) => {
                let channel = self.usize_arg(channel)?;
                // As `ChunkRef::on_channel`, which keeps what is too large as the largest there is.
                let channel = ChannelId(u32::try_from(channel).unwrap_or(u32::MAX));
                Ok(Value::Chunk(chunk.on_channel(channel)))
            }
            (Value::Chunk(chunk), DslMethod::OnSendBlock, [id]) => {
                let (_, recv) = chunk.thread_blocks();
                let send = self.block_arg(id)?;
                Ok(Value::Chunk(chunk.on_thread_blocks(Some(send), recv)))
            }
            (Value::Chunk(chunk), DslMethod::OnRecvBlock, [id]) => {
                let (send, _) = chunk.thread_blocks();
                let recv = self.block_arg(id)?;
                Ok(Value::Chunk(chunk.on_thread_blocks(send, Some(recv))))
            }
            (Value::Chunk(chunk), DslMethod::Split, [parts]) => {
                let parts = self.usize_arg(parts)?;
                let handles = self.at_site(call, span, |tracer, site| tracer.split(chunk, parts, site))?;
                self.burn(handles.len() as u64, span)?;
                Ok(Value::list(handles.into_iter().map(Value::Chunk).collect()))
            }
            (Value::Chunk(chunk), DslMethod::Rank, []) => Ok(Value::Int(Int::usize(chunk.rank()))),
            (Value::Chunk(chunk), DslMethod::Count, []) => Ok(Value::Int(Int::usize(chunk.count()))),
            (Value::Program, DslMethod::Compute, [rank, cost]) => {
                let rank = self.usize_arg(rank)?;
                let value = self.eval(cost)?;
                let cost = match self.plain(value, cost.span)? {
                    Value::Cost(cost) => cost,
                    other => return self.mistyped(cost.span, &other, "a cost"),
                };
                let work = self.at_site(call, span, |tracer, site| tracer.compute(rank, cost, site))?;
                Ok(Value::Compute(work))
            }
            (Value::Compute(work), DslMethod::Reads, [chunks]) => {
                let chunks = self.chunk_arg(chunks)?;
                let act = |tracer: &mut Tracer, site| tracer.compute_reads(work, chunks, site);
                self.at_site(call, span, act).map(Value::Compute)
            }
            (Value::Compute(work), DslMethod::Writes, [buffer, index, count]) => {
                let buffer = self.buffer_arg(buffer)?;
                let (index, count) = (self.usize_arg(index)?, self.usize_arg(count)?);
                self.record(call, span, |tracer, site| {
                    tracer.compute_writes(work, named(&buffer), index, count, site)
                })
            }
            (Value::Cost(cost), DslMethod::Bytes, [bytes]) => {
                Ok(Value::Cost(cost.bytes(self.usize_arg(bytes)?)))
            }
            (other, _, _) => {
                let wanted = match method {
                    DslMethod::CopyTo
                    | DslMethod::Reduce
                    | DslMethod::OnChannel
                    | DslMethod::Split
                    | DslMethod::Group
                    | DslMethod::OnSendBlock
                    | DslMethod::OnRecvBlock
                    | DslMethod::Rank
                    | DslMethod::Count => "a chunk reference",
                    DslMethod::Reads | DslMethod::Writes => "a computation",
                    DslMethod::Bytes => "a cost",
                    _ => "the program",
                };
                self.mistyped(receiver.span, &other, wanted)
            }
        }
    }

    /// Rank, buffer and index, in the order of evaluation.
    fn location(&mut self, rank: &'a Expr, buffer: &'a Expr, index: &'a Expr) -> Eval<(usize, Value, usize)> {
        let rank = self.usize_arg(rank)?;
        let name = self.buffer_arg(buffer)?;
        Ok((rank, name, self.usize_arg(index)?))
    }

    fn buffer_arg(&mut self, buffer: &'a Expr) -> Eval {
        let name = self.eval(buffer)?;
        let name = self.plain(name, buffer.span)?;
        if name.buffer().is_none() {
            return self.mistyped(buffer.span, &name, "a buffer");
        }
        Ok(name)
    }

    pub(super) fn usize_arg(&mut self, arg: &'a Expr) -> Eval<usize> {
        let value = self.eval(arg)?;
        self.index_value(&value, arg.span)
    }

    fn chunk_arg(&mut self, arg: &'a Expr) -> Eval<Handle> {
        let value = self.eval(arg)?;
        match self.plain(value, arg.span)? {
            Value::Chunk(chunk) => Ok(chunk),
            other => self.mistyped(arg.span, &other, "a chunk reference"),
        }
    }

    /// As `ChunkRef::on_send_block`, which keeps what is too large as the largest there is.
    fn block_arg(&mut self, arg: &'a Expr) -> Eval<ThreadBlockId> {
        let id = self.usize_arg(arg)?;
        Ok(ThreadBlockId(u32::try_from(id).unwrap_or(u32::MAX)))
    }

    fn declare_scratch(
        &mut self,
        call: CallId,
        rank: &'a Expr,
        name: &'a Expr,
        chunks: &'a Expr,
        span: SpanId,
    ) -> Eval {
        let rank = self.usize_arg(rank)?;
        let text = match self.eval(name)? {
            Value::Text(text) => text,
            other => return self.mistyped(name.span, &other, "a text"),
        };
        let count = self.usize_arg(chunks)?;
        self.at_site(call, span, |tracer, site| tracer.declare_scratch(rank, &text, count, site))?;
        // The chunks are memory at once; far more than there may be are refused, and take none.
        self.burn(count.min(1 << 24) as u64, span)?;
        Ok(Value::Unit)
    }

    fn require(&mut self, call: CallId, condition: &'a Expr, message: &'a Expr, span: SpanId) -> Eval {
        let value = self.eval(condition)?;
        let holds = self.bool(&value, condition.span)?;
        let Value::Text(text) = self.eval(message)? else {
            return self.fail(
                message.span,
                "at build time the message of `require` must be a text, or `format!(…)`",
            );
        };
        if !holds {
            self.at_site(call, span, |tracer, site| {
                tracer.report(Diagnostic::new(Rule::Malformed, Some(site), &*text));
            })?;
        }
        Ok(Value::Bool(holds))
    }

    fn ask(&mut self, span: SpanId, question: impl FnOnce(&Tracer) -> usize) -> Eval {
        match &self.tracer {
            Some(tracer) => Ok(Value::Int(Int::usize(question(tracer)))),
            None => self.no_program(span),
        }
    }

    fn record(
        &mut self,
        call: CallId,
        span: SpanId,
        act: impl FnOnce(&mut Tracer, SiteId) -> Handle,
    ) -> Eval {
        self.at_site(call, span, act).map(Value::Chunk)
    }

    /// Calls the tracer with the site of the call. Sites are registered when they are first reached, as at
    /// run time: a graph does not name a file in which nothing happened.
    fn at_site<T>(
        &mut self,
        call: CallId,
        span: SpanId,
        act: impl FnOnce(&mut Tracer, SiteId) -> T,
    ) -> Eval<T> {
        let Some(tracer) = &mut self.tracer else { return self.no_program(span) };
        let known = &mut self.sites_of_calls[call.0 as usize];
        let site = match (*known, self.sites) {
            (Some(site), Sites::Calls) => site,
            _ => {
                let at = self.ast.calls[call.0 as usize];
                let site =
                    tracer.add_site(Site { file: self.file.to_owned(), line: at.line, column: at.column });
                self.calls_of_sites.push(call);
                *known = Some(site);
                if self.sites == Sites::Operations {
                    let context = self.context();
                    self.contexts.push(context);
                }
                site
            }
        };
        let Some(tracer) = &mut self.tracer else { return self.no_program(span) };
        let result = act(tracer, site);
        if tracer.has_given_up() { Err(Flow::Stop) } else { Ok(result) }
    }

    fn no_program<T>(&mut self, span: SpanId) -> Eval<T> {
        self.fail(span, "an argument of `collective` cannot depend on the program: use the parameters")
    }
}

/// The buffer, which [`Machine::buffer_arg`] has made sure of.
fn named(value: &Value) -> Buffer<'_> {
    value.buffer().unwrap_or(Buffer::Input)
}
