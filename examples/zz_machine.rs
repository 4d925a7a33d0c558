use collective::chakra_et::graph::Graph;
use collective::et::{self, EtOptions};
use collective::msccl;
use collective::sim::Simulation;
use collective::sim::machine::{Costs, Machine, Protocol};
use collective::sim::topology::{Dimension, Topology};
use collective::{ElementType, Size};
use rayon::prelude::*;

struct Point {
    program: String,
    size: u64,
    us: f64,
    graph: Graph,
}

fn set(machine: &mut Machine, protocol: Protocol, name: &str, v: f64) {
    match name {
        "egress" => machine.egress = Some(format!("{v} GB/s").parse().unwrap()),
        "ingress" => machine.ingress = Some(format!("{v} GB/s").parse().unwrap()),
        _ => {
            let c = machine.costs_mut(protocol).unwrap();
            let t = |v: f64| format!("{:.3} ns", (v / 1000.0).max(0.0)).parse().unwrap();
            let us = |v: f64| t(v * 1e6);
            match name {
                "launch" => c.launch = us(v),
                "step" => c.step = us(v),
                "slice" => c.slice = us(v),
                "latency" => c.latency = us(v),
                "copy" => c.copy = Some(format!("{v} GB/s").parse().unwrap()),
                "reduce" => c.reduce = Some(format!("{v} GB/s").parse().unwrap()),
                "slots" => c.slots = Some(v as u32),
                "slices" => c.slices = v as u32,
                "piece" => c.piece = Some(collective::sim::units::Bytes(v as u64)),
                "wire" => c.wire = v,
                _ => panic!("{name}"),
            }
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let protocol: Protocol = args[1].parse().unwrap();
    let min: u64 = std::env::var("MIN").map_or(65536, |v| v.parse().unwrap());
    let max: u64 = std::env::var("MAX").map_or(u64::MAX, |v| v.parse().unwrap());
    let only = std::env::var("ONLY").unwrap_or_default();
    let link = std::env::var("LINK").unwrap_or("47.5 GB/s".into());
    let topology =
        Topology::new([Dimension::fully_connected(8, link.parse().unwrap(), "0 ns".parse().unwrap())])
            .unwrap();
    let dir = "/work/shared/reference/measured";
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n.starts_with("MI300X_msccl_"))
        .collect();
    names.sort();
    let mut points = Vec::new();
    for name in names {
        let program = name.trim_start_matches("MI300X_msccl_").trim_end_matches(".csv").to_owned();
        if !program.contains(&only) {
            continue;
        }
        let xml = std::fs::read_to_string(format!("{dir}/mi300x-programs/{program}.xml")).unwrap();
        let imported = msccl::read(&xml, &program).unwrap();
        if imported.schedule.protocol.name() != protocol.name() {
            continue;
        }
        for line in std::fs::read_to_string(format!("{dir}/{name}")).unwrap().lines().skip(1) {
            let f: Vec<&str> = line.split(',').collect();
            // fields before may hold commas only in quotes: count from the end
            let n = f.len();
            let (size, us): (u64, f64) = (f[n - 6].parse().unwrap(), f[n - 4].parse().unwrap());
            if size < min || size > max {
                continue;
            }
            let options = EtOptions::new(Size::bytes(size));
            let graph = et::graph(&imported.schedule, &options).unwrap();
            points.push(Point { program: program.clone(), size, us, graph });
        }
    }
    let mut machine = Machine::new("fit").with(protocol, Costs::free());
    let mut free: Vec<(String, f64)> = Vec::new();
    for arg in &args[2..] {
        let (name, value) = arg.split_once('=').unwrap();
        let (fit, name) = name.strip_prefix('~').map_or((false, name), |n| (true, n));
        let value: f64 = value.parse().unwrap();
        set(&mut machine, protocol, name, value);
        if fit {
            free.push((name.to_owned(), value));
        }
    }
    let eval = |x: &[f64]| -> Vec<f64> {
        let mut m = machine.clone();
        for ((name, _), v) in free.iter().zip(x) {
            set(&mut m, protocol, name, v.exp());
        }
        points
            .par_iter()
            .map(|p| {
                let r = Simulation::new(&topology).machine(&m).run(&p.graph).unwrap();
                (r.makespan.0 as f64 / 1e6 / p.us).ln()
            })
            .collect()
    };
    let norm = |r: &[f64]| r.iter().map(|v| v * v).sum::<f64>() / r.len() as f64;
    let geo = |r: &[f64]| ((r.iter().map(|v| v.abs()).sum::<f64>() / r.len() as f64).exp() - 1.0) * 100.0;
    let t0 = std::time::Instant::now();
    let mut x: Vec<f64> = free.iter().map(|(_, v)| v.ln()).collect();
    let mut r = eval(&x);
    println!(
        "{} points, {:.2} s, geomean {:.2} %, rms {:.4}",
        points.len(),
        t0.elapsed().as_secs_f64(),
        geo(&r),
        norm(&r).sqrt()
    );
    // Levenberg-Marquardt
    let mut mu = 1e-2;
    let iterations: usize = std::env::var("ITER").map_or(15, |v| v.parse().unwrap());
    if !x.is_empty() {
        for _ in 0..iterations {
            let k = x.len();
            let mut j = vec![vec![0.0; k]; r.len()];
            for c in 0..k {
                let h = 0.02;
                let (mut up, mut down) = (x.clone(), x.clone());
                up[c] += h;
                down[c] -= h;
                let (a, b) = (eval(&up), eval(&down));
                for i in 0..r.len() {
                    j[i][c] = (a[i] - b[i]) / (2.0 * h);
                }
            }
            let mut improved = false;
            for _ in 0..6 {
                let mut a = vec![vec![0.0; k + 1]; k];
                for p in 0..k {
                    for q in 0..k {
                        a[p][q] = (0..r.len()).map(|i| j[i][p] * j[i][q]).sum::<f64>()
                            * if p == q { 1.0 + mu } else { 1.0 };
                    }
                    a[p][p] += 1e-9;
                    a[p][k] = -(0..r.len()).map(|i| j[i][p] * r[i]).sum::<f64>();
                }
                for p in 0..k {
                    let piv = a[p][p];
                    for q in p..=k {
                        a[p][q] /= piv;
                    }
                    for o in 0..k {
                        if o != p {
                            let f = a[o][p];
                            for q in p..=k {
                                let v = a[p][q];
                                a[o][q] -= f * v;
                            }
                        }
                    }
                }
                let y: Vec<f64> = (0..k).map(|p| x[p] + a[p][k].clamp(-0.7, 0.7)).collect();
                let s = eval(&y);
                if norm(&s) < norm(&r) {
                    let gain = norm(&r) - norm(&s);
                    x = y;
                    r = s;
                    mu = (mu / 5.0).max(1e-6);
                    improved = gain > 1e-7;
                    break;
                }
                mu *= 5.0;
            }
            if !improved {
                break;
            }
        }
        println!("fitted: geomean {:.2} % rms {:.4}", geo(&r), norm(&r).sqrt());
        for ((name, _), v) in free.iter().zip(&x) {
            print!("{name}={:.5} ", v.exp());
        }
        println!();
    }
    let mut by: std::collections::BTreeMap<&str, Vec<(u64, f64)>> = Default::default();
    for (p, e) in points.iter().zip(&r) {
        by.entry(&p.program).or_default().push((p.size, *e));
    }
    for (program, list) in by {
        let g = geo(&list.iter().map(|v| v.1).collect::<Vec<_>>());
        print!("{program:26} {g:5.1} %: ");
        for (_, e) in &list {
            print!("{:+4.0}", (e.exp() - 1.0) * 100.0);
        }
        println!();
    }
}
