//! Spans as events of Chrome's trace format.

use std::borrow::Cow;

use collective::sim::units::Picos;
use collective::sim::workload::{Span, Step, What};
use serde_json::{Value, json};

/// A complete event on a thread of a process. Times are in microseconds, to the picosecond.
pub(super) fn complete(process: u32, thread: u64, span: &Span<'_>) -> String {
    let (category, name, arguments) = content(&span.what);
    let duration = Picos(span.finish.0.saturating_sub(span.start.0));
    format!(
        r#"{{"ph":"X","pid":{process},"tid":{thread},"ts":{},"dur":{},"cat":"{category}","name":{},"args":{arguments}}}"#,
        micros(span.start),
        micros(duration),
        Value::from(name.as_ref()),
    )
}

/// The end of an arrow from a SEND to its RECV, on the span of one of them; none of other spans.
///
/// Viewers look for the span that contains the time, of which the end is no part; and an arrow must not begin after its end, so it
/// begins where the SEND does.
pub(super) fn flow(process: u32, thread: u64, span: &Span<'_>) -> Option<String> {
    const NANOSECOND: u64 = 1000;
    let (flow, sends) = match span.what {
        What::Step { step: Step::Send(_), flow, .. } => (flow?, true),
        What::Step { step: Step::Receive(_), flow, .. } => (flow?, false),
        What::Message { sends, flow, .. } => (flow?, sends),
        _ => return None,
    };
    let within = Picos(span.finish.0.saturating_sub(NANOSECOND).max(span.start.0));
    let (phase, time) = if sends { (r#""s""#, span.start) } else { (r#""f","bp":"e""#, within) };
    Some(format!(
        r#"{{"ph":{phase},"id":{flow},"pid":{process},"tid":{thread},"ts":{},"cat":"message","name":"message"}}"#,
        micros(time),
    ))
}

/// A fact about a process or thread.
pub(super) fn metadata(process: u32, thread: u64, what: &str, arguments: &Value) -> String {
    format!(r#"{{"ph":"M","pid":{process},"tid":{thread},"name":"{what}","args":{arguments}}}"#)
}

fn micros(time: Picos) -> String {
    const PICOS: u64 = 1_000_000;
    let (whole, rest) = (time.0 / PICOS, time.0 % PICOS);
    if rest == 0 {
        whole.to_string()
    } else {
        format!("{whole}.{}", format!("{rest:06}").trim_end_matches('0'))
    }
}

/// Category, name and arguments.
fn content<'a>(what: &What<'a>) -> (&'static str, Cow<'a, str>, Value) {
    match *what {
        What::Node { id, name, part: None } => ("node", named(name, "node"), json!({"node": id})),
        What::Node { id, name, part: Some((part, of)) } => {
            let name = format!("{} [{} of {of}]", named(name, "node"), part + 1);
            ("node", name.into(), json!({"node": id, "part": part, "parts": of}))
        }
        What::Collective { id, name, kind, bytes, algorithm } => {
            let arguments =
                json!({"node": id, "kind": kind.name(), "bytes": bytes.0, "algorithm": algorithm});
            ("collective", named(name, kind.name()), arguments)
        }
        What::Message { id, name, sends, peer, bytes, .. } => {
            let kind = if sends { "send" } else { "receive" };
            let arguments = json!({"node": id, "kind": kind, "peer": peer, "bytes": bytes.0});
            ("message", named(name, kind), arguments)
        }
        What::Step { id, collective, step, bytes, .. } => {
            let (name, peer) = match step {
                Step::Send(peer) => (format!("send to {peer}"), Some(peer)),
                Step::Receive(peer) => (format!("receive from {peer}"), Some(peer)),
                _ => ("compute".to_owned(), None),
            };
            let mut arguments = json!({"step_node": id, "collective": collective, "bytes": bytes.0});
            if let Some(peer) = peer {
                arguments["peer"] = json!(peer);
            }
            ("step", name.into(), arguments)
        }
        What::Crossing { src, dst, bytes } => {
            ("link", format!("{src} → {dst}").into(), json!({"src": src, "dst": dst, "bytes": bytes.0}))
        }
        _ => ("other", "other".into(), json!({})),
    }
}

/// Every event has a name, also that of a node without.
fn named<'a>(name: &'a str, otherwise: &'a str) -> Cow<'a, str> {
    if name.is_empty() { otherwise.into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_have_the_decimals_that_there_are() {
        assert_eq!(micros(Picos(0)), "0");
        assert_eq!(micros(Picos(1)), "0.000001");
        assert_eq!(micros(Picos(12_500_000)), "12.5");
        assert_eq!(micros(Picos(u64::MAX)), "18446744073709.551615");
    }
}
