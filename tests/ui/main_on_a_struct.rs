#[rt::main]
struct Server;

fn main() {
    let _ = Server;
}
