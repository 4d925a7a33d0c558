//! As an author I want to send a colleague one page that says what my algorithm does and how a network takes it.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::{fails, json, succeeds, with_ring};

const RING_TOML: &str =
    "[[dimension]]\nkind = \"ring\"\nsize = 8\nbandwidth = \"50 GB/s\"\nlatency = \"500 ns\"\n";

fn directory() -> tempfile::TempDir {
    let directory = with_ring();
    fs::write(directory.path().join("ring.toml"), RING_TOML).unwrap();
    directory
}

fn page(at: &Path, arguments: &str) -> String {
    let said = succeeds(at, &format!("report page.html {arguments}"));
    assert!(said.starts_with("page.html: ") && said.lines().count() == 1, "{said}");
    fs::read_to_string(at.join("page.html")).unwrap()
}

/// The figure of the element with an id, as the page's script reads it.
#[track_caller]
fn figure(page: &str, id: &str) -> f64 {
    let after = page.split(&format!("id=\"{id}\" data-v=\"")).nth(1).unwrap_or_else(|| panic!("no {id}"));
    after.split('"').next().unwrap().parse().unwrap()
}

/// The rows of a table, each with the values and texts of its cells.
fn rows(page: &str, id: &str) -> Vec<Vec<(Option<f64>, String)>> {
    let table = page.split(&format!("id=\"{id}\"")).nth(1).unwrap_or_else(|| panic!("no {id}"));
    let body = table.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    let cell = |cell: &str| {
        let (attributes, text) = cell.split_once('>').unwrap();
        let value = attributes.split("data-v=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
        (value.map(|value| value.parse().unwrap()), text.split("</td>").next().unwrap().to_owned())
    };
    body.split("<tr>").skip(1).map(|row| row.split("<td").skip(1).map(cell).collect()).collect()
}

/// Whether every element is closed, in the order in which they were opened.
#[track_caller]
fn assert_well_formed(page: &str) {
    const VOID: [&str; 3] = ["meta", "input", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').unwrap();
        let (tag, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "before {:.80}", after);
        } else if !VOID.contains(&name) && !tag.ends_with('/') {
            open.push(name);
            // What is in these is no markup.
            if name == "script" || name == "style" {
                let end = rest.find(&format!("</{name}>")).unwrap();
                rest = &rest[end..];
            }
        }
    }
    assert!(open.is_empty(), "{open:?} are never closed");
}

#[test]
fn the_figures_of_the_page_are_those_of_the_simulation() {
    let directory = directory();
    let at = directory.path();
    let arguments = "allreduce_ring --topology ring.toml --model link-queue --size 3MiB";
    let html = page(at, &format!("{arguments} --sizes 1KiB..4MiB:16"));
    let report = json(&succeeds(at, &format!("simulate {arguments} --links --critical-path --json")));
    let number = |value: &Value| value.as_f64().unwrap();
    for (id, name) in [
        ("time-of-all", "time_ns"),
        ("algbw", "algbw_gb_per_s"),
        ("busbw", "busbw_gb_per_s"),
        ("messages", "messages"),
        ("bytes", "bytes"),
        ("size", "size_bytes"),
    ] {
        assert_eq!(figure(&html, id), number(&report[name]), "{id}");
    }
    // 2·7 messages in a row, by theory.
    assert_eq!(figure(&html, "rounds"), 14.0);
    assert!(html.contains("14 rounds; the busiest rank sends 7/4 of the size"), "theory");

    let ranks = rows(&html, "table-ranks");
    assert_eq!(ranks.len(), 8);
    for (row, expected) in ranks.iter().zip(report["ranks"].as_array().unwrap()) {
        assert_eq!(row[1].0, Some(number(&expected["finish_ns"])));
        // 14 messages of an eighth.
        assert_eq!((row[2].0, row[3].0), (Some(14.0), Some(14.0 * f64::from(3 << 17))));
    }
    let links = rows(&html, "table-links");
    let expected = report["links"].as_array().unwrap();
    assert_eq!(links.len(), expected.len());
    for link in expected {
        let row = links
            .iter()
            .find(|row| row[0].1.replace("&#39;", "'") == link["link"].as_str().unwrap())
            .unwrap();
        assert_eq!(row[3].0, Some(number(&link["bytes"])));
        assert_eq!(row[4].0, Some(number(&link["busy_ns"])));
        assert!((row[6].0.unwrap() - number(&link["utilisation"])).abs() < 1e-9);
    }
    let path: f64 = rows(&html, "table-path").iter().map(|row| row[1].0.unwrap()).sum();
    assert!((path - number(&report["time_ns"])).abs() < 1e-3, "the shares of lines fill the time: {path}");
    for row in rows(&html, "table-sizes") {
        let size = row[0].0.unwrap();
        let alone = "simulate allreduce_ring --topology ring.toml --model link-queue --json";
        let alone = json(&succeeds(at, &format!("{alone} --size {size}")));
        assert_eq!(row[1].0, Some(number(&alone["time_ns"])), "{size}");
        assert_eq!(row[3].0, Some(number(&alone["busbw_gb_per_s"])), "{size}");
    }
}

#[test]
fn the_page_is_one_file_that_loads_nothing_and_has_the_same_bytes_each_time() {
    let directory = directory();
    let at = directory.path();
    let arguments = "allreduce_ring --topology ring.toml --sizes 1KiB,1MiB --set channels=2";
    let html = page(at, arguments);
    assert_well_formed(&html);
    for loads in
        ["http:", "https:", "src=", "@import", "url(", "<link", "<iframe", "<img", "fetch(", "XMLHttp"]
    {
        assert!(!html.contains(loads), "{loads}");
    }
    assert_eq!(html.matches("<svg").count(), 7, "schedule, topology, gantt, links, path, two curves");
    assert_eq!(html, page(at, arguments));
    // An arrow a message: 2 channels, 8 ranks, 14 rounds.
    assert_eq!(html.matches("<g class=\"m k").count(), 2 * 8 * 14);
    // Half of the rounds add.
    assert_eq!(html.matches("<g class=\"m k1").count(), 8 * 14);
    assert!(html.contains("src/algorithms/all_reduce/ring.rs:"));
    assert!(html.contains("collective report page.html allreduce_ring --topology ring.toml"));

    // Paths of the machine stay on it.
    let text =
        format!("report {0}/page.html allreduce_ring --sizes 1KiB --topology {0}/ring.toml", at.display());
    succeeds(at, &text);
    let html = fs::read_to_string(at.join("page.html")).unwrap();
    assert!(!html.contains(&at.display().to_string()));
}

#[test]
fn a_page_needs_no_topology() {
    let directory = directory();
    let html = page(directory.path(), "allgather_recursive_doubling --ranks 4");
    assert_well_formed(&html);
    assert_eq!((figure(&html, "rounds"), figure(&html, "messages")), (2.0, 8.0));
    assert!(html.contains("no topology was given") && html.contains(">pass<"));
    assert!(!html.contains("id=\"time-of-all\"") && !html.contains("id=\"table-ranks\""));
    // Others have neither data nor messages.
    for arguments in ["allreduce_ring --ranks 1", "barrier_dissemination --ranks 5"] {
        assert_well_formed(&page(directory.path(), arguments));
    }
}

/// Two ranks that give each other their chunk.
fn pair(name: &str, first: &str) -> String {
    let gpu = |rank: u32| {
        let (peer, send) = (1 - rank, format!("<step s=\"0\" type=\"s\" srcbuf=\"o\" srcoff=\"{rank}\"/>"));
        let receive = format!("<step s=\"1\" type=\"r\" dstbuf=\"o\" dstoff=\"{peer}\"/>");
        let steps = if first == "send" {
            format!("{send} {receive}")
        } else {
            format!("{} {}", receive.replace("s=\"1\"", "s=\"0\""), send.replace("s=\"0\"", "s=\"1\""))
        };
        format!(
            "<gpu id=\"{rank}\"> <tb id=\"0\" send=\"{peer}\" recv=\"{peer}\" chan=\"0\">{steps}</tb> </gpu>"
        )
    };
    format!(
        "<algo name=\"{name}\" ngpus=\"2\" nchunksperloop=\"2\" nchannels=\"1\" coll=\"allgather\" inplace=\"1\">{}{}</algo>",
        gpu(0),
        gpu(1)
    )
}

#[test]
fn names_are_text() {
    let directory = directory();
    let at = directory.path();
    fs::write(at.join("two.toml"), RING_TOML.replace("size = 8", "size = 2")).unwrap();
    let name = "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&apos;x";
    fs::write(at.join("odd.xml"), pair(name, "send")).unwrap();
    let html = page(at, "odd.xml --topology two.toml");
    assert_well_formed(&html);
    assert_eq!(html.matches("<script").count(), 1, "its own");
    assert!(!html.contains("<script>alert"));
    assert!(html.contains("<h1>&lt;/title&gt;&lt;script&gt;alert(1)"));
    assert!(html.contains("odd.xml:1"), "lines of the file are its source lines");
}

#[test]
fn a_wrong_algorithm_gets_a_page_that_says_so() {
    let directory = directory();
    let at = directory.path();
    fs::write(at.join("stuck.xml"), pair("stuck", "receive")).unwrap();
    let said = fails(at, 1, "report page.html stuck.xml --topology ring.toml");
    assert!(said.contains("stuck.xml: deadlock"), "{said}");
    let html = fs::read_to_string(at.join("page.html")).unwrap();
    assert_well_formed(&html);
    assert!(html.contains("class=\"verdict fail\"") && html.contains("waits for"));
    assert!(html.contains("4 steps never begin") && html.contains("It was not simulated, as it is wrong."));
}

#[test]
fn traces_have_their_schedule() {
    let directory = directory();
    let at = directory.path();
    succeeds(at, "compile allreduce_ring --ranks 8 --size 1MiB -o traced");
    let html = page(at, "traced --topology ring.toml --sizes 1KiB,1MiB");
    assert_well_formed(&html);
    let by_name = page(at, "allreduce_ring --topology ring.toml --sizes 1KiB,1MiB");
    for id in ["time-of-all", "rounds", "size", "busbw"] {
        assert_eq!(figure(&html, id), figure(&by_name, id), "{id}");
    }
    assert_eq!(html.matches("<g class=\"m k").count(), 8 * 14);
    let said = fails(at, 2, "report page.html traced --topology ring.toml --size 2MiB");
    assert!(said.contains("was compiled for 1048576 bytes"), "{said}");
    let same = page(at, "traced --topology ring.toml --size 1MiB");
    assert_eq!(figure(&same, "time-of-all"), figure(&html, "time-of-all"));
}

#[test]
fn large_schedules_make_pages_that_open() {
    let directory = directory();
    let at = directory.path();
    fs::write(at.join("large.toml"), RING_TOML.replace("size = 8", "size = 64")).unwrap();
    let html = page(at, "allreduce_ring --topology large.toml --sizes 1MiB");
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    assert!(html.contains("of 64 ranks are shown"), "what is left out is said");
    assert_well_formed(&html);
}

#[test]
fn what_cannot_be_shown_is_said_in_a_line() {
    let directory = directory();
    let at = directory.path();
    fs::create_dir(at.join("folder.html")).unwrap();
    for (arguments, expected) in [
        ("folder.html allreduce_ring --ranks 4", "folder.html: is a folder, not a page"),
        ("missing/page.html allreduce_ring --ranks 4", "missing/page.html"),
        ("page.html allreduce_rings --ranks 4", "did you mean"),
        ("page.html allreduce_ring", "needs a number of ranks"),
        ("page.html allreduce_ring --ranks 4 --topology ring.toml", "topology"),
        ("page.html allreduce_ring --topology missing.toml", "missing.toml"),
        ("page.html allreduce_ring --ranks 4 --sizes 1KiB", "--sizes needs --topology"),
        ("page.html allreduce_ring --ranks 4 --model fluid", "--model fluid needs --topology"),
        ("page.html missing.xml", "missing.xml"),
        ("allreduce_ring page.html --ranks 4", "ends in .html"),
        ("page.html allreduce_ring --ranks 0", "rank"),
    ] {
        let said = fails(at, 2, &format!("report {arguments}"));
        assert!(said.contains(expected), "{arguments}: {said}");
        assert!(!at.join("page.html").exists(), "{arguments}");
    }
    let left: Vec<_> = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "nothing half is left: {left:?}");
}

/// Where a browser is there, its script runs: heads become buttons, and the controls are shown.
#[test]
fn the_script_runs_in_a_browser() {
    let directory = directory();
    let at = directory.path();
    page(at, "allreduce_ring --topology ring.toml --sizes 1KiB,1MiB");
    let url = format!("file://{}", at.join("page.html").display());
    let browser = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--dump-dom", &url])
        .arg(format!("--user-data-dir={}", at.join("profile").display()))
        .stderr(Stdio::null())
        .output();
    // None here, or one that cannot start.
    let Ok(output) = browser else { return };
    let dom = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !dom.contains("<h1>") {
        return;
    }
    assert!(dom.contains("<button type=\"button\">finish</button>"), "heads can be clicked on");
    assert!(dom.contains("id=\"controls\">") && dom.contains("all rounds"), "controls are shown");
}
