//! What of a recording is drawn, in which order and in which words: from [`crate::recording`] to [`crate::picture`].

mod gantt;
mod links;
mod path;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use gantt::gantt;
pub(crate) use links::links;
pub(crate) use path::path;
