//! JSON as messages: errors say where within the object, and what was expected.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::{Map, Value as Json};

use crate::proto::attribute_proto::Value;
use crate::proto::*;

use super::UNKNOWN;

type Parsed<T> = Result<T, String>;

/// The bytes of a message.
pub(super) fn metadata(json: &Json) -> Parsed<Vec<u8>> {
    let mut object = Object::of(json, "the metadata")?;
    let version = object.take("version", "version", "", text)?.unwrap_or_default();
    let mut bytes = GlobalMetadata { version, attr: Vec::new() }.encode_to_vec();
    attributes(&mut object, 2, &mut bytes)?;
    object.finish(&mut bytes)?;
    Ok(bytes)
}

/// The bytes of a message.
pub(super) fn node(json: &Json) -> Parsed<Vec<u8>> {
    let mut object = Object::of(json, "a node")?;
    let node = Node {
        id: object.take("id", "id", "", integer)?.unwrap_or_default(),
        name: object.take("name", "name", "", text)?.unwrap_or_default(),
        r#type: object.take("type", "type", "", node_type)?.unwrap_or_default(),
        ctrl_deps: object.take("ctrlDeps", "ctrl_deps", "", list(integer))?.unwrap_or_default(),
        data_deps: object.take("dataDeps", "data_deps", "", list(integer))?.unwrap_or_default(),
        start_time_micros: object
            .take("startTimeMicros", "start_time_micros", "", integer)?
            .unwrap_or_default(),
        duration_micros: object.take("durationMicros", "duration_micros", "", integer)?.unwrap_or_default(),
        ..Node::default()
    };
    let mut bytes = node.encode_to_vec();
    for (number, key) in [(8, "inputs"), (9, "outputs")] {
        if let Some(info) = object.take(key, key, "", io_info)? {
            part(number, &info, &mut bytes);
        }
    }
    attributes(&mut object, 10, &mut bytes)?;
    object.finish(&mut bytes)?;
    Ok(bytes)
}

fn part(number: u32, message: &[u8], bytes: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, bytes);
    encode_varint(message.len() as u64, bytes);
    bytes.extend_from_slice(message);
}

fn io_info(json: &Json, path: &str) -> Parsed<Vec<u8>> {
    let mut object = Object::of(json, path)?;
    let info = IoInfo {
        values: object.take("values", "values", path, text)?.unwrap_or_default(),
        shapes: object.take("shapes", "shapes", path, text)?.unwrap_or_default(),
        types: object.take("types", "types", path, text)?.unwrap_or_default(),
    };
    let mut bytes = info.encode_to_vec();
    object.finish(&mut bytes)?;
    Ok(bytes)
}

fn attributes(object: &mut Object<'_>, number: u32, bytes: &mut Vec<u8>) -> Parsed<()> {
    for attr in object.take("attr", "attr", "", list(attribute))?.unwrap_or_default() {
        part(number, &attr, bytes);
    }
    Ok(())
}

fn attribute(json: &Json, path: &str) -> Parsed<Vec<u8>> {
    let mut object = Object::of(json, path)?;
    let name = object.take("name", "name", path, text)?.unwrap_or_default();
    let doc_string = object.take("docString", "doc_string", path, text)?.unwrap_or_default();
    let mut value = None;
    for arm in ARMS {
        if let Some(parsed) = object.take(arm.camel, arm.snake, path, arm.parse)?
            && value.replace(parsed).is_some()
        {
            return Err(format!("{path} has more than one value"));
        }
    }
    let mut bytes = AttributeProto { name, doc_string, value }.encode_to_vec();
    object.finish(&mut bytes)?;
    Ok(bytes)
}

/// A kind of value that an attribute may have.
struct Arm {
    camel: &'static str,
    snake: &'static str,
    parse: fn(&Json, &str) -> Parsed<Value>,
}

macro_rules! arms {
    ($($camel:literal $snake:literal $variant:ident $parse:ident;
       $camel_list:literal $snake_list:literal $variant_list:ident $list:ident;)*) => {
        /// All kinds, each followed by lists of it.
        const ARMS: &[Arm] = &[$(
            Arm { camel: $camel, snake: $snake, parse: |json, path| $parse(json, path).map(Value::$variant) },
            Arm {
                camel: $camel_list,
                snake: $snake_list,
                parse: |json, path| {
                    let mut object = Object::of(json, path)?;
                    let values = object.take("values", "values", path, list($parse))?.unwrap_or_default();
                    object.finish_known()?;
                    Ok(Value::$variant_list($list { values }))
                },
            },
        )*];
    };
}

arms! {
    "doubleVal" "double_val" DoubleVal double; "doubleList" "double_list" DoubleList DoubleList;
    "floatVal" "float_val" FloatVal float; "floatList" "float_list" FloatList FloatList;
    "int32Val" "int32_val" Int32Val integer; "int32List" "int32_list" Int32List Int32List;
    "int64Val" "int64_val" Int64Val integer; "int64List" "int64_list" Int64List Int64List;
    "uint32Val" "uint32_val" Uint32Val integer; "uint32List" "uint32_list" Uint32List Uint32List;
    "uint64Val" "uint64_val" Uint64Val integer; "uint64List" "uint64_list" Uint64List Uint64List;
    "sint32Val" "sint32_val" Sint32Val integer; "sint32List" "sint32_list" Sint32List Sint32List;
    "sint64Val" "sint64_val" Sint64Val integer; "sint64List" "sint64_list" Sint64List Sint64List;
    "fixed32Val" "fixed32_val" Fixed32Val integer; "fixed32List" "fixed32_list" Fixed32List Fixed32List;
    "fixed64Val" "fixed64_val" Fixed64Val integer; "fixed64List" "fixed64_list" Fixed64List Fixed64List;
    "sfixed32Val" "sfixed32_val" Sfixed32Val integer; "sfixed32List" "sfixed32_list" Sfixed32List Sfixed32List;
    "sfixed64Val" "sfixed64_val" Sfixed64Val integer; "sfixed64List" "sfixed64_list" Sfixed64List Sfixed64List;
    "boolVal" "bool_val" BoolVal truth; "boolList" "bool_list" BoolList BoolList;
    "stringVal" "string_val" StringVal text; "stringList" "string_list" StringList StringList;
    "bytesVal" "bytes_val" BytesVal base64; "bytesList" "bytes_list" BytesList BytesList;
}

/// An object whose keys are taken one by one, so that what is left is known.
struct Object<'a> {
    map: &'a Map<String, Json>,
    taken: Vec<&'a str>,
    path: String,
}

impl<'a> Object<'a> {
    fn of(json: &'a Json, path: &str) -> Parsed<Self> {
        let map = json.as_object().ok_or_else(|| format!("{path} is no object"))?;
        Ok(Self { map, taken: Vec::new(), path: path.to_owned() })
    }

    /// The value under a key in either spelling; `null` counts as absent.
    fn take<T>(
        &mut self,
        camel: &'static str,
        snake: &'static str,
        path: &str,
        parse: impl FnOnce(&Json, &str) -> Parsed<T>,
    ) -> Parsed<Option<T>> {
        let key = if self.map.contains_key(camel) { camel } else { snake };
        let Some(json) = self.map.get(key) else { return Ok(None) };
        self.taken.push(key);
        if json.is_null() {
            return Ok(None);
        }
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        parse(json, &path).map(Some)
    }

    /// Adds the fields that the format does not define.
    fn finish(mut self, bytes: &mut Vec<u8>) -> Parsed<()> {
        if let Some(unknown) = self.take(UNKNOWN, UNKNOWN, "", base64)? {
            if crate::wire::fields(&unknown).map(|field| field.raw.len()).sum::<usize>() != unknown.len() {
                return Err(format!("{UNKNOWN} in {} are no whole fields", self.path));
            }
            bytes.extend(unknown);
        }
        self.finish_known()
    }

    fn finish_known(self) -> Parsed<()> {
        match self.map.keys().find(|key| !self.taken.contains(&key.as_str())) {
            Some(key) => Err(format!("{} has the key {key:?}, which the format does not define", self.path)),
            None => Ok(()),
        }
    }
}

fn list<T>(parse: impl Fn(&Json, &str) -> Parsed<T>) -> impl Fn(&Json, &str) -> Parsed<Vec<T>> {
    move |json, path| {
        let items = json.as_array().ok_or_else(|| format!("{path} is no list"))?;
        items.iter().enumerate().map(|(at, item)| parse(item, &format!("{path}[{at}]"))).collect()
    }
}

fn text(json: &Json, path: &str) -> Parsed<String> {
    json.as_str().map(str::to_owned).ok_or_else(|| format!("{path} is no string"))
}

fn integer<T: TryFrom<i128>>(json: &Json, path: &str) -> Parsed<T> {
    let value = match json {
        Json::String(digits) => digits.parse().ok(),
        Json::Number(number) => number.as_u64().map(i128::from).or(number.as_i64().map(i128::from)),
        _ => None,
    };
    let value: i128 = value.ok_or_else(|| format!("{path} is no whole number: {json}"))?;
    let bits = 8 * size_of::<T>();
    T::try_from(value).map_err(|_| format!("{path} is {value}, which does not fit its {bits} bits"))
}

fn node_type(json: &Json, path: &str) -> Parsed<i32> {
    match json.as_str() {
        Some(name) => NodeType::from_str_name(name)
            .map(i32::from)
            .ok_or_else(|| format!("{path}: there is no type {name:?}")),
        None => integer(json, path),
    }
}

fn truth(json: &Json, path: &str) -> Parsed<bool> {
    json.as_bool().ok_or_else(|| format!("{path} is neither true nor false"))
}

fn double(json: &Json, path: &str) -> Parsed<f64> {
    let value = match json {
        Json::String(text) if text == "NaN" => Some(f64::NAN),
        Json::String(text) if text == "Infinity" => Some(f64::INFINITY),
        Json::String(text) if text == "-Infinity" => Some(f64::NEG_INFINITY),
        Json::String(text) => text.parse().ok().filter(|value: &f64| value.is_finite()),
        _ => json.as_f64(),
    };
    value.ok_or_else(|| format!("{path} is no number: {json}"))
}

/// A single: read as such, as going by a double rounds twice.
fn float(json: &Json, path: &str) -> Parsed<f32> {
    let double = double(json, path)?;
    let single = match json {
        Json::Number(number) => number.to_string().parse().unwrap_or(double as f32),
        _ => double as f32,
    };
    if single.is_infinite() && double.is_finite() {
        return Err(format!("{path} is {double}, which does not fit 32 bits"));
    }
    Ok(single)
}

fn base64(json: &Json, path: &str) -> Parsed<Vec<u8>> {
    let text = json.as_str().ok_or_else(|| format!("{path} is no string"))?;
    STANDARD
        .decode(text)
        .or_else(|_| URL_SAFE.decode(text))
        .map_err(|error| format!("{path} is no base64: {error}"))
}
