#[path = "../rust/made.rs"]
mod made;

fn main() {
    made::tell("crossbeam-channel");
}
