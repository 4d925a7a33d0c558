//! What the figures of a machine are worth to a time.

use collective::calibrate::{Parameter, Sensitivity, sensitivities};
use collective::sim::machine::Machine;
use collective::sim::topology::LoadedTopology;
use collective::sim::{Report, Simulation};
use serde_json::{Value, json};

use super::{Program, Simulate};
use crate::failure::Failure;
use crate::stage::stage;

/// Up to here twenty further runs are hardly noticed.
const MANY_NODES: u64 = 1 << 15;
/// Shares of less are not worth a word.
const LEAST: f64 = 0.005;

/// What the figures are worth, the most important first.
pub(super) struct Worth(Vec<Sensitivity>);

impl Simulate {
    /// Runs the model with each figure a little smaller and larger; None where that takes long and was not asked for.
    pub(super) fn worth(
        &self,
        machine: &Machine,
        loaded: &LoadedTopology,
        program: &Program,
        report: &Report,
    ) -> Result<Option<Worth>, Failure> {
        let is_wanted = self.figures || program.node_count() <= MANY_NODES;
        let Some(protocol) = program.protocol().filter(|_| is_wanted) else { return Ok(None) };
        let simulation =
            Simulation::new(&loaded.topology).conventions(report.conventions).fold(!self.no_fold);
        let parameters = Parameter::stated(machine, protocol);
        let found = stage("changing the figures", || {
            sensitivities(machine, &parameters, |changed| {
                let simulation = self.conditions.apply(simulation).machine(changed);
                program.run(&simulation).map(|report| report.makespan)
            })
        });
        found
            .map(|found| Some(Worth(found)))
            .map_err(|error| Failure::input(format!("{}: {error}", self.what())))
    }
}

impl Worth {
    /// A line. Were all times longer, those of links and delays too, the whole would be as much longer: they are the rest.
    pub(super) fn to_text(&self) -> String {
        let shares = self.0.iter().map(|it| (name(&it.parameter), it.elasticity.abs()));
        let shown = |(name, share): &(String, f64)| format!("{name} {:.0} %", share * 100.0);
        let rest = 1.0 - shares.clone().map(|(_, share)| share).sum::<f64>();
        let all = shares.chain([("the rest".to_owned(), rest)]);
        let said: Vec<String> = all.filter(|(_, share)| *share >= LEAST).map(|one| shown(&one)).collect();
        format!("time by figure: {}\n", said.join(", "))
    }

    pub(super) fn to_json(&self) -> Value {
        let one = |it: &Sensitivity| json!({"figure": it.parameter.to_string(), "elasticity": it.elasticity});
        Value::Array(self.0.iter().map(one).collect())
    }
}

/// The name without the protocol, which is the same for all.
fn name(parameter: &Parameter) -> String {
    Parameter { protocol: None, ..*parameter }.to_string()
}
