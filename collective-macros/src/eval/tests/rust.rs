//! The core of the language: operators, statements, patterns, helper functions, and where evaluation ends.

use super::{evaluate, refused, same};

#[test]
fn operators_compute_as_rust_does() {
    same![ranks:
        1 + 2 * 3 - 4,
        (ranks - 3) / 2 % 3,
        7 & 5 | 8 ^ 3,
        1 << 4 >> 2,
        ranks << 3,
        (1u8 << 7) as usize,
        (200u8 as i8) as usize,
        (-7i32 / 2 + 10) as usize,
        (-7i32 % 4 + 10) as usize,
        (-7i64).rem_euclid(4) as usize,
        ((-7i64).div_euclid(4) + 5) as usize,
        !0u16 as usize,
        (3 > 2 && 2 >= 2 || false) as usize,
        (true ^ true | false) as usize,
        usize::from(ranks == 8),
        usize::MAX - 5,
        u8::MAX as usize + u32::BITS as usize,
    ];
}

#[test]
fn methods_compute_as_rust_does() {
    same![ranks:
        ranks.pow(3),
        ranks.ilog2() as usize,
        81usize.ilog(3) as usize,
        ranks.min(3).max(2),
        20usize.clamp(3, ranks),
        3usize.abs_diff(ranks),
        (-3i32).abs_diff(4) as usize,
        (-3i32).abs() as usize,
        9usize.div_ceil(4),
        9usize.next_multiple_of(4),
        24usize.trailing_zeros() as usize,
        0u16.trailing_zeros() as usize,
        1u32.leading_zeros() as usize,
        (-1i8).leading_zeros() as usize,
        (-1i8).count_ones() as usize,
        0b1011usize.count_ones() as usize,
        ranks.is_power_of_two() as usize,
        0usize.is_power_of_two() as usize,
        9usize.next_power_of_two(),
        0usize.next_power_of_two(),
        ranks.is_multiple_of(4) as usize + 0usize.is_multiple_of(0) as usize,
        99usize.isqrt(),
        3usize.saturating_sub(5),
        250u8.saturating_add(10) as usize,
        (-100i8).saturating_sub(100).abs_diff(0) as usize,
        std::cmp::max(ranks, 3),
        (3..ranks).contains(&5) as usize,
        (3..=ranks).contains(&8) as usize,
    ];
}

#[test]
fn statements_compute_as_rust_does() {
    same![ranks:
        {
            let mut sum = 0;
            for i in (0..ranks).rev().step_by(3) {
                sum = sum * 10 + i;
            }
            sum
        },
        {
            let mut sum = 0;
            for i in (1..ranks + 1).step_by(3).rev() {
                sum = sum * 10 + i;
            }
            sum
        },
        {
            let list = [3, 1, 2];
            let mut sum = 0;
            for (i, (j, x)) in list.iter().enumerate().rev().enumerate() {
                sum = sum * 100 + i * 9 + j * 3 + *x;
            }
            sum
        },
        {
            let mut found = 0;
            'rows: for i in 0..ranks {
                for j in 0..ranks {
                    if j > i {
                        continue 'rows;
                    }
                    if i * j == 42 {
                        break 'rows;
                    }
                    found += 1;
                }
            }
            found
        },
        {
            let mut n = 27;
            let mut steps = 0;
            let last = loop {
                if n == 1 {
                    break steps;
                }
                n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
                steps += 1;
            };
            last
        },
        {
            let mut a = 1;
            let mut b = 1;
            while b < 1000usize {
                (a, b) = (b, a + b);
            }
            a
        },
        {
            let value;
            if ranks > 4 {
                value = 3;
            } else {
                value = 4;
            }
            value
        },
        {
            let x = 1;
            let y = {
                let x = x + 1;
                x * 10
            };
            x + y
        },
    ];
}

#[test]
fn matches_compute_as_rust_does() {
    same![ranks:
        match ranks {
            0 => 1,
            1 | 2 => 2,
            3..=7 => 3,
            n if n % 2 == 1 => 4,
            n @ 8.. => n * 5,
        },
        match (ranks > 3, ranks % 3) {
            (false, _) => 1,
            (true, 0) => 2,
            (true, 1 | 2) => 3,
            _ => 4,
        },
        match (1, (2, 3), 4usize) {
            (a, (.., b), _) if a == b => 0,
            (first, .., last) => first + last,
        },
        match -3i64 {
            -5..-2 => 1,
            _ => 2,
        },
        matches!(ranks, 1..9 if ranks != 7) as usize,
        {
            const EIGHT: usize = 2 * 4;
            match ranks {
                EIGHT => 1,
                _ => 0,
            }
        },
        {
            let [a, .., b] = [1, 2, 3, 4];
            let (c, _): (usize, u8) = (5, 6);
            a * 100 + b * 10 + c
        },
    ];
}

#[test]
fn lists_are_values() {
    same![ranks:
        {
            let mut a = vec![1, 2, 3];
            let b = a.clone();
            a[1] += 40;
            a.push(9);
            a.swap(0, 3);
            a.reverse();
            a[0] * 1000 + a[2] + b[1] + a.len() + b.len()
        },
        {
            let mut grid = [[0; 3]; 2];
            let row = grid[1];
            grid[1][2] = 7;
            grid[1][2] * 10 + row[2]
        },
        {
            let mut pair = (1, vec![(2, 3)]);
            pair.1[0].1 *= 5;
            pair.0 + pair.1[0].1
        },
        {
            let mut list: Vec<usize> = Vec::new();
            for i in 0..ranks {
                list.push(i * i);
            }
            let mut sum = list.is_empty() as usize + list.contains(&49) as usize;
            for x in &list {
                sum += x;
            }
            sum
        },
    ];
}

#[test]
fn helper_functions_compute_as_rust_does() {
    same![ranks:
        {
            fn factorial(n: usize) -> usize {
                if n < 2 {
                    return 1;
                }
                n * factorial(n - 1)
            }
            factorial(ranks)
        },
        {
            const TABLE: [usize; 3] = [2, 3, 5];
            fn total(list: &[usize], (low, high): (usize, usize)) -> (usize, bool) {
                let mut sum = 0;
                for i in low..high {
                    sum += list[i];
                }
                (sum, sum > 4)
            }
            let (sum, is_large) = total(&TABLE, (1, TABLE.len()));
            sum + is_large as usize
        },
        {
            fn narrow(x: u8) -> u8 {
                x / 2
            }
            narrow(255) as usize
        },
    ];
}

#[test]
fn options_compute_as_rust_does() {
    same![ranks:
        {
            fn parent(rank: usize) -> Option<usize> {
                let Some(less) = rank.checked_sub(1) else {
                    return None;
                };
                Some(less / 2)
            }
            let mut rank = ranks + 5;
            let mut path = 0;
            while let Some(up) = parent(rank) {
                path = path * 10 + up;
                rank = up;
            }
            path
        },
        if let Some(x @ 3..) = 10usize.checked_sub(ranks) { x } else if let None = ranks.checked_div(0) { 7 } else { 8 },
        if let Some(x) = Some(ranks) && x > 2 && let 5..=7 = x - 1 { x } else { 2 },
        if ranks < 2 && let Some(x) = Some(ranks) { x } else if let Some(250) = Some(ranks) && true { 2 } else { 3 },
        {
            let mut stack = vec![1, 2, 9, 3, 4];
            let mut sum = 0;
            while let Some(top) = stack.pop() && top < 9 {
                if top == 4 {
                    continue;
                }
                sum += top;
            }
            sum * 10 + stack.len()
        },
        match (ranks.checked_rem(3), 200u8.checked_add(100)) {
            (Some(x), None) => x,
            _ => 0,
        },
        {
            let mut stack = vec![1usize, 2, 3];
            let mut sum = stack.first().copied().unwrap_or(0) + *stack.get(1).unwrap();
            while let Some(top) = stack.pop() {
                sum = sum * 10 + top;
            }
            let none: Option<u8> = None;
            sum + stack.last().is_none() as usize + none.unwrap_or(9) as usize + (none == None) as usize
        },
    ];
    let unwrapped = "{ let x: Option<usize> = None; x.expect(\"a parent\") }";
    refused(unwrapped, "this is `None`, which cannot be unwrapped: a parent");
}

#[test]
fn what_panics_in_rust_is_refused() {
    refused("ranks - 9", "`ranks - 9` underflows: 8 - 9 is below zero for usize");
    refused("0 - 1 + ranks", "0 - 1 is below zero for usize");
    refused("{ let x = 0; x - 1 }", "0 - 1 is below zero for usize");
    refused("(i32::MIN % (ranks as i32 - 9)) as usize", "overflows: -2147483648 % -1");
    refused("(i32::MIN / (ranks as i32 - 9)) as usize", "overflows");
    refused("i64::MIN.rem_euclid(ranks as i64 - 9) as usize", "overflows");
    refused("i64::MIN.div_euclid(ranks as i64 - 9) as usize", "overflows");
    refused("(-i32::MIN) as usize", "overflows");
    refused("i8::MIN.abs() as usize", "overflows");
    refused("{ let mut x = ranks; x -= 9; x }", "`x -= 9` underflows");
    refused("ranks - 10 + 5", "`ranks - 10` underflows");
    refused("usize::MAX + ranks", "overflows: 18446744073709551615 + 8 is above 18446744073709551615");
    refused("(200u8 + 100) as usize", "is above 255, the limit of u8");
    refused("(i32::MIN - 1) as usize", "is below -2147483648, the limit of i32");
    refused("-i8::MIN as usize", "overflows");
    refused("ranks / (ranks - 8)", "divides by zero: 8 by 0");
    refused("ranks % 0", "divides by zero");
    refused("ranks << 64", "shifts too far: by 64, where 64 bits are all that usize has");
    refused("2usize.pow(64)", "overflows");
    refused("0usize.ilog2() as usize", "has no value");
    refused("ranks.div_ceil(0)", "divides by zero");
    refused("[1, 2][ranks]", "there is no element 8: the list has the elements 0 to 1");
    refused("{ let mut x: Vec<usize> = Vec::new(); x[0] = 1; 1 }", "the list is empty");
    refused("{ for _ in (0..ranks).step_by(0) {} 1 }", "a step of 0");
    refused("{ assert!(ranks == 7); 1 }", "`ranks == 7` does not hold");
    refused("{ if ranks > 1 { unreachable!(\"one rank\") } 1 }", "panics here: one rank");
    refused("{ fn f(n: usize) -> usize { f(n + 1) } f(0) }", "200 calls deep");
}

#[test]
fn literals_have_the_types_that_the_compiler_infers() {
    same![ranks:
        { let m: u8; m = 250; m.saturating_add(10) as usize },
        { let mut v: Vec<u8> = Vec::new(); v.push(250); v[0].saturating_add(10) as usize },
        [1u8, 250][1].saturating_add(10) as usize,
        ([1u8, 250][1] << 1) as usize,
        [1u8, 250][1].checked_add(10).is_none() as usize,
        (if ranks == 9 { 1u8 } else { 250 }).saturating_add(10) as usize,
        (match ranks { 9 => 1u8, _ => 250 }).saturating_add(10) as usize,
        { let o: Option<u8> = None; o.unwrap_or(250).saturating_add(10) as usize },
        { let mut t = (0u8, 1usize); t = (250, t.1); t.0.saturating_add(10) as usize + t.1 },
        { let mut t = [0u8; 2]; t = [250, t[1]]; t[0].saturating_add(10) as usize },
        { let k: u64; k = 5; k.leading_zeros() as usize },
        { let a = [1u64, 2]; (a[1] << 40) as usize },
        { let x = 1; let y = x << 40; y },
        { let x = 65536; x * x },
        { let x = 0; !x },
        { let x = 0; let y = x - 1; if y < 0 { 3 } else { 4 } },
        { let (mut a, b) = (200, 100u8); a = b; a.saturating_add(200) as usize },
        { let mut v = vec![]; for x in [250, 3] { v.push(x); } let w: &Vec<u8> = &v; w[0].saturating_add(9) as usize },
        { let mut v = Vec::new(); v.push((250, 1)); let (a, _): (u8, i8) = v[0]; a.saturating_add(9) as usize },
        { let n = loop { if ranks > 3 { break 250; } break 1u8; }; n.saturating_add(9) as usize },
        { let n = 'a: { if ranks > 3 { break 'a 250; } 1u8 }; n.saturating_add(9) as usize },
        { fn f(x: usize) -> u8 { if x > 3 { return 250; } 1 } f(ranks).saturating_add(9) as usize },
        { const C: [u8; 2] = [250, 1]; C[0].saturating_add(9) as usize },
        { let x = 100; let y = 5i8.abs_diff(x); let z = 250; (z - y).saturating_add(200) as usize },
        { let v = [(1, 250u8)]; let mut s = 0; for (i, (a, b)) in v.iter().enumerate() { s += i + a + *b as usize; } s },
        { let x = if ranks == 1 { panic!() } else { 250 }; let y: u8 = x; x.saturating_add(y) as usize },
        { let Some(x) = Some(250) else { panic!() }; let y: u8 = x; x.saturating_add(y) as usize },
        { let mut s = vec![250]; let x = s.pop().unwrap(); let y: u8 = x; y.saturating_add(x) as usize },
        { let mut t = [[0; 2]; 2]; t[1][0] = 250u8; t[1][0].saturating_add(t[0][0] + 9) as usize },
        { let x = 250; matches!(x, 0u8..=9); x.saturating_add(9) as usize },
        { let (a, .., c) = (250, 7, 1u8); let mut b = a; b = c; (a as u8).saturating_add(b) as usize },
        { let a = 250; let l = [1, a]; l.contains(&9u8) as usize + l[1].saturating_add(9) as usize },
        300 as usize + 5_000_000_000 as usize + (-1) as i32 as usize / 2 + !0 as usize / 4,
        (-128i8) as usize / 2,
    ];
    refused("{ let x: u8 = 255; x as usize + (300 - x) as usize }", "is 300, which u8 cannot hold");
    refused("{ let x = 128i8; x as usize }", "is 128, which i8 cannot hold");
    refused(
        "{ let x = 65536; x * x; 1 }",
        "is above 2147483647, the limit of i32, the type of a number that is written without one",
    );
    refused("{ let x = 1; let y = x << 40; 1 }", "where 32 bits are all that i32 has, the type of a number");
    refused("{ let v: Vec<u8> = vec![250]; (v[0] + 10) as usize }", "is above 255, the limit of u8");
}

#[test]
fn types_that_double_do_not_hang() {
    let doubled: String =
        (0..60).map(|_| "let mut a = (a, a); let b = (b, b); if ranks == 1 { a = b; } ").collect();
    refused(&format!("{{ let a = (1, 1); let b = (2, 2); {doubled} 1 }}"), "the types in this are too large");
}

#[test]
fn names_mean_what_they_mean_in_rust() {
    same![ranks:
        { let n = 5; let m = { const n: usize = 2; n }; n * 10 + m },
        { const N: usize = 5; let m = { let n = 3; n + N }; m },
        { fn f() -> usize { 1 } let m = { fn f() -> usize { 2 } f() }; m * 10 + f() },
        { let n = 5; fn f(n: usize) -> usize { const n: usize = 2; n } f(3) * 10 + n },
        { let f = 1; let m = { fn f() -> usize { 7 } f() }; m + f },
    ];
    refused("match ranks { LAST => 7, _ => 0 }", "`LAST` is not known at build time: move the constant into");
    refused("matches!(ranks, LAST) as usize", "`LAST` is not known at build time");
    refused("if let Some(LAST) = Some(ranks) { 1 } else { 0 }", "`LAST` is not known at build time");
    refused(
        "{ use elsewhere::Last; match ranks { Last | 1 => 7, _ => 0 } }",
        "`Last` is not known at build time",
    );
}

#[test]
fn what_does_not_end_is_refused() {
    refused("loop {}", "this loop ran");
    refused("{ let mut x = Vec::new(); while true { x.push(1); } x.len() }", "this loop ran");
    refused("{ for _ in 0..usize::MAX {} 1 }", "too many for build time");
    refused("vec![0; 1 << 30].len()", "too many for build time");
    let nested =
        "{ let a = vec![vec![vec![vec![1; 1000]; 1000]; 1000]; 1000]; let b = a.clone(); EXPR as usize }";
    refused(&nested.replace("EXPR", "(a == b)"), "too many for build time");
    refused(&nested.replace("EXPR", "[b].contains(&a)"), "too many for build time");
    refused("{ let a = vec![1; 100_000]; loop { let mut b = a.clone(); b[0] = 2; } }", "this loop ran");
    refused("{ let mut n = 0; loop { for i in 0..4 { n = i; } } }", "this loop ran");
}

#[test]
fn what_is_nested_too_deep_is_refused() {
    // A test has less stack than an evaluation.
    let deep = || {
        let sum = |terms: usize| vec!["1usize"; terms].join(" + ");
        assert_eq!(evaluate(&sum(150)), Ok(150));
        refused(&sum(2000), "nested more than 200 expressions deep");
        refused(&format!("vec![{}][0]", sum(2000)), "nested more than 200 expressions deep");
        refused(&format!("{}1{}", "(".repeat(300), ")".repeat(300)), "nested more than 200 expressions deep");
        let inner = format!("{}f(n - 1){}", "(1 + ".repeat(60), ")".repeat(60));
        let recursive =
            format!("{{ fn f(n: usize) -> usize {{ if n == 0 {{ 0 }} else {{ {inner} }} }} f(EXPR) }}");
        assert_eq!(evaluate(&recursive.replace("EXPR", "50")), Ok(3000));
        refused(&recursive.replace("EXPR", "190"), "nested too deep here: use a loop");
    };
    std::thread::Builder::new().stack_size(64 << 20).spawn(deep).unwrap().join().unwrap();
}

#[test]
fn what_is_not_in_the_subset_is_refused_with_advice() {
    refused("unknown + 1", "`unknown` is not known at build time");
    refused("helper(1)", "the function `helper` is not known at build time");
    refused("{ fn f() -> usize { ranks } f() }", "pass it as a parameter, or write a closure");
    refused("1u128 as usize", "up to 64 bits");
    refused("1.5 as usize", "use integers");
    refused("{ #[cfg(test)] let x = 1; 2 }", "attribute");
    refused("{ fn f<T>(x: T) -> usize { 1 } f(1) }", "write the types out");
    refused("ranks.wrapping_shl(1) as usize", "write `<<` or `>>`");
    refused("ranks.wrapping_neg() as usize", "use the plain operator");
    refused("std::cmp::Reverse(ranks).0", "use `sort()`, then `reverse()`");
    refused("[1].iter().map(std::convert::identity).count()", "write a closure, `|x| x`");
    refused("core::mem::size_of::<u8>()", "this part of std");
    refused("ranks.among(&[0, 1])", "call the function at run time with `Program::new(…).among(…)`");
    refused("ranks.with_options(1)", "say `options(");
    refused("ranks.expect(1, 2)", "the method `expect` is not evaluated at build time");
    refused("{ struct S; 1 }", "use tuples and integers");
}
