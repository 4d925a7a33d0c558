//! The times of all messages as comma-separated values.

use std::fmt::Write;

use collective::sim::report::MessageTime;

use crate::json::nanoseconds;

/// A line for each message, after one with the names of the columns. An empty cell: no RECV for it.
pub(super) fn csv(messages: &[MessageTime]) -> String {
    let mut text = String::from("src,dst,tag,bytes,send_node,receive_node,issued_ns,delivered_ns\n");
    for message in messages {
        let receive = message.receive.map_or_else(String::new, |node| node.to_string());
        let MessageTime { src, dst, tag, bytes, send, .. } = message;
        let (issued, delivered) = (nanoseconds(message.issued), nanoseconds(message.delivered));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{src},{dst},{tag},{},{send},{receive},{issued},{delivered}", bytes.0);
    }
    text
}
