#[rt::main]
async fn main() -> Result<(), std::io::Error> {
    let _ = 1;
    Ok(7)
}

#[rt::main]
async fn nothing_returned() -> Result<(), std::io::Error> {
    println!("and now?");
}

#[rt::main]
async fn something_returned() {
    Ok(())
}

#[rt::main]
async fn returned_early(early: bool) -> u32 {
    if early {
        return "early";
    }
    1
}

#[rt::main]
async fn question_mark() {
    std::fs::read("file")?;
}
