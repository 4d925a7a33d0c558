//! Methods of numbers, lists and options, and texts.

use super::{refused, same};

#[test]
fn methods_of_numbers_compute_as_rust_does() {
    same![ranks:
        200u8.wrapping_add(100) as usize + 3u8.wrapping_sub(5) as usize + 100i8.wrapping_mul(3) as u8 as usize,
        u64::MAX.wrapping_mul(u64::MAX - 4) as usize,
        usize::MAX.wrapping_mul(usize::MAX / 3) % 1000,
        i64::MIN.wrapping_div(-1) as u64 as usize + i64::MIN.wrapping_rem(-1) as usize,
        3u8.wrapping_pow(9) as usize + 3u8.saturating_pow(9) as usize + 3u8.checked_pow(9).is_none() as usize,
        (-3i8).saturating_pow(9).unsigned_abs() as usize + (-100i8).saturating_mul(2).unsigned_abs() as usize,
        (-100i8).saturating_mul(-2) as usize + i8::MIN.saturating_div(-1) as usize,
        { let (x, over) = 200u8.overflowing_add(100); x as usize * 10 + over as usize },
        { let (x, over) = 3usize.overflowing_sub(1); x * 10 + over as usize },
        1u8.checked_shl(9).is_none() as usize + 1u8.checked_shl(3).unwrap() as usize + 9u8.checked_shr(1).unwrap() as usize,
        1234usize.ilog10() as usize + (-5i32).signum().unsigned_abs() as usize + 0i32.signum() as usize,
        (-5i32).is_negative() as usize * 2 + 5i32.is_positive() as usize,
        200u8.count_zeros() as usize * 100 + 0xf0u8.leading_ones() as usize * 10 + 7u8.trailing_ones() as usize,
        6u8.reverse_bits() as usize + (-2i16).reverse_bits() as u16 as usize + 1usize.reverse_bits() / 3,
        5usize.midpoint(10) + (-5i32).midpoint(-10).unsigned_abs() as usize,
        usize::min(ranks, 3) * 100 + usize::pow(2, 5) + i32::abs(-4) as usize + u32::count_ones(7) as usize,
        (1, 5).max((1, 3)).1 + (2, 0).min((1, 9)).1,
        ((1, 5) < (2, 0)) as usize * 2 + ([1, 2] >= [1, 2]) as usize + (None < Some(0)) as usize * 4,
        i64::MIN.checked_rem(-1).is_none() as usize + i64::MIN.checked_div(-1).is_none() as usize,
    ];
    refused("3u8.wrapping_div(ranks as u8 - 8) as usize", "divides by zero");
    refused("8usize.pow(30)", "overflows");
}

#[test]
fn methods_of_lists_compute_as_rust_does() {
    same![ranks:
        { let mut v = vec![3, 1, 2]; v.sort(); v[0] * 100 + v[1] * 10 + v[2] },
        { let mut v = vec![(3, ranks == 9), (1, true)]; v.sort_unstable(); v[0].0 },
        { let mut v = vec![5, 12, 31, 22]; v.sort_by_key(|x| x % 10); v.iter().fold(0, |a, x| a * 100 + x) },
        { let mut v = vec![1, 1, 2, 2, 1]; v.dedup(); v.len() },
        { let k = 2; let mut v = vec![1, 2, 3, 2]; v.retain(|&x| x != k); v.iter().fold(0, |a, x| a * 10 + x) },
        { let mut v = vec![1, 2, 3]; v.insert(1, 9); let x = v.remove(0); let y = v.swap_remove(0); v[0] * 1000 + v[1] * 100 + x * 10 + y },
        { let mut v = vec![1, 2, 3, 4, 5]; v.truncate(4); let w = v.split_off(2); v.resize(5, 7); v.iter().chain(&w).fold(0, |a, x| a * 10 + x) },
        { let mut v = vec![1, 2, 3, 4, 5]; let d: Vec<_> = v.drain(1..3).collect(); v.len() * 100 + d[0] * 10 + d[1] },
        { let mut v = vec![1, 2, 3, 4, 5]; v.drain(..).sum::<usize>() * 10 + v.len() },
        { let mut v = [1, 2, 3, 4]; v.rotate_left(1); v.swap(0, 3); v.rotate_right(2); v.iter().fold(0, |a, x| a * 10 + x) },
        { let mut v = [0; 4]; v.fill(3); v.iter().sum::<usize>() },
        { let mut v = vec![1]; v.extend_from_slice(&[2, 3]); v.extend(&[4]); v.len() },
        { let v = [1, 2, 3, 4, 5]; v[1..3].iter().sum::<usize>() * 100 + v[..2].len() * 10 + v[3..][1] + v[1..=2].len() + v[..].len() },
        { let v = [1, 2, 3, 4, 5]; let (a, b) = v.split_at(2); a.len() * 10 + b[0] },
        { let v = [1, 2, 3]; let (first, rest) = v.split_first().unwrap(); let (last, _) = v.split_last().unwrap(); first * 100 + rest.len() * 10 + last },
        { let v = [1, 2, 3, 4]; match v { [first, .., last] => first * 10 + last } },
        { fn sum(v: &[usize]) -> usize { match v { [] => 0, [x, rest @ ..] => x * 2 + sum(rest) } } sum(&[1, 2, 3]) },
        { fn halves(v: &[usize]) -> usize { if v.len() < 2 { return v[0]; } let m = v.len() / 2; halves(&v[..m]) * 3 + halves(&v[m..]) } halves(&[1, 2, 3, 4, 5]) },
        { let v = vec![vec![1, 2], vec![3]]; let all = v.concat(); all.len() * 10 + all[2] },
        [1, 2, 3].starts_with(&[1, 2]) as usize * 2 + [1, 2, 3].ends_with(&[1]) as usize + [1, 2, 2].is_sorted() as usize * 4,
        [1, 2, 3].get(1..).unwrap().len() + [1, 2, 3].get(2..9).is_none() as usize,
        { let mut v = vec![0..2, 5..9]; let w = v.clone(); v[0].next(); v[0].len() * 10 + w[0].len() },
        { let [a, b] = [ranks, 2]; let (mut x, mut y) = (0, 0); [x, y] = [b, a]; x * 10 + y },
        { let v = Vec::<u8>::new(); let w: Vec<usize> = Vec::from([1, 2]); v.len() + w.len() },
        { let v: Vec<usize> = Vec::with_capacity(9); v.len() },
    ];
    refused("[1, 2, 3][ranks..].len()", "this part begins at 8, after its end, 3");
    refused("[1, 2, 3][1..ranks].len()", "the part ends at 8, but the list has only 3 elements");
    refused(
        "{ let mut v = vec![1]; v.remove(ranks); 1 }",
        "there is no element 8: the list has only element 0",
    );
    refused(
        "{ let mut v = vec![1]; v.insert(2, 1); 1 }",
        "nothing can be inserted at 2: the list has 1 element",
    );
    refused("{ let mut v = vec![1]; v.rotate_left(2); 1 }", "cannot be rotated by 2");
    refused("{ let mut v = vec![1]; v.sort_by(|a, b| b.cmp(a)); 1 }", "use `sort_by_key(…)`");
}

#[test]
fn methods_of_options_compute_as_rust_does() {
    same![ranks:
        Some(3).map(|x| x * ranks).unwrap_or(1) + None.map(|x: usize| x).unwrap_or(2),
        Some(3).and_then(|x: usize| x.checked_sub(5)).unwrap_or_else(|| ranks * 2),
        Some(3).filter(|x| *x > 5).or(Some(7)).unwrap() * 10 + None.or_else(|| Some(4)).unwrap_or(0),
        Some(3).map_or(9, |x| x * 2) * 10 + None.map_or_else(|| 4, |x: usize| x),
        Some(3).is_some_and(|x| x > 2) as usize * 2 + None.is_none_or(|x: usize| x > 2) as usize,
        Some(3).zip(Some(4)).map(|(a, b)| a * b).unwrap() + Some(1).xor(None).unwrap_or(9),
        Some(Some(4)).flatten().unwrap_or(1) + Some(3).iter().count() + Some(5).into_iter().sum::<usize>(),
        (ranks > 3).then(|| 5).unwrap_or(6) * 10 + (ranks > 30).then_some(1).unwrap_or(2),
        { fn f(x: usize) -> Option<usize> { let y = x.checked_sub(3)?; Some(y.checked_sub(2)? * 10) } f(8).unwrap() + f(4).unwrap_or(1) + f(0).unwrap_or(2) },
        { let Some(x) = [1, 2].iter().find(|x| **x > 1) else { panic!() }; *x },
        if let Some(x) = (0..ranks).last() && x > 3 { x } else { 0 },
        { let o: Option<u8> = Some(250); o.map(|x| x.saturating_add(9)).unwrap() as usize },
    ];
    refused("None::<usize>.expect(\"a parent\")", "cannot be unwrapped: a parent");
}

#[test]
fn texts_are_what_rust_makes_of_them() {
    same![ranks:
        (format!("in{}", ranks) == "in8") as usize,
        (format!("{ranks:03}|{:4}", 7).as_str() == "008|   7") as usize + 1,
        (format!("{{{x}}} {0} {0:?} {y:?}", "a", x = 3, y = Some((1, [true]))) == "{3} a \"a\" Some((1, [true]))") as usize,
        (ranks.to_string() == "8") as usize,
        { println!("{} chunks", ranks); assert!(ranks > 3, "{ranks} ranks"); assert_eq!(1 + 1, 2, "sums"); 4 },
    ];
    refused(
        "{ assert!(ranks > 9, \"{} ranks, {x:?}\", ranks, x = [1, 2]); 1 }",
        "`ranks > 9` does not hold: 8 ranks, [1, 2]",
    );
    refused(
        "{ let root = 3; assert_eq!(ranks, root); 1 }",
        "`ranks == root` does not hold (left 8, right 3)",
    );
    refused("{ panic!(\"no {}\", ranks); }", "panics here: no 8");
    refused("{ todo!() }", "panics here");
    refused("format!(\"{:x}\", ranks).len()", "a format is a text with");
}

#[test]
fn other_of_rust_is_refused_with_advice() {
    refused("{ type T = usize; 1 }", "write the type out");
    refused("{ static S: usize = 1; S }", "use a `const`");
    refused("usize::try_from(3i64).unwrap()", "convert with `as`");
    refused("std::mem::take(&mut vec![1]).len()", "assign the new value");
    refused("{ let x: f64 = 1.0; 1 }", "use integers");
    refused("{ let m: HashMap<usize, usize> = HashMap::new(); 1 }", "use a Vec, by rank or by chunk");
    refused("{ let x: Result<usize, ()> = Ok(1); 1 }", "use an Option");
    refused("{ trait T {} 1 }", "write a `fn` in the body");
    refused("[1].map(Some).len()", "write `|x| Some(x)`");
    refused("{ let x = 'a'; 1 }", "of literals only");
    refused("(0..ranks).into_par_iter().count()", "use the methods that the documentation");
    refused("{ let x: usize = 3u8.into(); x }", "convert with `as`");
    refused("{ let x = 3; match x { ref y => *y } }", "`ref` is not evaluated");
}
