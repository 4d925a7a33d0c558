//! Which nodes make each chunk of a collective's output, and which need each of its input, as a replay of the traces finds it.

mod common;
mod replay;

use collective_dsl::Buffer::{Input, Output};
use collective_dsl::{Collective, CollectiveKind, Cost, Program, compile, et, lower, msccl};
use common::{program, random_ops, samples};
use proptest::prelude::*;

#[test]
fn the_ends_of_usual_programs_are_found() {
    for (seed, schedule) in (1..).zip(samples()) {
        replay::check(&schedule, seed);
    }
}

#[test]
fn a_computation_makes_the_chunk_that_is_sent() {
    // A tile each of a product for a reduce-scatter in place.
    let p = Program::new(Collective::reduce_scatter(3).unwrap().in_place().unwrap());
    for to in 0..3 {
        for from in (0..3).filter(|from| *from != to) {
            p.compute(from, Cost::micros(5)).writes(Input, to, 1);
        }
        for from in (0..3).filter(|from| *from != to) {
            p.chunk(to, Output, 0).reduce(p.chunk(from, Input, to));
        }
    }
    replay::check(&lower(&p.finish("tiles").unwrap()).unwrap(), 1);
}

#[test]
fn what_is_written_twice_is_ready_after_the_second_time() {
    // Rank 1 gets chunk 0 directly, and once more through rank 2: the same value, but the second write comes last.
    let p = Program::new(Collective::new(CollectiveKind::Broadcast, 3, 1).unwrap().in_place().unwrap());
    p.chunk(0, Input, 0).copy_to(1, Output, 0);
    p.chunk(0, Input, 0).copy_to(2, Output, 0).copy_to(1, Output, 0);
    let schedule = compile(&p.finish("twice").unwrap()).unwrap();
    replay::check(&schedule, 1);
    let chunks = et::chunk_nodes(&schedule).unwrap();
    let graph = et::graph(&schedule, &et::EtOptions::new(collective_dsl::Size::bytes(4))).unwrap();
    let [node] = chunks.outputs[1][0][..] else { panic!("one node makes it") };
    assert!(matches!(graph.rank(1).op(node), chakra_et::graph::Op::Recv { src: 2, .. }));
    assert_eq!(chunks.outputs[0], [Vec::<u32>::new()]);
}

#[test]
fn an_order_through_another_rank_counts() {
    // Thread block 0 of rank 0 receives into the chunk that thread block 1 has received into before. Only rank 1 orders the two: it
    // sends the second after it has got what rank 0 sends between them.
    let text = r#"<algo name="echo" ngpus="2" nchunksperloop="2" nchannels="2" coll="allreduce" inplace="1">
      <gpu id="0">
        <tb id="0" send="-1" recv="1" chan="1"> <step s="0" type="r" dstbuf="i" dstoff="0"/> </tb>
        <tb id="1" send="1" recv="1" chan="0">
          <step s="0" type="r" dstbuf="i" dstoff="0"/> <step s="1" type="s" srcbuf="i" srcoff="0"/>
        </tb>
      </gpu>
      <gpu id="1">
        <tb id="0" send="0" recv="0" chan="0">
          <step s="0" type="s" srcbuf="i" srcoff="0"/> <step s="1" type="r" dstbuf="i" dstoff="1" hasdep="1"/>
        </tb>
        <tb id="1" send="0" recv="-1" chan="1"> <step s="0" type="s" srcbuf="i" srcoff="1" depid="0" deps="1"/> </tb>
      </gpu>
    </algo>"#;
    // In the order of thread blocks, as a runtime has them.
    replay::check_order(&msccl::read(text, "echo.xml").unwrap().schedule, et::NodeOrder::ThreadBlock, 1);
}

#[test]
fn a_schedule_that_is_stuck_has_no_ends() {
    let text = r#"<algo name="stuck" ngpus="2" nchunksperloop="2" nchannels="1" coll="allgather" inplace="1">
      <gpu id="0"> <tb id="0" send="1" recv="1" chan="0">
        <step s="0" type="r" dstbuf="o" dstoff="1"/> <step s="1" type="s" srcbuf="o" srcoff="0"/>
      </tb> </gpu>
      <gpu id="1"> <tb id="0" send="0" recv="0" chan="0">
        <step s="0" type="r" dstbuf="o" dstoff="0"/> <step s="1" type="s" srcbuf="o" srcoff="1"/>
      </tb> </gpu>
    </algo>"#;
    let schedule = msccl::read(text, "stuck.xml").unwrap().schedule;
    assert!(et::chunk_nodes(&schedule).unwrap_err().to_string().contains("waits for"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_ends_of_random_programs_are_found(ops in random_ops(), kind in 0..8usize, in_place: bool, seed: u64) {
        use CollectiveKind::*;
        let kind = [AllReduce, AllGather, ReduceScatter, AllToAll, Broadcast, Reduce, Gather, Scatter][kind];
        let collective = Collective::new(kind, 4, 2).unwrap();
        let collective = if in_place { collective.in_place().unwrap() } else { collective };
        let trace = program(&collective, &ops).finish("random").unwrap();
        replay::check(&lower(&trace).unwrap(), seed);
    }
}
