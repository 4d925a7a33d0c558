//! `#[collective]`: evaluates a collective algorithm while it is compiled.
//!
//! Use it as `collective::collective`; the generated code names that crate.
//!
//! The pipeline, one module a stage; what one stage gives, the next does not change:
//!
//! ```text
//! attribute → arguments ┐
//! function → signature  ┴→ builds ┐
//!          → parse → ast ─────────┴→ instance (eval → collective-dsl) → emit
//!                                           ├ findings → report → errors at spans
//!                                           └ show, shown → files in the target folder
//! module → helpers, then each function as above
//! ```

mod arguments;
mod ast;
mod builds;
mod checked;
mod detail;
mod emit;
mod eval;
mod expand;
mod helpers;
mod infer;
mod instance;
mod integer;
mod method;
mod module;
mod names;
mod parse;
mod paths;
mod report;
mod show;
mod shown;
mod signature;
mod size;
mod source;
mod span;
mod values;
mod warning;

use proc_macro::TokenStream;

/// Turns a function into a collective algorithm, and checks and embeds instances of it at build time.
///
/// The function itself stays as it is: it records what it does in the `Program` that it is given, for any
/// parameters, at run time. For each `build(…)` its body is also evaluated *while it is compiled*: a wrong
/// algorithm is an error of the compiler at the expression that is wrong, and the finished Chakra execution
/// traces of a right one lie in the binary.
///
/// ```
/// use collective::prelude::*;
///
/// /// All-reduce around a ring: each chunk is summed on one round and given out on the next.
/// #[collective(all_reduce, in_place, defaults(channels = 1), build(ranks = 4), build(ranks = 8, channels = 2))]
/// pub fn ring(p: &Program, ranks: usize, channels: usize) {
///     for index in 0..ranks {
///         let mut c = p.chunk(index, Input, index).on_channel(index % channels);
///         for step in 1..ranks {
///             c = p.chunk((index + step) % ranks, Input, index).reduce(c);
///         }
///         for step in 0..ranks - 1 {
///             c = c.copy_to((index + step) % ranks, Input, index);
///         }
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Checked and embedded at build time.
/// let embedded = ring::RANKS_8_CHANNELS_2;
/// assert_eq!(embedded.ranks()?.len(), 8);
/// // The same at run time, for any parameters.
/// let schedule = ring::compile(5, 1)?;
/// assert_eq!(schedule.ranks.len(), 5);
/// # Ok(())
/// # }
/// ```
///
/// A wrong one does not compile:
///
/// ```compile_fail
/// use collective::prelude::*;
///
/// #[collective(all_gather, build(ranks = 4))]
/// fn forgets_its_own(p: &Program, ranks: usize) {
///     for rank in 0..ranks {
///         // error: all-gather does not hold for ranks = 4: rank 0, output chunk 0 is never written: …
///         p.chunk(rank, Input, 0).copy_to((rank + 1) % ranks, Output, rank);
///     }
/// }
/// ```
///
/// # Arguments
///
/// ```text
/// #[collective(
///     KIND, in_place, chunks = EXPR, outputs = EXPR, root = EXPR, destination = EXPR,
///     defaults(NAME = N, …), build(NAME = N, NAME = [N, …], NAME = N..=N, …), options(NAME = VALUE, …), show = "WORDS"
/// )]
/// ```
///
/// | argument | meaning |
/// |---|---|
/// | `all_reduce`, `all_gather`, `reduce_scatter`, `all_to_all`, `broadcast`, `reduce`, `gather`, `scatter`, `send_recv`, `barrier`, `custom` | the collective that the function is to achieve; required. What a custom one wants the function states with `expect` |
/// | `in_place`, `out_of_place` | whether input and output are one buffer; out of place unless said |
/// | `chunks = EXPR` | the number of chunks: of one rank's part for all-gather, reduce-scatter, gather and scatter, of one pair's for all-to-all, of the input for a custom collective, of the vector for the others; as many as ranks for all-reduce, else one, unless said |
/// | `outputs = EXPR` | chunks of the output of a custom collective; as many as `chunks` unless said |
/// | `root = EXPR` | the root of broadcast, reduce, gather and scatter, the source of send-recv; rank 0 unless said |
/// | `destination = EXPR` | the destination of send-recv; the last rank unless said |
/// | `defaults(NAME = N, …)` | values of parameters that a build, or a caller by name, leaves out |
/// | `build(NAME = N, …)` | an instance to check and embed; any number of them. With a list `[4, 8]` or a range `2..=8` for a value, one for each combination, those of the first name together; at most 256 of an algorithm |
/// | `options(size = "1MiB", element_type = "f32")` | what the embedded traces are for: a number of bytes or a text, and the type of an element; these are the values unless said. `Embedded::with_size` brings them to another where the collective allows it |
/// | `options(target = "msccl-executor")` | the runtime (`msccl`, `msccl-executor`, `rccl`) that must be able to hold the schedules: its limits are checked at build time, and `Embedded::xml` writes for it |
/// | `options(embed = "2MiB")` | how much of an instance's traces is embedded as it is, 64 MiB at most; those of a larger instance are made from its schedule when they are first asked for. This is the value unless said, and 0 packs all |
/// | `options(test = true)` | whether there is a test for each instance (below) |
/// | `show = "schedule"` | what is written to the target folder (below) |
/// | `options(protocol = "Simple", instances = 1, replication = "interleaved", fusion = true)` | how the function is lowered, at build time and at run time: the protocol (`Simple`, `LL`, `LL128`), the number of replicas that share the data, where their shares lie (`interleaved`, `blocked`), and whether a receive and the send that passes its data on become one step; these are the values unless said. Not among them: build time is always a debug build, in which assertions, `debug_assert!` too, are evaluated and numbers do not wrap |
///
/// An `EXPR` is made of the function's parameters, in the Rust that is evaluated at build time (below).
///
/// The function takes the program and then numbers, one of which is the number of ranks:
/// `fn name(p: &Program, ranks: usize, …)`. It returns nothing.
///
/// # What is generated
///
/// Beside the function stands a type of the same name (functions and types have names of their own):
///
/// | item | what it is |
/// |---|---|
/// | `NAME::RANKS_8_CHANNELS_2` | `&'static Embedded`, the instance `build(ranks = 8, channels = 2)`; its name is made of the parameters that the `build` gives, in the order of the function's, and is `DEFAULT` when it gives none |
/// | `NAME::build(8, 2)` | the same by the values of all parameters, in the order of the function's; `None` for what is not built; a `const fn` |
/// | `NAME::BUILDS` | all of them, in the order in which they are written |
/// | `NAME::trace(ranks, …)` | traces the function at run time |
/// | `NAME::compile(ranks, …)` | traces it, lowers and verifies the schedule |
/// | `NAME::DEF` | `AlgorithmDef`: name, documentation and its first line, collective, parameters |
///
/// All have the visibility of the function.
///
/// `Embedded::ranks` gives the bytes of the traces: they lie in the binary, and nothing is done at start-up. The schedule is
/// embedded as well, in a compact form (some bytes for each kind of step; a ring of 256 ranks takes less than 10 KiB), so
/// that traces for another size, the graph for simulation and MSCCL XML come without compiling anything again.
///
/// For each instance there is a test, `NAME_ranks_8_channels_2_is_the_same_at_run_time`, which compares what is embedded
/// with what the function gives when it runs, byte for byte. `options(test = false)` leaves them out; say so for an algorithm
/// that stands within a function, where the compiler warns of tests.
///
/// # Modules
///
/// Algorithms that share helper functions and constants stand with them in a module:
///
/// ```
/// #[collective::collective]
/// mod rings {
///     use collective::prelude::*;
///
///     const STEP: usize = 1;
///
///     fn next(rank: usize, ranks: usize) -> usize {
///         (rank + STEP) % ranks
///     }
///
///     #[collective(all_gather, build(ranks = [4, 8]))]
///     pub fn gather(p: &Program, ranks: usize) {
///         for rank in 0..ranks {
///             let mut c = p.chunk(rank, Input, 0).copy_to(rank, Output, rank);
///             for _ in 1..ranks {
///                 c = c.copy_to(next(c.rank(), ranks), Output, rank);
///             }
///         }
///     }
/// }
/// # fn main() {
/// assert_eq!(rings::gather::BUILDS.len(), 2);
/// # }
/// ```
///
/// The module is written inline. Only functions and constants that an algorithm uses are evaluated; everything else in the
/// module stays as it is and may use all of Rust.
///
/// # To see what was built
///
/// `show = "schedule"` in the attribute, or `COLLECTIVE_SHOW=schedule cargo build` for a whole crate, writes files to
/// `target/collective/CRATE`. There is `trace` (the operations in order), `schedule` (thread blocks and steps; also that of a wrong
/// algorithm), `verdict` (what was found, or how large it is), each as `NAME-RANKS_8.schedule.txt`, and `expansion` (the
/// generated code, without its bytes) as `NAME.expansion.rs`; several with commas, or `all`.
///
/// # What is evaluated at build time
///
/// Integers, `bool`, tuples, arrays, `Vec`, `Option`, chunk references and collections of them; all statements and control
/// flow, patterns, closures, nested and recursive functions, `&mut`; the methods of numbers, lists, options, ranges and
/// iterators that algorithms need; and the calls of the language: `chunk`, `chunks`, `ranks`, `input_chunks`,
/// `output_chunks`, `require`, `scratch`, `expect`; `copy_to`, `reduce`, `split`, `group`, `on_channel`, `on_send_block`,
/// `on_recv_block`, `rank`, `count`; `compute`, `reads`, `writes`, `Cost::flops`, `Cost::micros`, `bytes`. The page `docs/rust-subset.md`, which is the documentation of `collective::rust_subset`,
/// lists all of it with an example each, and what to write instead of the rest.
///
/// Integers behave as in a debug build: what overflows, or goes below zero in `usize`, is an error at that
/// expression. A literal has the type that the compiler infers. An evaluation that does not end is stopped with an
/// error at its loop. The compiler checks that `Input`, `Output` and `Scratch` are those of `Buffer`, and `Cost` that of `collective`, unless a block
/// within the body has a `use` of its own.
///
/// # Errors and warnings
///
/// An error says what is wrong, for which build, and in which round of the loops around it. `docs/errors.md` has wrong
/// programs with their messages, and the programs put right.
///
/// Data that is copied and never read, scratch that is declared and never used, and channels that no runtime has are
/// warnings. Stable Rust lets no macro print any, so each is the use of a deprecated constant, whose note is the warning:
/// under `-D warnings` it is an error, and `#[allow(deprecated)]` on the function silences it.
///
/// # What to do outside of it
///
/// * Helper functions and constants from elsewhere are not seen: move them into the body, or into the same
///   `#[collective] mod`.
/// * All-to-all-v, whose size table is no argument, and programs for some ranks of a larger job: call the function
///   with a `Program` of your own, `Program::new(Collective::all_to_all_v(&table)?)` or `Program::new(…).among(…)`,
///   and compile what its `finish` gives.
/// * Everything else: leave the `build(…)` out. Without one, the body may use all of Rust. Then `NAME::compile(…)` checks it
///   at run time, in a unit test for example; or a build script checks and embeds it, see `collective::build`.
/// * Instances whose *packed* schedule exceeds 16 MiB are refused, since the compiler would have to swallow it as text:
///   millions of steps without repetition.
/// * In a function that a `macro_rules!` macro has made, the source lines of the embedded traces are those of
///   the macro's text; at run time they are those of its call.
#[proc_macro_attribute]
pub fn collective(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(arguments.into(), item.into()).into()
}
