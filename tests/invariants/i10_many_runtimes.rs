//! I10, the process: a thousand runtimes, made and dropped, leave no thread and no descriptor behind; nor do many at
//! once. The test counts those of the whole process, so it runs in a process of its own.
//!
//! Mutations that this is for: a thread that is not joined, or not told to end; a poller or its waker that is
//! kept.

use std::time::Duration;

use rt::runtime::{Builder, Runtime};
use rt_test_util::*;

fn use_everything(runtime: &Runtime) {
    runtime.block_on(async {
        rt::spawn(rt::time::sleep(Duration::from_micros(1))).await.unwrap();
        let listener = rt::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = rt::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        drop((listener.accept().await.unwrap(), client));
        rt::spawn_blocking(|| ()).await.unwrap();
        // Left behind.
        rt::spawn(std::future::pending::<()>());
        rt::spawn(async move { drop(listener.accept().await) });
    });
}

#[test]
fn i10_a_thousand_runtimes_leave_no_thread_and_no_descriptor_behind() {
    in_own_process(|| {
        let before = (thread_count(), descriptor_count());
        for n in 0..1000 {
            let runtime = if n % 2 == 0 { current() } else { multi(1 + n % 3) };
            match n % 4 {
                0 | 1 => use_everything(&runtime),
                2 => drop(runtime.spawn(async {})),
                _ => {}
            }
            if n % 10 == 9 {
                runtime.shutdown_timeout(Duration::from_secs(1000));
            } else {
                drop(runtime);
            }
            if n % 100 == 0 {
                // A thread that was joined may still be listed for a moment: the kernel wakes the joiner first.
                eventually(|| thread_count() == before.0);
                assert_eq!(descriptor_count(), before.1, "descriptors after runtime {n}");
            }
        }

        // Many at once share nothing, and go as they came.
        let crowd: Vec<_> = (0..50).map(|_| multi(2)).collect();
        crowd.iter().for_each(use_everything);
        assert!(thread_count() >= before.0 + 50 * 2);
        drop(crowd);
        eventually(|| thread_count() == before.0);
        assert_eq!(descriptor_count(), before.1);

        // Runtimes whose end is not waited for end too.
        for n in 0..50 {
            let runtime = if n % 2 == 0 { current() } else { multi(2) };
            use_everything(&runtime);
            runtime.shutdown_background();
        }
        eventually(|| thread_count() == before.0 && descriptor_count() == before.1);

        // So do those that could not be built.
        for _ in 0..20 {
            let refused =
                Builder::new_multi_thread().worker_threads(2).thread_stack_size(IMPOSSIBLE_STACK).enable_all().build();
            assert!(refused.is_err());
        }
        eventually(|| thread_count() == before.0);
        assert_eq!(descriptor_count(), before.1);
    });
}
