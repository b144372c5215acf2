async fn work() {}

async fn not_a_name() {
    rt::pin!(work());
}

async fn not_a_name_either() {
    rt::pin!(async {});
}

async fn as_an_expression() {
    let work = rt::pin!(work());
    work.await;
}

fn main() {}
