//! `build_time_errors`: each mistake is found by the rule that it breaks.

use collective::Rule;

use crate::{build_time_errors, printed};

#[test]
fn each_mistake_breaks_its_rule() {
    let rules: Vec<Rule> = build_time_errors::mistakes()
        .into_iter()
        .map(|(what, outcome)| outcome.err().unwrap_or_else(|| panic!("{what}")).findings[0].rule)
        .collect();
    let wanted = [
        Rule::Wrong,
        Rule::Wrong,
        Rule::Bounds,
        Rule::Stale,
        Rule::Uninitialised,
        Rule::Limit,
        Rule::Race,
        Rule::Deadlock,
    ];
    assert_eq!(rules, wanted);
}

#[test]
fn errors_point_at_the_line_that_is_wrong() {
    let text = printed(build_time_errors::show);
    assert_eq!(text.matches("nothing was found").count(), 0, "{text}");
    // Ring of 4, one step short: the last rank before index is left out of chunk index.
    assert!(text.contains("3 of 4 contributions"), "{text}");
    assert!(text.contains("33 channels; msccl has at most 32"), "{text}");
    assert!(text.contains("(1/4)") && text.contains("(4/4)"), "{text}");
    // What is underlined is the method that the message is about.
    let lines: Vec<&str> = text.lines().collect();
    let marks: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].contains('^')).collect();
    assert!(marks.len() >= 8, "{text}");
    for at in marks {
        let (from, to) = (lines[at].find('^').unwrap(), lines[at].rfind('^').unwrap());
        let place = &lines[at - 1][from..=to];
        assert!(["chunk", "copy_to", "reduce"].contains(&place), "{place}: {text}");
        assert_eq!(lines[at - 1].as_bytes()[from - 1], b'.', "{text}");
    }
}
