//! rayon on dyno's fork-join workloads, over dyno's driving protocol
//! (internal/program/PROTOCOL.md). The idiom is that of rayon's documentation: `join` of the two
//! parts, in a pool of its own. It makes a task of one of two calls, on the caller's stack; the
//! column with "-scope" makes one of each, as the workloads have it. Inputs and checks are those
//! of workloads/task_fib.go, task_tree.go and task_quicksort.go.

#[path = "../../rust/drive.rs"]
mod drive;

use std::marker::PhantomData;

use drive::{fill, Bench, Outcome, Run};

/// How two parts are computed.
trait Fork: Send + 'static {
    const COLUMN: &'static str;
    fn both<X: Send, Y: Send>(x: impl FnOnce() -> X + Send, y: impl FnOnce() -> Y + Send) -> (X, Y);
}

/// One of them as a task, the other by the caller.
struct Join;

impl Fork for Join {
    const COLUMN: &'static str = "peer-rayon";
    fn both<X: Send, Y: Send>(x: impl FnOnce() -> X + Send, y: impl FnOnce() -> Y + Send) -> (X, Y) {
        rayon::join(x, y)
    }
}

/// Each as a task.
struct Scope;

impl Fork for Scope {
    const COLUMN: &'static str = "peer-rayon-scope";
    fn both<X: Send, Y: Send>(x: impl FnOnce() -> X + Send, y: impl FnOnce() -> Y + Send) -> (X, Y) {
        let (mut left, mut right) = (None, None);
        rayon::scope(|s| {
            s.spawn(|_| left = Some(x()));
            s.spawn(|_| right = Some(y()));
        });
        (left.unwrap(), right.unwrap()) // the scope has waited for both
    }
}

/// A problem, which is solved again and again. What is wrong with a result is an error.
trait Problem: Send {
    fn operations(&self) -> u64;
    fn solve(&mut self) -> Outcome;
}

struct Fib<F>(PhantomData<F>);

fn fib<F: Fork>(n: u32) -> u32 {
    if n < 2 {
        return 1;
    }
    let (x, y) = F::both(|| fib::<F>(n - 1), || fib::<F>(n - 2));
    x + y
}

impl<F: Fork> Problem for Fib<F> {
    fn operations(&self) -> u64 {
        57_313
    }
    fn solve(&mut self) -> Outcome {
        if fib::<F>(22) == 28_657 {
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

struct Tree<F> {
    fork: PhantomData<F>,
    nodes: Vec<Node>,
    want: u32,
}

impl<F: Fork> Tree<F> {
    fn new() -> Self {
        let n = (1 << 16) - 1;
        let nodes: Vec<Node> = (0..n)
            .map(|i| {
                let inner = 2 * i + 2 < n;
                Node { weight: fill(i as u32, 3), left: if inner { 2 * i + 1 } else { 0 }, right: if inner { 2 * i + 2 } else { 0 } }
            })
            .collect();
        let want = nodes.iter().fold(0u32, |sum, n| sum.wrapping_add(n.weight));
        Tree { fork: PhantomData, nodes, want }
    }
}

fn sum<F: Fork>(nodes: &[Node], at: usize) -> u32 {
    let n = &nodes[at];
    if n.left == 0 {
        return n.weight;
    }
    let (x, y) = F::both(|| sum::<F>(nodes, n.left), || sum::<F>(nodes, n.right));
    n.weight.wrapping_add(x).wrapping_add(y)
}

impl<F: Fork> Problem for Tree<F> {
    fn operations(&self) -> u64 {
        self.nodes.len() as u64
    }
    fn solve(&mut self) -> Outcome {
        if sum::<F>(&self.nodes, 0) == self.want {
            Ok(())
        } else {
            Err("another sum of the tree")
        }
    }
}

const TASKS: usize = 256;
const GRAIN: usize = 512;

struct Quicksort<F> {
    fork: PhantomData<F>,
    from: Vec<u32>,
    data: Vec<u32>,
    want: u64,
}

fn mark(v: u32) -> u64 {
    let m = u64::from(v).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    m ^ m.rotate_left(29)
}

impl<F: Fork> Quicksort<F> {
    fn new() -> Self {
        let from: Vec<u32> = (0..TASKS * GRAIN).map(|i| fill(i as u32, 3)).collect();
        let want = from.iter().fold(0u64, |sum, &v| sum.wrapping_add(mark(v)));
        Quicksort { fork: PhantomData, data: from.clone(), from, want }
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

fn sort<F: Fork>(d: &mut [u32], tasks: usize) -> usize {
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
    let (x, y) = F::both(|| sort::<F>(a, k), || sort::<F>(b, tasks - k));
    x + y
}

impl<F: Fork> Problem for Quicksort<F> {
    fn operations(&self) -> u64 {
        TASKS as u64
    }
    fn solve(&mut self) -> Outcome {
        self.data.copy_from_slice(&self.from);
        if sort::<F>(&mut self.data, TASKS) != TASKS {
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

/// A problem in a pool.
struct Solver<P> {
    problem: P,
    pool: rayon::ThreadPool,
}

impl<P: Problem> Run for Solver<P> {
    fn ops(&mut self, n: u64) -> Outcome {
        let (pool, problem) = (&self.pool, &mut self.problem);
        pool.install(|| (0..n / problem.operations()).try_for_each(|_| problem.solve()))
    }
}

fn bench<F: Fork, P: Problem + 'static>(workload: &str, new: fn() -> P) -> Bench {
    Bench {
        name: format!("Task/workload={}/impl={}", workload, F::COLUMN),
        unit: new().operations(),
        prepare: Box::new(move |processors| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(processors).build().unwrap();
            Box::new(Solver { problem: new(), pool })
        }),
    }
}

fn benches<F: Fork>() -> Vec<Bench> {
    vec![
        bench::<F, _>("fib", || Fib(PhantomData::<F>)),
        bench::<F, _>("tree", Tree::<F>::new),
        bench::<F, _>("quicksort", Quicksort::<F>::new),
    ]
}

fn main() {
    let mut all = benches::<Join>();
    all.extend(benches::<Scope>());
    drive::serve(all, concat!(env!("MADE"), " -C opt-level=3"));
}
