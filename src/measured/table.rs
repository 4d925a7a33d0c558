//! Comma-separated values with a line of names.

use std::collections::BTreeMap;

use super::{Fault, Measurement, Place, Run, collective_named};

/// Nanoseconds in the unit of a column of times.
const TIMES: [(&str, f64); 6] =
    [("time_us", 1e3), ("time_ns", 1.0), ("time_ms", 1e6), ("time_s", 1e9), ("time", 1e3), ("time(us)", 1e3)];
const SIZES: [&str; 4] = ["size_bytes", "size", "bytes", "size(b)"];

/// Where which column stands.
pub(super) struct Head {
    /// The number of its line.
    line: usize,
    width: usize,
    size: usize,
    time: (usize, f64),
    ranks: Option<usize>,
    collective: Option<usize>,
    place: Option<usize>,
}

/// The line of names, if the text has one.
pub(super) fn head(text: &str) -> Option<Head> {
    let is_said = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
    let (at, line) = text.lines().enumerate().find(|(_, line)| is_said(line))?;
    let names: Vec<String> = cells(line.trim_start_matches('\u{feff}'))?
        .into_iter()
        .map(|name| name.trim().to_ascii_lowercase().replace(' ', ""))
        .collect();
    let column = |name: &str| names.iter().position(|its| its == name);
    let time = TIMES.into_iter().find_map(|(name, factor)| column(name).map(|at| (at, factor)))?;
    Some(Head {
        line: at + 1,
        width: names.len(),
        size: SIZES.into_iter().find_map(column)?,
        time,
        ranks: column("ranks"),
        collective: column("collective"),
        place: column("place"),
    })
}

/// A run for each collective and number of ranks, in the order in which they first occur.
pub(super) fn read(text: &str, head: &Head) -> Result<Vec<Run>, Fault> {
    let mut runs: Vec<Run> = Vec::new();
    let mut known: BTreeMap<(Option<String>, Option<u32>), usize> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()).skip(head.line) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let fault = |message: String| (Some(number), message);
        let cells = cells(line).ok_or_else(|| fault("a quote is not closed".to_owned()))?;
        if cells.len() != head.width {
            return Err(fault(format!(
                "expected {} values, as there are names, not {}",
                head.width,
                cells.len()
            )));
        }
        let cell = |at: usize| cells[at].trim();
        let stated = |at: Option<usize>| at.map(cell).filter(|text| !text.is_empty());
        let size: u64 = cell(head.size)
            .parse()
            .map_err(|_| fault(format!("the size \"{}\" is no whole number of bytes", cell(head.size))))?;
        let (at, factor) = head.time;
        let ns =
            cell(at).parse::<f64>().ok().map(|time| time * factor).filter(|ns| ns.is_finite() && *ns > 0.0);
        let ns = ns.ok_or_else(|| fault(format!("the time \"{}\" is no number above 0", cell(at))))?;
        let ranks = stated(head.ranks)
            .map(|text| text.parse().map_err(|_| fault(format!("\"{text}\" is no number of ranks"))))
            .transpose()?;
        let place =
            stated(head.place).map(|text| place(text).ok_or_else(|| fault(no_place(text)))).transpose()?;
        let collective = stated(head.collective).map(collective_named);
        let at = *known.entry((collective.clone(), ranks)).or_insert_with(|| {
            runs.push(Run { collective, ranks, measurements: Vec::new() });
            runs.len() - 1
        });
        if size > 0 {
            runs[at].measurements.push(Measurement { size, place, ns, is_wrong: false, line: Some(number) });
        }
    }
    Ok(runs)
}

fn place(text: &str) -> Option<Place> {
    match text.to_ascii_lowercase().replace(['-', '_', ' '], "").as_str() {
        "out" | "outofplace" => Some(Place::OutOfPlace),
        "in" | "inplace" => Some(Place::InPlace),
        _ => None,
    }
}

fn no_place(text: &str) -> String {
    format!("the place is \"{text}\": expected out or in")
}

/// The values of a line; none if a quote is not closed. A quote within quotes is written twice.
fn cells(line: &str) -> Option<Vec<String>> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => cell.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    (!quoted).then_some(cells)
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    #[test]
    fn columns_are_found_by_name_and_rows_are_put_together() {
        let text = "\
hardware,ranks,collective,size_bytes,place,time_us
\"8x A100, \"\"NVSwitch\"\"\",8,alltoall,1024,out,12.5

\"8x A100\",8,all_to_all,1024,in,11.5
x,16,all_to_all,2048,,20
";
        let runs = read(text, "t.csv").unwrap();
        let told: Vec<_> = runs.iter().map(|run| (run.collective.as_deref(), run.ranks)).collect();
        assert_eq!(told, [(Some("all_to_all"), Some(8)), (Some("all_to_all"), Some(16))]);
        assert_eq!(runs[0].times(Place::InPlace), [(1024, 11_500.0)]);
        // Where no place is said it is of both.
        assert_eq!(runs[1].times(Place::InPlace), runs[1].times(Place::OutOfPlace));
    }

    #[test]
    fn units_are_those_of_the_name() {
        for (name, ns) in
            [("time", 2000.0), ("time_us", 2000.0), ("time_ns", 2.0), ("time_ms", 2e6), ("Time (us)", 2000.0)]
        {
            let runs = read(&format!("bytes,{name}\n8,2\n"), "t.csv").unwrap();
            assert_eq!(runs[0].times(Place::OutOfPlace), [(8, ns)], "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        for (row, message) in [
            ("1 KiB,2,8,out", "the size \"1 KiB\" is no whole number of bytes"),
            ("8,0,8,out", "the time \"0\" is no number above 0"),
            ("8,2,many,out", "\"many\" is no number of ranks"),
            ("8,2,8,here", "the place is \"here\": expected out or in"),
            ("8,2,8", "expected 4 values, as there are names, not 3"),
            ("8,2,\"8,out", "a quote is not closed"),
        ] {
            let error = read(&format!("size,time_us,ranks,place\n8,1,8,in\n{row}\n"), "t.csv").unwrap_err();
            assert_eq!(error.to_string(), format!("t.csv:3: {message}"));
        }
    }
}
