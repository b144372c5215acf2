#[rt::main(flavor = "current_thread", worker_threads = 2)]
async fn main() {}

#[rt::main(start_paused = true)]
async fn paused_by_default_flavor() {}

#[rt::main(start_paused = false, flavor = "multi_thread")]
async fn not_even_paused() {}

#[rt::main(unhandled_panic = "shutdown_runtime")]
async fn with_several_threads() {}

#[rt::main(worker_threads = 2, worker_threads = 3)]
async fn twice() {}

#[rt::main(flavor = "current_thread", flavor = "current_thread")]
async fn the_same_twice() {}
