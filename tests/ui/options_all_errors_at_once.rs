#[rt::main(flavour = "multi_thread", worker_threads = 0, start_paused = "yes")]
async fn main() {}
