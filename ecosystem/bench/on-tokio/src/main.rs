//! The servers of `../servers` on the registry's Tokio.

fn main() {
    servers::main();
}
