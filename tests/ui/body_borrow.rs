#[rt::main]
async fn main() {
    let text = String::new();
    drop(text);
    println!("{text}");
}
