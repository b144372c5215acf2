rt::task_local! {
    static FIRST: u32;
    static SECOND: u32 = 5;
}

fn main() {}
