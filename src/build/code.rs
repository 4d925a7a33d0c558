//! The Rust that a build script writes: what `#[collective]` makes of the same instances.

use std::fmt::Write;

use super::{Algorithm, Instance};

/// How the file begins.
pub(super) const HEAD: &str = "// Written by `collective::build`.\n";

/// Appends the type of an algorithm to `code`, and its bytes to `data`, named after `file`.
pub(super) fn write(
    algorithm: &Algorithm,
    instances: &[Instance],
    file: &str,
    code: &mut String,
    data: &mut Vec<(String, Vec<u8>)>,
) {
    let name = algorithm.def.name;
    let params: Vec<String> = algorithm.def.params.iter().map(|param| format!("r#{}", param.name)).collect();
    let mut arms = String::new();
    let mut constants = String::new();
    for instance in instances {
        let constant = &instance.constant;
        let values: Vec<String> = instance.values.iter().map(ToString::to_string).collect();
        let _ = writeln!(arms, "            ({},) => Some(Self::{constant}),", values.join(", "));
        constants += &self::constant(algorithm, instance, file, data);
    }
    let names: Vec<String> =
        instances.iter().map(|instance| format!("Self::{}", instance.constant)).collect();
    // A name may be a keyword that was written raw.
    let _ = write!(
        code,
        r#"
/// The instances of `{name}` that the build script has checked and embedded.
#[allow(non_camel_case_types, dead_code, unreachable_pub)]
pub enum r#{name} {{}}

#[allow(dead_code, unreachable_pub)]
impl r#{name} {{
    /// The instance that is embedded for these parameters, if there is one.
    #[must_use]
    pub const fn build({declared}) -> Option<&'static ::collective::Embedded> {{
        match ({params},) {{
{arms}            _ => None,
        }}
    }}
{constants}
    /// All instances that are embedded.
    pub const BUILDS: &'static [&'static ::collective::Embedded] = &[{names}];
}}
"#,
        declared = params.iter().map(|param| format!("{param}: usize")).collect::<Vec<_>>().join(", "),
        params = params.join(", "),
        names = names.join(", "),
    );
}

fn constant(
    algorithm: &Algorithm,
    instance: &Instance,
    file: &str,
    data: &mut Vec<(String, Vec<u8>)>,
) -> String {
    let def = &algorithm.def;
    let constant = &instance.constant;
    let mut include = |name: &str, bytes: &[u8]| {
        let name = format!("{file}.{}-{constant}.{name}", def.name);
        let code = format!("include_bytes!(concat!(env!(\"OUT_DIR\"), {:?}))", format!("/{name}"));
        data.push((name, bytes.to_vec()));
        code
    };
    let schedule = include("schedule", &instance.image.schedule);
    let traces = match &instance.image.traces {
        Some(traces) => {
            let ranks = traces.ranks().iter().enumerate();
            let ranks: Vec<String> =
                ranks.map(|(rank, bytes)| include(&format!("{rank}.et"), bytes)).collect();
            format!("Plain(&[{}])", ranks.join(", "))
        }
        None => "Packed(|| {
                static UNPACKED: ::collective::embedded::Unpacked = ::collective::embedded::Unpacked::new();
                &UNPACKED
            })"
        .to_owned(),
    };
    let pairs: Vec<String> = def
        .params
        .iter()
        .zip(&instance.values)
        .map(|(param, value)| format!("({:?}, {value})", param.name))
        .collect();
    let words: Vec<String> = def
        .params
        .iter()
        .zip(&instance.values)
        .map(|(param, value)| format!("{} = {value}", param.name))
        .collect();
    let target = match algorithm.target {
        Some(target) => format!("Some(::collective::msccl::Target::{target:?})"),
        None => "None".to_owned(),
    };
    format!(
        r#"
    /// The instance `{name}({words})`: {figures}.
    pub const {constant}: &'static ::collective::Embedded = {{
        static EMBEDDED: ::collective::Embedded = ::collective::Embedded::new(
            {name:?},
            &[{pairs}],
            ({bytes}, ::collective::ElementType::{element:?}),
            {target},
            {schedule},
            ::collective::embedded::Traces::{traces},
        );
        &EMBEDDED
    }};
"#,
        name = def.name,
        words = words.join(", "),
        figures = instance.image.words(algorithm.budget),
        pairs = pairs.join(", "),
        bytes = algorithm.size.in_bytes(),
        element = algorithm.size.element_type(),
    )
}
