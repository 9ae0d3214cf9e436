//! tokio on dyno's workloads of actors. The idiom is that of its tutorial (https://tokio.rs/tokio/tutorial/channels):
//! a task for each actor, which receives from a channel, and a oneshot channel for a reply.

#[path = "../../rust/actors.rs"]
mod actors;
mod carrier;
#[path = "../../rust/drive.rs"]
mod drive;

fn main() {
    drive::serve(actors::benches("peer-tokio", true), concat!(env!("MADE"), " -C opt-level=3"));
}
