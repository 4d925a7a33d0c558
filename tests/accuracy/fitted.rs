//! The fit that the figures of the machine come from.

use std::collections::BTreeMap;
use std::convert::Infallible;

use collective::calibrate::{Estimate, Figure, Fit, Options, Parameter, Point, Summary, fit, leave_one_out};
use collective::chakra_et::graph::Graph;
use collective::sim::machine::{Machine, Protocol};
use collective::sim::units::Picos;

use crate::measured::{RUNS, Run};
use crate::{LEAST, graph, mi300x, time};

/// What is fitted; all else is known from elsewhere. The launch under LL is NCCL's, and a slice under LL128 costs nothing: its
/// fit ends at zero.
pub(crate) fn figures(protocol: Protocol) -> &'static [Figure] {
    match protocol {
        Protocol::Simple => &[Figure::Launch, Figure::Slice, Figure::Copy, Figure::Reduce],
        Protocol::Ll => &[Figure::Slice, Figure::Copy, Figure::Reduce],
        Protocol::Ll128 => &[Figure::Launch, Figure::Copy, Figure::Reduce],
    }
}

/// Larger sizes tell nothing new: they are more rounds of the same loop.
const MOST: u64 = 32 << 20;

/// The programs of a protocol, and how well the others foretell each.
pub(crate) struct Fitted {
    pub(crate) estimates: Vec<Estimate>,
    pub(crate) foretold: Vec<(&'static Run, Summary)>,
}

pub(crate) fn fitted(protocol: Protocol) -> Fitted {
    let runs: Vec<&Run> = RUNS.iter().filter(|run| run.protocol == protocol).collect();
    let (mut points, mut graphs) = (Vec::new(), BTreeMap::<_, Graph>::new());
    for (program, run) in runs.iter().enumerate() {
        let schedule = run.schedule();
        for (size, us) in run.times().filter(|(size, _)| (LEAST..=MOST).contains(size)) {
            points.push(Point { program, protocol, size, measured_ns: 1000.0 * us });
            graphs.insert((program, size), graph(&schedule, size));
        }
    }
    let time = |machine: &Machine, point: &Point| -> Result<Picos, Infallible> {
        Ok(time(machine, &graphs[&(point.program, point.size)]))
    };
    let options = Options { small: LEAST - 1, ..Options::default() };
    let parameters: Vec<Parameter> =
        figures(protocol).iter().map(|figure| Parameter::of(protocol, *figure)).collect();
    let whole: Fit = fit(&mi300x(), &parameters, &points, options, time).unwrap();
    assert!(whole.is_minimum, "{protocol}: {} iterations", whole.iterations);
    for (one, other, correlation) in &whole.indistinct {
        println!("{one} and {other} are not told apart: {correlation:.3}");
    }
    let foretold = leave_one_out(&whole, &points, options, time).unwrap();
    let foretold = runs.into_iter().zip(foretold).map(|(run, summary)| (run, summary.unwrap())).collect();
    Fitted { estimates: whole.estimates, foretold }
}
