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

/// How long a link needs for what it carried, at its full bandwidth: of links the one with the most is the fullest, whatever their
/// bandwidths. A link is in use longer where something else on the routes of its messages is slower.
fn needed(carried: &Carried<'_>, load: &LinkLoad) -> f64 {
    load.bytes.0 as f64 / carried.topology.link_timing(load.link).0.bytes_per_s()
}

/// The links that carried anything, the fullest first; of equally full ones those that were in use longest.
fn used(carried: &Carried<'_>) -> Vec<(Link, LinkLoad)> {
    let mut loads: Vec<LinkLoad> =
        carried.loads.unwrap_or_default().iter().filter(|load| load.bytes.0 > 0).copied().collect();
    loads.sort_by(|a, b| {
        let fuller = needed(carried, b).total_cmp(&needed(carried, a));
        fuller.then(b.busy.cmp(&a.busy)).then(a.link.cmp(&b.link))
    });
    loads.into_iter().filter_map(|load| Some((carried.topology.link(load.link)?, load))).collect()
}

/// The share of what the link could have carried in the time of the run; None at time 0.
fn utilisation(link: &Link, load: &LinkLoad, makespan: Picos) -> Option<f64> {
    let could = link.bandwidth.bytes_per_s() * (makespan.0 as f64 / 1e12);
    (could > 0.0).then(|| load.bytes.0 as f64 / could)
}

/// The fullest link: the one that carried the largest share of what it could have carried in the time of the run; of equally full ones
/// that which was in use longest.
pub(super) struct Busiest {
    link: Link,
    load: LinkLoad,
    /// The share of its bandwidth; None at time 0.
    utilisation: Option<f64>,
}

/// The fullest link, if any carried something.
pub(super) fn busiest(carried: &Carried<'_>) -> Option<Busiest> {
    let fuller = |a: &&LinkLoad, b: &&LinkLoad| {
        let by_share = needed(carried, a).total_cmp(&needed(carried, b));
        // Of equal ones the first.
        by_share.then(a.busy.cmp(&b.busy)).then(b.link.cmp(&a.link))
    };
    let load = *carried.loads?.iter().filter(|load| load.bytes.0 > 0).max_by(fuller)?;
    let link = carried.topology.link(load.link)?;
    let utilisation = utilisation(&link, &load, carried.makespan);
    Some(Busiest { link, load, utilisation })
}

impl Busiest {
    /// A line.
    pub(super) fn to_text(&self, makespan: Picos) -> String {
        let Self { link, load, utilisation } = self;
        let in_use = load.busy.0 as f64 / makespan.0.max(1) as f64 * 100.0;
        let bytes = units_shown::size(load.bytes);
        let share = utilisation.map_or_else(
            || format!("{bytes} in no time"),
            |share| format!("{bytes}, {:.1} % of what it could carry", share * 100.0),
        );
        format!("busiest link: {}, {share}, in use {in_use:.1} % of the time\n", link.description)
    }

    pub(super) fn to_json(&self) -> Value {
        let Self { link, load, utilisation } = self;
        json!({
            "link": link.description,
            "bytes": load.bytes.0,
            "busy_ns": nanoseconds(load.busy),
            "utilisation": utilisation,
        })
    }
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
    let mut rows = vec![["link", "carried", "of bandwidth", "in use"].map(str::to_owned).to_vec()];
    for (link, load) in links.iter().take(SHOWN) {
        let busy = (makespan.0 > 0).then(|| load.busy.0 as f64 / makespan.0 as f64);
        rows.push(vec![
            link.description.clone(),
            units_shown::size(load.bytes),
            percent(utilisation(link, load, makespan)),
            percent(busy),
        ]);
    }
    let more = match links.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("and {more} more (--json has all)\n"),
    };
    format!("\n{}{more}", table(&rows))
}
