//! The JSON that nccl-tests write (`-J FILE`).

use serde_json::Value;

use super::{Fault, Measurement, Place, Run, collective_of};

pub(super) fn read(text: &str) -> Result<Vec<Run>, Fault> {
    let mut runs = Vec::new();
    // One object, or several behind each other.
    for document in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let document = document.map_err(|error| (Some(error.line() as u64), error.to_string()))?;
        runs.push(run(&document)?);
    }
    Ok(runs)
}

fn run(document: &Value) -> Result<Run, Fault> {
    let results = document["results"].as_array();
    let results =
        results.ok_or_else(|| (None, "there is no list \"results\", as nccl-tests write it".to_owned()))?;
    let config = &document["config"];
    let test = document["args"][0].as_str().unwrap_or_default();
    let mut measurements = Vec::new();
    for (at, result) in results.iter().enumerate() {
        let size = result["size"].as_u64();
        let size = size.ok_or_else(|| (None, format!("results[{at}].size is no whole number of bytes")))?;
        for (key, place) in [("out_of_place", Place::OutOfPlace), ("in_place", Place::InPlace)] {
            let of = &result[key];
            if of.is_null() || size == 0 {
                continue;
            }
            let us = of["time"].as_f64().or(of["cpu_time"].as_f64()).filter(|us| us.is_finite() && *us > 0.0);
            let us = us.ok_or_else(|| (None, format!("results[{at}].{key} has no time above 0")))?;
            let is_wrong = of["nwrong"].as_f64().is_some_and(|wrong| wrong > 0.0);
            measurements.push(Measurement {
                size,
                place: Some(place),
                ns: us * 1000.0,
                is_wrong,
                line: None,
            });
        }
    }
    Ok(Run { collective: collective_of(test), ranks: ranks(config), measurements })
}

/// The number of ranks: the devices that are listed. Without MPI only the first is, so that there it is that of the threads and GPUs.
fn ranks(config: &Value) -> Option<u32> {
    let listed = config["devices"].as_array().into_iter().flatten();
    let listed =
        listed.filter_map(|device| device["rank"].as_u64()).max().map_or(0, |rank| rank.saturating_add(1));
    let threads = config["nthreads"].as_u64()?.checked_mul(config["ngpus"].as_u64()?)?;
    u32::try_from(listed.max(threads)).ok()
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    #[test]
    fn results_are_read() {
        let text = r#"{"version":2,"args":["./build/reduce_scatter_perf","-g","4"],"config":{"nthreads":1,"ngpus":4,
            "devices":[{"rank":0,"group":0}]},"results":[
            {"size":0,"count":0,"out_of_place":{"time":0.1},"in_place":{"time":0.1}},
            {"size":4096,"count":256,"type":"float","redop":"sum","root":"    -1",
             "out_of_place":{"time":12.5,"alg_bw":0.32,"bus_bw":0.24,"nwrong":0.0},
             "in_place":{"time":11.5,"alg_bw":0.35,"bus_bw":0.26,"nwrong":null},"experiment_name":"x"}]}"#;
        let runs = read(text, "r.json").unwrap();
        assert_eq!((runs[0].collective.as_deref(), runs[0].ranks), (Some("reduce_scatter"), Some(4)));
        assert_eq!(runs[0].times(Place::OutOfPlace), [(4096, 12_500.0)]);
        assert_eq!(runs[0].times(Place::InPlace), [(4096, 11_500.0)]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, message) in [
            ("{}", "r.json: there is no list \"results\""),
            ("{\n\"results\": [}", "r.json:2: "),
            (
                "{\"results\": [{\"size\": 8, \"in_place\": {\"time\": \"nan\"}}]}",
                "r.json: results[0].in_place has no time above 0",
            ),
        ] {
            let error = read(text, "r.json").unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
