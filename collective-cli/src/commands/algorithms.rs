//! `collective algorithms`.

use clap::Args;
use collective::algorithms::{self, Algorithm};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{self, table};

/// Arguments of `collective algorithms`.
#[derive(Args)]
pub(crate) struct Algorithms {
    /// An algorithm to describe in full; all are listed without.
    #[arg(value_name = "NAME", value_parser = crate::program::names(), hide_possible_values = true)]
    name: Option<String>,
    /// Only algorithms for a collective, such as all-reduce.
    #[arg(long, value_name = "COLLECTIVE")]
    collective: Option<String>,
    /// The number of ranks for which costs are shown [default: 16; for one algorithm several].
    #[arg(long, value_name = "N")]
    ranks: Option<usize>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// Costs of some algorithms are recurrences over all pairs of ranks.
const MOST_RANKS: usize = 1 << 12;

impl Algorithms {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if let Some(ranks) = self.ranks.filter(|ranks| !(1..=MOST_RANKS).contains(ranks)) {
            return Err(Failure::input(format!("--ranks {ranks}: expected 1 to {MOST_RANKS}")));
        }
        if let Some(name) = &self.name {
            if self.collective.is_some() {
                return Err(Failure::input("--collective is for the list, not for one algorithm"));
            }
            let algorithm = crate::program::find(name)?;
            let counts = self.ranks.map_or_else(|| vec![2, 3, 4, 8, 16, 64, 100, 128], |ranks| vec![ranks]);
            return output::print(&if self.json {
                entry_json(algorithm, &counts).to_string()
            } else {
                described(algorithm, &counts)
            });
        }
        let chosen = self.chosen()?;
        let ranks = self.ranks.unwrap_or(16);
        if self.json {
            let list: Vec<Value> = chosen.iter().map(|algorithm| entry_json(algorithm, &[ranks])).collect();
            return output::print(&json!(list).to_string());
        }
        output::print(&listed(&chosen, ranks))
    }

    fn chosen(&self) -> Result<Vec<&'static Algorithm>, Failure> {
        let wanted = self.collective.as_ref().map(|name| name.replace('-', "_"));
        let kind =
            |algorithm: &&Algorithm| wanted.as_ref().is_none_or(|wanted| algorithm.def.kind.name() == wanted);
        let chosen: Vec<&Algorithm> = algorithms::all().filter(kind).collect();
        if chosen.is_empty() {
            let mut kinds: Vec<&str> = algorithms::all().map(|algorithm| algorithm.def.kind.name()).collect();
            kinds.dedup();
            return Err(Failure::input(format!(
                "there are no algorithms for \"{}\"; there are for {}",
                self.collective.as_deref().unwrap_or_default(),
                kinds.join(", ").replace('_', "-")
            )));
        }
        Ok(chosen)
    }
}

/// All algorithms, by collective.
fn listed(chosen: &[&Algorithm], ranks: usize) -> String {
    let mut text = String::new();
    for family in chosen.chunk_by(|a, b| a.def.kind == b.def.kind) {
        let Some(first) = family.first() else { continue };
        let kind = first.def.kind.name().replace('_', "-");
        let mut rows = vec![vec![kind, "rounds".to_owned(), "sent/S".to_owned(), "  for ranks".to_owned()]];
        for algorithm in family {
            let (rounds, sent) = match algorithm.choices(ranks).first() {
                Some(values) => {
                    let cost = algorithm.cost(values);
                    (cost.rounds().to_string(), cost.sent.to_string())
                }
                None => ("-".to_owned(), "-".to_owned()),
            };
            rows.push(vec![
                format!("  {}", signature(algorithm)),
                rounds,
                sent,
                format!("  {}", algorithm.ranks),
            ]);
        }
        let width = rows.iter().map(|row| row[3].chars().count()).max().unwrap_or(0);
        for row in &mut rows {
            row[3] = format!("{:<width$}", row[3]);
        }
        text.push_str(&table(&rows));
        text.push('\n');
    }
    text.push_str(&format!(
        "rounds: messages that follow one another; sent: by the busiest rank, as a share of the size S; both for {ranks} ranks\n\
         with the values that `choices` in the library takes first. `collective algorithms NAME` describes one.\n"
    ));
    text
}

/// The name with the parameters beside the number of ranks.
fn signature(algorithm: &Algorithm) -> String {
    let others = algorithm.def.params.iter().filter(|param| param.name != "ranks");
    let others: Vec<String> = others
        .map(|param| match param.default {
            Some(default) => format!("{}={default}", param.name),
            None => param.name.to_owned(),
        })
        .collect();
    match others.as_slice() {
        [] => algorithm.name().to_owned(),
        others => format!("{}({})", algorithm.name(), others.join(", ")),
    }
}

/// One algorithm with its documentation and costs.
fn described(algorithm: &Algorithm, counts: &[usize]) -> String {
    let def = &algorithm.def;
    let mut text = format!(
        "{}\n{}, {}, for ranks: {}\n\n{}\n\ncosts\n",
        signature(algorithm),
        def.kind.name().replace('_', "-"),
        algorithm.placement,
        algorithm.ranks,
        plain(def.docs)
    );
    let names = def.params.iter().map(|param| param.name.to_owned());
    let mut rows = vec![names.chain(["rounds", "sent/S"].map(str::to_owned)).collect::<Vec<_>>()];
    for values in counts.iter().flat_map(|ranks| algorithm.choices(*ranks)) {
        let cost = algorithm.cost(&values);
        let figures = [cost.rounds().to_string(), cost.sent.to_string()];
        rows.push(values.iter().map(ToString::to_string).chain(figures).collect());
    }
    if rows.len() == 1 {
        text.push_str(&format!("  none: it is for {} ranks\n", algorithm.ranks));
        return text;
    }
    for row in &mut rows {
        row[0] = format!("  {:>5}", row[0]);
    }
    text.push_str(&table(&rows));
    text
}

/// Documentation as it is read in a terminal: without fences, and without the lines of examples that rustdoc hides.
fn plain(docs: &str) -> String {
    let mut text = String::new();
    let mut in_code = false;
    for line in docs.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        if in_code && (line == "#" || line.starts_with("# ")) {
            continue;
        }
        text.push_str(&format!("{}{line}\n", if in_code { "    " } else { "" }));
    }
    text.trim_end().to_owned()
}

fn entry_json(algorithm: &Algorithm, counts: &[usize]) -> Value {
    let def = &algorithm.def;
    let params: Vec<Value> =
        def.params.iter().map(|param| json!({"name": param.name, "default": param.default})).collect();
    let costs: Vec<Value> = counts
        .iter()
        .flat_map(|ranks| algorithm.choices(*ranks))
        .map(|values| {
            let cost = algorithm.cost(&values);
            let parameters: serde_json::Map<String, Value> = def
                .params
                .iter()
                .zip(&values)
                .map(|(param, value)| (param.name.to_owned(), json!(value)))
                .collect();
            let chain: Vec<Value> = cost
                .chain
                .iter()
                .map(|rounds| json!({"messages": rounds.count, "share": rounds.share.to_string()}))
                .collect();
            json!({
                "parameters": parameters,
                "rounds": cost.rounds(),
                "sent": cost.sent.to_string(),
                "chain": chain,
            })
        })
        .collect();
    json!({
        "name": def.name,
        "collective": def.kind.name(),
        "placement": algorithm.placement.to_string(),
        "ranks": algorithm.ranks,
        "parameters": params,
        "summary": def.summary,
        "documentation": def.docs,
        "network": algorithm.network.to_string(),
        "costs": costs,
    })
}
