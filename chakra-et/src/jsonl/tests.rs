use proptest::prelude::*;

use super::*;
use crate::RankWriter;
use crate::proto::attribute_proto::Value;
use crate::proto::*;

fn lines(file: &[u8]) -> String {
    let mut lines = Vec::new();
    write(&mut NodeReader::new(file).unwrap(), &mut lines).unwrap();
    String::from_utf8(lines).unwrap()
}

fn file(nodes: &[Node]) -> Vec<u8> {
    let metadata = GlobalMetadata { version: "0.0.4".into(), attr: vec![] };
    let mut writer = RankWriter::new(&metadata).unwrap();
    nodes.iter().for_each(|node| writer.node(node).unwrap());
    writer.finish()
}

fn any_value() -> impl Strategy<Value = Value> {
    fn list<T: std::fmt::Debug>(element: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
        proptest::collection::vec(element, 0..4)
    }
    let numbers = prop_oneof![
        any::<f64>().prop_map(Value::DoubleVal),
        list(any::<f64>()).prop_map(|values| Value::DoubleList(DoubleList { values })),
        any::<f32>().prop_map(Value::FloatVal),
        list(any::<f32>()).prop_map(|values| Value::FloatList(FloatList { values })),
        any::<i32>().prop_map(Value::Int32Val),
        list(any::<i32>()).prop_map(|values| Value::Int32List(Int32List { values })),
        any::<i64>().prop_map(Value::Int64Val),
        list(any::<i64>()).prop_map(|values| Value::Int64List(Int64List { values })),
        any::<u32>().prop_map(Value::Uint32Val),
        list(any::<u32>()).prop_map(|values| Value::Uint32List(Uint32List { values })),
    ];
    let more = prop_oneof![
        any::<u64>().prop_map(Value::Uint64Val),
        list(any::<u64>()).prop_map(|values| Value::Uint64List(Uint64List { values })),
        any::<i32>().prop_map(Value::Sint32Val),
        list(any::<i64>()).prop_map(|values| Value::Sint64List(Sint64List { values })),
        any::<u32>().prop_map(Value::Fixed32Val),
        list(any::<u64>()).prop_map(|values| Value::Fixed64List(Fixed64List { values })),
        any::<i64>().prop_map(Value::Sfixed64Val),
        list(any::<i32>()).prop_map(|values| Value::Sfixed32List(Sfixed32List { values })),
    ];
    let others = prop_oneof![
        any::<bool>().prop_map(Value::BoolVal),
        list(any::<bool>()).prop_map(|values| Value::BoolList(BoolList { values })),
        any::<String>().prop_map(Value::StringVal),
        list(any::<String>()).prop_map(|values| Value::StringList(StringList { values })),
        list(any::<u8>()).prop_map(Value::BytesVal),
        list(list(any::<u8>())).prop_map(|values| Value::BytesList(BytesList { values })),
    ];
    prop_oneof![numbers, more, others]
}

proptest! {
    #[test]
    fn what_is_written_as_lines_is_read_back_to_the_same_bytes(
        ids in proptest::collection::vec(1..u64::MAX, 0..4),
        name in any::<String>(),
        node_type in prop_oneof![0..9, any::<i32>()],
        attrs in proptest::collection::vec((any::<String>(), "[a-z]{0,2}", proptest::option::weighted(0.9, any_value())), 0..5),
        io in proptest::option::of(any::<(String, String)>()),
    ) {
        let attr: Vec<AttributeProto> = attrs
            .into_iter()
            .map(|(name, doc_string, value)| AttributeProto { name, doc_string, value })
            .collect();
        let node = |id: &u64| Node {
            id: *id,
            name: name.clone(),
            r#type: node_type,
            ctrl_deps: ids.clone(),
            data_deps: ids.iter().take(1).copied().collect(),
            start_time_micros: *id,
            duration_micros: 0,
            inputs: io.clone().map(|(values, types)| IoInfo { values, shapes: String::new(), types }),
            outputs: io.clone().map(|_| IoInfo::default()),
            attr: attr.clone(),
        };
        let file = file(&ids.iter().map(node).collect::<Vec<_>>());
        prop_assert_eq!(read(lines(&file).as_bytes()).unwrap(), file);
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,60}", key in "[a-zA-Z_@]{1,12}") {
        let _ = read(text.as_bytes());
        let _ = read(format!("{{}}\n{{\"attr\":[{{\"{key}\":{text}}}]}}").as_bytes());
    }
}

#[test]
fn unknown_fields_stay_with_their_messages() {
    // Metadata {version, field 7: 1}; a node {id 1, an attribute {"x", field 33: 9}, field 2046: "?"}.
    let file = b"\x09\x0a\x050.0.4\x38\x01\x0e\x08\x01\x52\x06\x0a\x01x\x88\x02\x09\xf2\x7f\x01?";
    let text = lines(file);
    assert_eq!(
        text,
        "{\"version\":\"0.0.4\",\"@unknownFields\":\"OAE=\"}\n\
         {\"id\":\"1\",\"attr\":[{\"name\":\"x\",\"@unknownFields\":\"iAIJ\"}],\"@unknownFields\":\"8n8BPw==\"}\n"
    );
    assert_eq!(read(text.as_bytes()).unwrap(), file);
}

#[test]
fn other_spellings_are_read() {
    let text = "{\"version\": \"0.0.4\"}\n\n{\"id\": 7, \"type\": 4, \"data_deps\": [\"1\", 2], \"name\": null, \
                \"attr\": [{\"name\": \"comm_size\", \"int64_val\": 300}]}\n";
    let attr = vec![crate::attr::int64("comm_size", 300)];
    let node = Node { id: 7, r#type: 4, data_deps: vec![1, 2], attr, ..Node::default() };
    assert_eq!(read(text.as_bytes()).unwrap(), file(&[node]));
}

#[test]
fn what_is_wrong_is_named_with_line_and_path() {
    let node =
        |line: &str| read(format!("{{\"version\":\"0.0.4\"}}\n{line}").as_bytes()).unwrap_err().to_string();
    for (line, expected) in [
        ("{", "line 2: EOF while parsing"),
        ("[]", "line 2: a node is no object"),
        ("{}", "line 2: it would be a message of length 0"),
        (r#"{"id":-1}"#, "line 2: id is -1, which does not fit its 64 bits"),
        (r#"{"id":1.5}"#, "line 2: id is no whole number: 1.5"),
        (r#"{"id":"18446744073709551616"}"#, "does not fit its 64 bits"),
        (r#"{"type":"SEND"}"#, "line 2: type: there is no type \"SEND\""),
        (r#"{"dataDeps":["1","x"]}"#, "line 2: dataDeps[1] is no whole number"),
        (r#"{"attr":[{"int32Val":1,"boolVal":true}]}"#, "line 2: attr[0] has more than one value"),
        (
            r#"{"attr":[{"int32Val":4294967296}]}"#,
            "line 2: attr[0].int32Val is 4294967296, which does not fit its 32 bits",
        ),
        (r#"{"inputs":{"value":"1"}}"#, "line 2: inputs has the key \"value\""),
        (r#"{"@unknownFields":"CA=="}"#, "line 2: @unknownFields in a node are no whole fields"),
    ] {
        let error = node(line);
        assert!(error.contains(expected), "{line}: {error}");
    }
    assert!(matches!(read(&b"\n"[..]), Err(JsonlError::Empty)));
}
