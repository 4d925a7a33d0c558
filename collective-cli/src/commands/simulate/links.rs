//! What the links carried.

use collective::sim::Model;
use collective::sim::report::LinkLoad;
use collective::sim::topology::{Link, Topology};
use collective::sim::units::Picos;
use serde_json::{Value, json};

use crate::json::nanoseconds;
use crate::output::table;
use crate::units_shown;

/// Rows of the table.
const SHOWN: usize = 10;

/// What a run has to say of links.
pub(super) struct Carried<'a> {
    pub(super) topology: &'a Topology,
    /// None if the model knows no links.
    pub(super) loads: Option<&'a [LinkLoad]>,
    pub(super) makespan: Picos,
    pub(super) model: Model,
}

/// The links that carried anything, those first that were busy longest.
fn used(carried: &Carried<'_>) -> Vec<(Link, LinkLoad)> {
    let mut loads: Vec<LinkLoad> =
        carried.loads.unwrap_or_default().iter().filter(|load| load.bytes.0 > 0).copied().collect();
    loads.sort_by_key(|load| (std::cmp::Reverse((load.busy, load.bytes)), load.link));
    loads.into_iter().filter_map(|load| Some((carried.topology.link(load.link)?, load))).collect()
}

/// The share of what the link could have carried in the time of the run; None at time 0.
fn utilisation(link: &Link, load: &LinkLoad, makespan: Picos) -> Option<f64> {
    let could = link.bandwidth.bytes_per_s() * (makespan.0 as f64 / 1e12);
    (could > 0.0).then(|| load.bytes.0 as f64 / could)
}

/// Of the link that was busy longest: its name and load.
pub(super) fn busiest(carried: &Carried<'_>) -> Option<(String, LinkLoad)> {
    let loads = carried.loads?;
    let load = loads.iter().rev().max_by_key(|load| load.busy).filter(|load| load.busy > Picos::ZERO)?;
    Some((carried.topology.link(load.link)?.description, *load))
}

/// The same as a line.
pub(super) fn busiest_text(link: &str, load: &LinkLoad, makespan: Picos) -> String {
    let share = load.busy.0 as f64 / makespan.0.max(1) as f64 * 100.0;
    format!("busiest link: {link}, {}, busy {share:.1} % of the time\n", units_shown::size_exact(load.bytes))
}

/// The same as JSON.
pub(super) fn busiest_json(link: &str, load: &LinkLoad) -> Value {
    json!({"link": link, "bytes": load.bytes.0, "busy_ns": nanoseconds(load.busy)})
}

/// All links that carried anything; null if the model knows no links.
pub(super) fn to_json(carried: &Carried<'_>) -> Value {
    if carried.loads.is_none() {
        return Value::Null;
    }
    let links = used(carried);
    let links = links.iter().map(|(link, load)| {
        json!({
            "id": load.link.0,
            "link": link.description,
            "bytes": load.bytes.0,
            "busy_ns": nanoseconds(load.busy),
            "utilisation": utilisation(link, load, carried.makespan),
        })
    });
    Value::Array(links.collect())
}

/// The busiest links as a table.
pub(super) fn to_text(carried: &Carried<'_>) -> String {
    let Carried { makespan, model, .. } = *carried;
    if carried.loads.is_none() {
        return format!("\nlinks: the model {model} knows no links\n");
    }
    let links = used(carried);
    let percent =
        |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0));
    let mut rows = vec![["link", "carried", "busy", "of bandwidth"].map(str::to_owned).to_vec()];
    for (link, load) in links.iter().take(SHOWN) {
        let busy = (makespan.0 > 0).then(|| load.busy.0 as f64 / makespan.0 as f64);
        rows.push(vec![
            link.description.clone(),
            units_shown::size(load.bytes),
            percent(busy),
            percent(utilisation(link, load, makespan)),
        ]);
    }
    let more = match links.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("and {more} more (--json has all)\n"),
    };
    format!("\n{}{more}", table(&rows))
}
