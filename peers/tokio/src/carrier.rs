//! tokio: an actor is a task, and its mailbox a channel of `tokio::sync::mpsc`.

use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use tokio::task::yield_now;

use crate::actors::Asker;

pub type Tx<M> = mpsc::UnboundedSender<M>;
pub type Rx<M> = mpsc::UnboundedReceiver<M>;

/// Makes the runtime, for as long as the process runs, and makes it that of this thread.
pub fn start(processors: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(processors).build().unwrap();
    std::mem::forget(Box::leak(Box::new(runtime)).enter());
}

pub fn unbounded<M>() -> (Tx<M>, Rx<M>) {
    mpsc::unbounded_channel()
}

pub fn bounded<M>(room: usize) -> (mpsc::Sender<M>, mpsc::Receiver<M>) {
    mpsc::channel(room)
}

pub fn send<M>(to: &Tx<M>, m: M) {
    let _ = to.send(m); // fails when the receiver has ended, at the end of the process
}

pub fn actor<M: Send + 'static>(mut inbox: Rx<M>, mut handle: impl FnMut(M) + Send + 'static) {
    tokio::spawn(async move {
        while let Some(m) = inbox.recv().await {
            handle(m);
        }
    });
}

pub fn bounded_actor<M: Send + 'static>(mut inbox: mpsc::Receiver<M>, mut handle: impl FnMut(M) + Send + 'static) {
    tokio::spawn(async move {
        while let Some(m) = inbox.recv().await {
            handle(m);
        }
    });
}

/// Sends as many messages as it is told to.
pub fn producer<M: Send + 'static>(mut begin: Rx<u64>, to: mpsc::Sender<M>, mut make: impl FnMut() -> M + Send + 'static) {
    tokio::spawn(async move {
        while let Some(n) = begin.recv().await {
            for _ in 0..n {
                let _ = to.send(make()).await;
            }
        }
    });
}

/// Sends as many messages as it is told to when they are due, the first at once, and says which is
/// the last. It yields meanwhile, as timers are too coarse.
pub fn paced(mut begin: Rx<u64>, interval: Duration, mut send: impl FnMut(Instant, bool) + Send + 'static) {
    tokio::spawn(async move {
        while let Some(n) = begin.recv().await {
            let mut due = Instant::now();
            for left in (0..n).rev() {
                while Instant::now() < due {
                    yield_now().await;
                }
                send(due, left == 0);
                due += interval;
            }
        }
    });
}

/// A request with the way back.
pub struct Question {
    pub x: u32,
    pub reply: oneshot::Sender<u32>,
}

pub fn answer(to: oneshot::Sender<u32>, y: u32) {
    let _ = to.send(y);
}

/// Asks as many questions as it is told to.
pub fn client(mut begin: Rx<u64>, server: Tx<Question>, mut asker: Asker) {
    tokio::spawn(async move {
        while let Some(n) = begin.recv().await {
            for _ in 0..n {
                let (reply, back) = oneshot::channel();
                send(&server, Question { x: asker.request(), reply });
                if let Ok(y) = back.await {
                    asker.take(y);
                }
            }
            asker.over();
        }
    });
}
