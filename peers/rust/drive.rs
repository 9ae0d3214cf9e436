//! Speaks dyno's driving protocol (internal/program/PROTOCOL.md) for peers in Rust.
//!
//! A program lists its benchmarks and hands them to `serve`. A benchmark is prepared once and
//! runs slices; one with a wrong result has no figure.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::io::FromRawFd;
use std::time::Instant;

pub type Outcome = Result<(), &'static str>;

/// A prepared benchmark.
pub trait Run {
    /// Performs exactly n operations, a multiple of the unit, and checks them.
    fn ops(&mut self, n: u64) -> Outcome;
    /// Says after the last slice whether everything is accounted for.
    fn check(&mut self) -> Outcome {
        Ok(())
    }
    /// Forgets the figures of all slices so far, which were to warm up.
    fn reset(&mut self) {}
    /// Figures beside the time, each with its unit.
    fn figures(&mut self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

pub struct Bench {
    /// "Task/workload=fib/impl=peer-rayon"
    pub name: String,
    /// Operations of the smallest whole piece of work.
    pub unit: u64,
    pub prepare: Box<dyn Fn(usize) -> Box<dyn Run>>,
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

thread_local! {
    /// Time and processor time that belong to no operation of a slice.
    static PAUSED: Cell<(i64, i64)> = Cell::new((0, 0));
}

/// Does what takes no part in the time of a slice, on the thread that called `ops`.
#[allow(dead_code)] // not every program has something
pub fn pause(f: impl FnOnce()) {
    let (used, begin) = (cpu(), Instant::now());
    f();
    let (time, spent) = PAUSED.with(Cell::get);
    PAUSED.with(|p| p.set((time + begin.elapsed().as_nanos() as i64, spent + cpu() - used)));
}

/// The percentiles of a latency by their units, as dyno's workloads have them.
const LATENCIES: [(&str, f64); 4] = [("p50-ns", 50.0), ("p99-ns", 99.0), ("p99.9-ns", 99.9), ("max-ns", 100.0)];

/// The figures of a latency in nanoseconds.
#[allow(dead_code)] // not every program has one
pub fn latency_figures(all: &mut [u64]) -> Vec<(&'static str, f64)> {
    all.sort_unstable();
    let at = |percent: f64| all[((all.len() as f64 * percent / 100.0).ceil() as usize).saturating_sub(1)] as f64;
    LATENCIES.iter().filter(|_| !all.is_empty()).map(|&(unit, percent)| (unit, at(percent))).collect()
}

/// The filler function of dyno's workloads: irregular numbers, the same everywhere.
pub fn fill(mut x: u32, rounds: u32) -> u32 {
    for _ in 0..rounds {
        x = x.wrapping_mul(0x9e37_79b1).rotate_left(15) ^ 0x85eb_ca6b;
    }
    x
}

/// The program. `made` says with which versions and flags it was made.
pub fn serve(all: Vec<Bench>, made: &str) {
    let drive = std::env::var("DYNO_DRIVE").unwrap_or_else(|_| {
        eprintln!("This program speaks dyno's driving protocol: benchrun peers run measures it.");
        std::process::exit(2);
    });
    let field = |key: &str| drive.split(' ').find_map(|f| f.strip_prefix(key)).unwrap_or("").to_string();
    if drive.split(' ').any(|f| f == "list") {
        println!("pkg: github.com/dynolab/dyno/peers\nmade: {}", made);
        LATENCIES.iter().for_each(|(unit, _)| println!("Unit {} better=lower", unit));
        all.iter().for_each(|b| println!("Benchmark{}", b.name));
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
    let bench = all.iter().find(|b| format!("Benchmark{}", b.name) == name).unwrap_or_else(|| std::process::exit(2));
    let mut run = (bench.prepare)(field("processors=").parse().unwrap_or(1));
    say(format!("hello\tsession\t{}", bench.unit));
    for line in input.lines() {
        let line = line.unwrap_or_else(|_| std::process::exit(0));
        let mut words = line.split(' ');
        let answer = match words.next() {
            Some("run") | Some("call") => {
                let n = words.next().and_then(|w| w.parse().ok()).unwrap_or_else(|| std::process::exit(3));
                slice(run.as_mut(), n)
            }
            Some("usage") => Ok(format!("usage\t{}", cpu())),
            Some("reset") => {
                run.reset();
                Ok("reset".to_string())
            }
            Some("profile") | Some("endprofile") => Ok("profile\t\"no profiles\"".to_string()),
            Some("finish") => run.check().map(|()| run.figures().iter().fold("result".to_string(), |line, (unit, v)| line + &format!("\tx:{}={}", unit, v))),
            _ => std::process::exit(3),
        };
        let over = answer.is_err() || line == "finish";
        say(answer.unwrap_or_else(|what| format!("failed\t\"{}\"", what)));
        if over {
            std::process::exit(0); // threads may wait where the error was
        }
    }
}

fn slice(run: &mut dyn Run, n: u64) -> Result<String, &'static str> {
    PAUSED.with(|p| p.set((0, 0)));
    let (used, begin) = (cpu(), Instant::now());
    run.ops(n)?;
    let (time, used) = (begin.elapsed().as_nanos() as i64, cpu() - used);
    let (idle, spent) = PAUSED.with(Cell::get);
    Ok(format!("slice\t{}\t{}\t{}", n, time - idle, used - spent))
}
