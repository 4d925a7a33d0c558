//! The table of rules.

use std::fmt;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// The trace is wrong: a simulator would refuse it, stop or never end.
    Error,
    /// Some readers stumble over it, or it is probably not what was meant.
    Warning,
    /// Worth knowing.
    Note,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// One thing that the validator looks for.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// A short name that stays the same.
    pub id: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What it is about, in one line.
    pub summary: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $level:ident $summary:literal;)*) => {
        $(
            #[doc = $summary]
            pub(crate) static $name: Rule = Rule { id: $id, level: Level::$level, summary: $summary };
        )*

        /// All rules, in the order in which findings are given.
        ///
        /// ```
        /// use chakra_et::validate::{Level, RULES};
        ///
        /// let rule = RULES.iter().find(|rule| rule.id == "cyclic-dependence").expect("there is such a rule");
        /// assert_eq!(rule.level, Level::Error);
        /// ```
        pub static RULES: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    DUPLICATE_ID "duplicate-id" Error "Two nodes of a rank have one id.";
    DANGLING "dangling-dependence" Error "A node depends on an id that no node of its rank has.";
    SELF_DEP "self-dependence" Error "A node depends on itself.";
    CYCLIC "cyclic-dependence" Error "Nodes of a rank wait for one another in a circle.";
    NO_ROOT "no-root" Error "No node of a rank can start, as each depends on another.";
    MISSING_ATTR "missing-attribute" Error "A node lacks an attribute that its type needs.";
    MISTYPED_ATTR "mistyped-attribute" Error "An attribute has another kind than its readers need, no value or one out of range.";
    UNKNOWN_COMM_TYPE "unknown-comm-type" Error "A collective is of a kind that the format does not define.";
    INVOLVED_DIM "involved-dim" Error "A collective involves no dimension, on which ASTRA-sim crashes or hangs.";
    CPU_COMM "comm-on-cpu" Error "A communication node is said to run on the CPU, which ASTRA-sim refuses.";
    ALGORITHM_NODE_TYPE "algorithm-node-type" Error "An algorithm has a node that is no send, receive or computation: ASTRA-sim never finishes it.";
    PEER_RANGE "peer-out-of-range" Error "A send or receive names a rank that the trace or the group does not have.";
    SELF_MESSAGE "self-message" Error "A rank sends to itself or receives from itself.";
    FOREIGN_END "foreign-end" Error "A send states another sender, or a receive another receiver, than the rank it is on.";
    SIZE_MISMATCH "size-mismatch" Error "A send and the receive that it meets differ in size.";
    UNMATCHED_RECV "unmatched-receive" Error "A receive waits for a message that nobody sends.";
    GROUP_KEY "group-key" Error "The key of a group is no positive decimal number.";
    GROUP_EMPTY "group-empty" Error "A group has no members.";
    GROUP_RANGE "group-rank-out-of-range" Error "A group has a member that is no rank of the trace.";
    GROUP_TWICE "group-duplicate-member" Error "A group has a member twice.";
    GROUP_UNKNOWN "unknown-group" Error "A node is on a group that is not defined.";
    NOT_A_MEMBER "not-a-member" Error "A rank communicates on a group that it is no member of.";
    COLLECTIVE_MISMATCH "collective-mismatch" Error "The ranks of a group issue different collectives on it.";
    GROUP_ORDER "deadlock" Error "Ranks wait for one another: collectives in different order, or receives before the sends that others wait for.";
    NO_NODES "no-nodes" Warning "A rank has no nodes, which ASTRA-sim refuses.";
    EMPTY_METADATA "empty-metadata" Warning "The metadata are a message of length 0, which some readers take for the end of the file.";
    EMPTY_NODE "empty-node" Warning "A node is a message of length 0, which some readers take for the end of the file.";
    TRAILING_ZEROS "trailing-zeros" Warning "A file ends with messages of length 0 that are no nodes.";
    GZIP "gzip" Warning "A file is compressed, which ASTRA-sim does not notice.";
    CONVERTED "converted" Warning "A file is of an older schema and was converted.";
    UNKNOWN_VERSION "unknown-version" Warning "The metadata state a version that is not known.";
    VERSIONS_DIFFER "versions-differ" Warning "The ranks state different versions.";
    STRAY_FILE "stray-file" Warning "A file is named almost like one of the trace, and not read.";
    UNKNOWN_NODE_TYPE "unknown-node-type" Warning "A node is of a type that the format does not define.";
    INVALID_NODE "invalid-node" Warning "A node is of type INVALID_NODE, after which ASTRA-sim may hang.";
    METADATA_NODE "metadata-node" Warning "A node is of type METADATA_NODE, on which ASTRA-sim's statistics stop.";
    MEMORY_NODE "memory-node" Warning "A node accesses memory, which ASTRA-sim refuses unless it has a memory model.";
    DUPLICATE_DEP "duplicate-dependence" Warning "A node has a dependence twice, and the older C++ feeder then never starts it.";
    DUPLICATE_ATTR "duplicate-attribute" Warning "A node has two attributes of one name: most readers take the first, the older C++ feeder the last.";
    WITHOUT_VALUE "attribute-without-value" Warning "An attribute has no value.";
    WRONG_ARM "wrong-arm" Warning "An attribute is stored in an arm that the older C++ feeder reads as zero.";
    ZERO_SIZE "zero-size" Warning "A message or collective has no bytes, which stops ASTRA-sim.";
    HUGE_SIZE "implausible-size" Warning "A message or collective has more than 2^60 bytes.";
    SYMBOLIC_SIZE "symbolic-size" Warning "A message has no literal size, which ASTRA-sim's main branch needs.";
    TAG_RANGE "tag-out-of-range" Warning "A tag is 500,000,000 or more, which ASTRA-sim folds onto smaller ones.";
    UNSUPPORTED_COLLECTIVE "unsupported-collective" Warning "A collective is of a kind that ASTRA-sim does not simulate.";
    UNMATCHED_SEND "unmatched-send" Warning "A message is sent that nobody receives.";
    SIZE_ORDER "size-order" Warning "The messages of one key are received in another order of sizes than they are sent.";
    UNORDERED "unordered-messages" Warning "No dependence orders two sends, or two receives, of one source, destination and tag.";
    GROUP_UNSORTED "group-unsorted" Warning "The members of a group do not ascend, and ASTRA-sim then confuses them.";
    UNFORCED_ORDER "collective-order" Warning "Issued one at a time by ascending id, as ASTRA-sim does, collectives meet in different order on different ranks.";
    GROUP_NAME "group-name" Warning "The name of a group is no decimal number, which ASTRA-sim needs.";
    PARTIAL "other-ranks-missing" Note "There is one rank only, and it names others: messages are not matched.";
    CONTROL_DEPS "control-dependences" Note "A rank has control dependences, which the older C++ feeder ignores.";
    NAME_CHARACTERS "name-characters" Note "The name of a node has a comma or '=', which tools that read simulators' logs split at.";
    GROUPS_UNCHECKED "groups-unchecked" Note "Nodes are on groups whose members are not known; the group file would tell.";
    UNORDERED_UNCHECKED "order-unchecked" Note "Whether dependences order some messages was too costly to find out.";
}
