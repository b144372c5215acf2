struct NoTermination;

#[rt::main]
async fn main() -> NoTermination {
    NoTermination
}
