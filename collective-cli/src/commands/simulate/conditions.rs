//! What real ranks have and the models leave out: late starts, slow cores, overheads, time to reduce.

use clap::Args;
use collective::sim::Simulation;
use collective::sim::straggler::Straggler;
use collective::sim::units::{Bandwidth, Picos};
use collective::sim::workload::{Roofline, WorkloadSimulation};

use super::speeds;

/// Conditions of the ranks; only under exact conventions.
#[derive(Args)]
pub(super) struct Conditions {
    /// A rank that starts late or computes slowly, such as 3=+10us, 3=x1.5 or 3=+10us,x1.5; may be repeated.
    #[arg(long, visible_alias = "stragglers", value_name = "STRAGGLER")]
    straggler: Vec<Straggler>,
    /// Time from the issue of a SEND until its message enters the network [default: 0 ns].
    #[arg(long, value_name = "TIME")]
    send_overhead: Option<Picos>,
    /// Time from the arrival of a message until its RECV finishes [default: 0 ns].
    #[arg(long, value_name = "TIME")]
    receive_overhead: Option<Picos>,
    /// How fast a rank reduces in the simulation, where the graph states no duration: exactly, to the picosecond. --reduce-rate writes
    /// durations of whole microseconds into the graph instead, as traces for other tools have them [default: no time].
    #[arg(long, value_name = "RATE")]
    reduce_bandwidth: Option<Bandwidth>,
    /// How fast a rank computes, for computations that state operations and bytes but no duration: the
    /// larger of operations / PEAK and bytes / BANDWIDTH; such as 900TFLOP/s,1600GB/s [default: no time].
    #[arg(long, value_name = "ROOFLINE", value_parser = speeds::roofline)]
    pub(super) roofline: Option<Roofline>,
}

impl Conditions {
    /// The simulation under these conditions.
    pub(super) fn apply<'a>(&'a self, simulation: Simulation<'a>) -> Simulation<'a> {
        let simulation = simulation
            .stragglers(&self.straggler)
            .overheads(self.send_overhead.unwrap_or_default(), self.receive_overhead.unwrap_or_default());
        let simulation = match self.roofline {
            Some(roofline) => simulation.roofline(roofline),
            None => simulation,
        };
        match self.reduce_bandwidth {
            Some(bandwidth) => simulation.reduce_bandwidth(bandwidth),
            None => simulation,
        }
    }

    /// The simulation of a workload under these conditions.
    pub(super) fn apply_to_workload<'a>(
        &'a self,
        simulation: WorkloadSimulation<'a>,
    ) -> WorkloadSimulation<'a> {
        let simulation = simulation
            .stragglers(&self.straggler)
            .overheads(self.send_overhead.unwrap_or_default(), self.receive_overhead.unwrap_or_default());
        match self.reduce_bandwidth {
            Some(bandwidth) => simulation.reduce_bandwidth(bandwidth),
            None => simulation,
        }
    }
}
