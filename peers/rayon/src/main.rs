//! rayon on dyno's fork-join workloads, over dyno's driving protocol
//! (internal/program/PROTOCOL.md). The idiom is that of rayon's documentation: `join` of the two
//! parts, in a pool of its own. Inputs and checks are those of workloads/task_fib.go,
//! task_tree.go and task_quicksort.go.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::io::FromRawFd;
use std::time::Instant;

const COLUMN: &str = "peer-rayon";

fn fill(mut x: u32, rounds: u32) -> u32 {
    for _ in 0..rounds {
        x = x.wrapping_mul(0x9e37_79b1).rotate_left(15) ^ 0x85eb_ca6b;
    }
    x
}

/// A problem, which is solved again and again. What is wrong with a result is an error.
trait Problem: Send {
    fn operations(&self) -> u64;
    fn solve(&mut self) -> Result<(), &'static str>;
}

struct Fib;

fn fib(n: u32) -> u32 {
    if n < 2 {
        return 1;
    }
    let (x, y) = rayon::join(|| fib(n - 1), || fib(n - 2));
    x + y
}

impl Problem for Fib {
    fn operations(&self) -> u64 {
        57_313
    }
    fn solve(&mut self) -> Result<(), &'static str> {
        if fib(22) == 28_657 {
            Ok(())
        } else {
            Err("another Fibonacci number")
        }
    }
}

/// A node of the tree, with the places of its children; 0 is none.
struct Node {
    weight: u32,
    left: usize,
    right: usize,
}

struct Tree {
    nodes: Vec<Node>,
    want: u32,
}

impl Tree {
    fn new() -> Tree {
        let n = (1 << 16) - 1;
        let nodes: Vec<Node> = (0..n)
            .map(|i| {
                let inner = 2 * i + 2 < n;
                Node { weight: fill(i as u32, 3), left: if inner { 2 * i + 1 } else { 0 }, right: if inner { 2 * i + 2 } else { 0 } }
            })
            .collect();
        let want = nodes.iter().fold(0u32, |sum, n| sum.wrapping_add(n.weight));
        Tree { nodes, want }
    }
}

fn sum(nodes: &[Node], at: usize) -> u32 {
    let n = &nodes[at];
    if n.left == 0 {
        return n.weight;
    }
    let (x, y) = rayon::join(|| sum(nodes, n.left), || sum(nodes, n.right));
    n.weight.wrapping_add(x).wrapping_add(y)
}

impl Problem for Tree {
    fn operations(&self) -> u64 {
        self.nodes.len() as u64
    }
    fn solve(&mut self) -> Result<(), &'static str> {
        if sum(&self.nodes, 0) == self.want {
            Ok(())
        } else {
            Err("another sum of the tree")
        }
    }
}

const TASKS: usize = 256;
const GRAIN: usize = 512;

struct Quicksort {
    from: Vec<u32>,
    data: Vec<u32>,
    want: u64,
}

fn mark(v: u32) -> u64 {
    let m = u64::from(v).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    m ^ m.rotate_left(29)
}

impl Quicksort {
    fn new() -> Quicksort {
        let from: Vec<u32> = (0..TASKS * GRAIN).map(|i| fill(i as u32, 3)).collect();
        let want = from.iter().fold(0u64, |sum, &v| sum.wrapping_add(mark(v)));
        Quicksort { data: from.clone(), from, want }
    }
}

fn partition(d: &mut [u32]) -> usize {
    let (a, b, c) = (d[0], d[d.len() / 2], d[d.len() - 1]);
    let median = a.min(b).max(a.max(b).min(c));
    let (mut i, mut j) = (0, d.len() - 1);
    loop {
        while d[i] < median {
            i += 1;
        }
        while d[j] > median {
            j -= 1;
        }
        if i >= j {
            return j + 1;
        }
        d.swap(i, j);
        i += 1;
        j -= 1;
    }
}

fn sort(d: &mut [u32], tasks: usize) -> usize {
    if tasks == 1 {
        d.sort_unstable();
        return 1;
    }
    let n = d.len();
    let (mut at, mut k) = (0, 1);
    if n > 0 {
        at = partition(d);
        k = ((tasks * at + n / 2) / n).max(1).min(tasks - 1);
    }
    let (a, b) = d.split_at_mut(at);
    let (x, y) = rayon::join(|| sort(a, k), || sort(b, tasks - k));
    x + y
}

impl Problem for Quicksort {
    fn operations(&self) -> u64 {
        TASKS as u64
    }
    fn solve(&mut self) -> Result<(), &'static str> {
        self.data.copy_from_slice(&self.from);
        if sort(&mut self.data, TASKS) != TASKS {
            return Err("another number of tasks");
        }
        let (mut before, mut sum) = (0, self.want);
        for &v in &self.data {
            if v < before {
                return Err("the numbers are not in order");
            }
            before = v;
            sum = sum.wrapping_sub(mark(v));
        }
        if sum == 0 {
            Ok(())
        } else {
            Err("other numbers than there were")
        }
    }
}

fn problem(workload: &str) -> Option<Box<dyn Problem>> {
    match workload {
        "fib" => Some(Box::new(Fib)),
        "tree" => Some(Box::new(Tree::new())),
        "quicksort" => Some(Box::new(Quicksort::new())),
        _ => None,
    }
}

fn benchmark(workload: &str) -> String {
    format!("BenchmarkTask/workload={}/impl={}", workload, COLUMN)
}

/// The processor time of all threads in nanoseconds.
fn cpu() -> i64 {
    // SAFETY: getrusage writes the whole structure.
    let u = unsafe {
        let mut u: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut u);
        u
    };
    (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1_000_000_000 + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000
}

fn main() {
    let drive = match std::env::var("DYNO_DRIVE") {
        Ok(d) => d,
        Err(_) => {
            eprintln!("This program speaks dyno's driving protocol: benchrun peers run measures it.");
            std::process::exit(2);
        }
    };
    let field = |key: &str| drive.split(' ').find_map(|f| f.strip_prefix(key)).unwrap_or("").to_string();
    const WORKLOADS: [&str; 3] = ["fib", "tree", "quicksort"];
    if drive.split(' ').any(|f| f == "list") {
        println!("pkg: github.com/dynolab/dyno/peers\nmade: {} -C opt-level=3", env!("MADE"));
        WORKLOADS.iter().for_each(|w| println!("{}", benchmark(w)));
        return;
    }
    // SAFETY: the protocol hands these two to the process, and nothing else has them.
    let (input, mut out) = unsafe { (BufReader::new(File::from_raw_fd(3)), File::from_raw_fd(4)) };
    let mut say = |line: String| out.write_all((line + "\n").as_bytes()).unwrap_or_else(|_| std::process::exit(0));
    if field("protocol=") != "1" || field("slow=").parse() != Ok(0.0) {
        say("refused\t\"it speaks version 1 of the protocol, and does not slow itself down\"".to_string());
        return;
    }
    let name = field("name=");
    let workload = WORKLOADS.iter().find(|w| benchmark(w) == name).unwrap_or_else(|| std::process::exit(2));
    let mut problem = problem(workload).unwrap();
    let threads = field("processors=").parse().unwrap_or(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    say(format!("hello\tsession\t{}", problem.operations()));
    for line in input.lines() {
        let line = line.unwrap_or_else(|_| std::process::exit(0));
        let mut words = line.split(' ');
        match words.next() {
            Some("run") | Some("call") => {
                let n: u64 = words.next().and_then(|w| w.parse().ok()).unwrap_or_else(|| std::process::exit(3));
                let (used, begin) = (cpu(), Instant::now());
                let done = pool.install(|| (0..n / problem.operations()).try_for_each(|_| problem.solve()));
                let (time, used) = (begin.elapsed().as_nanos(), cpu() - used);
                match done {
                    Ok(()) => say(format!("slice\t{}\t{}\t{}", n, time, used)),
                    Err(what) => {
                        say(format!("failed\t\"{}\"", what));
                        return;
                    }
                }
            }
            Some("usage") => say(format!("usage\t{}", cpu())),
            Some("reset") => say("reset".to_string()),
            Some("profile") | Some("endprofile") => say("profile\t\"no profiles\"".to_string()),
            Some("finish") => {
                say("result".to_string());
                return;
            }
            _ => std::process::exit(3),
        }
    }
}
