//! The worked examples of `docs/models.md` are what the models say.

use sim_core::topology::Dimension;
use sim_core::units::Bytes;
use sim_core::{Conventions, Model};

use crate::support::*;

#[test]
fn the_worked_examples_are_what_the_models_say() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/models.md")).unwrap();
    let topology = one(Dimension::switch, 4, "500 ns");
    let (mut models, mut figures) = (Vec::<Model>::new(), 0);
    for line in page.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if cells[0] == "messages" {
            models = cells[1..].iter().map(|name| name.parse().unwrap()).collect();
        }
        let messages = cells[0].strip_prefix('`').and_then(|cell| cell.strip_suffix('`'));
        let (Some(messages), true) = (messages, cells.len() > 1) else { continue };
        let mut ranks = Ranks::new(4);
        for message in messages.split(", ") {
            let (pair, size) = message.split_once(' ').unwrap();
            let (src, dst) = pair.split_once('>').unwrap();
            let size: Bytes = size.parse().unwrap();
            ranks.message(src.parse().unwrap(), dst.parse().unwrap(), size.0);
        }
        let graph = ranks.graph();
        assert_eq!(cells.len() - 1, models.len(), "{line}");
        for (model, cell) in models.iter().zip(&cells[1..]) {
            let makespan = simulate(&topology, *model, Conventions::Exact, &graph).makespan;
            assert_eq!(
                Some(makespan),
                sim_core::units::Picos::from_ns(cell.parse().unwrap()),
                "{model}: {line}"
            );
            figures += 1;
        }
    }
    // Five rows of three models, three of loggp.
    assert_eq!(figures, 5 * 3 + 3);
}
