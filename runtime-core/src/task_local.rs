//! Task-locals: values that go with a future instead of a thread.
//!
//! A task-local is a thread-local that is empty but while a future with a value for it is polled. The future keeps the
//! value; before each poll the two change places, and after it again. The same is done when the future is dropped.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

/// Declares task-locals: statics of the type [`LocalKey`](crate::LocalKey).
///
/// # Example
///
/// ```
/// rt::task_local! {
///     /// Whose request the task serves.
///     static USER: String;
///     pub static DEPTH: u32;
/// }
/// # rt::runtime::Runtime::new().unwrap().block_on(async {
/// let greeting = USER.scope("Ada".to_owned(), async {
///     DEPTH.scope(1, async { format!("{} at {}", USER.get(), DEPTH.get()) }).await
/// });
/// assert_eq!(greeting.await, "Ada at 1");
/// # });
/// ```
#[macro_export]
macro_rules! task_local {
    () => {};
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $visibility static $name: $crate::LocalKey<$type> = {
            ::std::thread_local! {
                static VALUE: ::std::cell::RefCell<::std::option::Option<$type>> =
                    const { ::std::cell::RefCell::new(::std::option::Option::None) };
            }
            $crate::LocalKey::of(VALUE)
        };
        $($crate::task_local! { $($rest)* })?
    };
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $($rest:tt)*) => {
        ::std::compile_error!(::std::concat!(
            "a task-local has no initial value: write `static ", ::std::stringify!($name),
            ": ...;`, and give it a value with `", ::std::stringify!($name), ".scope(...)`"
        ));
    };
}

/// A value that belongs to a future and all that it polls. Declared by [`task_local!`](crate::task_local).
///
/// It has a value inside of [`scope`](Self::scope) and [`sync_scope`](Self::sync_scope) only. A task that is spawned
/// there does not inherit it.
pub struct LocalKey<T: 'static> {
    here: thread::LocalKey<RefCell<Option<T>>>,
}

/// Why no scope can be entered.
#[derive(Debug)]
enum Refused {
    Borrowed,
    Destroyed,
}

/// Ends a scope: the value goes back to where it came from.
struct Entered<'a, T: 'static> {
    key: &'static LocalKey<T>,
    value: &'a mut Option<T>,
}

impl<T: 'static> LocalKey<T> {
    /// For the macro.
    #[doc(hidden)]
    pub const fn of(here: thread::LocalKey<RefCell<Option<T>>>) -> Self {
        Self { here }
    }

    /// A future during whose polls, and whose drop, the task-local has this value.
    ///
    /// # Panics
    ///
    /// The future panics if it is polled inside of [`with`](Self::with) of the same task-local.
    ///
    /// # Example
    ///
    /// ```
    /// rt::task_local! { static NUMBER: u32; }
    /// # rt::runtime::Runtime::new().unwrap().block_on(async {
    /// let outer = NUMBER.scope(1, async {
    ///     NUMBER.scope(2, async { assert_eq!(NUMBER.get(), 2) }).await;
    ///     NUMBER.get()
    /// });
    /// assert_eq!(outer.await, 1);
    /// assert!(NUMBER.try_get().is_err());
    /// # });
    /// ```
    pub fn scope<F: Future>(&'static self, value: T, f: F) -> TaskLocalFuture<T, F> {
        TaskLocalFuture { key: self, value: Some(value), future: Some(f), _pinned: PhantomPinned }
    }

    /// Calls the closure, and the task-local has this value meanwhile.
    ///
    /// # Panics
    ///
    /// Inside of [`with`](Self::with) of the same task-local, and in the destructor of a thread-local.
    #[track_caller]
    pub fn sync_scope<F, R>(&'static self, value: T, f: F) -> R
    where
        F: FnOnce() -> R,
    {
        let mut value = Some(value);
        let entered = self.enter(&mut value);
        match entered {
            Ok(_entered) => f(),
            Err(refused) => refused.panic(),
        }
    }

    /// Calls the closure with the value.
    ///
    /// # Panics
    ///
    /// Outside of a scope. [`try_with`](Self::try_with) does not.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(result) => result,
            Err(AccessError(())) => {
                panic!("cannot access a task-local storage value without setting it first: no `scope` of it is around")
            }
        }
    }

    /// Calls the closure with the value.
    ///
    /// # Errors
    ///
    /// Outside of a scope.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        let called = self.here.try_with(|here| here.borrow().as_ref().map(f));
        called.ok().flatten().ok_or(AccessError(()))
    }

    fn enter<'a>(&'static self, value: &'a mut Option<T>) -> Result<Entered<'a, T>, Refused> {
        self.exchange(value)?;
        Ok(Entered { key: self, value })
    }

    /// Has the two values change places.
    fn exchange(&'static self, value: &mut Option<T>) -> Result<(), Refused> {
        let exchanged = self.here.try_with(|here| {
            here.try_borrow_mut().map(|mut here| mem::swap(&mut *here, value)).map_err(|_| Refused::Borrowed)
        });
        exchanged.map_err(|_| Refused::Destroyed)?
    }
}

impl<T: Clone + 'static> LocalKey<T> {
    /// A clone of the value.
    ///
    /// # Panics
    ///
    /// Outside of a scope.
    #[track_caller]
    pub fn get(&'static self) -> T {
        self.with(T::clone)
    }

    /// A clone of the value.
    ///
    /// # Errors
    ///
    /// Outside of a scope.
    pub fn try_get(&'static self) -> Result<T, AccessError> {
        self.try_with(T::clone)
    }
}

impl<T: 'static> Drop for Entered<'_, T> {
    fn drop(&mut self) {
        // Nobody borrows the cell: borrows end with the closures of `with`, which run inside of the scope. And it was
        // there when the scope began, so its destructor has not run: that is not while this frame is on the stack.
        let _ = self.key.exchange(self.value);
    }
}

impl Refused {
    #[track_caller]
    #[cold]
    fn panic(self) -> ! {
        match self {
            Self::Borrowed => {
                panic!(
                    "cannot enter a task-local scope while the task-local storage is borrowed: this is inside `with`"
                )
            }
            Self::Destroyed => {
                panic!("cannot enter a task-local scope during or after destruction of the underlying thread-local")
            }
        }
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// A future with a value for a task-local. Made by [`LocalKey::scope`].
pub struct TaskLocalFuture<T: 'static, F> {
    key: &'static LocalKey<T>,
    /// Empty during a poll: then it is in the thread-local.
    value: Option<T>,
    /// Pinned. Dropped, in its place, when it is ready.
    future: Option<F>,
    _pinned: PhantomPinned,
}

impl<T: 'static, F> TaskLocalFuture<T, F> {
    /// Takes the value out; from then on the task-local has none during the polls. `None` if it was taken before.
    ///
    /// # Example
    ///
    /// ```
    /// rt::task_local! { static KEY: String; }
    /// # rt::runtime::Runtime::new().unwrap().block_on(async {
    /// let mut future = Box::pin(KEY.scope("value".to_owned(), async {}));
    /// future.as_mut().await;
    /// assert_eq!(future.as_mut().take_value().as_deref(), Some("value"));
    /// # });
    /// ```
    pub fn take_value(self: Pin<&mut Self>) -> Option<T> {
        // SAFETY: the value is not pinned, and the future is left alone.
        unsafe { self.get_unchecked_mut() }.value.take()
    }
}

impl<T: 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the future is not moved, and leaves its place only by being dropped there.
        let Self { key, value, future, .. } = unsafe { self.get_unchecked_mut() };
        let _entered = match key.enter(value) {
            Ok(entered) => entered,
            Err(refused) => refused.panic(),
        };
        let Some(pinned) = future else { panic!("a `TaskLocalFuture` was polled again after it was ready") };
        // SAFETY: as above.
        let polled = unsafe { Pin::new_unchecked(pinned) }.poll(cx);
        if polled.is_ready() {
            // Inside of the scope, too.
            *future = None;
        }
        polled
    }
}

impl<T: 'static, F> Drop for TaskLocalFuture<T, F> {
    fn drop(&mut self) {
        if mem::needs_drop::<F>() && self.future.is_some() {
            // Should the scope be refused, the future is dropped outside of it.
            let _entered = self.key.enter(&mut self.value);
            self.future = None;
        }
    }
}

impl<T: fmt::Debug + 'static, F> fmt::Debug for TaskLocalFuture<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("TaskLocalFuture");
        match &self.value {
            Some(value) => f.field("value", value),
            None => f.field("value", &format_args!("<missing>")),
        };
        f.finish()
    }
}

/// There is no scope of the task-local around. See [`LocalKey::try_with`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessError(());

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessError")
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("task-local value not set")
    }
}

impl Error for AccessError {}
