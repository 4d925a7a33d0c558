//! Patterns for names.

/// Whether a pattern is that of a whole name: `*` stands for any characters, or none, `?` for one, all others for
/// themselves.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    // The last star, and where in the name what comes after it was tried: only that one ever has to take more.
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(one) if *one == '?' || *one == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => {
                let Some((star_at, tried)) = star else { return false };
                star = Some((star_at, tried + 1));
                at = star_at + 1;
                in_name = tried + 1;
            }
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_take_any_characters_and_question_marks_one() {
        for (pattern, yes, no) in [
            ("dp", &["dp"][..], &["dp0", "xdp", ""][..]),
            ("dp*", &["dp", "dp0", "dp*"], &["xdp"]),
            ("*dp", &["dp", "xdp", "dpdp"], &["dpx"]),
            ("*a*b*", &["ab", "xaybz", "aab"], &["ba", "a", "b"]),
            ("d?", &["dp", "dé"], &["d", "dpp"]),
            ("", &[""], &["x"]),
            ("*", &["", "anything"], &[]),
            ("a*?c", &["abc", "axxc"], &["ac"]),
        ] {
            assert!(yes.iter().all(|name| matches(pattern, name)), "{pattern}");
            assert!(!no.iter().any(|name| matches(pattern, name)), "{pattern}");
        }
        // No blow-up: a star is never tried again.
        assert!(!matches(&"*a".repeat(30), &"a".repeat(29)));
    }
}
