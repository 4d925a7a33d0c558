//! What is fastest where, as text and as JSON.

use collective::sim::report::{algbw_gb_per_s, busbw_gb_per_s};
use collective::sim::units::Bytes;
use collective::sweep::{Field, Sweep, Winner};
use serde_json::{Value, json};

use crate::json::nanoseconds;
use crate::output::table;

/// The network of a field, in words.
pub(super) fn network(sweep: &Sweep, field: &Field) -> String {
    let network = &sweep.networks()[field.network];
    let on = if network.name.is_empty() { String::new() } else { format!("on {} ", network.name) };
    let conditions = match network.conditions.name.as_str() {
        "" => String::new(),
        name => format!(", {name}"),
    };
    let machine = network.machine.as_ref().map_or(String::new(), |machine| format!(" {}", machine.name));
    format!("{on}({}{machine} under {} conventions{conditions})", network.model, network.conventions.name())
}

fn bandwidths(field: &Field, winner: &Winner) -> (Option<f64>, Option<f64>) {
    let (bytes, ranks) = (Bytes(winner.size.in_bytes()), u32::try_from(field.ranks).unwrap_or(u32::MAX));
    let busbw = busbw_gb_per_s(field.collective.name(), ranks, bytes, winner.time);
    (algbw_gb_per_s(bytes, winner.time), busbw)
}

pub(super) fn text(sweep: &Sweep, fields: &[Field]) -> String {
    let mut text = String::new();
    for field in fields {
        let name = field.collective.name().replace('_', "-");
        text.push_str(&format!("\n{name} among {} ranks {}\n", field.ranks, network(sweep, field)));
        let mut rows = vec![["size", "time us", "algbw", "busbw", "  fastest"].map(str::to_owned).to_vec()];
        let gb = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
        for winner in &field.winners {
            let (algbw, busbw) = bandwidths(field, winner);
            rows.push(vec![
                Bytes(winner.size.in_bytes()).to_string(),
                format!("{:.3}", winner.time.as_ns() / 1000.0),
                gb(algbw),
                gb(busbw),
                format!("  {}", sweep.unit_label(winner.unit)),
            ]);
        }
        let width = rows.iter().map(|row| row[4].chars().count()).max().unwrap_or(0);
        rows.iter_mut().for_each(|row| row[4] = format!("{:<width$}", row[4]));
        text.push_str(&table(&rows));
        text.push_str("which is fastest where\n");
        let shown = |size: collective::Size| Bytes(size.in_bytes()).to_string();
        let rows: Vec<Vec<String>> = field
            .stretches()
            .iter()
            .map(|stretch| {
                let label = format!("  {}", sweep.unit_label(stretch.unit));
                vec![label, shown(stretch.from), "..".to_owned(), shown(stretch.until)]
            })
            .collect();
        text.push_str(&table(&rows));
    }
    text
}

pub(super) fn json(sweep: &Sweep, fields: &[Field]) -> Value {
    let one = |field: &Field| {
        let network = &sweep.networks()[field.network];
        let parameters = |unit: usize| -> serde_json::Map<String, Value> {
            let parameters = &sweep.units()[unit].parameters;
            parameters.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
        };
        let protocol = |unit: usize| sweep.units()[unit].variant.protocol.map(|protocol| protocol.name());
        let instances = |unit: usize| sweep.units()[unit].variant.instances;
        let name = |unit: usize| sweep.subject(&sweep.units()[unit]).name();
        let sizes = field.winners.iter().map(|winner| {
            let (algbw, busbw) = bandwidths(field, winner);
            json!({
                "size_bytes": winner.size.in_bytes(),
                "algorithm": name(winner.unit),
                "parameters": parameters(winner.unit),
                "protocol": protocol(winner.unit),
                "instances": instances(winner.unit),
                "time_ns": nanoseconds(winner.time),
                "algbw_gb_per_s": algbw,
                "busbw_gb_per_s": busbw,
            })
        });
        let stretches = field.stretches().into_iter().map(|stretch| {
            json!({
                "algorithm": name(stretch.unit),
                "parameters": parameters(stretch.unit),
                "protocol": protocol(stretch.unit),
                "instances": instances(stretch.unit),
                "from_bytes": stretch.from.in_bytes(),
                "until_bytes": stretch.until.in_bytes(),
            })
        });
        let (sizes, stretches): (Vec<Value>, Vec<Value>) = (sizes.collect(), stretches.collect());
        let filled = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
        json!({
            "collective": field.collective.name(),
            "ranks": field.ranks,
            "topology": filled(&network.name),
            "model": network.model.name(),
            "machine": network.machine.as_ref().map(|machine| machine.name.as_str()),
            "conventions": network.conventions.name(),
            "conditions": filled(&network.conditions.name),
            "fastest": sizes,
            "stretches": stretches,
        })
    };
    Value::Array(fields.iter().map(one).collect())
}
