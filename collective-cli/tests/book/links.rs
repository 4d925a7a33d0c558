//! Links between pages.

use std::path::Path;

use crate::page::Page;

/// Links of a page that lead to no file, or to no heading.
pub(crate) fn broken(root: &Path, page: &Page, pages: &[Page]) -> Vec<String> {
    let folder = Path::new(&page.name).parent().unwrap();
    let mut broken = Vec::new();
    for (index, line) in page.prose().iter().enumerate() {
        for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let name = if file.is_empty() { page.name.clone() } else { normal(&folder.join(file)) };
            let found = root.join(&name).exists();
            let heading = anchor.is_empty()
                || pages
                    .iter()
                    .find(|other| other.name == name)
                    .is_none_or(|other| has_anchor(other, anchor));
            if !found || !heading {
                broken.push(format!("{}:{}: {target} leads nowhere", page.name, index + 1));
            }
        }
    }
    broken
}

/// `docs/../README.md` as `README.md`.
fn normal(path: &Path) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.to_str().unwrap().split('/') {
        match part {
            "." | "" => {}
            ".." => _ = parts.pop(),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

fn has_anchor(page: &Page, anchor: &str) -> bool {
    let headings = page.prose().into_iter().filter(|line| line.starts_with('#'));
    headings.into_iter().any(|heading| slug(heading) == anchor)
}

/// The anchor of a heading, as mdBook and code hosts make it.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
