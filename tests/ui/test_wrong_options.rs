#[rt::test(worker_threads = 2)]
async fn workers_on_one_thread() {}

#[rt::test(flavor = "multi_thread", start_paused = true)]
async fn paused_on_many() {}

fn main() {}
