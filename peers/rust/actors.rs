//! dyno's workloads of actors for what carries messages in Rust, which is the module `carrier`
//! of each program. Protocols, numbers and checks are those of workloads/rings.go, funnel.go,
//! actor_big.go, actor_ask.go, actor_latency.go and actor_spawn.go. A message that is lost is noticed by whoever
//! waits for the slice.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{mpsc, Arc};
use std::time::{Duration, Instant};

use crate::carrier::{self, Question, Tx};
use crate::drive::{fill, latency_figures, Bench, Outcome, Run};

/// What actors tell the one who waits for the end of a slice.
type Over<T> = mpsc::Sender<Result<T, &'static str>>;

fn wait<T>(over: &mpsc::Receiver<Result<T, &'static str>>) -> Result<T, &'static str> {
    over.recv().unwrap_or(Err("all actors have ended"))
}

/// How much of n the i-th of k gets.
fn share(n: u64, i: u64, k: u64) -> u64 {
    n / k + u64::from(i < n % k)
}

/// Counts in a place that one actor writes and others read when it has nothing to do.
fn add(count: &AtomicU64, n: u64) {
    count.store(count.load(Relaxed).wrapping_add(n), Relaxed)
}

fn counters(n: usize) -> Arc<Vec<AtomicU64>> {
    Arc::new((0..n).map(|_| AtomicU64::new(0)).collect())
}

/// The benchmarks of a column.
pub fn benches(column: &str, crowds: bool) -> Vec<Bench> {
    fn run<R: Run + 'static>(new: impl Fn() -> R + 'static) -> Box<dyn Fn(usize) -> Box<dyn Run>> {
        Box::new(move |processors| {
            carrier::start(processors);
            Box::new(new())
        })
    }
    let mut all = vec![
        ("pingpong", 1, run(|| Rings::new(1, 2))),
        ("ring", 100, run(|| Rings::new(1, 100))),
        ("pairs", 2000, run(|| Rings::new(1000, 2))),
        ("count", 1, run(|| Funnel::new(1))),
        ("fanin", 1, run(|| Funnel::new(8))),
        ("big", 1, run(|| Big::new(120))),
        ("ask", 1, run(Ask::new)),
        ("latency1k", 1, run(|| Latency::new(Duration::from_millis(1)))),
        ("latency100k", 1, run(|| Latency::new(Duration::from_micros(10)))),
    ];
    if crowds {
        all.push(("spawn", 1, run(|| Crowd)));
    }
    all.into_iter()
        .map(|(workload, unit, prepare)| Bench { name: format!("Actor/workload={}/impl={}", workload, column), unit, prepare })
        .collect()
}

struct Token {
    left: u64,
    sum: u64,
}

/// Tokens go round; a hop is an operation.
struct Rings {
    size: usize,
    nodes: Vec<Tx<Token>>,
    visits: Arc<Vec<AtomicU64>>,
    hops: Vec<u64>,
    sums: Vec<u64>,
    first: u64,
    over: mpsc::Receiver<Result<(usize, u64), &'static str>>,
}

fn weight(node: usize) -> u64 {
    u64::from(fill(node as u32, 2))
}

impl Rings {
    fn new(count: usize, size: usize) -> Rings {
        let (over, ends) = mpsc::channel();
        let visits = counters(count * size);
        let (nodes, inboxes): (Vec<_>, Vec<_>) = (0..count * size).map(|_| carrier::unbounded()).unzip();
        for (i, inbox) in inboxes.into_iter().enumerate() {
            let (ring, next): (usize, Tx<Token>) = (i / size, nodes[if (i + 1) % size == 0 { i + 1 - size } else { i + 1 }].clone());
            let (visits, over): (_, Over<_>) = (visits.clone(), over.clone());
            carrier::actor(inbox, move |t: Token| {
                add(&visits[i], 1);
                let sum = t.sum.wrapping_add(weight(i));
                if t.left > 1 {
                    carrier::send(&next, Token { left: t.left - 1, sum });
                } else {
                    let _ = over.send(Ok((ring, sum)));
                }
            });
        }
        let mut rings = Rings { size, nodes, visits, hops: vec![0; count], sums: vec![0; count], first: 0, over: ends };
        let _ = rings.ops((count * size) as u64); // each actor's first message
        rings
    }
}

impl Run for Rings {
    fn ops(&mut self, n: u64) -> Outcome {
        let count = self.hops.len() as u64;
        let moving = n.min(count);
        for i in 0..moving {
            let (r, k) = (((self.first + i) % count) as usize, share(n, i, count));
            let at = r * self.size + self.hops[r] as usize % self.size;
            self.hops[r] += k;
            carrier::send(&self.nodes[at], Token { left: k, sum: self.sums[r] });
        }
        for _ in 0..moving {
            let (ring, sum) = wait(&self.over)?;
            self.sums[ring] = sum;
        }
        self.first = (self.first + n) % count;
        Ok(())
    }

    fn check(&mut self) -> Outcome {
        for (r, &hops) in self.hops.iter().enumerate() {
            let mut sum = 0u64;
            for p in 0..self.size {
                let (node, want) = (r * self.size + p, share(hops, p as u64, self.size as u64));
                if self.visits[node].load(Relaxed) != want {
                    return Err("a node had the token too often or too rarely");
                }
                sum = sum.wrapping_add(weight(node).wrapping_mul(want));
            }
            if sum != self.sums[r] {
                return Err("a token has added up something else than it saw");
            }
        }
        Ok(())
    }
}

const NOTES: u64 = 1021;
const WINDOW: usize = 1024;

pub struct Note {
    from: usize,
    index: u64,
    value: u32,
}

fn note(from: usize, index: u64) -> Note {
    Note { from, index, value: fill((from as u64 * NOTES + index) as u32, 2) }
}

/// What the sink has had of a sender.
#[derive(Clone, Default, PartialEq)]
struct Inbound {
    next: u64,
    count: u64,
    sum: u64,
}

/// Senders send to one sink, through a channel with room for so many, as far as there is room.
struct Funnel {
    senders: Vec<Tx<u64>>,
    goal: Arc<AtomicU64>, // how many messages the sink waits for in all
    sent: Vec<u64>,
    odd: u64,
    had: Vec<Inbound>,
    over: mpsc::Receiver<Result<Vec<Inbound>, &'static str>>,
}

impl Funnel {
    fn new(count: usize) -> Funnel {
        let (over, ends) = mpsc::channel();
        let goal = Arc::new(AtomicU64::new(0));
        let (to, inbox) = carrier::bounded(WINDOW * count);
        let (due, over): (_, Over<_>) = (goal.clone(), over);
        let mut had = vec![Inbound::default(); count];
        let mut seen = 0;
        carrier::bounded_actor(inbox, move |n: Note| {
            let i = &mut had[n.from];
            if i.next != n.index {
                let _ = over.send(Err("a message came out of order, or twice"));
            }
            i.next = (i.next + 1) % NOTES;
            i.count += 1;
            i.sum = i.sum.wrapping_add(u64::from(n.value));
            seen += 1;
            if seen == due.load(Relaxed) {
                let _ = over.send(Ok(had.clone()));
            }
        });
        let senders = (0..count)
            .map(|from| {
                let (tx, begin) = carrier::unbounded();
                let values: Vec<u32> = (0..NOTES).map(|i| note(from, i).value).collect();
                let mut next = 0;
                carrier::producer(begin, to.clone(), move || {
                    let n = Note { from, index: next, value: values[next as usize] };
                    next = (next + 1) % NOTES;
                    n
                });
                tx
            })
            .collect();
        Funnel { senders, goal, sent: vec![0; count], odd: 0, had: Vec::new(), over: ends }
    }
}

impl Run for Funnel {
    fn ops(&mut self, n: u64) -> Outcome {
        let k = self.senders.len() as u64;
        add(&self.goal, n);
        for i in 0..k {
            let (at, quota) = (((self.odd + i) % k) as usize, share(n, i, k));
            self.sent[at] += quota;
            if quota > 0 {
                carrier::send(&self.senders[at], quota);
            }
        }
        self.odd = (self.odd + n) % k;
        self.had = wait(&self.over)?;
        Ok(())
    }

    fn check(&mut self) -> Outcome {
        for (from, &n) in self.sent.iter().enumerate() {
            let sum = (0..NOTES).fold(0u64, |sum, i| sum.wrapping_add(u64::from(note(from, i).value).wrapping_mul(share(n, i, NOTES))));
            if self.had[from] != (Inbound { next: n % NOTES, count: n, sum }) {
                return Err("the messages that came were not those that were sent");
            }
        }
        Ok(())
    }
}

enum Ping {
    Ping { home: Option<usize>, key: u64 },
    Pong { key: u64 },
    Begin { pings: u64 },
}

/// Each sends a ping to a random other one and waits for its pong, while it answers others.
struct Big {
    peers: Vec<Tx<Ping>>,
    sums: Arc<Vec<AtomicU64>>, // of all peers in turn: sent, their keys, served, their keys
    first: u64,
    pings: u64,
    ones: u64, // pings without a pong
    over: mpsc::Receiver<Result<(), &'static str>>,
}

struct Peer {
    id: usize,
    rnd: u32,
    key: u64,
    left: u64,
    open: bool,
    sums: Arc<Vec<AtomicU64>>,
    peers: Arc<Vec<Tx<Ping>>>,
    over: Over<()>,
}

impl Peer {
    fn ping(&mut self) {
        self.rnd ^= self.rnd << 13;
        self.rnd ^= self.rnd >> 17;
        self.rnd ^= self.rnd << 5;
        let other = (u64::from(self.rnd) * (self.peers.len() as u64 - 1) >> 32) as usize;
        self.key = self.key.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(self.id as u64 + 1);
        self.count(0, self.key);
        self.open = true;
        self.left -= 1;
        let to = &self.peers[other + usize::from(other >= self.id)];
        carrier::send(to, Ping::Ping { home: Some(self.id), key: self.key });
    }

    fn count(&self, at: usize, key: u64) {
        add(&self.sums[4 * self.id + at], 1);
        add(&self.sums[4 * self.id + at + 1], key);
    }

    fn handle(&mut self, m: Ping) -> Outcome {
        match m {
            Ping::Begin { pings } => {
                self.left = pings;
                self.ping();
            }
            Ping::Ping { home, key } => {
                self.count(2, key);
                match home {
                    Some(home) => carrier::send(&self.peers[home], Ping::Pong { key }),
                    None => self.part(),
                }
            }
            Ping::Pong { key } if self.open && key == self.key => {
                self.open = false;
                match self.left {
                    0 => self.part(),
                    _ => self.ping(),
                }
            }
            Ping::Pong { .. } => return Err("a peer received a pong twice, or another's"),
        }
        Ok(())
    }

    fn part(&self) {
        let _ = self.over.send(Ok(()));
    }
}

impl Big {
    fn new(count: usize) -> Big {
        let (over, ends) = mpsc::channel();
        let sums = counters(4 * count);
        let (peers, inboxes): (Vec<_>, Vec<_>) = (0..count).map(|_| carrier::unbounded()).unzip();
        let all = Arc::new(peers.clone());
        for (id, inbox) in inboxes.into_iter().enumerate() {
            let mut p = Peer { id, rnd: fill(id as u32, 5) | 1, key: 0, left: 0, open: false, sums: sums.clone(), peers: all.clone(), over: over.clone() };
            carrier::actor(inbox, move |m| {
                if let Err(what) = p.handle(m) {
                    let _ = p.over.send(Err(what));
                }
            });
        }
        Big { peers, sums, first: 0, pings: 0, ones: 0, over: ends }
    }
}

impl Run for Big {
    fn ops(&mut self, n: u64) -> Outcome {
        let (pings, odd, count) = (n / 2, n % 2, self.peers.len() as u64);
        let busy = pings.min(count);
        for i in 0..busy {
            let at = ((self.first + i) % count) as usize;
            carrier::send(&self.peers[at], Ping::Begin { pings: share(pings, i, count) });
        }
        if odd == 1 {
            carrier::send(&self.peers[self.first as usize], Ping::Ping { home: None, key: 1 });
        }
        self.first = (self.first + pings) % count;
        self.pings += pings;
        self.ones += odd;
        (0..busy + odd).try_for_each(|_| wait(&self.over))
    }

    fn check(&mut self) -> Outcome {
        let total = |at: usize| self.sums.iter().skip(at).step_by(4).fold(0u64, |sum, c| sum.wrapping_add(c.load(Relaxed)));
        if (total(0), total(2)) != (self.pings, self.pings + self.ones) {
            return Err("pings were lost, or served twice");
        }
        if total(1).wrapping_add(self.ones) != total(3) {
            return Err("other pings were served than were sent");
        }
        Ok(())
    }
}

/// A client sends a request with the way back, waits for the reply, sends the next.
struct Ask {
    client: Tx<u64>,
    served: Arc<AtomicU64>,
    asked: u64,
    over: mpsc::Receiver<Result<(), &'static str>>,
}

/// What the client asks, and what it makes of the replies.
pub struct Asker {
    x: u32,
    over: Over<()>,
}

impl Asker {
    pub fn request(&mut self) -> u32 {
        self.x = self.x.wrapping_mul(0x9e37_79b1).wrapping_add(1);
        self.x
    }

    pub fn take(&self, reply: u32) {
        if reply != fill(self.x, 1) {
            let _ = self.over.send(Err("the reply was not that to the request"));
        }
    }

    pub fn over(&self) {
        let _ = self.over.send(Ok(()));
    }
}

impl Ask {
    fn new() -> Ask {
        let (over, ends) = mpsc::channel();
        let served = Arc::new(AtomicU64::new(0));
        let (server, inbox) = carrier::unbounded();
        let count = served.clone();
        carrier::actor(inbox, move |q: Question| {
            add(&count, 1);
            carrier::answer(q.reply, fill(q.x, 1));
        });
        let (client, begin) = carrier::unbounded();
        carrier::client(begin, server, Asker { x: 0, over });
        Ask { client, served, asked: 0, over: ends }
    }
}

impl Run for Ask {
    fn ops(&mut self, n: u64) -> Outcome {
        self.asked += n;
        carrier::send(&self.client, n);
        wait(&self.over)
    }

    fn check(&mut self) -> Outcome {
        if self.served.load(Relaxed) != self.asked {
            return Err("the server has served more or fewer requests");
        }
        Ok(())
    }
}

/// A message that is due at a time.
struct Timed {
    seq: u64,
    due: Instant,
    last: bool,
}

/// Messages come at fixed times, whether those before them were handled or not. Latency counts
/// from when a message was due until its actor begins to handle it.
struct Latency {
    sender: Tx<u64>,
    had: Vec<u64>, // latencies in nanoseconds
    over: mpsc::Receiver<Result<Vec<u64>, &'static str>>,
}

impl Latency {
    fn new(interval: Duration) -> Latency {
        let (over, ends) = mpsc::channel();
        let (to, inbox) = carrier::unbounded();
        let (mut next, mut took) = (0, Vec::new());
        carrier::actor(inbox, move |m: Timed| {
            took.push(m.due.elapsed().as_nanos() as u64);
            if m.seq != next {
                let _ = over.send(Err("a message came out of order, or twice"));
            }
            next += 1;
            if m.last {
                let _ = over.send(Ok(std::mem::take(&mut took)));
            }
        });
        let (sender, begin) = carrier::unbounded();
        let mut seq = 0;
        carrier::paced(begin, interval, move |due, last| {
            carrier::send(&to, Timed { seq, due, last });
            seq += 1;
        });
        Latency { sender, had: Vec::new(), over: ends }
    }
}

impl Run for Latency {
    fn ops(&mut self, n: u64) -> Outcome {
        carrier::send(&self.sender, n);
        let took = wait(&self.over)?;
        if took.len() as u64 != n {
            return Err("other messages came than were sent");
        }
        self.had.extend(took);
        Ok(())
    }

    fn reset(&mut self) {
        self.had.clear();
    }

    fn figures(&mut self) -> Vec<(&'static str, f64)> {
        latency_figures(&mut self.had)
    }
}

/// Actors are made, 100,000 at a time, and sent a message each; then all stop.
struct Crowd;

impl Run for Crowd {
    fn ops(&mut self, n: u64) -> Outcome {
        const MOST: u64 = 100_000;
        let mut left = n;
        while left > 0 {
            let k = left.min(MOST);
            left -= k;
            let (over, ends): (Over<u64>, _) = mpsc::channel();
            let mut all = Vec::with_capacity(k as usize);
            for i in 0..k {
                let (tx, inbox) = carrier::unbounded();
                let over = over.clone();
                carrier::actor(inbox, move |id: u64| {
                    let _ = over.send(if id == i { Ok(id) } else { Err("an actor had another's message") });
                });
                carrier::send(&tx, i);
                all.push(tx);
            }
            drop(over);
            let mut sum = 0;
            for _ in 0..k {
                sum += wait(&ends)?;
            }
            if sum != k * (k - 1) / 2 {
                return Err("an actor had its message twice");
            }
            crate::drive::pause(|| {
                drop(all);
                let _ = ends.recv(); // fails when the last actor has ended
            });
        }
        Ok(())
    }
}
