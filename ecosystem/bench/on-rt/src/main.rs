//! The servers of `../servers` on rt.

fn main() {
    servers::main();
}
