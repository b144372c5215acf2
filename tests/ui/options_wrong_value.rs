#[rt::main(flavor = multi_thread)]
async fn main() {}

#[rt::main(flavor = "multithread")]
async fn misspelt() {}

#[rt::main(flavor = "green")]
async fn nothing_like_it() {}

#[rt::main(flavor)]
async fn no_value() {}

#[rt::main(worker_threads = "4")]
async fn threads_in_words() {}

#[rt::main(worker_threads = threads())]
async fn threads_computed() {}

#[rt::main(worker_threads = -1)]
async fn threads_owed() {}

#[rt::main(worker_threads = 0)]
async fn no_threads() {}

#[rt::main(flavor = "current_thread", start_paused = 1)]
async fn paused_by_number() {}

#[rt::main(flavor = "current_thread", unhandled_panic = "abort")]
async fn panics_otherwise() {}

#[rt::main(crate = 3)]
async fn crate_by_number() {}

#[rt::main(flavor = "current_thread" start_paused = true)]
async fn comma_forgotten() {}

#[rt::main(flavor = "current_thread" name = "x", start_paused = true)]
async fn another_comma_forgotten() {}
