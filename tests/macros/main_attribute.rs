use super::*;

#[rt::main]
async fn on_the_default_runtime() -> u32 {
    rt::spawn(async { 7 }).await.unwrap()
}

#[rt::main(flavor = "multi_thread", worker_threads = 1)]
async fn on_one_worker() -> u32 {
    rt::spawn(async { 7 }).await.unwrap()
}

#[rt::main(worker_threads = 2u8)]
async fn on_two_workers() -> usize {
    rt::runtime::Handle::current().metrics().num_workers()
}

#[rt::main(flavor = "current_thread")]
async fn on_this_thread() -> std::thread::ThreadId {
    rt::spawn(async { std::thread::current().id() }).await.unwrap()
}

#[rt::main(flavor = "current_thread")]
async fn with_a_local_task() -> u32 {
    let shared = Rc::new(Cell::new(6));
    let local = Rc::clone(&shared);
    rt::task::spawn_local(async move { local.set(local.get() + 1) }).await.unwrap();
    shared.get()
}

#[rt::main(flavor = "current_thread", start_paused = true)]
async fn with_the_clock_stopped() {
    sleep(Duration::from_secs(24 * 3600)).await;
}

#[rt::main(flavor = "current_thread")]
async fn fails() -> Result<(), io::Error> {
    Err(io::Error::other("on purpose"))?;
    Ok(())
}

#[rt::main(flavor = "current_thread")]
async fn opaque() -> impl std::process::Termination {
    yield_now().await;
}

/// A pattern, a name, a generic argument, a borrowed result.
#[rt::main(flavor = "current_thread")]
async fn longest<'a, T: AsRef<str> + ?Sized, const N: usize>((a, b): (&'a T, &'a T), mut runtime: Vec<u8>) -> &'a str {
    runtime.push(0);
    assert_eq!(runtime.len(), N);
    if a.as_ref().len() > b.as_ref().len() { a.as_ref() } else { b.as_ref() }
}

mod under_other_names {
    use ::rt as other_name;

    /// In the way of any expansion that says `rt` and not `::rt`.
    mod rt {}

    #[::rt::main]
    pub(super) async fn by_default() -> u32 {
        0
    }

    #[::rt::main(crate = other_name)]
    pub(super) async fn by_path() -> u32 {
        other_name::select! { n = async { 1 } => other_name::join!(async { n }).0 }
    }

    #[::rt::main(crate = "other_name", flavor = "current_thread")]
    pub(super) async fn by_string() -> u32 {
        2
    }
}

macro_rules! main_with {
    ($name:ident, $threads:literal, $flavor:literal) => {
        #[rt::main(flavor = $flavor, worker_threads = $threads)]
        async fn $name() -> u32 {
            3
        }
    };
}
main_with!(made_by_a_macro, 1, "multi_thread");

#[test]
fn the_function_becomes_a_plain_one() {
    assert_eq!(on_the_default_runtime(), 7);
    assert_eq!(on_one_worker(), 7);
    assert_eq!(on_two_workers(), 2);
    assert_eq!(on_this_thread(), std::thread::current().id());
    assert_eq!(with_a_local_task(), 7);
    with_the_clock_stopped();
    assert_eq!(fails().unwrap_err().to_string(), "on purpose");
    let _ = opaque();
    assert_eq!(longest::<str, 2>(("ab", "a"), vec![0]), "ab");
    assert_eq!(made_by_a_macro(), 3);
}

#[test]
fn an_argument_that_the_body_borrows_is_dropped_behind_the_runtime() {
    // It waits for its end when it is dropped, which async code must not.
    #[rt::main(flavor = "current_thread")]
    async fn borrows(other: rt::runtime::Runtime) -> u32 {
        other.spawn(async { 7 }).await.unwrap()
    }
    assert_eq!(borrows(rt::runtime::Runtime::new().unwrap()), 7);
}

#[test]
fn the_facade_is_found_under_any_name() {
    assert_eq!(under_other_names::by_default(), 0);
    assert_eq!(under_other_names::by_path(), 1);
    assert_eq!(under_other_names::by_string(), 2);
}

#[test]
fn a_panic_in_the_body_reaches_the_caller() {
    #[rt::main(flavor = "current_thread")]
    async fn panics() {
        panic!("out of the body");
    }
    let panic = std::panic::catch_unwind(panics).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"out of the body"));
}
