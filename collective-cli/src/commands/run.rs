//! `collective run`.

use std::path::Path;

use clap::Args;
use collective::run::{self, Operator, Order, RunError, RunOptions, RunReport};
use collective::verify::Slots;
use collective::{Collective, CollectiveKind, Diagnostics, ElementType, Rule, Schedule, lower};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;
use crate::program::{self, DataArguments, LoweringArguments, ProgramArguments};
use crate::stage::stage;
use crate::{console, xml};

/// Arguments of `collective run`.
#[derive(Args)]
pub(crate) struct Run {
    /// A built-in algorithm, or an MSCCL XML file.
    #[arg(value_name = "INPUT", value_parser = program::names(), hide_possible_values = true)]
    what: String,
    /// Number of ranks.
    #[arg(long, value_name = "N")]
    ranks: Option<usize>,
    /// Sets another parameter of the algorithm; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = program::setting)]
    set: Vec<(String, usize)>,
    /// Number of elements: of the vector for all-reduce, of the whole gathered or scattered buffer for all-gather and
    /// reduce-scatter, of what one rank sends for all-to-all [default: 1000, or the next number that divides].
    #[arg(long, value_name = "N")]
    elements: Option<u64>,
    /// Type of an element: i8, f16, bf16, i32, f32, i64 or f64.
    #[arg(long = "type", value_name = "TYPE", default_value = "f32")]
    element_type: ElementType,
    /// How contributions are combined: sum, prod, min, max or avg.
    #[arg(long, value_name = "OPERATOR", default_value = "sum")]
    op: Operator,
    /// Messages that a connection holds before its sender has to wait: a number, 0 for none (sender and receiver meet), or
    /// `unlimited` [default: the protocol's, 2 for Simple, 8 for LL and LL128].
    #[arg(long, value_name = "SLOTS")]
    slots: Option<Slots>,
    /// Also runs it in N random orders of its thread blocks, and in the extreme ones: each thread block as far as it
    /// gets, the lowest and the highest ranks first.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seeds: u64,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// What is run.
struct Subject {
    schedule: Schedule,
    parameters: Vec<(&'static str, usize)>,
}

/// What came of it: a comparison, or the rule that is broken on the way.
type Outcome = Result<RunReport, (Rule, Diagnostics, String)>;

impl Run {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let subject = self.subject()?;
        let schedule = &subject.schedule;
        let options = self.options(schedule);
        let outcome = match stage(&format!("running {}", self.what), || run::run(schedule, &options)) {
            Ok(report) => Ok(report),
            Err(RunError::Malformed(found)) if rule(&found) == Rule::Malformed => {
                return Err(found.into());
            }
            Err(error) => match &error {
                RunError::Malformed(found) | RunError::Fault { found, .. } => {
                    Err((rule(found), found.clone(), error.to_string()))
                }
                _ => return Err(Failure::input(format!("{}: {error}", self.what))),
            },
        };
        let text = if self.json {
            json_report(&subject, &options, &outcome).to_string()
        } else {
            text_report(&subject, &options, &outcome)
        };
        output::print(&text)?;
        match outcome {
            Err((_, _, message)) => Err(Failure::Verdict(message)),
            Ok(report) => match (report.comparison.first, report.wrong_order) {
                (Some(first), Some(order)) => {
                    let more = match report.comparison.wrong {
                        1 => String::new(),
                        wrong => format!("; {wrong} elements are wrong in all"),
                    };
                    Err(Failure::Verdict(format!("{}, run {order}: {first}{more}", schedule.name)))
                }
                _ => Ok(()),
            },
        }
    }

    fn subject(&self) -> Result<Subject, Failure> {
        let path = Path::new(&self.what);
        if !xml::is_xml(path) {
            let algorithm = &program::find(&self.what)?.def;
            let (data, ranks, set) = (DataArguments::default(), self.ranks, self.set.clone());
            let arguments = ProgramArguments { data, ranks, set, lowering: LoweringArguments::default() };
            let parameters = arguments.parameters(algorithm)?;
            // Not verified: running it is another way to find out.
            let trace = arguments.trace(algorithm)?;
            return Ok(Subject { schedule: stage("lowering", || lower(&trace))?, parameters });
        }
        if !self.set.is_empty() {
            return Err(Failure::input("--set is for built-in algorithms; an XML file has no parameters"));
        }
        let schedule = xml::read(path)?.schedule;
        let found = schedule.collective.ranks();
        if let Some(ranks) = self.ranks.filter(|ranks| *ranks != found) {
            return Err(Failure::input(format!("{} has {found} ranks, not {ranks}", self.what)));
        }
        Ok(Subject { schedule, parameters: Vec::new() })
    }

    fn options(&self, schedule: &Schedule) -> RunOptions {
        let slots = match self.slots.unwrap_or_default() {
            Slots::Unlimited => None,
            slots => Some(slots.number(schedule.protocol)),
        };
        let mut orders = vec![Order::InTurn];
        if self.seeds > 0 {
            orders.extend([Order::LowestFirst, Order::HighestFirst, Order::RunAhead]);
            orders.extend((0..self.seeds).map(Order::Random));
        }
        RunOptions {
            elements: self.elements.unwrap_or_else(|| some_elements(&schedule.collective)),
            element_type: self.element_type,
            operator: self.op,
            slots,
            orders,
        }
    }
}

/// A thousand elements, or the next number that the collective can have.
fn some_elements(collective: &Collective) -> u64 {
    let divisor = match collective.kind() {
        CollectiveKind::AllToAll => collective.ranks() as u64,
        CollectiveKind::AllToAllV => run::one_element_a_chunk(collective),
        _ => 1,
    };
    1000_u64.next_multiple_of(divisor.max(1))
}

fn rule(found: &Diagnostics) -> Rule {
    found.findings.first().map_or(Rule::Malformed, |finding| finding.rule)
}

/// The verdict in a word, and whether the post-condition holds.
fn verdict(subject: &Subject, outcome: &Outcome) -> (&'static str, &'static str) {
    match outcome {
        Err((rule, ..)) => (rule.name(), "not checked"),
        Ok(_) if subject.schedule.collective.is_unspecified() => ("pass", "not checked"),
        Ok(report) if report.is_right() => ("pass", "holds"),
        Ok(_) => (Rule::Wrong.name(), "fails"),
    }
}

fn json_report(subject: &Subject, options: &RunOptions, outcome: &Outcome) -> Value {
    let schedule = &subject.schedule;
    let parameters: serde_json::Map<String, Value> =
        subject.parameters.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    let (verdict, post_condition) = verdict(subject, outcome);
    let mut report = json!({
        "algorithm": schedule.name,
        "parameters": parameters,
        "collective": schedule.collective.kind().name(),
        "in_place": schedule.collective.is_in_place(),
        "ranks": schedule.collective.ranks(),
        "elements": options.elements,
        "type": options.element_type.name(),
        "operator": options.operator.name(),
        "slots": options.slots,
        "verdict": verdict,
        "post_condition": post_condition,
        "findings": [],
    });
    match outcome {
        Ok(run) => {
            let compared = &run.comparison;
            let first = compared.first.as_ref().map(|first| {
                json!({
                    "rank": first.rank.0, "buffer": first.place.buffer.letter(), "index": first.place.index,
                    "output_chunk": first.chunk, "element": first.element, "position": first.position,
                    "wanted": first.wanted, "got": first.got,
                    "order": run.wrong_order.map(|order| order.to_string()),
                })
            });
            report["orders"] = json!(run.runs);
            report["messages"] = json!(run.messages);
            report["compared"] = json!(compared.compared);
            report["wrong"] = json!(compared.wrong);
            report["first_wrong"] = json!(first);
            report["largest_error"] = json!(compared.largest_error);
            report["largest_relative_error"] = json!(compared.largest_relative_error);
            report["allowed_error"] = json!(compared.allowed_error);
            report["reduction_depth"] = json!(compared.depth);
        }
        Err((_, found, _)) => {
            let findings = found.findings.iter().map(|finding| {
                let source = finding.site.and_then(|site| found.sites.get(site)).map(ToString::to_string);
                json!({"rule": finding.rule.name(), "message": finding.message, "source": source})
            });
            report["findings"] = findings.collect();
        }
    }
    report
}

fn text_report(subject: &Subject, options: &RunOptions, outcome: &Outcome) -> String {
    let schedule = &subject.schedule;
    let parameters: Vec<String> = subject
        .parameters
        .iter()
        .filter(|(name, _)| *name != "ranks")
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let parameters =
        if parameters.is_empty() { String::new() } else { format!(" ({})", parameters.join(", ")) };
    let place = if schedule.collective.is_in_place() { "in place" } else { "out of place" };
    let slots = options.slots.map_or("unlimited slots".to_owned(), |slots| format!("{slots} slot(s)"));
    let about = format!(
        "{}{parameters}, {} {place}, {} ranks, {} elements of {}, {}, {slots} a connection",
        schedule.name,
        schedule.collective.kind(),
        schedule.collective.ranks(),
        options.elements,
        options.element_type,
        options.operator,
    );
    let mut text = format!("{}\n\n", console::heading(&about));
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let (verdict, post_condition) = verdict(subject, outcome);
    let is_good = verdict == "pass";
    let mut rows = vec![
        row("verdict", console::verdict(verdict, is_good)),
        row("post-condition", post_condition.to_owned()),
    ];
    if let Ok(run) = outcome {
        let compared = &run.comparison;
        rows.push(row("orders tried", run.runs.to_string()));
        rows.push(row("elements compared", compared.compared.to_string()));
        rows.push(row("wrong", compared.wrong.to_string()));
        let figure = |value: f64| if value == 0.0 { "0".to_owned() } else { format!("{value:.3e}") };
        rows.push(row("largest error", figure(compared.largest_error)));
        rows.push(row("largest relative error", figure(compared.largest_relative_error)));
        rows.push(row("explained by rounding", figure(compared.allowed_error)));
        rows.push(row("reduction depth", compared.depth.to_string()));
    }
    text.push_str(&output::table(&rows));
    text
}
