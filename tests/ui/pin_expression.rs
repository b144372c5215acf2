async fn work() {}

async fn not_a_name() {
    rt::pin!(work());
}

fn main() {}
