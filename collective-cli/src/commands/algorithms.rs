//! `collective algorithms`.

use clap::Args;
use collective::algorithms;
use serde_json::json;

use crate::failure::Failure;
use crate::output;

/// Arguments of `collective algorithms`.
#[derive(Args)]
pub(crate) struct Algorithms {
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

impl Algorithms {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if self.json {
            let list: Vec<_> = algorithms::all()
                .map(|algorithm| {
                    let algorithm = &algorithm.def;
                    let params = algorithm.params.iter();
                    let params: Vec<_> =
                        params.map(|param| json!({"name": param.name, "default": param.default})).collect();
                    json!({
                        "name": algorithm.name,
                        "collective": algorithm.kind.name(),
                        "in_place": algorithm.in_place,
                        "parameters": params,
                        "summary": algorithm.summary,
                    })
                })
                .collect();
            return output::print(&json!(list).to_string());
        }
        let mut text = String::new();
        for algorithm in algorithms::all().map(|algorithm| &algorithm.def) {
            let params: Vec<String> = algorithm
                .params
                .iter()
                .map(|param| match param.default {
                    Some(default) => format!("{}={default}", param.name),
                    None => param.name.to_owned(),
                })
                .collect();
            text.push_str(&format!(
                "{} ({})\n    {}\n",
                algorithm.name,
                params.join(", "),
                algorithm.summary
            ));
        }
        output::print(&text)
    }
}
