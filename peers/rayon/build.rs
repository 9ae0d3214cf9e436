#[path = "../rust/made.rs"]
mod made;

fn main() {
    made::tell("rayon");
}
