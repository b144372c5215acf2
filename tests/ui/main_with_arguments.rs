#[rt::main]
async fn main(arguments: Vec<String>) {
    println!("{arguments:?}");
}
