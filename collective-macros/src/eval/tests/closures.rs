//! Closures, and functions as values.

use super::{refused, same};

#[test]
fn closures_compute_as_rust_does() {
    same![ranks:
        { let next = |rank: usize| (rank + 1) % ranks; next(next(7)) },
        { let f = |a, b| a * 10 + b; f(ranks, 3) },
        { let mut count = 0; let mut bump = || { count += 2; count }; bump(); let n = bump(); n * 10 + count },
        { let mut n = 5; let f = move || { n += 1; n }; let mut g = f; let a = g(); let b = g(); a * 100 + b * 10 + n },
        { let mut n = 5; let f = move || { n += 1; n }; let mut a = f.clone(); let mut b = f; a(); a() * 10 + b() },
        { let mut v = Vec::new(); let mut add = |x| v.push(x); add(3); add(4); v.len() * 10 + v[1] },
        { fn twice(f: impl Fn(usize) -> usize, x: usize) -> usize { f(f(x)) } twice(|x| x * ranks, 2) },
        { fn twice(f: &dyn Fn(usize) -> usize, x: usize) -> usize { f(f(x)) } let k = 3; twice(&|x| x + k, 2) },
        { fn twice<F: Fn(usize) -> usize>(f: F, x: usize) -> usize { f(f(x)) } twice(|x| x * x, 3) },
        { fn each<F>(n: usize, mut f: F) where F: FnMut(usize) { for i in 0..n { f(i); } } let mut s = 0; each(5, |i| s += i); s },
        { fn adder(n: usize) -> impl Fn(usize) -> usize { move |x| x + n } let f = adder(3); let g = adder(40); f(1) + g(2) },
        { fn odd(n: usize) -> impl Iterator<Item = usize> { (0..n).filter(|x| x % 2 == 1) } odd(ranks).sum::<usize>() },
        { fn square(x: usize) -> usize { x * x } (0..4).map(square).sum::<usize>() },
        { fn square(x: usize) -> usize { x * x } let f = square; f(5) },
        { let f = |x: usize| -> usize { if x > 3 { return 1; } x * 2 }; f(3) * 10 + f(4) },
        { let parent = |x: usize| -> Option<usize> { let less = x.checked_sub(1)?; Some(less / 2) }; parent(5).unwrap() * 10 + parent(0).unwrap_or(7) },
        { let add = |x: usize| move |y: usize| x * 10 + y; add(3)(4) },
        { let fs = [1, 2, 3].map(|x| x * 2); fs[0] + fs[2] },
        { let mut fs: Vec<Box<dyn Fn(usize) -> usize>> = Vec::new(); for i in 0..3 { fs.push(Box::new(move |x| x * i)); } fs[1](5) + fs[2](7) },
        { let n = 250; let f = |x: u8| n + x; let y: u8 = f(5); y as usize },
        { let f = |x: u8| x; f(250).saturating_add(9) as usize },
        (|x| x + 1)(ranks),
        { let (a, b) = (3, 4); let f = |(x, y): (usize, usize)| x * a + y * b; f((1, 2)) },
        { let mut grid = vec![vec![0; 3]; 2]; let mut set = |i: usize, j: usize, x| grid[i][j] = x; set(1, 2, 7); grid[1][2] * 10 + grid[0][2] },
        {
            fn depth(n: usize, f: &dyn Fn(usize) -> usize) -> usize { if n == 0 { f(0) } else { let g = |x| f(x) + n; depth(n - 1, &g) } }
            depth(5, &|x| x + 100)
        },
        { let mut log = vec![]; for i in 0..3usize { let mut note = |x| log.push(x * i); note(1); note(2); } log.iter().sum::<usize>() },
        { let limit = 3; let v = vec![1, 5, 2, 7]; let small: Vec<_> = v.iter().filter(|&&x| x < limit).collect(); small.len() },
    ];
    refused("{ let f = |x: usize| x - 1; f(0) }", "`x - 1` underflows");
    let wrapped = "{ let mut f: Box<dyn Fn(usize) -> usize> = Box::new(|x| x); \
                   for _ in 0..1_000_000 { f = Box::new(move |x| f(x) + 1); } f(1) }";
    refused(wrapped, "nested too deep");
    refused(
        "{ let it: Box<dyn Iterator<Item = usize>> = Box::new(0..3); it.count() }",
        "`impl Iterator<Item = …>`",
    );
    refused("{ let f = |x: usize| -> usize { loop {} }; f(1) }", "this loop ran");
    refused(
        "{ fn f(g: &dyn Fn(usize) -> usize, n: usize) -> usize { f(&|x| g(x), n + 1) } f(&|x| x, 1) }",
        "calls deep",
    );
}
