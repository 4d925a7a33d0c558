//! MSCCL XML from a short notation, so that a test shows the steps and little else.
#![allow(dead_code, reason = "each test binary uses a part")]

use collective_dsl::msccl::{self, Imported};
use collective_dsl::verify::{Report, Settings, Slots, check};

/// The text of a file: the attributes of `algo`, then for each rank its thread blocks, such as
/// `"send=1 recv=1 chan=0: s i0; r s0; re s0 i0 @1.2; s i2*2"`. `@1.2` waits for step 2 of thread block 1, `*2` moves two
/// chunks; steps that are waited for are flagged. A rank may begin with `"scratch=2"`.
pub(crate) fn xml(attributes: &str, ranks: &[&[&str]]) -> String {
    let mut text = format!("<algo name=\"t\" {attributes} ngpus=\"{}\">\n", ranks.len());
    for (r, blocks) in ranks.iter().enumerate() {
        let scratch = blocks.iter().find_map(|block| block.strip_prefix("scratch="));
        let scratch = scratch.map_or(String::new(), |chunks| format!(" s_chunks=\"{chunks}\""));
        text.push_str(&format!("<gpu id=\"{r}\"{scratch}>\n"));
        let blocks: Vec<&str> =
            blocks.iter().copied().filter(|block| !block.starts_with("scratch=")).collect();
        let all = blocks.join(" ");
        for (t, block) in blocks.iter().enumerate() {
            let (ends, steps) = block.split_once(':').unwrap();
            let attribute = |name: &str, absent: &str| {
                let found =
                    ends.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
                format!("{name}=\"{}\"", found.unwrap_or(absent))
            };
            let ends = [attribute("send", "-1"), attribute("recv", "-1"), attribute("chan", "0")].join(" ");
            text.push_str(&format!("<tb id=\"{t}\" {ends}>\n"));
            for (s, step) in steps.split(';').enumerate() {
                text.push_str(&line(s, step, all.contains(&format!("@{t}.{s}"))));
            }
            text.push_str("</tb>\n");
        }
        text.push_str("</gpu>\n");
    }
    text.push_str("</algo>\n");
    text
}

fn line(number: usize, step: &str, awaited: bool) -> String {
    let mut words = step.split_whitespace();
    let kind = words.next().unwrap();
    let (mut places, mut count, mut wait) = (Vec::new(), "1", ("-1", "-1"));
    for word in words {
        match word.strip_prefix('@') {
            Some(on) => wait = on.split_once('.').unwrap(),
            None => {
                let (place, times) = word.split_once('*').unwrap_or((word, "1"));
                count = times;
                places.push((&place[..1], &place[1..]));
            }
        }
    }
    let (src, dst) = (places[0], *places.last().unwrap());
    format!(
        "<step s=\"{number}\" type=\"{kind}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{count}\" \
         depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n",
        src.0,
        src.1,
        dst.0,
        dst.1,
        wait.0,
        wait.1,
        u8::from(awaited)
    )
}

#[track_caller]
pub(crate) fn read(text: &str) -> Imported {
    msccl::read(text, "t.xml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The report with the slots of the protocol.
#[track_caller]
pub(crate) fn judge(attributes: &str, ranks: &[&[&str]]) -> Report {
    judge_with(attributes, ranks, Slots::Protocol)
}

#[track_caller]
pub(crate) fn judge_with(attributes: &str, ranks: &[&[&str]], slots: Slots) -> Report {
    let settings = Settings { slots, reductions: true, ..Settings::default() };
    check(&read(&xml(attributes, ranks)).schedule, &settings)
}

/// Asserts the verdict, and that the messages contain these words, one finding each, in this order.
#[track_caller]
pub(crate) fn expect(report: &Report, verdict: &str, messages: &[&str]) {
    let found: Vec<&str> = report.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(report.verdict().name(), verdict, "{found:#?}");
    assert_eq!(found.len(), messages.len(), "{found:#?}");
    for (found, wanted) in found.iter().zip(messages) {
        assert!(found.contains(wanted), "wanted \"{wanted}\", got \"{found}\"");
    }
}
