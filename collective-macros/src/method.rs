//! The methods of the standard library on lists, options, ranges and iterators.
//!
//! A name means what it means for the value that it is called on, as in Rust: `map` of an Option is another
//! function than `map` of an iterator.

macro_rules! methods {
    ($($variant:ident: $name:literal $args:literal $(, $mutates:ident)?;)*) => {
        /// A method, by its name and number of arguments.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Method {
            $($variant,)*
        }

        impl Method {
            pub(crate) const ALL: &'static [(&'static str, usize, Method)] =
                &[$(($name, $args, Method::$variant),)*];

            /// Whether it changes its receiver.
            pub(crate) fn mutates(self) -> bool {
                match self {
                    $(Method::$variant => false $(|| stringify!($mutates) == "mutates")?,)*
                }
            }
        }
    };
}

methods! {
    // Of lists, ranges and iterators.
    Len: "len" 0;
    IsEmpty: "is_empty" 0;
    Contains: "contains" 1;
    Get: "get" 1;
    First: "first" 0;
    Last: "last" 0;
    SplitFirst: "split_first" 0;
    SplitLast: "split_last" 0;
    SplitAt: "split_at" 1;
    Concat: "concat" 0;
    StartsWith: "starts_with" 1;
    EndsWith: "ends_with" 1;
    IsSorted: "is_sorted" 0;
    Windows: "windows" 1;
    Chunks: "chunks" 1;
    ChunksExact: "chunks_exact" 1;
    Iter: "iter" 0;
    IntoIter: "into_iter" 0;
    // Adapters of iterators; `map`, `filter`, `zip`, `flatten` are those of options too.
    Rev: "rev" 0;
    StepBy: "step_by" 1;
    Enumerate: "enumerate" 0;
    Zip: "zip" 1;
    Chain: "chain" 1;
    Map: "map" 1;
    Filter: "filter" 1;
    FilterMap: "filter_map" 1;
    FlatMap: "flat_map" 1;
    Flatten: "flatten" 0;
    Take: "take" 1;
    Skip: "skip" 1;
    TakeWhile: "take_while" 1;
    SkipWhile: "skip_while" 1;
    MapWhile: "map_while" 1;
    Inspect: "inspect" 1;
    Cycle: "cycle" 0;
    Peekable: "peekable" 0;
    // What ends them.
    Next: "next" 0;
    NextBack: "next_back" 0;
    Nth: "nth" 1;
    Peek: "peek" 0;
    Collect: "collect" 0;
    Sum: "sum" 0;
    Product: "product" 0;
    Fold: "fold" 2;
    All: "all" 1;
    Any: "any" 1;
    Find: "find" 1;
    FindMap: "find_map" 1;
    Position: "position" 1;
    Smallest: "min" 0;
    Largest: "max" 0;
    MinByKey: "min_by_key" 1;
    MaxByKey: "max_by_key" 1;
    ForEach: "for_each" 1;
    Partition: "partition" 1;
    Unzip: "unzip" 0;
    // Of options.
    IsSome: "is_some" 0;
    IsNone: "is_none" 0;
    IsSomeAnd: "is_some_and" 1;
    IsNoneOr: "is_none_or" 1;
    Unwrap: "unwrap" 0;
    Expect: "expect" 1;
    UnwrapOr: "unwrap_or" 1;
    UnwrapOrElse: "unwrap_or_else" 1;
    MapOr: "map_or" 2;
    MapOrElse: "map_or_else" 2;
    AndThen: "and_then" 1;
    Or: "or" 1;
    OrElse: "or_else" 1;
    Xor: "xor" 1;
    // Of bool.
    Then: "then" 1;
    ThenSome: "then_some" 1;
    // Of all.
    Clone: "clone" 0;
    ToVec: "to_vec" 0;
    ToString: "to_string" 0;
    // Of lists, which they change.
    Push: "push" 1, mutates;
    Pop: "pop" 0, mutates;
    Insert: "insert" 2, mutates;
    Remove: "remove" 1, mutates;
    SwapRemove: "swap_remove" 1, mutates;
    Truncate: "truncate" 1, mutates;
    Resize: "resize" 2, mutates;
    Extend: "extend" 1, mutates;
    ExtendFromSlice: "extend_from_slice" 1, mutates;
    Append: "append" 1, mutates;
    SplitOff: "split_off" 1, mutates;
    Drain: "drain" 1, mutates;
    Clear: "clear" 0, mutates;
    Swap: "swap" 2, mutates;
    Reverse: "reverse" 0, mutates;
    Sort: "sort" 0, mutates;
    SortUnstable: "sort_unstable" 0, mutates;
    SortByKey: "sort_by_key" 1, mutates;
    Dedup: "dedup" 0, mutates;
    Retain: "retain" 1, mutates;
    Fill: "fill" 1, mutates;
    RotateLeft: "rotate_left" 1, mutates;
    RotateRight: "rotate_right" 1, mutates;
    IterMut: "iter_mut" 0, mutates;
    AsMut: "as_mut" 0, mutates;
    FirstMut: "first_mut" 0, mutates;
    LastMut: "last_mut" 0, mutates;
    GetMut: "get_mut" 1, mutates;
    // Of options, which they change.
    TakeOut: "take" 0, mutates;
    Replace: "replace" 1, mutates;
}
