//! Computations in programs: what they produce is not there before, what they read must be, and every stage keeps them.

use collective_dsl::Buffer::{Input, Output, Scratch};
use collective_dsl::et::{self, EtOptions, NodeOrder, Recovered};
use collective_dsl::msccl::{self, Target, XmlOptions};
use collective_dsl::run::{self, Order, RunOptions};
use collective_dsl::verify::{self, Settings, Verdict};
use collective_dsl::{
    Collective, CollectiveKind, Cost, Dag, Diagnostics, ElementType, Hazard, Options, Program, Replication,
    Rule, Schedule, Size, StepKind, Trace, compile, lint, lower, pack, unpack,
};

/// A product of p·C tiles, summed up around a ring: each tile is sent as soon as it is there.
fn product_then_reduce_scatter(p: &Program, ranks: usize, tiles: usize, cost: Cost) {
    let mut sums = Vec::new();
    for stage in 0..ranks {
        let before = std::mem::take(&mut sums);
        for rank in 0..ranks {
            let part = (rank + ranks - 1 - stage) % ranks;
            for k in 0..tiles {
                let tile = p.compute(rank, cost).writes(Input, part * tiles + k, 1);
                let left = (rank + ranks - 1) % ranks * tiles + k;
                sums.push(if stage == 0 { tile } else { tile.reduce(before[left]) });
            }
        }
    }
}

/// A product of the shards of all ranks: each tile is computed as soon as its shard has come around the ring.
fn all_gather_then_product(p: &Program, ranks: usize, tiles: usize, cost: Cost) {
    let mut here: Vec<_> = (0..ranks * tiles).map(|i| p.chunk(i / tiles, Input, i % tiles)).collect();
    here.iter().for_each(|shard| _ = p.compute(shard.rank(), cost).reads(*shard));
    for stage in 1..ranks {
        let before = std::mem::take(&mut here);
        for rank in 0..ranks {
            let part = (rank + ranks - stage) % ranks;
            for k in 0..tiles {
                let left = (rank + ranks - 1) % ranks * tiles + k;
                let shard = before[left].copy_to(rank, Output, part * tiles + k);
                p.compute(rank, cost).reads(shard);
                here.push(shard);
            }
        }
    }
}

fn reduce_scatter(ranks: usize, tiles: usize) -> Collective {
    Collective::new(CollectiveKind::ReduceScatter, ranks, tiles).unwrap().in_place().unwrap()
}

fn all_gather(ranks: usize, tiles: usize) -> Collective {
    Collective::new(CollectiveKind::AllGather, ranks, tiles).unwrap().in_place().unwrap()
}

fn traced(collective: Collective, options: Options, program: impl FnOnce(&Program)) -> Trace {
    let p = Program::new(collective).with_options(options);
    program(&p);
    p.finish("overlapped").unwrap()
}

/// Both programs for a few sizes.
fn schedules() -> Vec<Schedule> {
    let mut schedules = Vec::new();
    for (ranks, tiles) in [(1, 1), (2, 1), (3, 2), (4, 3), (5, 1)] {
        let cost = Cost::flops(1000).bytes(64);
        schedules.push(compile(&traced(reduce_scatter(ranks, tiles), Options::default(), |p| {
            product_then_reduce_scatter(p, ranks, tiles, cost);
        })));
        schedules.push(compile(&traced(all_gather(ranks, tiles), Options::default(), |p| {
            all_gather_then_product(p, ranks, tiles, Cost::micros(7));
        })));
    }
    schedules.into_iter().collect::<Result<_, _>>().unwrap()
}

#[test]
fn computations_have_a_thread_block_of_their_own_and_keep_the_order_of_the_program() {
    for schedule in schedules() {
        for rank in &schedule.ranks {
            let computes = |block: &&collective_dsl::ThreadBlock| {
                block.steps.iter().any(|step| step.kind == StepKind::Compute)
            };
            let computing: Vec<_> = rank.thread_blocks.iter().filter(computes).collect();
            assert_eq!(computing.len(), 1);
            assert!(computing[0].steps.iter().all(|step| step.kind == StepKind::Compute));
            let collective = &schedule.collective;
            assert_eq!(computing[0].steps.len(), collective.ranks() * collective.chunks());
            assert_eq!((computing[0].send, computing[0].recv), (None, None));
        }
    }
    // Rank 0 of 3 computes for rank 2, for rank 1, for itself.
    let p = traced(reduce_scatter(3, 1), Options::default(), |p| {
        product_then_reduce_scatter(p, 3, 1, Cost::micros(1));
    });
    let schedule = compile(&p).unwrap();
    let computing = schedule.ranks[0].thread_blocks.last().unwrap();
    let written = computing.steps.iter().flat_map(|step| step.work.iter().flat_map(|work| &work.writes));
    assert_eq!(written.map(|run| run.first.index).collect::<Vec<_>>(), [2, 1, 0]);
}

#[test]
fn both_opinions_agree_that_they_are_right() {
    for schedule in schedules() {
        let report = verify::check(&schedule, &Settings { reductions: true, ..Settings::default() });
        assert_eq!(report.verdict(), Verdict::Pass, "{:?}", report.findings);
        let elements = 3 * run::one_element_a_chunk(&schedule.collective) + 1;
        let orders: Vec<Order> = Order::adverse(&schedule).chain((0..5).map(Order::Random)).collect();
        let options = RunOptions {
            elements,
            element_type: ElementType::I32,
            slots: Some(2),
            orders,
            ..RunOptions::default()
        };
        assert!(run::run(&schedule, &options).unwrap().is_right());
    }
}

/// Without one of the dependences the verifier finds a fault exactly if some order of the steps shows it.
#[test]
fn a_dependence_that_is_missing_is_found_by_both() {
    let mut found = 0;
    for schedule in schedules() {
        let steps = schedule.ranks.iter().enumerate().flat_map(|(r, rank)| {
            rank.thread_blocks.iter().enumerate().flat_map(move |(t, block)| {
                block
                    .steps
                    .iter()
                    .enumerate()
                    .flat_map(move |(s, step)| (0..step.depends.len()).map(move |d| (r, t, s, d)))
            })
        });
        for (r, t, s, d) in steps.collect::<Vec<_>>() {
            let mut mutant = schedule.clone();
            mutant.ranks[r].thread_blocks[t].steps[s].depends.remove(d);
            let verdict = verify::check(&mutant, &Settings::default()).verdict();
            let orders = Order::adverse(&mutant).chain(Order::each_step_last(&mutant)).collect();
            let elements = run::one_element_a_chunk(&mutant.collective);
            let options = RunOptions {
                elements,
                element_type: ElementType::I64,
                slots: None,
                orders,
                ..RunOptions::default()
            };
            let shown = run::run(&mutant, &options).map_or(true, |report| !report.is_right());
            assert_eq!(verdict != Verdict::Pass, shown, "{}\n{mutant}", schedule.name);
            found += usize::from(shown);
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn a_schedule_in_which_a_chunk_leaves_before_it_is_there_is_named_by_step() {
    let mut schedule = compile(&traced(reduce_scatter(2, 1), Options::default(), |p| {
        product_then_reduce_scatter(p, 2, 1, Cost::micros(3));
    }))
    .unwrap();
    // Rank 0 sends first, and computes then.
    let sending = schedule.ranks[0].thread_blocks.iter().position(|block| block.send.is_some()).unwrap();
    let computing = schedule.ranks[0].thread_blocks.len() - 1;
    schedule.ranks[0].thread_blocks[sending].steps[0].depends.clear();
    let first =
        collective_dsl::StepId { thread_block: collective_dsl::ThreadBlockId(sending as u32), step: 0 };
    schedule.ranks[0].thread_blocks[computing].steps[0].depends.push(first);
    let report = verify::check(&schedule, &Settings::default());
    assert_eq!(report.verdict(), Verdict::Broken(Rule::Uninitialised), "{:?}", report.findings);
    let wanted = format!("rank 0, tb{sending}, step 0 (s): i[1] is read before it is produced");
    assert_eq!(report.findings[0].message, wanted);
    assert_eq!(report.findings[0].related[0].1, format!("rank 0, tb{computing}, step 0 (comp) produces it"));
}

#[test]
fn traces_hold_them_and_give_them_back() {
    for (schedule, order) in
        schedules().into_iter().flat_map(|s| [(s.clone(), NodeOrder::ThreadBlock), (s, NodeOrder::Dataflow)])
    {
        let size = Size::bytes(4 * 3 * run::one_element_a_chunk(&schedule.collective));
        let traces = et::bytes(&schedule, &EtOptions { order, ..EtOptions::new(size) }).unwrap();
        let Recovered::Full(original) = et::recover(traces.ranks()).unwrap() else { panic!("it is ours") };
        assert_eq!(original.schedule.to_string(), schedule.to_string());
        assert_eq!(verify::check(&original.schedule, &Settings::default()).verdict(), Verdict::Pass);
        // The compact graph is the same one.
        let graph = et::graph(&schedule, &EtOptions { order, ..EtOptions::new(size) }).unwrap();
        let read = traces.graph().unwrap();
        for (made, read) in graph.ranks().iter().zip(read.ranks()) {
            assert_eq!(made.ops(), read.ops());
        }
        // Costs are the program's own: another size does not change them.
        let doubled = Size::bytes(2 * size.in_bytes());
        let again = et::bytes(&schedule, &EtOptions { order, ..EtOptions::new(doubled) }).unwrap();
        assert_eq!(traces.rescaled(doubled).unwrap(), again);
        assert_eq!(unpack(&pack(&schedule)).unwrap().ranks, schedule.ranks);
    }
}

#[test]
fn a_node_says_what_it_costs_and_waits_for_what_it_needs() {
    use collective_dsl::et::graph;
    let p = Program::new(all_gather(2, 1));
    let cost = Cost { flops: 2000, bytes: 512, micros: 9 };
    p.compute(0, Cost::micros(1));
    let shard = p.chunk(1, Input, 0).copy_to(0, Output, 1);
    p.compute(0, cost).reads(shard);
    p.chunk(0, Input, 0).copy_to(1, Output, 0);
    let schedule = compile(&p.finish("costs").unwrap()).unwrap();
    for order in [NodeOrder::ThreadBlock, NodeOrder::Dataflow] {
        let graph = graph(&schedule, &EtOptions { order, ..EtOptions::new(Size::bytes(64)) }).unwrap();
        let nodes: Vec<String> = graph.rank(0).ops().iter().map(|op| format!("{op:?}")).collect();
        let at = |text: &str| nodes.iter().position(|node| node.contains(text)).unwrap();
        let (first, receive) = (at("micros: 1,"), at("Recv"));
        let last = at("Comp { micros: 9, ops: 2000, bytes: 512 }");
        let mut deps: Vec<usize> = graph.rank(0).deps(last as u32).iter().map(|dep| *dep as usize).collect();
        deps.sort_unstable();
        let mut wanted = vec![first, receive];
        wanted.sort_unstable();
        assert_eq!(deps, wanted, "{nodes:?}");
    }
}

#[test]
fn the_dag_and_the_dumps_show_them() {
    let trace = traced(reduce_scatter(2, 1), Options::default(), |p| {
        product_then_reduce_scatter(p, 2, 1, Cost::micros(40));
    });
    assert!(trace.to_string().contains("op0 comp r0 40 us writes r0 i[1]"), "{trace}");
    let dag = Dag::of(&trace).unwrap();
    // The second tile of rank 0 comes after the first.
    let second = dag
        .trace()
        .ops
        .iter()
        .enumerate()
        .filter(|(_, op)| dag.trace().computation(op).is_some() && op.src.rank.0 == 0);
    let second = second.map(|(i, _)| i).nth(1).unwrap();
    let edges: Vec<(u32, Hazard)> =
        dag.nodes()[second].depends.iter().map(|edge| (edge.on, edge.hazard)).collect();
    assert_eq!(edges, [(0, Hazard::Stream)]);
    let schedule = compile(&trace).unwrap();
    assert!(schedule.to_string().contains("0 comp 40 us writes i[1]"), "{schedule}");
}

#[test]
fn instances_share_a_computation() {
    for replication in [Replication::Interleaved, Replication::Blocked] {
        let options = Options { instances: 3, replication, ..Options::default() };
        let cost = Cost::micros(5);
        let trace = traced(reduce_scatter(3, 2), options, |p| product_then_reduce_scatter(p, 3, 2, cost));
        let schedule = compile(&trace).unwrap();
        let steps = schedule.ranks.iter().flat_map(|rank| &rank.thread_blocks).flat_map(|block| &block.steps);
        let computations: Vec<_> = steps.filter_map(|step| step.work.as_ref()).collect();
        // As many as without instances, each for all three parts of its chunk.
        assert_eq!(computations.len(), 3 * 6);
        assert!(computations.iter().all(|work| work.writes.iter().map(|run| run.count).sum::<u32>() == 3));
        let options = RunOptions { elements: 55, element_type: ElementType::I32, ..RunOptions::default() };
        assert!(run::run(&schedule, &options).unwrap().is_right());
    }
}

#[test]
fn mscc_lang_has_no_word_for_them() {
    let p = Program::new(Collective::all_reduce(2).unwrap().with_chunks(1).unwrap().in_place().unwrap());
    let line = line!() + 1;
    let tile = p.compute(1, Cost::micros(3)).writes(Input, 0, 1);
    p.chunk(0, Input, 0).reduce(tile).copy_to(1, Input, 0);
    let schedule = compile(&p.finish("pair").unwrap()).unwrap();
    for target in Target::ALL {
        let refused = msccl::write(&schedule, &XmlOptions::new(target)).unwrap_err().to_string();
        assert!(refused.contains("knows no computation"), "{refused}");
        assert!(refused.contains(&format!("compute.rs:{line}")), "{refused}");
    }
    let settings = Settings { target: Some(Target::Msccl), ..Settings::default() };
    assert_eq!(verify::check(&schedule, &settings).verdict(), Verdict::Broken(Rule::Limit));
    // And a file cannot bring one in.
    let text = r#"<algo name="x" ngpus="1" nchunksperloop="1" nchannels="1" coll="allreduce" inplace="1">
      <gpu id="0"><tb id="0" send="-1" recv="-1" chan="0"><step s="0" type="comp"/></tb></gpu></algo>"#;
    assert!(msccl::read(text, "x.xml").unwrap_err().to_string().contains("attribute type is \"comp\""));
}

/// The one finding of a program that must be refused, with its line and the lines that explain it.
#[track_caller]
fn refused(collective: Collective, program: impl FnOnce(&Program)) -> (Rule, String, u32, Vec<u32>) {
    let p = Program::new(collective);
    program(&p);
    let found: Diagnostics =
        p.finish("test").and_then(|trace| compile(&trace)).expect_err("it must be refused");
    assert_eq!(found.findings.len(), 1, "{found}");
    let line = |site| found.sites.get(site).map_or(0, |site| site.line);
    let finding = &found.findings[0];
    let related = finding.related.iter().map(|(site, _)| line(*site)).collect();
    (finding.rule, finding.message.clone(), finding.site.map_or(0, line), related)
}

fn pair() -> Collective {
    Collective::all_reduce(2).unwrap().with_chunks(1).unwrap().in_place().unwrap()
}

#[test]
fn a_chunk_that_is_used_before_it_is_produced_is_named_at_that_line() {
    let advice = "state the computation first, and go on with the reference that `writes` returns";
    let line = line!();
    let found = refused(pair(), |p| {
        let sum = p.chunk(0, Input, 0).reduce(p.chunk(1, Input, 0));
        sum.copy_to(1, Scratch("s"), 0);
        p.compute(1, Cost::micros(1)).writes(Input, 0, 1);
    });
    let message = format!("chunk 0 of input of rank 1 is sent before it is produced: {advice}");
    assert_eq!(found, (Rule::Uninitialised, message, line + 2, vec![line + 4]));
    let found = refused(pair(), |p| {
        p.chunk(0, Input, 0).reduce(p.chunk(1, Input, 0)).copy_to(1, Scratch("s"), 0);
        p.compute(1, Cost::micros(1)).reads(p.chunk(1, Input, 0));
        p.compute(0, Cost::micros(1)).writes(Output, 0, 1);
    });
    // Rank 0 has added to it, which is the earlier mistake.
    assert_eq!(found.1, "chunk 0 of output of rank 0 is overwritten before it is produced");
    let found = refused(Collective::all_gather(2).unwrap(), |p| {
        p.compute(1, Cost::micros(1)).reads(p.chunk(1, Input, 0));
        p.compute(1, Cost::micros(1)).writes(Input, 0, 1);
    });
    assert!(found.1.starts_with("chunk 0 of input of rank 1 is read by a computation before it is produced"));
    // A reference from before is out of date.
    let line = line!();
    let found = refused(pair(), |p| {
        let early = p.chunk(1, Input, 0);
        p.compute(1, Cost::micros(1)).writes(Input, 0, 1);
        early.copy_to(0, Scratch("s"), 0);
    });
    assert_eq!((found.0, found.2, found.3), (Rule::Stale, line + 4, vec![line + 2, line + 3]));
    assert!(found.1.contains("go on with the reference that `writes` returned"), "{}", found.1);
}

#[test]
fn what_cannot_be_computed_is_refused_with_what_can() {
    let line = line!();
    let found = refused(pair(), |p| {
        p.compute(0, Cost::micros(1)).writes(Input, 0, 1);
        p.compute(0, Cost::micros(1)).writes(Input, 0, 1);
    });
    let message = "chunk 0 of input of rank 0 is produced twice".to_owned();
    assert_eq!(found, (Rule::Malformed, message, line + 3, vec![line + 2]));
    let gather = || Collective::all_gather(2).unwrap().in_place().unwrap();
    let found = refused(gather(), |p| _ = p.compute(0, Cost::micros(1)).writes(Output, 1, 1));
    assert!(found.1.starts_with("chunk 1 of output of rank 0 cannot be computed"), "{}", found.1);
    // Its own part of the output is its input.
    let p = Program::new(gather());
    p.compute(0, Cost::micros(1)).writes(Output, 0, 1).copy_to(1, Output, 0);
    p.chunk(1, Input, 0).copy_to(0, Output, 1);
    compile(&p.finish("gather").unwrap()).unwrap();
    let found = refused(pair(), |p| _ = p.compute(0, Cost::micros(1)).writes(Scratch("s"), 0, 1));
    assert!(found.1.starts_with("scratch \"s\" cannot be computed"), "{}", found.1);
    let found = refused(pair(), |p| _ = p.compute(0, Cost::micros(1)).writes(Input, 0, 2));
    assert_eq!(found.0, Rule::Bounds);
    let found =
        refused(pair(), |p| _ = p.compute(2, Cost::micros(1)).writes(Input, 0, 1).copy_to(0, Input, 0));
    assert_eq!((found.0, &*found.1), (Rule::Bounds, "rank 2 does not exist: ranks go from 0 to 1"));
    let found = refused(pair(), |p| _ = p.compute(0, Cost::micros(1)).reads(p.chunk(1, Input, 0)));
    assert_eq!(found.1, "a computation of rank 0 cannot read chunk 0 of rank 1: copy it to rank 0 first");
    let found = refused(pair(), |p| {
        let work = p.compute(0, Cost::micros(1));
        work.reads(work.writes(Input, 0, 1));
    });
    assert_eq!(found.1, "a computation cannot read what it produces itself");
    let line = line!();
    let found = refused(pair(), |p| {
        let work = p.compute(0, Cost::micros(1));
        p.chunk(1, Input, 0).copy_to(0, Scratch("s"), 0);
        work.writes(Input, 0, 1);
    });
    assert_eq!((found.0, found.2, found.3), (Rule::Malformed, line + 4, vec![line + 2, line + 3]));
    let found = refused(pair(), |p| _ = p.compute(0, Cost::flops(usize::MAX)));
    assert!(found.1.contains("is more than a trace can say"), "{}", found.1);
}

#[test]
fn what_nobody_needs_is_a_warning() {
    let p = Program::new(Collective::new(CollectiveKind::ReduceScatter, 2, 1).unwrap());
    let line = line!() + 1;
    p.compute(0, Cost::micros(1)).writes(Input, 1, 1);
    p.chunk(0, Input, 0).copy_to(0, Output, 0);
    let trace = p.finish("waste").unwrap();
    let found: Vec<_> = lint::warnings(&trace, None);
    let message = "chunk 1 of input of rank 0 is written here, but nobody reads it: remove this operation, or read its data";
    assert_eq!(found[0].message, message);
    assert_eq!(trace.sites.get(found[0].site.unwrap()).unwrap().line, line);
    // What only reads wastes nothing.
    let p = Program::new(pair());
    p.compute(0, Cost::micros(1)).reads(p.chunk(0, Input, 0));
    assert!(lint::warnings(&p.finish("read").unwrap(), None).is_empty());
}

#[test]
fn a_chunk_may_not_be_overwritten_while_it_is_read() {
    // Rank 0 computes with its input before the sum of rank 1 overwrites it.
    let p = Program::new(pair());
    p.compute(0, Cost::micros(1)).reads(p.chunk(0, Input, 0));
    let sum = p.chunk(1, Input, 0).reduce(p.chunk(0, Input, 0));
    sum.copy_to(0, Input, 0);
    let mut schedule = lower(&p.finish("guarded").unwrap()).unwrap();
    assert_eq!(verify::check(&schedule, &Settings::default()).verdict(), Verdict::Pass);
    schedule.ranks[0].thread_blocks.iter_mut().flat_map(|block| &mut block.steps).for_each(|step| {
        step.depends.clear();
    });
    let report = verify::check(&schedule, &Settings::default());
    assert_eq!(report.verdict(), Verdict::Broken(Rule::Race));
}
