//! The arguments that say how fast a rank computes, loads and stores.

use collective::sim::units::Bandwidth;
use collective::sim::workload::{Memory, Roofline};

/// Reads `PEAK,BANDWIDTH`, such as `900 TFLOP/s,1600 GB/s`.
pub(in crate::commands::simulate) fn roofline(text: &str) -> Result<Roofline, String> {
    let fault = |why: &str| format!("expected PEAK,BANDWIDTH, such as 900TFLOP/s,1600GB/s: {why}");
    let (peak, bandwidth) = text.split_once(',').ok_or_else(|| fault("there is no comma"))?;
    let peak = operations_per_s(peak).map_err(|why| fault(&why))?;
    let bandwidth: Bandwidth = bandwidth.trim().parse().map_err(|error| fault(&format!("{error}")))?;
    Roofline::new(peak, bandwidth).map_err(|error| fault(&error.to_string()))
}

/// Reads `LATENCY,BANDWIDTH`, such as `100 ns,2 TB/s`.
pub(in crate::commands::simulate) fn memory(text: &str) -> Result<Memory, String> {
    let fault = |why: &str| format!("expected LATENCY,BANDWIDTH, such as 100ns,2TB/s: {why}");
    let (latency, bandwidth) = text.split_once(',').ok_or_else(|| fault("there is no comma"))?;
    let latency = latency.trim().parse().map_err(|error| fault(&format!("{error}")))?;
    let bandwidth = bandwidth.trim().parse().map_err(|error| fault(&format!("{error}")))?;
    Ok(Memory { latency, bandwidth })
}

/// A number with one of the units FLOP/s and FLOPS, and a prefix; letters may be small.
fn operations_per_s(text: &str) -> Result<f64, String> {
    const UNITS: &str = "FLOP/s, GFLOP/s, TFLOP/s or PFLOP/s (also FLOPS, GFLOPS, …)";
    let text = text.trim();
    let is_number = |(at, letter): (usize, char)| {
        let is_exponent = matches!(letter, 'e' | 'E')
            && text[at + 1..].starts_with(|next: char| next.is_ascii_digit() || next == '-');
        let is_sign = letter == '-' && text[..at].ends_with(['e', 'E']);
        letter.is_ascii_digit() || letter == '.' || is_exponent || is_sign
    };
    let end = text.char_indices().find(|&at| !is_number(at)).map_or(text.len(), |(at, _)| at);
    let (number, unit) = (&text[..end], text[end..].trim().to_ascii_lowercase());
    let value: f64 =
        number.parse().map_err(|_| format!("{text:?} is no speed: expected a number and {UNITS}"))?;
    let prefix = unit.strip_suffix("flop/s").or_else(|| unit.strip_suffix("flops"));
    let factor = prefix.and_then(|prefix| match prefix {
        "" => Some(1.0),
        "k" => Some(1e3),
        "m" => Some(1e6),
        "g" => Some(1e9),
        "t" => Some(1e12),
        "p" => Some(1e15),
        "e" => Some(1e18),
        _ => None,
    });
    match factor {
        Some(factor) => Ok(value * factor),
        None if unit.is_empty() => Err(format!("{text:?} has no unit: expected {UNITS}")),
        None => Err(format!("{text:?} has an unknown unit: expected {UNITS}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roofline_is_a_peak_and_a_bandwidth_with_units() {
        let peak = |text: &str| roofline(&format!("{text},1600 GB/s")).map(|roofline| roofline.peak());
        for text in ["900TFLOP/s", "900 TFLOPS", "900 tflops", "0.9 PFLOP/s", "900e3 GFLOPS", "9E14FLOP/s"] {
            assert_eq!(peak(text), Ok(900e12), "{text}");
        }
        assert_eq!(peak("5e-1 KFLOPS"), Ok(500.0));
        let bandwidth = roofline("1GFLOPS, 1.6 TB/s").unwrap().bandwidth();
        assert_eq!(bandwidth, "1600 GB/s".parse().unwrap());
    }

    #[test]
    fn what_is_no_roofline_is_said() {
        for (text, wanted) in [
            ("900TFLOP/s", "there is no comma"),
            ("900,1600GB/s", "\"900\" has no unit"),
            ("900 TB/s,1600GB/s", "unknown unit"),
            ("many,1600GB/s", "is no speed"),
            ("-1 TFLOPS,1600GB/s", "is no speed"),
            ("0 TFLOPS,1600GB/s", "above 0"),
            ("1e400 TFLOPS,1600GB/s", "above 0"),
            ("1 TFLOPS,1600", "no unit"),
            ("1 TFLOPS,0 GB/s", "out of range"),
            ("ä,ö", "is no speed"),
        ] {
            let error = roofline(text).unwrap_err();
            assert!(error.contains(wanted) && error.contains("PEAK,BANDWIDTH"), "{text}: {error}");
        }
    }

    #[test]
    fn memory_is_a_latency_and_a_bandwidth() {
        let read = memory("100 ns, 2TB/s").unwrap();
        assert_eq!((read.latency, read.bandwidth), ("100 ns".parse().unwrap(), "2000 GB/s".parse().unwrap()));
        assert!(memory("2TB/s").unwrap_err().contains("there is no comma"));
        assert!(memory("2TB/s,100ns").unwrap_err().contains("LATENCY,BANDWIDTH"));
    }
}
