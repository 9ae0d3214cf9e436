// Tells the program with what it is made.
use std::{env, fs, process::Command};

fn main() {
    let rustc = Command::new(env::var("RUSTC").unwrap()).arg("--version").output().unwrap();
    let lock = fs::read_to_string("Cargo.lock").unwrap();
    let rayon = lock.split("name = \"rayon\"\nversion = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    println!("cargo:rustc-env=MADE=rayon {}, {}", rayon, String::from_utf8_lossy(&rustc.stdout).trim());
}
