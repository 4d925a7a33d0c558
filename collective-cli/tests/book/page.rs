//! Pages and their blocks.

use std::fs;
use std::path::Path;

/// A page, with its blocks in order.
pub(crate) struct Page {
    /// From the root: `docs/tutorial.md`.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
}

/// What stands between two fences.
pub(crate) struct Block {
    /// All that stands behind the opening fence.
    pub(crate) info: String,
    /// Without the indentation of the fence; every line with its end.
    pub(crate) text: String,
    /// The line of the opening fence, from 1.
    pub(crate) line: usize,
    pub(crate) indent: usize,
}

impl Page {
    pub(crate) fn read(root: &Path, name: String) -> Self {
        let text = fs::read_to_string(root.join(&name)).unwrap();
        let blocks = blocks(&name, &text);
        Self { name, text, blocks }
    }

    /// The block before this one, if there is one.
    pub(crate) fn before(&self, block: &Block) -> Option<&Block> {
        self.blocks.iter().rev().find(|other| other.line < block.line)
    }

    /// The text outside of blocks, a line each; lines of blocks are empty.
    pub(crate) fn prose(&self) -> Vec<&str> {
        let mut inside = false;
        let line = |line: &'_ str| {
            let fence = line.trim_start().starts_with("```");
            let empty = inside || fence;
            inside ^= fence;
            empty
        };
        let mut hidden = line;
        self.text.lines().map(|line| if hidden(line) { "" } else { line }).collect()
    }
}

fn blocks(name: &str, text: &str) -> Vec<Block> {
    let (mut blocks, mut open): (Vec<Block>, Option<Block>) = (Vec::new(), None);
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        match (&mut open, trimmed.strip_prefix("```")) {
            (None, Some(info)) => {
                open = Some(Block { info: info.to_owned(), text: String::new(), line: index + 1, indent });
            }
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => {
                block.text += line.get(block.indent..).unwrap_or("");
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{name}: a block without an end");
    blocks
}

impl Block {
    fn words(&self) -> impl Iterator<Item = &str> {
        self.info.split([' ', ',']).filter(|word| !word.is_empty())
    }

    /// The language, or what else stands first.
    pub(crate) fn kind(&self) -> &str {
        self.words().next().unwrap_or("")
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.words().any(|other| other == word)
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.words().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    /// The files that the block is, for the commands that follow; `{0..7}` in the name stands for eight.
    pub(crate) fn files(&self) -> Vec<String> {
        let Some(name) = self.value("file") else { return Vec::new() };
        let many = name.split_once('{').and_then(|(start, rest)| {
            let (range, end) = rest.split_once('}')?;
            let (first, last) = range.split_once("..")?;
            let numbers = first.parse::<u32>().ok()?..=last.parse().ok()?;
            Some(numbers.map(|number| format!("{start}{number}{end}")).collect())
        });
        many.unwrap_or_else(|| vec![name.to_owned()])
    }

    /// The exit code that its commands are to have.
    pub(crate) fn exit(&self) -> i32 {
        self.value("exit").map_or(0, |code| code.parse().unwrap())
    }

    /// The commands of a block: its lines without comments, joined where they end in a backslash.
    pub(crate) fn commands(&self) -> Vec<String> {
        let joined = self.text.replace("\\\n", " ");
        let bare = joined.lines().map(|line| line.split(" #").next().unwrap_or("").trim());
        bare.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
    }

    pub(crate) fn parse_error(&self) -> Option<String> {
        match self.kind() {
            "toml" => toml::from_str::<toml::Table>(&self.text).err().map(|error| error.to_string()),
            _ if self.has("lines") => {
                let values = serde_json::Deserializer::from_str(&self.text).into_iter::<serde_json::Value>();
                values.filter_map(Result::err).map(|error| error.to_string()).next()
            }
            _ => serde_json::from_str::<serde_json::Value>(&self.text).err().map(|error| error.to_string()),
        }
    }
}
