//! Futures, closures and outputs of every size and alignment: from nothing to a mebibyte, and up to a page.
//!
//! Mutations that these tests are for: a cell whose layout forgets the future's alignment, or the trailer behind it;
//! memory that is given back under another layout; a future that moves between two polls.

use std::future::Future;
use std::hint::black_box;
use std::mem::{align_of, size_of};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use rt::runtime::{Builder, Runtime};
use rt_test_util::*;

/// A value that knows where it may lie, and what is in it.
trait Shape: Send + 'static {
    fn new() -> Self;
    /// The content is as it was made.
    fn is_whole(&self) -> bool;
}

/// Aborts, because some of this is looked at in drops, and all of it would be the end of memory safety.
fn look_at<T: Shape>(value: &T) {
    // The compiler may take the alignment of a reference for granted; not that of a number.
    let address = black_box(std::ptr::from_ref(value).addr());
    if !address.is_multiple_of(black_box(align_of::<T>())) || !value.is_whole() {
        eprintln!("{} bytes, aligned to {}, at {address:#x}", size_of::<T>(), align_of::<T>());
        std::process::abort();
    }
}

/// Looks at itself to the end.
struct Looked<T: Shape>(T);

impl<T: Shape> Drop for Looked<T> {
    fn drop(&mut self) {
        look_at(&self.0);
    }
}

/// A future of a shape, whose output is of the same.
struct Shaped<T: Shape> {
    value: Looked<T>,
}

/// It has nothing but its value, so that a shape of no bytes makes a future of none. How often something was polled is
/// known by the thread: every third poll ends one.
impl<T: Shape> Future for Shaped<T> {
    type Output = Looked<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Looked<T>> {
        look_at(&self.value.0);
        if POLLS.with(|polls| polls.replace(polls.get() + 1) % 3 < 2) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Looked(T::new()))
    }
}

thread_local! {
    static POLLS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

fn shaped<T: Shape>() -> Shaped<T> {
    Shaped { value: Looked(T::new()) }
}

/// Which bytes are looked at: of a large shape not each, but the first and the last.
fn probes(size: usize) -> impl Iterator<Item = usize> {
    (0..size).step_by(1 + size / 100).chain(size.checked_sub(1))
}

macro_rules! aligned {
    ($($name:ident = $align:literal),*) => {
        $(
            #[repr(align($align))]
            struct $name<const SIZE: usize>([u8; SIZE]);

            impl<const SIZE: usize> Shape for $name<SIZE> {
                fn new() -> Self {
                    let mut shape = Self([0; SIZE]);
                    probes(SIZE).for_each(|n| shape.0[n] = (n * 7 + $align) as u8);
                    shape
                }

                fn is_whole(&self) -> bool {
                    probes(SIZE).all(|n| self.0[n] == (n * 7 + $align) as u8)
                }
            }
        )*

        /// Each alignment, with no byte at all, and with some that do not fill what is left.
        fn all_shapes(run: &impl Run) {
            $(
                run.run::<$name<0>>();
                run.run::<$name<77>>();
            )*
            run.run::<A1<1>>();
            run.run::<A8<5000>>();
        }
    };
}

aligned!(
    A1 = 1,
    A2 = 2,
    A4 = 4,
    A8 = 8,
    A16 = 16,
    A32 = 32,
    A64 = 64,
    A128 = 128,
    A256 = 256,
    A512 = 512,
    A1024 = 1024,
    A2048 = 2048,
    A4096 = 4096
);

/// What is done with every shape.
trait Run {
    fn run<T: Shape>(&self);
}

/// On a runtime, in every way that it runs code.
struct On<'a>(&'a Runtime);

impl Run for On<'_> {
    fn run<T: Shape>(&self) {
        let runtime = self.0;
        assert_eq!((align_of::<Shaped<T>>(), size_of::<Shaped<T>>()), (align_of::<T>(), size_of::<T>()));
        // Two at once, so that memory is used again by some, and not by others.
        let outside = [runtime.spawn(shaped::<T>()), runtime.spawn(shaped::<T>())];
        look_at(&runtime.block_on(shaped::<T>()).0);
        runtime.block_on(async {
            let inside = rt::spawn(async { rt::spawn(shaped::<T>()).await.unwrap() });
            for task in outside.into_iter().chain([inside]) {
                look_at(&task.await.unwrap().0);
            }
            // The output is dropped where it lies: by the handle, or by the task.
            let done = rt::spawn(shaped::<T>());
            while !done.is_finished() {
                rt::task::yield_now().await;
            }
            drop(done);
            drop(rt::spawn(shaped::<T>()));
            rt::spawn(shaped::<T>()).abort();
            let captured = Looked(T::new());
            let job = rt::spawn_blocking(move || {
                look_at(&captured.0);
                captured
            });
            look_at(&job.await.unwrap().0);
        });
        // Left for the shutdown, or for a worker before it.
        drop(runtime.spawn(shaped::<T>()));
    }
}

struct Locally<'a>(&'a rt::runtime::LocalRuntime);

impl Run for Locally<'_> {
    fn run<T: Shape>(&self) {
        let before = self.0.spawn_local(shaped::<T>());
        self.0.block_on(async {
            look_at(&before.await.unwrap().0);
            look_at(&rt::spawn_local(shaped::<T>()).await.unwrap().0);
            drop(rt::spawn_local(shaped::<T>()));
        });
    }
}

/// Room for several copies of a mebibyte on the stack, as unoptimised code makes them.
const STACK: usize = 256 << 20;

fn with_room(test: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(STACK).spawn(test).unwrap().join().unwrap();
}

fn each_runtime_with_room(run: impl Fn(&Runtime)) {
    for workers in 0..3 {
        let mut builder = match workers {
            0 => Builder::new_current_thread(),
            _ => Builder::new_multi_thread(),
        };
        run(&builder.worker_threads(workers.max(1)).thread_stack_size(STACK).enable_all().build().unwrap());
    }
}

#[test]
fn futures_and_outputs_lie_where_their_alignment_says() {
    let _watchdog = watchdog();
    with_room(|| each_runtime_with_room(|runtime| (0..2).for_each(|_| all_shapes(&On(runtime)))));
}

#[test]
fn local_futures_and_outputs_lie_where_their_alignment_says() {
    let _watchdog = watchdog();
    with_room(|| {
        let runtime = Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
        (0..2).for_each(|_| all_shapes(&Locally(&runtime)));
    });
}

#[test]
fn a_future_and_an_output_may_be_of_a_mebibyte() {
    let _watchdog = watchdog();
    with_room(|| {
        each_runtime_with_room(|runtime| {
            let run = On(runtime);
            run.run::<A1<{ 1 << 20 }>>();
            run.run::<A4096<{ 1 << 20 }>>();
        });
        let runtime = Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
        Locally(&runtime).run::<A64<{ 1 << 20 }>>();
    });
}

/// So much future beside a stack of two mebibytes, and an output that is small.
async fn an_eighth_of_a_mebibyte() -> usize {
    let mut bytes = [1_u8; 1 << 17];
    rt::task::yield_now().await;
    bytes[0] += 1;
    bytes.iter().map(|&byte| usize::from(byte)).sum()
}

#[test]
fn large_futures_need_no_more_stack_than_threads_have() {
    const SUM: usize = (1 << 17) + 1;
    let _watchdog = watchdog();
    let two_mebibytes = || thread::Builder::new().stack_size(2 << 20);
    let test = || {
        for runtime in [current(), multi(1), multi(2)] {
            assert_eq!(runtime.block_on(an_eighth_of_a_mebibyte()), SUM);
            assert_eq!(runtime.block_on(runtime.spawn(an_eighth_of_a_mebibyte())).unwrap(), SUM);
            runtime.block_on(async {
                assert_eq!(rt::spawn(an_eighth_of_a_mebibyte()).await.unwrap(), SUM);
                let named = rt::task::Builder::new().name("large");
                assert_eq!(named.spawn(an_eighth_of_a_mebibyte()).unwrap().await.unwrap(), SUM);
            });
            let bytes = [1_u8; 1 << 17];
            let job = runtime.spawn_blocking(move || bytes.len());
            assert_eq!(runtime.block_on(job).unwrap(), 1 << 17);
        }
        let local = Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
        assert_eq!(local.block_on(local.spawn_local(an_eighth_of_a_mebibyte())).unwrap(), SUM);
        assert_eq!(local.block_on(async { rt::spawn_local(an_eighth_of_a_mebibyte()).await.unwrap() }), SUM);
    };
    two_mebibytes().spawn(test).unwrap().join().unwrap();
}
