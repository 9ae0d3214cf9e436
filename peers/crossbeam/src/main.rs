//! crossbeam-channel on dyno's workloads of actors. The idiom is that of its documentation
//! (https://docs.rs/crossbeam-channel): a thread for each actor, which receives from a channel.

#[path = "../../rust/actors.rs"]
mod actors;
mod carrier;
#[path = "../../rust/drive.rs"]
mod drive;

fn main() {
    drive::serve(actors::benches("peer-crossbeam", false), concat!(env!("MADE"), " -C opt-level=3"));
}
