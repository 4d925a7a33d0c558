//! The engine of workloads.
//!
//! [`plan`] joins the collectives, asks for their algorithms and prepares everything that all uses share. [`run`] executes:
//! a *part* ([`part`]) is a rank's trace, or its share in a collective that is under way, made when the rank comes to the
//! collective and given up when that is over on all ranks; so memory grows with what is under way at once and not with the
//! messages of the workload. Events name nodes by part and number.
//!
//! A node of a trace that waits for nothing more is served by a *lane* ([`lanes`]), one at a time. The rules for equal times are
//! those of [`crate::engine`].

mod account;
mod algorithms;
mod chunks;
mod faults;
mod lanes;
mod messages;
mod part;
mod path;
mod plan;
mod program;
mod ranks;
mod run;
mod shares;
mod show;
mod split;
mod stuck;
mod totals;
mod trace;
mod urgency;

use chakra_et::workload::Workload;

use self::plan::Plan;
use self::run::Engine;
pub(super) use self::run::Settings;
use super::algorithm::Algorithms;
use super::error::WorkloadError;
use super::report::{RankTimes, WorkloadReport};
use super::timeline::Timeline;
use crate::error::SimError;
use crate::model::Model;
use crate::model::analytical::{self, Analytical};
use crate::model::fluid::{self, Fluid};
use crate::model::link_queue::LinkQueue;
use crate::model::network::Network;
use crate::topology::Topology;
use crate::units::{Bytes, Picos};

/// Runs a workload.
pub(super) fn run<'a>(
    workload: &'a Workload,
    algorithms: &dyn Algorithms,
    topology: &'a Topology,
    model: Model,
    settings: Settings<'a>,
    timeline: Option<&mut dyn Timeline>,
) -> Result<WorkloadReport, WorkloadError> {
    let conventions = settings.conventions;
    let plan = Plan::new(workload, algorithms, conventions, settings.compat)?;
    match model {
        Model::Analytical => {
            let network = Analytical::new(topology, conventions, &plan.pairs)?;
            let notes = analytical::notes(conventions, topology.part_count());
            execute(&plan, model, settings, network, notes, topology, timeline)
        }
        Model::LinkQueue => {
            let network = LinkQueue::new(topology, conventions, &plan.pairs)?;
            let notes = network.notes();
            execute(&plan, model, settings, network, notes, topology, timeline)
        }
        Model::Fluid => {
            let network = Fluid::new(topology, &plan.pairs)?;
            execute(&plan, model, settings, network, fluid::notes(), topology, timeline)
        }
        Model::LogGp => {
            let what = "a workload, whose ranks communicate over a topology".to_owned();
            Err(SimError::NotWithLogGp { what }.into())
        }
        Model::Machine => Err(SimError::NotWithMachine { what: "a workload".to_owned() }.into()),
    }
}

fn execute<'a, N: Network>(
    plan: &'a Plan<'a>,
    model: Model,
    settings: Settings<'a>,
    network: N,
    notes: Vec<String>,
    topology: &'a Topology,
    timeline: Option<&mut dyn Timeline>,
) -> Result<WorkloadReport, WorkloadError> {
    let mut engine = Engine::new(plan, settings, network, (model, topology), timeline);
    if !engine.run()? {
        return Err(WorkloadError::Stuck(Box::new(engine.diagnose())));
    }
    let makespan = engine.ranks.iter().map(|rank| rank.finish).max().unwrap_or(Picos::ZERO);
    let critical_path = engine.critical_path();
    let ranks = engine.ranks.iter_mut().map(|rank| {
        let [compute, overlapped, exposed] = rank.account.times(makespan);
        RankTimes {
            finish: rank.finish,
            compute,
            overlapped,
            exposed,
            idle: Picos(makespan.0 - compute.0 - overlapped.0 - exposed.0),
            waited: Picos(rank.account.waited),
            cpu: Picos(rank.account.cpu),
        }
    });
    Ok(WorkloadReport {
        makespan,
        ranks: ranks.collect(),
        critical_path,
        collectives: engine.totals.rows,
        messages: engine.totals.messages,
        delivered: engine.totals.delivered,
        bytes: Bytes(engine.totals.bytes),
        links: engine.network.link_loads(),
        most_in_flight: engine.most_in_flight,
        model,
        conventions: settings.conventions,
        notes,
        warnings: plan.undivided.clone(),
    })
}
