//! Task-locals: the value is there inside of its scope, and nowhere else.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use rt::task::yield_now;
use rt_test_util::*;

rt::task_local! {
    /// A number.
    static NUMBER: u32;
    pub(crate) static TEXT: String
}

/// Notes the number when it is dropped.
struct Notes<'a>(&'a std::cell::Cell<Option<u32>>);

impl Drop for Notes<'_> {
    fn drop(&mut self) {
        self.0.set(NUMBER.try_get().ok());
    }
}

#[test]
fn a_scope_follows_its_future_across_threads() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let tasks: Vec<_> = (0..20)
            .map(|n| {
                runtime.spawn(NUMBER.scope(n, async move {
                    for _ in 0..20 {
                        assert_eq!(NUMBER.get(), n);
                        assert!(rt::spawn(async { NUMBER.try_get() }).await.unwrap().is_err(), "not inherited");
                        NUMBER
                            .scope(n + 1, async {
                                yield_now().await;
                                assert_eq!(NUMBER.get(), n + 1)
                            })
                            .await;
                    }
                }))
            })
            .collect();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
        assert!(NUMBER.try_get().is_err());
    });
}

#[test]
fn the_value_is_there_while_the_future_is_dropped() {
    let noted = std::cell::Cell::new(None);
    let notes = Notes(&noted);
    drop(NUMBER.scope(7, async move {
        let _notes = notes;
        pending::<()>().await
    }));
    assert_eq!(noted.take(), Some(7));
    // And when it is ready, though the scope lives on.
    current().block_on(async {
        let notes = Notes(&noted);
        let mut scope = pin!(NUMBER.scope(8, async move {
            let _notes = notes;
        }));
        scope.as_mut().await;
        assert_eq!(noted.take(), Some(8));
        assert_eq!(scope.as_mut().take_value(), Some(8));
        assert_eq!(scope.as_mut().take_value(), None);
    });
}

#[test]
fn a_panic_ends_the_scope() {
    let caught = catch_unwind(|| TEXT.sync_scope("inside".to_owned(), || panic!("{}", TEXT.get())));
    assert_eq!(message_of(&*caught.unwrap_err()), "inside");
    assert_eq!(TEXT.try_get().unwrap_err().to_string(), "task-local value not set");
    assert!(catch_unwind(|| TEXT.get()).is_err());
}

#[test]
fn a_scope_inside_of_with_is_refused_and_changes_nothing() {
    NUMBER.sync_scope(1, || {
        let caught = catch_unwind(AssertUnwindSafe(|| NUMBER.with(|_| NUMBER.sync_scope(2, || ()))));
        assert!(message_of(&*caught.unwrap_err()).contains("while the task-local storage is borrowed"));
        assert_eq!(NUMBER.get(), 1);
    });
}
