//! Command lines that the help shows. A test runs each, from the root of the repository, in the order in which they stand here.

/// What it does, and the line.
pub(super) type Example = (&'static str, &'static str);

pub(super) const FIRST_STEPS: &[Example] = &[
    ("which algorithms there are", "collective algorithms"),
    ("is one right?", "collective verify allreduce_ring --ranks 8"),
    (
        "how long does it take?",
        "collective simulate allreduce_ring --topology examples/cluster.toml --model fluid --size 64MiB",
    ),
    (
        "what would be faster?",
        "collective compare --collective all-reduce --topology examples/cluster.toml --sizes 1MiB,1GiB",
    ),
];

/// The examples of a subcommand.
pub(super) fn of(subcommand: &str) -> &'static [Example] {
    EXAMPLES.iter().find(|(name, _)| *name == subcommand).map_or(&[], |(_, examples)| examples)
}

pub(super) const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "algorithms",
        &[
            ("all algorithms, with what they cost on 64 ranks", "collective algorithms --ranks 64"),
            ("those for one collective", "collective algorithms --collective all-to-all"),
            ("one in full, with its documentation", "collective algorithms allreduce_hierarchical"),
            ("the same for a program", "collective algorithms allreduce_ring --json"),
        ],
    ),
    (
        "compile",
        &[
            (
                "traces ring.0.et to ring.7.et",
                "collective compile allreduce_ring --ranks 8 --size 64MiB -o ring",
            ),
            (
                "XML for an MSCCL runtime, with two channels",
                "collective compile allreduce_ring --ranks 8 --set channels=2 --to msccl-xml -o ring.xml",
            ),
            ("what each thread block does", "collective compile allreduce_ring --ranks 4 --to schedule"),
        ],
    ),
    (
        "convert",
        &[
            (
                "MSCCL XML into traces",
                "collective compile allreduce_ring --ranks 4 --to msccl-xml -o small.xml",
            ),
            ("", "collective convert small.xml -o small --size 1MiB"),
            ("traces into lines of JSON, one file a rank", "collective convert small small.jsonl"),
            (
                "and back into the XML of another runtime",
                "collective convert small -o again.xml --target rccl",
            ),
        ],
    ),
    (
        "inspect",
        &[
            (
                "what is in traces, and what is wrong with them",
                "collective compile allgather_ring --ranks 4 -o gather",
            ),
            ("", "collective inspect gather"),
            ("one node in full", "collective inspect gather --rank 0 --node 1"),
            ("the graph of one rank, for Graphviz", "collective inspect gather --rank 0 --dot"),
        ],
    ),
    (
        "verify",
        &[
            ("an algorithm of the library", "collective verify allreduce_ring --ranks 8 --set channels=2"),
            (
                "MSCCL XML, by the limits of a runtime too",
                "collective compile alltoall_direct --ranks 8 --to msccl-xml -o direct.xml",
            ),
            ("", "collective verify direct.xml --target msccl"),
            (
                "in which order each chunk is added up",
                "collective verify allreduce_binomial_tree --ranks 4 --reduction-order",
            ),
        ],
    ),
    (
        "run",
        &[
            ("on 1000 elements", "collective run allreduce_ring --ranks 8"),
            (
                "averages of half-precision numbers, in random orders too",
                "collective run allreduce_ring --ranks 5 --elements 1037 --type f16 --op avg --seeds 3",
            ),
        ],
    ),
    (
        "simulate",
        &[
            (
                "an algorithm on a topology of one's own",
                "collective simulate allreduce_ring --topology examples/cluster.toml --model fluid --size 64MiB",
            ),
            (
                "what determines the time, step by step",
                "collective simulate allreduce_ring --topology examples/ring.yml --model link-queue --critical-path",
            ),
            (
                "as ASTRA-sim would, for a program",
                "collective simulate alltoall_direct --topology examples/ring.yml --model analytical --json",
            ),
            (
                "by the thread blocks of a real machine, four rings at once",
                "collective simulate allreduce_ring --machine mi300x --set channels=4",
            ),
            (
                "with a rank that computes at half the speed",
                "collective simulate allreduce_ring --topology examples/cluster.toml --model fluid --straggler 3=x2",
            ),
        ],
    ),
    (
        "compare",
        &[
            (
                "which all-reduce is fastest at which size",
                "collective compare --collective all-reduce --topology examples/cluster.toml --sizes 1KiB..1GiB:32",
            ),
            (
                "with which protocol and how many thread blocks on a real machine",
                "collective compare --collective all-gather --machine mi300x --sizes 4KiB,4MiB",
            ),
            (
                "one algorithm with all its parameters, without a topology",
                "collective compare --collective all-gather --ranks 16 --model loggp --algorithm allgather_ring",
            ),
        ],
    ),
    (
        "sweep",
        &[
            ("a table, a row for each combination", "collective sweep examples/sweep.toml -o sweep.csv"),
            (
                "what is fastest at which size",
                "collective sweep examples/sweep.toml -o sweep.csv --resume --best",
            ),
            (
                "half of it, so that two machines can work",
                "collective sweep examples/sweep.toml -o half.jsonl --shard 1/2",
            ),
        ],
    ),
    (
        "topology",
        &[
            ("what a file declares", "collective topology examples/cluster.toml"),
            ("which links a message takes", "collective topology examples/cluster.toml --route 0 9"),
            ("a picture", "collective topology examples/cluster.toml --svg cluster.svg"),
        ],
    ),
    (
        "report",
        &[
            (
                "a page on an algorithm and a network",
                "collective report ring.html allreduce_ring --topology examples/cluster.toml",
            ),
            ("the schedule alone", "collective report steps.html allgather_bruck --ranks 8"),
        ],
    ),
    (
        "calibrate",
        &[
            (
                "two figures of a machine, fitted to what a file lists",
                "collective calibrate --runs examples/measured.toml --machine mi300x --fit launch,copy -o mine.toml",
            ),
            (
                "every time with the simulated one",
                "collective calibrate --runs examples/measured.toml --machine mi300x --residuals residuals.csv",
            ),
        ],
    ),
    (
        "plot",
        &[
            ("the table of a sweep, as a picture", "collective sweep examples/sweep.toml -o table.csv"),
            ("", "collective plot table.csv -o time.svg"),
            (
                "bus bandwidth under one model, on the terminal",
                "collective plot table.csv --y busbw --where model=fluid",
            ),
        ],
    ),
    (
        "machines",
        &[
            ("all that are built in, with their sources", "collective machines"),
            ("the file of one, to be changed", "collective machines mi300x > mine.toml"),
            ("", "collective simulate allreduce_ring --machine mine.toml --protocol ll --size 4KiB"),
        ],
    ),
    (
        "completions",
        &[
            ("for bash, in this shell", "collective completions bash > collective.bash"),
            ("for zsh and fish", "collective completions zsh > _collective"),
            ("", "collective completions fish > collective.fish"),
        ],
    ),
    (
        "man",
        &[
            ("the page of the command itself", "collective man > collective.1"),
            ("a page for each subcommand", "collective man man1"),
        ],
    ),
];
