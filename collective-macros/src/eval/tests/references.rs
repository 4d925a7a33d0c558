//! `&mut`, and what is changed through it.

use super::{refused, same};

#[test]
fn mutable_references_compute_as_rust_does() {
    same![ranks:
        { let mut x = 1; let y = &mut x; *y += 5; *y * 2 },
        { let mut x = 1; { let y = &mut x; *y = 7; } x },
        { fn add(list: &mut Vec<usize>, x: usize) { list.push(x); list[0] += x; } let mut v = vec![1]; add(&mut v, 5); add(&mut v, 6); v[0] * 10 + v.len() },
        { fn outer(n: &mut usize) { inner(n); inner(&mut *n); } fn inner(n: &mut usize) { *n = *n * 2 + 1; } let mut n = 3; outer(&mut n); n },
        { fn fill(grid: &mut [[usize; 3]; 2]) { for row in grid.iter_mut() { for x in row { *x += 2; } } } let mut g = [[1; 3]; 2]; fill(&mut g); g[1][2] + g[0][0] },
        { let mut v = vec![3, 1, 2]; for x in &mut v { *x *= 2; } v[0] * 100 + v[1] * 10 + v[2] },
        { let mut v = vec![3, 1, 2]; for (i, x) in v.iter_mut().enumerate() { *x += i; } v[0] * 100 + v[1] * 10 + v[2] },
        { let mut v = vec![(1, 2), (3, 4)]; for (a, b) in v.iter_mut() { std::mem::swap(a, b); } v[0].0 * 10 + v[1].1 },
        { let mut v = vec![1, 2]; if let Some(last) = v.last_mut() { *last += 40; } *v.first_mut().unwrap() = 7; v[0] * 100 + v[1] },
        { let mut o = Some(3); if let Some(x) = &mut o { *x += 1; } if let Some(x) = o.as_mut() { *x *= 10; } o.unwrap() },
        { let mut o = Some(3); let a = o.take(); let b = o.replace(5); a.unwrap() * 100 + b.is_none() as usize * 10 + o.unwrap() },
        { let (mut a, mut b) = (vec![1, 2], vec![3]); std::mem::swap(&mut a, &mut b); a[0] * 10 + b.len() },
        { let (mut a, mut b) = (vec![1, 2], vec![3]); a.append(&mut b); a.len() * 10 + b.len() },
        { let mut v = vec![vec![1], vec![2]]; v[1].push(9); let row = &mut v[0]; row.push(5); row[0] = 8; v[0][0] * 100 + v[0][1] * 10 + v[1][1] },
        { let mut it = (0..ranks).into_iter(); fn two(it: &mut impl Iterator<Item = usize>) -> usize { it.next().unwrap() * 10 + it.next().unwrap() } let a = two(&mut it); let b = two(&mut it); a * 100 + b },
        { let mut t = (1, [2, 3]); let (a, [b, _]) = &mut t; *a += 10; *b += 20; t.0 * 100 + t.1[0] },
        { let mut v = vec![5, 3]; let m = v.iter_mut().max().unwrap(); *m = 0; v[0] * 10 + v[1] },
        { let mut v = vec![1, 2, 3]; v.iter_mut().rev().take(2).for_each(|x| *x *= 10); v.iter().sum::<usize>() },
        { let mut v = vec![1, 2, 3]; match v.get_mut(ranks) { Some(x) => *x = 1, None => v.push(4) } v.len() },
        { let mut best = (usize::MAX, 0); for (i, x) in [4, 2, 9].iter().enumerate() { if *x < best.0 { best = (*x, i); } } best.0 * 10 + best.1 },
        { let mut a = 1; let mut b = 2; let r = if ranks > 4 { &mut a } else { &mut b }; *r = 50; a + b },
    ];
    refused("{ let mut v = vec![1, 2, 3]; v[1..].reverse(); v[1] }", "cannot be changed as one");
}
