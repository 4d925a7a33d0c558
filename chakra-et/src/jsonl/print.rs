//! Messages as JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use crate::proto::attribute_proto::Value;
use crate::proto::{AttributeProto, GlobalMetadata, IoInfo, Node, NodeType};
use crate::wire;
use crate::wire_bytes::{FieldOf, WireBytes};

use super::UNKNOWN;

/// An object whose keys stay in the order in which they are added.
#[derive(Default)]
struct Object(String);

impl Object {
    fn add(&mut self, key: &str, value: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push_str(&format!("\"{key}\":{value}"));
    }

    fn json(&mut self, key: &str, value: &Json) {
        self.add(key, &value.to_string());
    }

    fn text(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.json(key, &value.into());
        }
    }

    fn integer(&mut self, key: &str, value: u64) {
        if value != 0 {
            self.json(key, &value.to_string().into());
        }
    }

    fn integers(&mut self, key: &str, values: &[u64]) {
        if !values.is_empty() {
            self.json(key, &strings(values));
        }
    }

    fn unknown(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.json(UNKNOWN, &STANDARD.encode(bytes).into());
        }
    }

    fn finish(mut self) -> String {
        if self.0.is_empty() {
            self.0.push('{');
        }
        self.0.push('}');
        self.0
    }
}

pub(super) fn metadata(metadata: &GlobalMetadata, wire: &WireBytes) -> String {
    let mut object = Object::default();
    object.text("version", &metadata.version);
    let mut unknown = Vec::new();
    let mut of_attr = vec![Vec::new(); metadata.attr.len()];
    let mut at = 0;
    for field in wire.bytes().into_iter().flat_map(wire::fields) {
        match (field.number, field.value) {
            (1, _) => {}
            (2, Some(wire::Value::Bytes(part))) => {
                if let Some(of_attr) = of_attr.get_mut(at) {
                    let fields = wire::fields(part).filter(|field| field.number > 32);
                    *of_attr = fields.flat_map(|field| field.raw.iter().copied()).collect();
                }
                at += 1;
            }
            _ => unknown.extend_from_slice(field.raw),
        }
    }
    attributes(&mut object, &metadata.attr, |at| of_attr[at].clone());
    object.unknown(&unknown);
    object.finish()
}

pub(super) fn node(node: &Node, wire: &WireBytes) -> String {
    let fields = wire.unknown_node_fields();
    let unknown = |part: FieldOf| -> Vec<u8> {
        let of_part = fields.iter().filter(|field| field.of == part);
        of_part.flat_map(|field| field.bytes.iter().copied()).collect()
    };
    let mut object = Object::default();
    object.integer("id", node.id);
    object.text("name", &node.name);
    match NodeType::try_from(node.r#type) {
        Ok(NodeType::InvalidNode) => {}
        Ok(known) => object.json("type", &known.as_str_name().into()),
        Err(_) => object.json("type", &node.r#type.into()),
    }
    object.integers("ctrlDeps", &node.ctrl_deps);
    object.integers("dataDeps", &node.data_deps);
    object.integer("startTimeMicros", node.start_time_micros);
    object.integer("durationMicros", node.duration_micros);
    for (key, info, part) in
        [("inputs", &node.inputs, FieldOf::Inputs), ("outputs", &node.outputs, FieldOf::Outputs)]
    {
        if let Some(info) = info {
            object.add(key, &io_info(info, &unknown(part)));
        }
    }
    attributes(&mut object, &node.attr, |at| unknown(FieldOf::Attr(at)));
    object.unknown(&unknown(FieldOf::Node));
    object.finish()
}

fn io_info(info: &IoInfo, unknown: &[u8]) -> String {
    let mut object = Object::default();
    object.text("values", &info.values);
    object.text("shapes", &info.shapes);
    object.text("types", &info.types);
    object.unknown(unknown);
    object.finish()
}

fn attributes(object: &mut Object, attrs: &[AttributeProto], unknown: impl Fn(usize) -> Vec<u8>) {
    if attrs.is_empty() {
        return;
    }
    let list: Vec<String> =
        attrs.iter().enumerate().map(|(at, attr)| attribute(attr, &unknown(at))).collect();
    object.add("attr", &format!("[{}]", list.join(",")));
}

fn attribute(attr: &AttributeProto, unknown: &[u8]) -> String {
    let mut object = Object::default();
    object.text("name", &attr.name);
    object.text("docString", &attr.doc_string);
    if let Some(value) = &attr.value {
        let (key, value) = self::value(value);
        object.json(key, &value);
    }
    object.unknown(unknown);
    object.finish()
}

fn value(value: &Value) -> (&'static str, Json) {
    match value {
        Value::DoubleVal(value) => ("doubleVal", float(*value)),
        Value::DoubleList(list) => ("doubleList", values(list.values.iter().map(|&value| float(value)))),
        Value::FloatVal(value) => ("floatVal", float(single(*value))),
        Value::FloatList(list) => {
            ("floatList", values(list.values.iter().map(|&value| float(single(value)))))
        }
        Value::Int32Val(value) => ("int32Val", json!(value)),
        Value::Int32List(list) => ("int32List", numbers(&list.values)),
        Value::Int64Val(value) => ("int64Val", value.to_string().into()),
        Value::Int64List(list) => ("int64List", wide(&list.values)),
        Value::Uint32Val(value) => ("uint32Val", json!(value)),
        Value::Uint32List(list) => ("uint32List", numbers(&list.values)),
        Value::Uint64Val(value) => ("uint64Val", value.to_string().into()),
        Value::Uint64List(list) => ("uint64List", wide(&list.values)),
        Value::Sint32Val(value) => ("sint32Val", json!(value)),
        Value::Sint32List(list) => ("sint32List", numbers(&list.values)),
        Value::Sint64Val(value) => ("sint64Val", value.to_string().into()),
        Value::Sint64List(list) => ("sint64List", wide(&list.values)),
        Value::Fixed32Val(value) => ("fixed32Val", json!(value)),
        Value::Fixed32List(list) => ("fixed32List", numbers(&list.values)),
        Value::Fixed64Val(value) => ("fixed64Val", value.to_string().into()),
        Value::Fixed64List(list) => ("fixed64List", wide(&list.values)),
        Value::Sfixed32Val(value) => ("sfixed32Val", json!(value)),
        Value::Sfixed32List(list) => ("sfixed32List", numbers(&list.values)),
        Value::Sfixed64Val(value) => ("sfixed64Val", value.to_string().into()),
        Value::Sfixed64List(list) => ("sfixed64List", wide(&list.values)),
        Value::BoolVal(value) => ("boolVal", json!(value)),
        Value::BoolList(list) => ("boolList", values(list.values.iter().map(|value| json!(value)))),
        Value::StringVal(value) => ("stringVal", json!(value)),
        Value::StringList(list) => ("stringList", values(list.values.iter().map(|value| json!(value)))),
        Value::BytesVal(value) => ("bytesVal", STANDARD.encode(value).into()),
        Value::BytesList(list) => {
            ("bytesList", values(list.values.iter().map(|value| STANDARD.encode(value).into())))
        }
    }
}

/// A list message; an empty one has no field.
fn values(values: impl Iterator<Item = Json>) -> Json {
    let values: Vec<Json> = values.collect();
    if values.is_empty() { json!({}) } else { json!({ "values": values }) }
}

fn numbers<T: serde::Serialize>(list: &[T]) -> Json {
    values(list.iter().map(|value| json!(value)))
}

fn wide<T: ToString>(list: &[T]) -> Json {
    values(list.iter().map(|value| value.to_string().into()))
}

fn strings<T: ToString>(list: &[T]) -> Json {
    list.iter().map(|value| Json::from(value.to_string())).collect()
}

/// The shortest decimal of a single, not the longer one of the double that equals it.
fn single(value: f32) -> f64 {
    if value.is_finite() { value.to_string().parse().unwrap_or(f64::from(value)) } else { f64::from(value) }
}

fn float(value: f64) -> Json {
    match value {
        _ if value.is_nan() => "NaN".into(),
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        _ => json!(value),
    }
}
