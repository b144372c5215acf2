//! The assertions. Each panics at the place where it was written.
//!
//! An exported macro is a name at the root of the crate, whatever module it stands in. Those names are hidden, and
//! `test_util` gives the macros their own.

/// Asserts that a [`Poll`](std::task::Poll) is ready, and returns the value.
///
/// With more arguments, they are the message of the panic, as for [`format!`].
///
/// # Panics
///
/// If it is pending.
///
/// # Example
///
/// ```
/// use rt::test_util::{assert_ready, task};
///
/// let mut five = task::spawn(async { 5 });
/// assert_eq!(assert_ready!(five.poll(), "there is nothing to wait for"), 5);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __rt_assert_ready {
    ($poll:expr $(,)?) => {
        match $poll {
            ::core::task::Poll::Ready(value) => value,
            ::core::task::Poll::Pending => ::core::panic!("pending"),
        }
    };
    ($poll:expr, $($message:tt)+) => {
        match $poll {
            ::core::task::Poll::Ready(value) => value,
            ::core::task::Poll::Pending => ::core::panic!("pending; {}", ::core::format_args!($($message)+)),
        }
    };
}

/// Asserts that a [`Poll`](std::task::Poll) is ready with an [`Ok`], and returns what is in it.
///
/// With more arguments, they are the message of the panic, as for [`format!`].
///
/// # Panics
///
/// If it is pending, or ready with an [`Err`], which must be [`Debug`](std::fmt::Debug).
///
/// # Example
///
/// ```
/// use rt::test_util::{assert_ready_ok, task};
///
/// let mut parsed = task::spawn(async { "5".parse::<u8>() });
/// assert_eq!(assert_ready_ok!(parsed.poll()), 5);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __rt_assert_ready_ok {
    ($poll:expr $(,)?) => {
        $crate::test_util::assert_ok!($crate::test_util::assert_ready!($poll))
    };
    ($poll:expr, $($message:tt)+) => {
        $crate::test_util::assert_ok!($crate::test_util::assert_ready!($poll, $($message)+), $($message)+)
    };
}

/// Asserts that a [`Poll`](std::task::Poll) is ready with an [`Err`], and returns what is in it.
///
/// With more arguments, they are the message of the panic, as for [`format!`].
///
/// # Panics
///
/// If it is pending, or ready with an [`Ok`], which must be [`Debug`](std::fmt::Debug).
///
/// # Example
///
/// ```
/// use rt::test_util::{assert_ready_err, task};
///
/// let mut parsed = task::spawn(async { "five".parse::<u8>() });
/// assert_eq!(assert_ready_err!(parsed.poll()).to_string(), "invalid digit found in string");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __rt_assert_ready_err {
    ($poll:expr $(,)?) => {
        $crate::test_util::assert_err!($crate::test_util::assert_ready!($poll))
    };
    ($poll:expr, $($message:tt)+) => {
        $crate::test_util::assert_err!($crate::test_util::assert_ready!($poll, $($message)+), $($message)+)
    };
}

/// Asserts that a [`Poll`](std::task::Poll) is ready with a value that is equal to another.
///
/// With more arguments, they are the message of the panic, as for [`format!`].
///
/// # Panics
///
/// If it is pending, or ready with another value. Both values must be [`Debug`](std::fmt::Debug).
///
/// # Example
///
/// ```
/// use rt::test_util::{assert_ready_eq, task};
///
/// let mut five = task::spawn(async { 5 });
/// assert_ready_eq!(five.poll(), 5);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __rt_assert_ready_eq {
    ($poll:expr, $expected:expr $(,)?) => {
        ::core::assert_eq!($crate::test_util::assert_ready!($poll), $expected)
    };
    ($poll:expr, $expected:expr, $($message:tt)+) => {
        ::core::assert_eq!($crate::test_util::assert_ready!($poll, $($message)+), $expected, $($message)+)
    };
}

/// Asserts that a [`Poll`](std::task::Poll) is pending.
///
/// With more arguments, they are the message of the panic, as for [`format!`].
///
/// # Panics
///
/// If it is ready. The value must be [`Debug`](std::fmt::Debug).
///
/// # Example
///
/// ```
/// use rt::test_util::{assert_pending, task};
///
/// let notify = rt::sync::Notify::new();
/// let mut notified = task::spawn(notify.notified());
/// assert_pending!(notified.poll(), "nobody has notified");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __rt_assert_pending {
    ($poll:expr $(,)?) => {
        match $poll {
            ::core::task::Poll::Pending => {}
            ::core::task::Poll::Ready(value) => ::core::panic!("ready; value = {:?}", value),
        }
    };
    ($poll:expr, $($message:tt)+) => {
        match $poll {
            ::core::task::Poll::Pending => {}
            ::core::task::Poll::Ready(value) => {
                ::core::panic!("ready; value = {:?}; {}", value, ::core::format_args!($($message)+))
            }
        }
    };
}

/// Asserts that a [`Result`] is [`Ok`], and returns what is in it.
///
/// With more arguments, they are the message of the panic, as for [`format!`].
///
/// # Panics
///
/// If it is an [`Err`], which must be [`Debug`](std::fmt::Debug).
///
/// # Example
///
/// ```
/// use rt::test_util::assert_ok;
///
/// let n: u8 = assert_ok!("5".parse(), "{:?} is a number", "5");
/// assert_eq!(n, 5);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __rt_assert_ok {
    ($result:expr $(,)?) => {
        match $result {
            ::core::result::Result::Ok(value) => value,
            ::core::result::Result::Err(error) => ::core::panic!("assertion failed: Err({:?})", error),
        }
    };
    ($result:expr, $($message:tt)+) => {
        match $result {
            ::core::result::Result::Ok(value) => value,
            ::core::result::Result::Err(error) => {
                ::core::panic!("assertion failed: Err({:?}): {}", error, ::core::format_args!($($message)+))
            }
        }
    };
}

/// Asserts that a [`Result`] is an [`Err`], and returns what is in it.
///
/// With more arguments, they are the message of the panic, as for [`format!`].
///
/// # Panics
///
/// If it is [`Ok`], with a value that must be [`Debug`](std::fmt::Debug).
///
/// # Example
///
/// ```
/// use rt::test_util::assert_err;
///
/// let error = assert_err!("five".parse::<u8>(), "{:?} is no number", "five");
/// assert_eq!(error.to_string(), "invalid digit found in string");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __rt_assert_err {
    ($result:expr $(,)?) => {
        match $result {
            ::core::result::Result::Ok(value) => ::core::panic!("assertion failed: Ok({:?})", value),
            ::core::result::Result::Err(error) => error,
        }
    };
    ($result:expr, $($message:tt)+) => {
        match $result {
            ::core::result::Result::Ok(value) => {
                ::core::panic!("assertion failed: Ok({:?}): {}", value, ::core::format_args!($($message)+))
            }
            ::core::result::Result::Err(error) => error,
        }
    };
}

/// Asserts that so much time has passed since an [`Instant`](crate::time::Instant), and no more than a millisecond
/// beyond it.
///
/// It is meant for a clock that [stands still](crate::time::pause). Beside a real one other programs decide.
///
/// # Panics
///
/// If it was less, or more.
///
/// # Example
///
/// ```
/// use rt::test_util::assert_elapsed;
/// use rt::time::{Duration, Instant, sleep};
///
/// # #[rt::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let start = Instant::now();
/// sleep(Duration::from_secs(50)).await;
/// assert_elapsed!(start, Duration::from_secs(50));
/// # }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __rt_assert_elapsed {
    ($start:expr, $duration:expr $(,)?) => {{
        let elapsed = $start.elapsed();
        // With the type, so that a wrong one is told of here.
        let least: ::core::time::Duration = $duration;
        ::core::assert!(
            elapsed >= least && elapsed <= least + ::core::time::Duration::from_millis(1),
            "actual = {:?}, expected = {:?}",
            elapsed,
            least
        );
    }};
}
