//! Random programs that the compiler accepts.

use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ty {
    Usize,
    I64,
    U32,
    U8,
    Bool,
    List,
    Opt,
    Pair,
    Chunk,
    Fun,
}

const NUMBERS: [Ty; 4] = [Ty::Usize, Ty::I64, Ty::U32, Ty::U8];

impl Ty {
    fn name(self) -> &'static str {
        match self {
            Ty::Usize => "usize",
            Ty::I64 => "i64",
            Ty::U32 => "u32",
            Ty::U8 => "u8",
            Ty::Bool => "bool",
            Ty::List => "Vec<usize>",
            Ty::Opt => "Option<usize>",
            Ty::Pair => "(usize, i64)",
            Ty::Chunk => "ChunkRef<'_>",
            Ty::Fun => "_",
        }
    }
}

struct Variable {
    name: String,
    ty: Ty,
    is_mutable: bool,
}

struct Generator {
    state: u64,
    text: String,
    variables: Vec<Variable>,
    names: usize,
    depth: usize,
    /// The labels of the loops around the place.
    loops: Vec<String>,
    /// Whether the place lies in a closure that is stored, and so has only what can be copied.
    is_stored: bool,
}

/// The text of a crate with so many programs.
pub(super) fn programs(seed: u64, count: usize) -> String {
    let mut text = String::from(
        "#![allow(warnings, arithmetic_overflow, unconditional_panic)]\nuse collective_dsl::ChunkRef;\n",
    );
    text.push_str(super::MAIN);
    let names: Vec<String> = (0..count).map(|i| format!("f{i}")).collect();
    writeln!(text, "const PROGRAMS: &[fn(&Program, usize)] = &[{}];", names.join(", ")).unwrap();
    for i in 0..count {
        let state =
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (i as u64 + 1).wrapping_mul(0xd134_2543_de82_ef95);
        let mut generator = Generator {
            state,
            text: String::new(),
            variables: Vec::new(),
            names: 0,
            depth: 1,
            loops: Vec::new(),
            is_stored: false,
        };
        generator.know("ranks", Ty::Usize, false);
        writeln!(text, "fn f{i}(p: &Program, ranks: usize) {{").unwrap();
        generator.statements(8);
        text.push_str(&generator.text);
        text.push_str("}\n");
    }
    text
}

impl Generator {
    fn random(&mut self, below: usize) -> usize {
        // xorshift64*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random(of.len())]
    }

    fn know(&mut self, name: &str, ty: Ty, is_mutable: bool) {
        self.variables.push(Variable { name: name.to_owned(), ty, is_mutable });
    }

    fn name(&mut self) -> String {
        self.names += 1;
        // Some names hide others.
        format!("{}{}", self.pick(&["a", "b", "c"]), self.names % 7)
    }

    fn line(&mut self, text: &str) {
        let indent = "    ".repeat(self.depth);
        writeln!(self.text, "{indent}{text}").unwrap();
    }

    fn variable(&mut self, ty: Ty, mutable_only: bool) -> Option<String> {
        // The last of a name is the one that is seen.
        let mut seen: Vec<&str> = Vec::new();
        let mut fit = Vec::new();
        for variable in self.variables.iter().rev() {
            if seen.contains(&variable.name.as_str()) {
                continue;
            }
            seen.push(&variable.name);
            let is_hidden = self.is_stored && matches!(variable.ty, Ty::List | Ty::Fun);
            if variable.ty == ty && (variable.is_mutable || !mutable_only) && !is_hidden {
                fit.push(variable.name.clone());
            }
        }
        if fit.is_empty() { None } else { Some(fit.swap_remove(self.random(fit.len()))) }
    }

    fn literal(&mut self, ty: Ty) -> String {
        let value = match self.random(8) {
            0 => 0,
            1 => self.pick(&[250, 255, 128, 200]),
            _ => self.random(12),
        };
        format!("{value}{}", ty.name())
    }

    fn expr(&mut self, ty: Ty, depth: usize) -> String {
        if (depth == 0 || self.random(4) == 0)
            && let Some(variable) = self.variable(ty, false)
        {
            return if ty == Ty::List { format!("{variable}.clone()") } else { variable };
        }
        match ty {
            Ty::Bool => self.condition(depth),
            Ty::List => self.list(depth),
            Ty::Opt => self.option(depth),
            Ty::Pair => format!("({}, {})", self.sub(Ty::Usize, depth), self.sub(Ty::I64, depth)),
            Ty::Chunk => self.chunk(depth),
            Ty::Fun => "|x: usize| x".to_owned(),
            _ if depth == 0 => self.literal(ty),
            _ => self.number(ty, depth),
        }
    }

    fn sub(&mut self, ty: Ty, depth: usize) -> String {
        self.expr(ty, depth.saturating_sub(1))
    }

    /// Something small, as a bound or an index.
    fn small(&mut self, depth: usize) -> String {
        let below = self.random(5) + 2;
        format!("({} % {below})", self.sub(Ty::Usize, depth))
    }

    fn number(&mut self, ty: Ty, depth: usize) -> String {
        let name = ty.name();
        let (a, b) = (self.sub(ty, depth), self.sub(ty, depth));
        match self.random(22) {
            0..=4 => format!("({a} {} {b})", self.pick(&["+", "-", "*", "+", "/", "%"])),
            5 => format!("({a} {} {b})", self.pick(&["&", "|", "^"])),
            6 => format!("({a} {} ({} % 9))", self.pick(&["<<", ">>"]), self.sub(Ty::U32, depth)),
            7 => format!(
                "{a}.{}({b})",
                self.pick(&["min", "max", "wrapping_add", "wrapping_sub", "wrapping_mul"])
            ),
            8 => format!(
                "{a}.{}({b})",
                self.pick(&["saturating_add", "saturating_sub", "saturating_mul", "rem_euclid"])
            ),
            9 => {
                let operation =
                    self.pick(&["checked_add", "checked_sub", "checked_mul", "checked_div", "checked_rem"]);
                format!("{a}.{operation}({b}).unwrap_or({})", self.sub(ty, depth))
            }
            10 => format!("{a}.pow({})", self.random(4)),
            11 => {
                let other = self.pick(&NUMBERS);
                format!("({} as {name})", self.sub(other, depth))
            }
            12 => format!("(if {} {{ {a} }} else {{ {b} }})", self.sub(Ty::Bool, depth)),
            13 => {
                let matched = self.sub(Ty::Usize, depth);
                format!(
                    "(match {matched} {{ 0 | 3 => {a}, n @ 1..=6 if n % 2 == 1 => n as {name}, _ => {b} }})"
                )
            }
            14 => format!("{{ let t = {a}; let t = t.max(1); t + {b} }}"),
            15 => {
                let counted = self.pick(&["count_ones", "trailing_zeros", "leading_zeros"]);
                format!("({a}.{counted}() as {name})")
            }
            16 => format!("(if let Some(x) = {} {{ x as {name} }} else {{ {b} }})", self.sub(Ty::Opt, depth)),
            17 => format!("({} as {name})", self.of_list(depth)),
            18 => match self.variable(Ty::Fun, false) {
                Some(function) => format!("({function}({}) as {name})", self.sub(Ty::Usize, depth)),
                None => a,
            },
            19 => {
                let pair = self.sub(Ty::Pair, depth);
                format!("({pair}.{} as {name})", self.random(2))
            }
            20 => format!("{{ let (x, y) = ({a}, {b}); x.abs_diff(y) as {name} }}"),
            _ => format!(
                "{{ let f = |x: {name}, y: {name}| x {} y; f({a}, {b}) }}",
                self.pick(&["+", "-", "|"])
            ),
        }
    }

    /// A usize that is made of a list.
    fn of_list(&mut self, depth: usize) -> String {
        let list = self.sub(Ty::List, depth);
        let inner = self.inside("x", Ty::Usize, Ty::Usize, depth);
        let holds = self.inside("x", Ty::Usize, Ty::Bool, depth);
        match self.random(12) {
            0 => format!("{list}.len()"),
            1 => format!("{list}[{}]", self.small(depth)),
            2 => format!("{list}.iter().sum::<usize>()"),
            3 => format!("{list}.into_iter().map(|x| {inner}).sum::<usize>()"),
            4 => format!("{list}.into_iter().filter(|&x| {holds}).count()"),
            5 => format!(
                "{list}.iter().rev().enumerate().fold(0usize, |s, (i, x)| s.wrapping_mul(31) + i ^ x)"
            ),
            6 => format!("{list}.iter().zip(1..9).map(|(x, i)| x.wrapping_mul(i)).max().unwrap_or(1)"),
            7 => format!("{list}.windows(2).map(|w| w[0].abs_diff(w[1])).sum::<usize>()"),
            8 => format!("{list}.into_iter().position(|x| {holds}).unwrap_or({})", self.random(9)),
            9 => format!("{list}.iter().skip({}).step_by(2).copied().min().unwrap_or(0)", self.random(3)),
            10 => {
                format!("{list}.chunks({}).map(|c| c.len() * c[0] % 17).sum::<usize>()", self.random(3) + 1)
            }
            _ => format!("{list}.first().copied().unwrap_or_else(|| {})", self.sub(Ty::Usize, depth)),
        }
    }

    /// The body of a closure with a parameter.
    fn inside(&mut self, name: &str, param: Ty, result: Ty, depth: usize) -> String {
        self.know(name, param, false);
        let body = self.sub(result, depth);
        self.variables.pop();
        body
    }

    fn condition(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.pick(&["true", "false", "ranks > 3", "ranks == 5"]).to_owned();
        }
        match self.random(8) {
            0 => format!("({} && {})", self.sub(Ty::Bool, depth), self.sub(Ty::Bool, depth)),
            1 => format!("({} || {})", self.sub(Ty::Bool, depth), self.sub(Ty::Bool, depth)),
            2 => format!("!({})", self.sub(Ty::Bool, depth)),
            3 => format!("{}.contains(&{})", self.sub(Ty::List, depth), self.sub(Ty::Usize, depth)),
            4 => format!("{}.{}()", self.sub(Ty::Opt, depth), self.pick(&["is_some", "is_none"])),
            5 => format!("matches!({}, 1..=3 | 7)", self.sub(Ty::U32, depth)),
            6 => format!("({}..{}).contains(&3)", self.small(depth), self.small(depth)),
            _ => {
                let ty = self.pick(&[Ty::Usize, Ty::I64, Ty::U8, Ty::Opt, Ty::Pair, Ty::List]);
                let sign = self.pick(&["<", "<=", "==", "!=", ">", ">="]);
                format!("({} {sign} {})", self.sub(ty, depth), self.sub(ty, depth))
            }
        }
    }

    fn list(&mut self, depth: usize) -> String {
        if depth == 0 {
            let (a, b) = (self.random(9), self.random(9));
            return format!("vec![{a}usize, {b}, {}]", self.random(5));
        }
        let list = self.sub(Ty::List, depth);
        let mapped = self.inside("x", Ty::Usize, Ty::Usize, depth);
        let holds = self.inside("x", Ty::Usize, Ty::Bool, depth);
        match self.random(9) {
            0 => format!("vec![{}, {}]", self.sub(Ty::Usize, depth), self.sub(Ty::Usize, depth)),
            1 => format!("vec![{}; {}]", self.sub(Ty::Usize, depth), self.small(depth)),
            2 => format!("(0..{}).map(|x| {mapped}).collect::<Vec<usize>>()", self.small(depth)),
            3 => format!("{list}.into_iter().rev().filter(|&x| {holds}).collect::<Vec<_>>()"),
            4 => format!("{list}.iter().copied().chain({}..6).collect::<Vec<usize>>()", self.small(depth)),
            5 => format!("{list}[{}..].to_vec()", self.random(3)),
            6 => format!("{list}.iter().flat_map(|&x| [x, x / 2]).skip(1).take(6).collect::<Vec<_>>()"),
            7 => format!(
                "{{ let mut l = {list}; l.{}; l }}",
                self.pick(&[
                    "sort()",
                    "reverse()",
                    "dedup()",
                    "rotate_left(1)",
                    "push(ranks)",
                    "truncate(2)",
                    "insert(0, 7)"
                ])
            ),
            _ => format!(
                "{{ let mut l = {list}; for x in l.iter_mut() {{ *x = x.wrapping_add({}); }} l }}",
                self.random(9)
            ),
        }
    }

    fn option(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.pick(&["None::<usize>", "Some(3usize)", "Some(ranks)"]).to_owned();
        }
        let mapped = self.inside("x", Ty::Usize, Ty::Usize, depth);
        match self.random(6) {
            0 => format!("Some({})", self.sub(Ty::Usize, depth)),
            1 => format!("{}.checked_sub({})", self.sub(Ty::Usize, depth), self.sub(Ty::Usize, depth)),
            2 => format!("{}.pop()", self.sub(Ty::List, depth)),
            3 => format!("{}.iter().max().copied()", self.sub(Ty::List, depth)),
            4 => {
                let option = self.sub(Ty::Opt, depth);
                format!("{option}.map(|x: usize| {mapped})")
            }
            _ => {
                let option = self.sub(Ty::Opt, depth);
                format!("{option}.or({})", self.sub(Ty::Opt, depth))
            }
        }
    }

    fn chunk(&mut self, depth: usize) -> String {
        let (rank, index) = (self.sub(Ty::Usize, depth), self.random(4));
        match self.random(3) {
            0 => match self.variable(Ty::Chunk, false) {
                Some(chunk) => format!("{chunk}.copy_to({rank} % ranks, Input, {index})"),
                None => format!("p.chunk({rank} % ranks, Input, {index})"),
            },
            _ => format!("p.chunk({rank} % ranks, Input, {index})"),
        }
    }

    fn statements(&mut self, count: usize) {
        let known = self.variables.len();
        for _ in 0..count {
            self.statement();
        }
        self.variables.truncate(known);
    }

    fn block(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        let count = self.random(3) + 1;
        self.statements(count);
        self.depth -= 1;
    }

    fn statement(&mut self) {
        let nested = self.depth > 3;
        match self.random(if nested { 13 } else { 19 }) {
            0..=3 => {
                let ty =
                    self.pick(&[Ty::Usize, Ty::I64, Ty::U32, Ty::U8, Ty::Bool, Ty::List, Ty::Opt, Ty::Pair]);
                let value = self.expr(ty, 3);
                let name = self.name();
                self.line(&format!("let mut {name}: {} = {value};", ty.name()));
                self.know(&name, ty, true);
            }
            4 | 5 => {
                let ty = self.pick(&NUMBERS);
                if let Some(name) = self.variable(ty, true) {
                    let sign = self.pick(&["=", "+=", "-=", "*=", "^=", "|=", "%="]);
                    let value = self.expr(ty, 2);
                    self.line(&format!("{name} {sign} {value};"));
                }
            }
            6 => {
                if let Some(name) = self.variable(Ty::List, true) {
                    let (given, at) = (self.expr(Ty::Usize, 2), self.random(4));
                    self.line(&format!("let value = {given};"));
                    let value = "value";
                    let change = match self.random(6) {
                        0 => format!("{name}.push({value});"),
                        1 => format!("{name}[{at}] = {value};"),
                        2 => format!("{name}.retain(|x| *x != {value});"),
                        3 => format!("{name}.extend((0..{at}).map(|x| x * 3));"),
                        4 => format!("{name}.sort_by_key(|x| x % 5);"),
                        _ => format!("if let Some(x) = {name}.last_mut() {{ *x ^= {value}; }}"),
                    };
                    self.line(&change);
                }
            }
            7 | 8 => {
                let value = self.expr(Ty::Chunk, 2);
                let name = self.name();
                self.line(&format!("let {name} = {value};"));
                self.know(&name, Ty::Chunk, false);
            }
            9 => {
                let (into, from) = (self.expr(Ty::Chunk, 1), self.expr(Ty::Chunk, 1));
                self.line(&format!("{into}.reduce({from});"));
            }
            10 => {
                let (chunk, rank) = (self.expr(Ty::Chunk, 1), self.expr(Ty::Usize, 2));
                let (place, index) = (self.pick(&["Input", "Scratch(\"s\")"]), self.random(4));
                self.line(&format!("{chunk}.copy_to({rank} % ranks, {place}, {index});"));
            }
            11 => {
                // A stored closure has copies, so that what it uses can be changed.
                self.is_stored = true;
                let body = self.inside("x", Ty::Usize, Ty::Usize, 3);
                self.is_stored = false;
                let name = self.name();
                self.names += 7;
                let name = format!("g{}{name}", self.names);
                self.line(&format!("let {name} = move |x: usize| {body};"));
                self.know(&name, Ty::Fun, false);
            }
            12 => match (self.loops.last().cloned(), self.random(3)) {
                (Some(label), 0) => {
                    let condition = self.expr(Ty::Bool, 2);
                    let leave = self.pick(&["break", "continue"]);
                    self.line(&format!("if {condition} {{ {leave} {label}; }}"));
                }
                (_, 1) => {
                    let condition = self.expr(Ty::Bool, 2);
                    self.line(&format!("if {condition} {{ return; }}"));
                }
                _ => {
                    let condition = self.expr(Ty::Bool, 1);
                    self.line(&format!("assert!({condition} || ranks == 4, \"{{ranks}}\");"));
                }
            },
            13 | 14 => {
                let condition = self.expr(Ty::Bool, 2);
                self.block(&format!("if {condition}"));
                if self.random(2) == 0 {
                    self.block("} else");
                }
                self.line("}");
            }
            15 => {
                let matched = self.expr(Ty::Pair, 2);
                self.line(&format!("match {matched} {{"));
                self.block("(0, _) | (_, 0) =>");
                self.line("}");
                self.block("(n, -9..=9) if n < 5 =>");
                self.line("}");
                self.block("_ =>");
                self.line("}");
                self.line("}");
            }
            16 | 17 => self.for_loop(),
            _ => {
                self.names += 1;
                let (counter, label) = (format!("n{}", self.names), format!("'l{}", self.names));
                let bound = self.random(5);
                self.line(&format!("let mut {counter} = 0;"));
                self.loops.push(label.clone());
                self.line(&format!("{label}: while {counter} < {bound} {{"));
                self.depth += 1;
                self.line(&format!("{counter} += 1usize;"));
                self.know(&counter, Ty::Usize, false);
                let count = self.random(3) + 1;
                self.statements(count);
                self.variables.pop();
                self.depth -= 1;
                self.loops.pop();
                self.line("}");
            }
        }
    }

    fn for_loop(&mut self) {
        self.names += 1;
        let (name, label) = (format!("i{}", self.names), format!("'l{}", self.names));
        let (pattern, items) = match self.random(6) {
            0 => (name.clone(), format!("0..{}", self.small(2))),
            1 => (name.clone(), format!("(1..={}).rev()", self.small(2))),
            2 => (name.clone(), format!("(0..9usize).step_by({}).rev()", self.random(4) + 1)),
            3 => (name.clone(), self.expr(Ty::List, 2)),
            4 => (format!("({name}, _)"), format!("{}.into_iter().enumerate()", self.expr(Ty::List, 2))),
            _ => (format!("({name}, _)"), format!("(0..{}).zip([1, 2, 3])", self.small(2))),
        };
        self.know(&name, Ty::Usize, false);
        self.loops.push(label.clone());
        self.block(&format!("{label}: for {pattern} in {items}"));
        self.loops.pop();
        self.variables.pop();
        self.line("}");
    }
}
