//! The graph for Graphviz.

use chakra_et::proto::NodeType;
use chakra_et::validate::{RankSurvey, Survey};

use crate::failure::Failure;

/// More nodes than this make no picture, so a rank has to be chosen.
const SMALL: usize = 2000;

pub(super) fn graph(survey: &Survey, rank: Option<usize>) -> Result<String, Failure> {
    let shown: Vec<&RankSurvey> =
        survey.ranks().iter().filter(|survey| rank.is_none_or(|rank| survey.rank() == rank)).collect();
    let nodes: usize = shown.iter().map(|rank| rank.len()).sum();
    if rank.is_none() && shown.len() > 1 && nodes > SMALL {
        return Err(Failure::input(format!(
            "the trace has {nodes} nodes; choose a rank by --rank R to draw more than {SMALL}"
        )));
    }
    let mut text = String::from("digraph trace {\n  rankdir=LR;\n  node [shape=box];\n");
    for survey in shown {
        let rank = survey.rank();
        text.push_str(&format!("  subgraph cluster_{rank} {{\n    label=\"rank {rank}\";\n"));
        for position in 0..survey.len() {
            let id = survey.id(position).unwrap_or_default();
            let label = match survey.name(position) {
                "" => id.to_string(),
                name => format!("{id} {name}"),
            };
            let colour = colour(survey.node_type(position).unwrap_or_default());
            text.push_str(&format!(
                "    r{rank}n{position} [label=\"{}\", style=filled, fillcolor={colour}];\n",
                escaped(&label)
            ));
            for dep in survey.deps(position) {
                text.push_str(&format!("    r{rank}n{dep} -> r{rank}n{position};\n"));
            }
        }
        text.push_str("  }\n");
    }
    text.push_str("}\n");
    Ok(text)
}

fn colour(node_type: i32) -> &'static str {
    match NodeType::try_from(node_type) {
        Ok(NodeType::CommSendNode) => "lightblue",
        Ok(NodeType::CommRecvNode) => "lightgreen",
        Ok(NodeType::CommCollNode) => "gold",
        Ok(NodeType::CompNode) => "white",
        _ => "lightgrey",
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
