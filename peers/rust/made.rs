// Tells a program with what it is made, for its build.rs.
use std::{env, fs, process::Command};

pub fn tell(name: &str) {
    let rustc = Command::new(env::var("RUSTC").unwrap()).arg("--version").output().unwrap();
    let lock = fs::read_to_string("Cargo.lock").unwrap();
    let version = lock.split(&format!("name = \"{}\"\nversion = \"", name)).nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    println!("cargo:rustc-env=MADE={} {}, {}", name, version, String::from_utf8_lossy(&rustc.stdout).trim());
}
