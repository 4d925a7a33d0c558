//! Communicator groups: which ranks take part where a node names a group (`pg_name`).
//!
//! Groups come from two places: ASTRA-sim's group file, a JSON object such as `{"5": [1, 3]}` whose keys are
//! positive decimal numbers, and METADATA nodes by which PyTorch's converter describes process groups. Both
//! need the feature `json`. A node without `pg_name`, or with "" or "0", is on the group of all ranks.
//!
//! **Numbers of peers.** In a workload, `comm_src` and `comm_dst` are ranks of the whole trace, also where the
//! node names a group: so ASTRA-sim reads them. Some traces hold the position within the group instead;
//! [`crate::validate::Options::peers`] says so, and positions are then looked up in the list of members.

use std::collections::BTreeMap;

#[cfg(not(feature = "json"))]
use crate::proto::Node;

/// Groups by name, each with its members in the order in which they were listed.
///
/// ```
/// use chakra_et::groups::Groups;
///
/// let groups = Groups::new([("5".to_owned(), vec![1, 3])]);
/// assert_eq!(groups.members("5"), Some(&[1, 3][..]));
/// assert_eq!(groups.members("6"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    groups: BTreeMap<String, Vec<u64>>,
}

impl Groups {
    /// Groups from names and members.
    pub fn new(groups: impl IntoIterator<Item = (String, Vec<u64>)>) -> Self {
        Self { groups: groups.into_iter().collect() }
    }

    /// The members of a group.
    #[must_use]
    pub fn members(&self, name: &str) -> Option<&[u64]> {
        self.groups.get(name).map(Vec::as_slice)
    }

    /// Whether there are no groups.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// All groups by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u64])> {
        self.groups.iter().map(|(name, members)| (name.as_str(), members.as_slice()))
    }

    /// Adds the groups of others that are not there yet.
    pub(crate) fn add_missing(&mut self, others: &Self) {
        for (name, members) in &others.groups {
            if !self.groups.contains_key(name) {
                self.groups.insert(name.clone(), members.clone());
            }
        }
    }
}

/// A group file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupsError {
    /// It is not JSON, or not of the form expected.
    #[error("no group file: {message}; expected an object of lists of ranks, such as {{\"5\": [1, 3]}}")]
    Form {
        /// What the parser says, with line and column.
        message: String,
    },
    /// A key occurs twice.
    #[error("no group file: the group {name:?} is defined twice")]
    Twice {
        /// The key.
        name: String,
    },
}

#[cfg(feature = "json")]
mod json {
    use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
    use serde_json::Value;

    use super::{Groups, GroupsError};
    use crate::proto::Node;

    /// The name of the nodes that describe process groups.
    const INIT: &str = "## process_group:init ##";

    /// The entries of an object, also those with the same key.
    struct Entries(Vec<(String, Vec<u64>)>);

    impl<'de> Deserialize<'de> for Entries {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Entry;
            impl<'de> Visitor<'de> for Entry {
                type Value = Entries;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object of lists of ranks")
                }

                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                    let mut entries = Vec::new();
                    while let Some(entry) = map.next_entry()? {
                        entries.push(entry);
                    }
                    Ok(Entries(entries))
                }
            }
            deserializer.deserialize_map(Entry)
        }
    }

    impl Groups {
        /// Reads ASTRA-sim's group file. What its groups say is not judged: see [`crate::validate`].
        ///
        /// ```
        /// use chakra_et::groups::Groups;
        ///
        /// let groups = Groups::from_json(r#"{"5": [1, 3]}"#)?;
        /// assert_eq!(groups.members("5"), Some(&[1, 3][..]));
        /// assert!(Groups::from_json("[1, 3]").is_err());
        /// # Ok::<(), chakra_et::groups::GroupsError>(())
        /// ```
        ///
        /// # Errors
        /// If it is no JSON object of lists of non-negative integers, or has a key twice.
        pub fn from_json(text: &str) -> Result<Self, GroupsError> {
            let Entries(entries) = serde_json::from_str(text)
                .map_err(|error| GroupsError::Form { message: error.to_string() })?;
            let mut groups = Self::default();
            for (name, members) in entries {
                if groups.groups.insert(name.clone(), members).is_some() {
                    return Err(GroupsError::Twice { name });
                }
            }
            Ok(groups)
        }

        /// The process groups that a node describes; none if it describes none.
        ///
        /// Its inputs hold a list of one text, which is a list of objects with `pg_name` and `ranks`. A group
        /// without ranks, which stands for all, is left out.
        pub(crate) fn from_node(node: &Node) -> Self {
            let mut groups = Self::default();
            let Some(inputs) = node.inputs.as_ref().filter(|_| node.name == INIT) else { return groups };
            let Some(Value::Array(list)) = described(&inputs.values) else { return groups };
            for entry in list {
                let Some(name) = entry.get("pg_name").and_then(name) else { continue };
                let ranks = entry.get("ranks").and_then(Value::as_array);
                let ranks: Vec<u64> = ranks.into_iter().flatten().filter_map(Value::as_u64).collect();
                if !ranks.is_empty() {
                    groups.groups.insert(name, ranks);
                }
            }
            groups
        }
    }

    fn name(value: &Value) -> Option<String> {
        match value {
            Value::String(name) => Some(name.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// The list within the text of the inputs: as JSON, or quoted as Python prints it.
    fn described(values: &str) -> Option<Value> {
        let list = match serde_json::from_str(values) {
            Ok(Value::Array(list)) if list.iter().all(Value::is_string) => {
                serde_json::from_str(list.first()?.as_str()?).ok()?
            }
            Ok(list) => list,
            Err(_) => {
                let inner = values.trim().strip_prefix("['")?.strip_suffix("']")?;
                serde_json::from_str(inner).ok()?
            }
        };
        Some(list)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::proto::IoInfo;

        #[test]
        fn process_groups_are_read_as_python_quotes_them() {
            let list = r#"[{"pg_name": "0", "ranks": []}, {"pg_name": "7", "ranks": [0, 2]}]"#;
            let json = serde_json::to_string(&[list]).unwrap();
            for values in [format!("['{list}']"), json, list.to_owned()] {
                let inputs = Some(IoInfo { values, ..IoInfo::default() });
                let node = Node { name: INIT.into(), inputs, ..Node::default() };
                let groups = Groups::from_node(&node);
                assert_eq!(groups, Groups::new([("7".to_owned(), vec![0, 2])]));
                assert!(Groups::from_node(&Node { name: "x".into(), ..node }).is_empty());
            }
        }

        #[test]
        fn what_is_no_group_file_is_an_error() {
            for text in ["", "[]", r#"{"1": 2}"#, r#"{"1": [-1]}"#, r#"{"1": ["a"]}"#] {
                assert!(matches!(Groups::from_json(text), Err(GroupsError::Form { .. })), "{text}");
            }
            let twice = Groups::from_json(r#"{"1": [0], "1": [1]}"#);
            assert_eq!(twice, Err(GroupsError::Twice { name: "1".into() }));
        }
    }
}

#[cfg(not(feature = "json"))]
impl Groups {
    /// Without JSON, what a node describes is not known.
    pub(crate) fn from_node(_: &Node) -> Self {
        Self::default()
    }
}
