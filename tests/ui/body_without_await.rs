async fn number() -> u32 {
    7
}

#[rt::main]
async fn main() {
    let _: u32 = number();
}

#[rt::main]
async fn at_the_end() -> u32 {
    number()
}
