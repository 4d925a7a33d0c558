//! Ranges and iterators.

use super::{refused, same};

#[test]
fn adapters_compute_as_rust_does() {
    same![ranks:
        (0..ranks).map(|x| x * x).sum::<usize>(),
        (0..ranks).filter(|x| x % 3 == 1).count(),
        (0..=ranks).rev().map(|x| x * 2).fold(0, |a, x| a * 3 + x),
        (0..ranks).zip((0..ranks).rev()).map(|(a, b)| a * b).max().unwrap(),
        (0..ranks).zip(2..5).rev().fold(0, |a, (x, y)| a * 100 + x * 10 + y),
        (0..3).chain(7..ranks).chain([20, 30]).fold(0, |a, x| a * 7 + x),
        (0..3).chain(7..ranks).rev().fold(0, |a, x| a * 7 + x),
        (0..20).step_by(3).skip(1).take(4).fold(0, |a, x| a * 31 + x),
        (0..20).skip(2).step_by(5).rev().fold(0, |a, x| a * 31 + x),
        (0..20).take(7).rev().step_by(2).fold(0, |a, x| a * 31 + x),
        (0..20).enumerate().skip(3).rev().fold(0usize, |a, (i, x)| a.wrapping_mul(31) + i * x),
        (0..20).skip(18).enumerate().rev().fold(0, |a, (i, x)| a * 31 + i * x),
        (0..20).take_while(|x| x * x < 50).last().unwrap(),
        (0..20).skip_while(|x| x * x < 50).next().unwrap(),
        (0..20).map_while(|x| if x < 5 { Some(x * 3) } else { None }).sum::<usize>(),
        (0..ranks).flat_map(|x| (0..x).rev()).fold(0usize, |a, x| a.wrapping_mul(5) + x),
        (0..4).flat_map(|x| (0..x).map(move |y| x * 10 + y)).rev().fold(0, |a, x| a * 3 + x),
        vec![vec![1, 2], vec![], vec![3]].into_iter().flatten().fold(0, |a, x| a * 10 + x),
        [Some(2), None, Some(5)].into_iter().flatten().sum::<usize>(),
        (0..ranks).filter_map(|x| x.checked_sub(3)).sum::<usize>(),
        (1..4).cycle().take(10).fold(0, |a, x| a * 4 + x),
        std::iter::repeat(3).take(4).sum::<usize>() + std::iter::repeat_n(2, 3).product::<usize>(),
        std::iter::once(ranks).chain(std::iter::empty()).sum::<usize>(),
        std::iter::successors(Some(1), |x| if *x < 100 { Some(x * 2) } else { None }).sum::<usize>(),
        std::iter::successors(Some(ranks), |x| x.checked_sub(3)).count(),
        std::iter::zip([1, 2, 3], 4..9).map(|(a, b)| a * b).sum::<usize>(),
        { let mut seen = vec![]; let n = (0..4).inspect(|x| seen.push(*x)).step_by(2).count(); n * 100 + seen.len() },
        {
            // What closures do happens in the order of the standard library.
            let mut order = Vec::new();
            let v: Vec<usize> = (0..3).map(|x| { x * 10 }).zip((5..9).map(|x| { x })).map(|(a, b)| a + b).collect();
            let n = (0..5).map(|x| { order.push(x); x }).filter(|x| x % 2 == 0).rev().take(2).sum::<usize>(); order.push(n);
            order.iter().fold(v[2], |a, x| a * 3 + x)
        },
        { let mut it = (0..ranks).peekable(); let mut n = 0; while let Some(x) = it.next() { if it.peek().is_none() { n = x; } } n },
        { let mut it = 0..ranks; let a = it.next().unwrap(); let b = it.next_back().unwrap(); a * 100 + b * 10 + it.len() },
        { let it = 2..ranks; let copy = it.clone(); it.sum::<usize>() * 100 + copy.len() + copy.start + copy.end },
        { let mut it = (0..ranks).map(|x| x + 1); let two = it.by_ref().take(2).sum::<usize>(); two * 100 + it.sum::<usize>() },
        { let mut it = [5, 6, 7].iter(); it.nth(1).unwrap() + it.len() },
        { let mut a = vec![1]; a.extend((0..3).map(|x| x * 4)); a.extend([9, 9]); a.iter().rev().fold(0, |s, x| s * 10 + x) },
        { let r = 0..3; let mut n = 0; for i in r.clone() { for j in r.clone() { n = n * 2 + (i * j) % 2; } } n + r.contains(&2) as usize },
        (3..ranks).len() + (3..3).is_empty() as usize + (3..=3).is_empty() as usize,
        (5..2).map(|x: usize| x).sum::<usize>(),
        (0u8..=255).map(|x| x as usize).sum::<usize>(),
        (-3i64..4).map(|x| x * x).sum::<i64>() as usize,
        (0..).zip([7, 8]).map(|(i, x)| i * x).sum::<usize>(),
        (1..).take_while(|x| x * x < ranks * 9).count(),
        { let mut n = 0; for i in 3.. { if i * i > 200 { n = i; break; } } n },
    ];
    refused("(0u8..).map(|x| x as usize).sum::<usize>()", "overflows");
    refused("(0..ranks).map(|x| x - 1).sum::<usize>()", "`x - 1` underflows: 0 - 1");
    refused("(0..ranks).cycle().count()", "too many for build time");
}

#[test]
fn what_ends_an_iterator_computes_as_rust_does() {
    same![ranks:
        (0..ranks).all(|x| x < 9) as usize * 2 + (0..ranks).any(|x| x == 9) as usize,
        { let mut n = 0; let _ = (0..ranks).any(|x| { n += 1; x == 3 }); n },
        (0..ranks).find(|&x| x * x > 10).unwrap_or(99),
        (0..ranks).find_map(|x| (x * x).checked_sub(10)).unwrap_or(99),
        (0..ranks).position(|x| x == 5).unwrap() + (0..ranks).position(|x| x == 50).is_none() as usize,
        [(2, 1), (1, 5), (1, 4)].iter().min().map(|(a, b)| a * 10 + b).unwrap(),
        [3, 9, 2].iter().copied().max().unwrap() * 10 + [3, 9, 2].iter().min().unwrap(),
        [(0, 7), (1, 2), (2, 7), (3, 2)].iter().max_by_key(|p| p.1).unwrap().0,
        [(0, 7), (1, 2), (2, 7), (3, 2)].iter().min_by_key(|p| p.1).unwrap().0,
        (1..ranks).reduce(|a, b| a * b).unwrap(),
        (0..0).reduce(|a: usize, b| a * b).is_none() as usize,
        (1..=5).product::<usize>(),
        { let (even, odd): (Vec<usize>, Vec<usize>) = (0..ranks).partition(|x| x % 2 == 0); even.len() * 10 + odd[0] },
        { let (a, b): (Vec<usize>, Vec<u8>) = (0..3).map(|x| (x, 250)).unzip(); a[2] + b[1].saturating_add(9) as usize },
        { let mut n = 0; (0..ranks).for_each(|x| n += x); n },
        { let mut n = 0; (0..ranks).rev().for_each(|x| { if x % 2 == 1 { return; } n = n * 10 + x; }); n },
        (0..ranks).map(|x| (x, x * x)).collect::<Vec<_>>()[3].1,
        { let v: Vec<usize> = (0..ranks).collect(); v.iter().rev().step_by(3).fold(0, |a, x| a * 10 + x) },
        { let v: Vec<u8> = [250, 1].into_iter().collect(); v[0].saturating_add(9) as usize },
        [1, 2, 3, 4, 5].windows(2).map(|w| w[0] * w[1]).sum::<usize>(),
        [1, 2, 3, 4, 5].chunks(2).map(|c| c.iter().sum::<usize>()).fold(0, |a, x| a * 100 + x),
        [1, 2, 3, 4, 5].chunks_exact(2).map(|c| c[0]).fold(0, |a, x| a * 100 + x),
        { let mut n = 0; for w in [1, 5, 2].windows(3) { let [a, b, c] = w else { panic!() }; n = a * 100 + b * 10 + c; } n },
        { let total: u8 = [100u8, 100].iter().sum(); total as usize },
    ];
    refused("{ let total: u8 = [200u8, 100].iter().sum(); total as usize }", "above 255");
    refused(
        "{ let v: Option<Vec<usize>> = [Some(1)].into_iter().collect(); v.unwrap()[0] }",
        "into a Vec, not into an Option",
    );
    refused("(0..ranks).collect::<HashSet<usize>>().len()", "use a Vec, by rank or by chunk");
    refused(
        "(0..ranks).map(|x| x % 3).rev().skip_while(|x| *x > 0).scan(0, |a, b| None).count()",
        "write a `for` loop",
    );
    refused("[1, 2].windows(ranks - 8).count()", "give at least 1");
}
