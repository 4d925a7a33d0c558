//! Topologies that grow with the number of ranks: texts in which `"{ranks}"` and `"{ranks/8}"` stand for numbers.

/// Whether a text has such places.
pub(super) fn scales(text: &str) -> bool {
    next(text).is_some()
}

/// The text for a number of ranks; or which place has no whole number, or is no such place.
pub(super) fn fill(text: &str, ranks: usize) -> Result<String, String> {
    let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((begin, end)) = next(rest) {
        // Between the braces.
        let inner = &rest[begin + 2..end - 2];
        let divisor = match inner.trim().strip_prefix("ranks").map(str::trim) {
            Some("") => Some(1),
            Some(after) => after.strip_prefix('/').and_then(|number| number.trim().parse().ok()),
            None => None,
        };
        let divisor = divisor.filter(|divisor: &usize| *divisor > 0).ok_or_else(|| {
            format!("{}: expected \"{{ranks}}\" or, divided, \"{{ranks/8}}\"", &rest[begin..end])
        })?;
        if !ranks.is_multiple_of(divisor) {
            return Err(format!("it scales by ranks / {divisor}, which {ranks} ranks do not divide into"));
        }
        filled.push_str(&rest[..begin]);
        filled.push_str(&(ranks / divisor).to_string());
        rest = &rest[end..];
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Where the next such place begins and ends, with its quotes.
fn next(text: &str) -> Option<(usize, usize)> {
    let place = |quote: char| {
        let begin = text.find(&format!("{quote}{{ranks"))?;
        let end = text[begin..].find(&format!("}}{quote}"))? + begin + 2;
        // A quote that was never closed is the parser's business.
        (!text[begin..end].contains('\n')).then_some((begin, end))
    };
    ['"', '\''].into_iter().filter_map(place).min()
}

/// A text for each `[[topology]]` of a sweep, in which all lines but those of the one are empty; one text if they are written
/// otherwise.
pub(super) fn each_topology(text: &str) -> Vec<String> {
    let is_head = |line: &str| line.split_whitespace().collect::<String>().starts_with("[[topology]]");
    let lines: Vec<&str> = text.lines().collect();
    let heads: Vec<usize> = (0..lines.len()).filter(|at| is_head(lines[*at])).collect();
    if heads.is_empty() {
        return vec![text.to_owned()];
    }
    let ends = heads.iter().skip(1).copied().chain([lines.len()]);
    let one = |(begin, end): (&usize, usize)| "\n".repeat(*begin) + &lines[*begin..end].join("\n") + "\n";
    heads.iter().zip(ends).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_become_numbers_and_lines_stay_lines() {
        let text = "nodes = \"{ranks/8}\"\nsize = '{ranks}' # {ranks}\nname = \"{rank}\"\n";
        assert!(scales(text));
        assert_eq!(fill(text, 64).unwrap(), "nodes = 8\nsize = 64 # {ranks}\nname = \"{rank}\"\n");
        assert!(fill(text, 12).unwrap_err().contains("ranks / 8, which 12 ranks"));
        for wrong in ["{ranks*2}", "{ranks/0}", "{ranks/x}", "{ranksx}"] {
            let error = fill(&format!("size = \"{wrong}\""), 8).unwrap_err();
            assert!(error.contains(wrong) && error.contains("{ranks/8}"), "{error}");
        }
        for plain in ["size = 8", "size = \"{ranks", "size = \"{ranks\n}\"", "{ranks}"] {
            assert!(!scales(plain), "{plain}");
            assert_eq!(fill(plain, 8).unwrap(), plain);
        }
    }

    #[test]
    fn each_topology_keeps_its_lines() {
        let text = "sizes = 8\n[[topology]]\nname = 1\n[[ topology ]]\nname = 2\n[[conditions]]\n";
        assert_eq!(
            each_topology(text),
            ["\n[[topology]]\nname = 1\n", "\n\n\n[[ topology ]]\nname = 2\n[[conditions]]\n"]
        );
        assert_eq!(each_topology("topology = []\n"), ["topology = []\n"]);
    }
}
