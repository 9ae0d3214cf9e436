//! crossbeam-channel: an actor is a thread, and its mailbox a channel.

use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};

use crate::actors::Asker;

pub type Tx<M> = Sender<M>;
pub type Rx<M> = Receiver<M>;

/// Threads run on the processors that the process may use; there is no pool to be made.
pub fn start(processors: usize) {
    // SAFETY: the sets are plain bits, of the size that is given.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, std::mem::size_of_val(&set), &mut set);
        let all: Vec<usize> = (0..libc::CPU_SETSIZE as usize).filter(|&p| libc::CPU_ISSET(p, &set)).collect();
        all.into_iter().skip(processors).for_each(|p| libc::CPU_CLR(p, &mut set));
        libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set);
    }
}

pub fn unbounded<M>() -> (Tx<M>, Rx<M>) {
    crossbeam_channel::unbounded()
}

pub fn bounded<M>(room: usize) -> (Tx<M>, Rx<M>) {
    crossbeam_channel::bounded(room)
}

pub fn send<M>(to: &Tx<M>, m: M) {
    let _ = to.send(m); // fails when the receiver has ended, at the end of the process
}

pub fn actor<M: Send + 'static>(inbox: Rx<M>, handle: impl FnMut(M) + Send + 'static) {
    let thread = thread::Builder::new().stack_size(64 << 10);
    thread.spawn(move || inbox.iter().for_each(handle)).unwrap();
}

pub fn bounded_actor<M: Send + 'static>(inbox: Rx<M>, handle: impl FnMut(M) + Send + 'static) {
    actor(inbox, handle);
}

/// Sends as many messages as it is told to.
pub fn producer<M: Send + 'static>(begin: Rx<u64>, to: Tx<M>, mut make: impl FnMut() -> M + Send + 'static) {
    actor(begin, move |n| {
        for _ in 0..n {
            send(&to, make());
        }
    });
}

/// Sends as many messages as it is told to when they are due, the first at once, and says which is
/// the last. It yields meanwhile, as timers are too coarse.
pub fn paced(begin: Rx<u64>, interval: Duration, mut send: impl FnMut(Instant, bool) + Send + 'static) {
    actor(begin, move |n| {
        let mut due = Instant::now();
        for left in (0..n).rev() {
            while Instant::now() < due {
                thread::yield_now();
            }
            send(due, left == 0);
            due += interval;
        }
    });
}

/// A request with the way back.
pub struct Question {
    pub x: u32,
    pub reply: Sender<u32>,
}

pub fn answer(to: Sender<u32>, y: u32) {
    send(&to, y);
}

/// Asks as many questions as it is told to. The way back is made for each request, as a client
/// does that may give up waiting.
pub fn client(begin: Rx<u64>, server: Tx<Question>, mut asker: Asker) {
    actor(begin, move |n| {
        for _ in 0..n {
            let (reply, back) = crossbeam_channel::bounded(1);
            send(&server, Question { x: asker.request(), reply });
            if let Ok(y) = back.recv() {
                asker.take(y);
            }
        }
        asker.over();
    });
}
