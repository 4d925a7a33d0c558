//! What is said of a fit: tables, JSON, a machine and every residual.

use std::path::Path;

use collective::calibrate::{Estimate, Parameter, Summary};
use collective::sim::machine::Machine;
use collective::sim::units::{Bandwidth, Picos};
use serde_json::{Value, json};

use super::Found;
use crate::output::table;
use crate::units_shown;

impl Found {
    /// The machine with its name, and where its figures come from.
    pub(super) fn machine(&self, path: &Path) -> Machine {
        let mut machine = self.fit.machine.clone();
        if let Some(stem) = path.file_stem() {
            machine.name = stem.to_string_lossy().into_owned();
        }
        machine.sources.push(self.source());
        machine
    }

    /// What was fitted to what, in a sentence.
    fn source(&self) -> String {
        let figures: Vec<String> = self.fit.estimates.iter().map(|it| it.parameter.to_string()).collect();
        let mut files: Vec<&str> = self.programs.iter().map(|program| program.measured.as_str()).collect();
        files.dedup();
        let summary = self.fit.summary(true);
        let (points, error) = summary.map_or((0, 0.0), |it| (it.points, it.mean_error));
        format!(
            "{} fitted by collective calibrate to {points} measured times above {} in {}: mean error {}",
            figures.join(", "),
            self.small,
            files.join(", "),
            percent(error)
        )
    }

    pub(super) fn text(&self, output: Option<&Path>) -> String {
        let fitted = self.fit.summary(true);
        let count =
            |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        let mut text = format!(
            "{} fitted to {} above {} of {}\n\n",
            count(self.fit.estimates.len(), "figure"),
            count(fitted.map_or(0, |it| it.points), "time"),
            units_shown::size(self.small),
            count(self.programs.len(), "program")
        );
        let mut rows = vec![["figure", "before", "fitted", "+-"].map(str::to_owned).to_vec()];
        rows.extend(self.fit.estimates.iter().map(|it| {
            let error = it.error.map_or_else(|| "no influence".to_owned(), percent);
            vec![it.parameter.to_string(), shown(it, it.start), shown(it, it.value), error]
        }));
        text.push_str(&table(&rows));
        text.push('\n');
        let head = [
            "program",
            "protocol",
            "ranks",
            "times",
            "mean error",
            "bias",
            "largest",
            "by the others",
            "small",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (number, program) in self.programs.iter().enumerate() {
            let own = self.fit.summary_of(number, true);
            let mut row = vec![program.name.clone(), program.protocol.to_string(), program.ranks.to_string()];
            row.extend(cells(own));
            row.push(error(self.without[number]));
            row.push(error(self.fit.summary_of(number, false)));
            rows.push(row);
        }
        if self.programs.len() > 1 {
            let mut row = vec!["all".to_owned(), String::new(), String::new()];
            row.extend(cells(fitted));
            row.push(error(self.all_without()));
            row.push(error(self.fit.summary(false)));
            rows.push(row);
        }
        text.push_str(&table(&rows));
        if let Some(path) = output {
            text.push_str(&format!("\n{}\n", path.display()));
        }
        text
    }

    /// The error of all programs that the others foretell.
    fn all_without(&self) -> Option<Summary> {
        let told: Vec<&Summary> = self.without.iter().flatten().collect();
        // Each as often as it has points: the mean of all logarithms.
        Summary::of(told.iter().flat_map(|it| std::iter::repeat_n(it.mean_error + 1.0, it.points)))
    }

    pub(super) fn json(&self, output: Option<&Path>) -> String {
        let parameter = |it: &Estimate| {
            json!({
                "figure": it.parameter.to_string(),
                "unit": if it.parameter.figure.is_bandwidth() { "B/s" } else { "ns" },
                "before": it.start,
                "fitted": it.value,
                "relative_error": it.error,
                "is_at_bound": it.is_at_bound,
            })
        };
        let pair = |(one, other, correlation): &(Parameter, Parameter, f64)| json!({ "figures": [one.to_string(), other.to_string()], "correlation": correlation });
        let program = |(number, program): (usize, &super::Program)| {
            json!({
                "name": program.name,
                "measured": program.measured,
                "protocol": program.protocol.name(),
                "ranks": program.ranks,
                "fitted": summary(self.fit.summary_of(number, true)),
                "by_the_others": summary(self.without[number]),
                "small": summary(self.fit.summary_of(number, false)),
            })
        };
        let residual = |it: &collective::calibrate::Residual| {
            json!({
                "program": it.program,
                "size_bytes": it.size,
                "measured_ns": it.measured_ns,
                "simulated_ns": crate::json::nanoseconds(it.simulated),
                "is_fitted": it.is_fitted,
            })
        };
        json!({
            "figures": self.fit.estimates.iter().map(parameter).collect::<Vec<_>>(),
            "indistinct": self.fit.indistinct.iter().map(pair).collect::<Vec<_>>(),
            "small_bytes": self.small.0,
            "fitted": summary(self.fit.summary(true)),
            "small": summary(self.fit.summary(false)),
            "programs": self.programs.iter().enumerate().map(program).collect::<Vec<_>>(),
            "residuals": self.fit.residuals.iter().map(residual).collect::<Vec<_>>(),
            "iterations": self.fit.iterations,
            "is_minimum": self.fit.is_minimum,
            "runs": self.fit.runs,
            "output": output.map(|path| path.display().to_string()),
        })
        .to_string()
    }

    /// Every point, as comma-separated values.
    pub(super) fn residuals(&self) -> String {
        let mut text = "program,protocol,ranks,size_bytes,measured_us,simulated_us,ratio,fitted\n".to_owned();
        for it in &self.fit.residuals {
            let program = &self.programs[it.program];
            text.push_str(&format!(
                "\"{}\",{},{},{},{},{},{:.4},{}\n",
                program.name.replace('"', "\"\""),
                program.protocol,
                program.ranks,
                it.size,
                it.measured_ns / 1000.0,
                it.simulated.as_ns() / 1000.0,
                it.ratio(),
                it.is_fitted
            ));
        }
        text
    }
}

fn shown(estimate: &Estimate, value: f64) -> String {
    if estimate.parameter.figure.is_bandwidth() {
        let bandwidth = Bandwidth::from_bytes_per_s((value / 1e5).round() * 1e5);
        bandwidth.map_or_else(|_| format!("{value} B/s"), |bandwidth| bandwidth.to_string())
    } else {
        units_shown::time(Picos((value * 1000.0).round() as u64))
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn error(summary: Option<Summary>) -> String {
    summary.map_or_else(|| "-".to_owned(), |it| percent(it.mean_error))
}

fn cells(summary: Option<Summary>) -> [String; 4] {
    match summary {
        None => ["0", "-", "-", "-"].map(str::to_owned),
        Some(it) => {
            let bias = format!("{:+.1} %", it.bias * 100.0);
            [it.points.to_string(), percent(it.mean_error), bias, percent(it.largest_error)]
        }
    }
}

fn summary(summary: Option<Summary>) -> Value {
    summary.map_or(Value::Null, |it| {
        json!({
            "points": it.points,
            "mean_error": it.mean_error,
            "bias": it.bias,
            "largest_error": it.largest_error,
        })
    })
}
