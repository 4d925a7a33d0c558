//! As somebody who looks at a run I want its timeline in a viewer, and figures that agree with the report.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::steps;
use super::support::{json, succeeds};

const RUN: &str = "simulate --workload t/mixed --topology ring4.toml --groups mixed.json --json --links \
                   --roofline 900TFLOP/s,1600GB/s --memory 0ns,2TB/s --timeline line.json";

/// Picoseconds of a time in microseconds.
fn picos(value: &Value) -> u64 {
    (value.as_f64().unwrap() * 1e6).round() as u64
}

fn nanos(value: &Value) -> u64 {
    (value.as_f64().unwrap() * 1e3).round() as u64
}

struct Line {
    /// By process and thread, their names.
    threads: BTreeMap<(u64, u64), String>,
    processes: BTreeMap<u64, String>,
    spans: Vec<Value>,
    /// Arrows: where each begins and ends, by number.
    flows: BTreeMap<u64, [Vec<Value>; 2]>,
}

impl Line {
    fn read(at: &Path) -> Self {
        let file = json(&fs::read_to_string(at.join("line.json")).unwrap());
        assert_eq!(file["displayTimeUnit"], json!("ns"));
        let (mut threads, mut processes, mut spans) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut flows: BTreeMap<u64, [Vec<Value>; 2]> = BTreeMap::new();
        for event in file["traceEvents"].as_array().unwrap() {
            let number = |key: &str| event[key].as_u64().unwrap();
            let name = event["name"].as_str().unwrap();
            assert!(!name.is_empty());
            let label = || event["args"]["name"].as_str().unwrap().to_owned();
            match (event["ph"].as_str().unwrap(), name) {
                ("M", "thread_name") => {
                    assert!(threads.insert((number("pid"), number("tid")), label()).is_none());
                }
                ("M", "process_name") => assert!(processes.insert(number("pid"), label()).is_none()),
                ("M", "thread_sort_index" | "process_sort_index") => {
                    assert!(i32::try_from(number_of(&event["args"]["sort_index"])).is_ok());
                }
                ("X", _) => spans.push(event.clone()),
                ("s", _) => flows.entry(number("id")).or_default()[0].push(event.clone()),
                ("f", _) => flows.entry(number("id")).or_default()[1].push(event.clone()),
                other => panic!("{other:?}"),
            }
        }
        Self { threads, processes, spans, flows }
    }

    fn thread(&self, span: &Value) -> &str {
        &self.threads[&(number_of(&span["pid"]), number_of(&span["tid"]))]
    }

    fn process(&self, span: &Value) -> &str {
        &self.processes[&number_of(&span["pid"])]
    }

    fn of(&self, category: &str) -> impl Iterator<Item = &Value> {
        self.spans.iter().filter(move |span| span["cat"] == category)
    }
}

fn number_of(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

fn run(at: &Path, model: &str) -> (Value, Line) {
    steps::mixed(at);
    let report = json(&succeeds(at, &format!("{RUN} --model {model}")));
    (report, Line::read(at))
}

const MODELS: [&str; 3] = ["analytical", "link-queue", "fluid"];

#[test]
fn spans_of_a_thread_come_one_after_the_other() {
    for model in MODELS {
        let directory = steps::directory();
        let (report, line) = run(directory.path(), model);
        one_after_the_other(&report, &line);
        // A queue lets one message at a time over a link.
        let further = line
            .threads
            .iter()
            .any(|((process, _), name)| line.processes[process] == "links" && name.ends_with(" (2)"));
        assert!(model != "link-queue" || !further, "{:?}", line.threads);
    }
}

fn one_after_the_other(report: &Value, line: &Line) {
    let end = nanos(&report["time_ns"]);
    let mut threads: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    for span in &line.spans {
        // Every span is on a thread and a process with a name.
        assert!(!line.thread(span).is_empty() && !line.process(span).is_empty());
        let (start, length) = (picos(&span["ts"]), picos(&span["dur"]));
        assert!(start + length <= end, "{span}");
        let thread = (number_of(&span["pid"]), number_of(&span["tid"]));
        threads.entry(thread).or_default().push((start, start + length));
    }
    for spans in threads.values_mut() {
        spans.sort_unstable();
        assert!(spans.windows(2).all(|two| two[0].1 <= two[1].0), "{spans:?}");
    }
    let mut names: Vec<&str> = line.processes.values().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["links", "rank 0", "rank 1", "rank 2", "rank 3"]);
    let has = |name: &str| line.threads.values().any(|thread| thread.starts_with(name));
    for name in [
        "GPU stream 0",
        "GPU stream 1",
        "CPU thread 7",
        "memory",
        "collectives, group 1",
        "collectives, all ranks",
        "messages",
        "thread block 0, group 3",
    ] {
        assert!(has(name), "{name}: {:?}", line.threads);
    }
}

#[test]
fn sums_of_spans_are_the_figures_of_the_report() {
    for model in MODELS {
        let directory = steps::directory();
        let (report, line) = run(directory.path(), model);
        sums_are_of_the_report(&report, &line);
    }
}

fn sums_are_of_the_report(report: &Value, line: &Line) {
    // The time of each group and kind, over its ranks.
    let mut sums: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    for span in line.of("collective") {
        let group = line.thread(span).trim_start_matches("collectives, ").trim_start_matches("group ");
        let group = if group == "all ranks" { "" } else { group };
        let kind = span["args"]["kind"].as_str().unwrap();
        let sum = sums.entry((group.to_owned(), kind.to_owned())).or_default();
        sum.0 += picos(&span["dur"]);
        sum.1 += 1;
    }
    let rows = report["collectives"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        let count = number_of(&row["count"]) * number_of(&row["ranks"]);
        let expected = (nanos(&row["time_ns"]), count);
        assert_eq!(sums.get(&(text("group"), text("kind"))), Some(&expected), "{row}");
    }
    // Each message outside collectives has two ends.
    assert_eq!(line.of("message").count() as u64, 2 * number_of(&report["point_to_point"]["count"]));
    let sends = line.of("message").filter(|span| span["args"]["kind"] == "send");
    let time: u64 = sends.map(|span| picos(&span["dur"])).sum();
    assert_eq!(time, nanos(&report["point_to_point"]["time_ns"]));
    // What links carried.
    let mut carried: BTreeMap<&str, u64> = BTreeMap::new();
    for span in line.of("link") {
        assert_eq!(line.process(span), "links");
        let link = line.thread(span);
        let link = link.rfind(" (").filter(|_| link.ends_with(')')).map_or(link, |end| &link[..end]);
        *carried.entry(link).or_default() += number_of(&span["args"]["bytes"]);
    }
    // The model analytical knows no links.
    let links = report["links"].as_array();
    assert!(links.is_none_or(|links| links.len() == carried.len()));
    for link in links.into_iter().flatten() {
        assert_eq!(carried.get(link["link"].as_str().unwrap()), Some(&number_of(&link["bytes"])), "{link}");
    }
    // Computing on the GPU of rank 2, on either stream, whatever else happens: here the streams never overlap.
    let on_gpu =
        line.of("node").filter(|span| line.process(span) == "rank 2" && line.thread(span).starts_with("GPU"));
    let computing: u64 = on_gpu.map(|span| picos(&span["dur"])).sum();
    let rank = &report["ranks"][2];
    assert_eq!(computing, nanos(&rank["compute_ns"]) + nanos(&rank["overlapped_ns"]));
}

#[test]
fn a_node_says_what_it_is() {
    let directory = steps::directory();
    let (_, line) = run(directory.path(), "fluid");
    let forward = line.of("node").find(|span| span["name"] == "forward").unwrap();
    // 9 · 10^9 operations at 900 · 10^12 a second, after 2 µs of the CPU.
    assert_eq!((&forward["ts"], &forward["dur"]), (&json!(2), &json!(10)));
    let sum = line.of("collective").find(|span| span["name"] == "activations").unwrap();
    assert_eq!((&sum["args"]["bytes"], &sum["args"]["kind"]), (&json!(100_000), &json!("all_reduce")));
    assert_eq!(sum["args"]["algorithm"], json!("allreduce_ring(channels=1)"));
    let send = line.of("message").find(|span| span["name"] == "to the next stage").unwrap();
    assert_eq!((&send["args"]["peer"], &send["args"]["bytes"]), (&json!(2), &json!(50_000)));
    let step = line.of("step").find(|span| span["name"] == "send to 1").unwrap();
    assert_eq!(step["args"]["peer"], json!(1));
    assert_eq!(step["args"]["collective"], json!("activations"));
    assert!(line.spans.iter().all(|span| span["args"].get("peer").is_none_or(|peer| !peer.is_null())));
    assert!(line.of("node").any(|span| span["name"] == "node"), "a node without a name");
}

#[test]
fn an_arrow_goes_from_each_send_to_its_receive() {
    for model in MODELS {
        let directory = steps::directory();
        let (report, line) = run(directory.path(), model);
        assert_eq!(line.flows.len() as u64, number_of(&report["messages"]), "{model}");
        // The spans that an end of an arrow lies on. A RECV whose message had come takes no time, and its end is its start.
        let spans_at = |end: &Value, kind: &str| -> Vec<&Value> {
            let on = |span: &&Value| {
                let (start, length) = (picos(&span["ts"]), picos(&span["dur"]));
                let is_kind = span["args"]["kind"] == kind
                    || span["name"].as_str().unwrap().starts_with(&format!("{kind} "));
                let at = picos(&end["ts"]);
                let is_on = start <= at && (at < start + length || length == 0 && at == start);
                span["tid"] == end["tid"] && is_kind && is_on
            };
            line.spans.iter().filter(on).collect()
        };
        for [begin, end] in line.flows.values() {
            let ([begin], [end]) = (&begin[..], &end[..]) else { panic!("{begin:?} {end:?}") };
            assert!(picos(&begin["ts"]) <= picos(&end["ts"]), "{begin} {end}");
            let rank = |span: &Value| line.process(span).trim_start_matches("rank ").parse::<u64>().unwrap();
            let (sends, receives) = (spans_at(begin, "send"), spans_at(end, "receive"));
            let belong = |send: &Value, receive: &Value| {
                send["args"]["bytes"] == receive["args"]["bytes"]
                    && number_of(&send["args"]["peer"]) == rank(receive)
                    && number_of(&receive["args"]["peer"]) == rank(send)
                    && send["args"].get("collective") == receive["args"].get("collective")
            };
            assert!(
                sends.iter().any(|send| receives.iter().any(|receive| belong(send, receive))),
                "{begin} {end} {sends:?} {receives:?}"
            );
        }
    }
}
