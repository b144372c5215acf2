//! What `#[rt::main]` can stand on: any function that could be written without it, made by hand or by a macro.

use std::error::Error;
use std::process::ExitCode;

use super::*;

#[rt::main(flavor = "current_thread")]
async fn conditional(a: u8, #[cfg(any())] _b: Missing, #[cfg(not(any()))] c: u8, #[allow(unused)] d: u8) -> u8 {
    yield_now().await;
    a + c
}

struct Counter(u32);

impl Counter {
    #[rt::main(flavor = "current_thread")]
    async fn new(start: u32) -> Self {
        yield_now().await;
        Self(start)
    }

    #[rt::main(flavor = "current_thread")]
    async fn get(&self) -> &u32 {
        yield_now().await;
        &self.0
    }

    #[rt::main(flavor = "current_thread")]
    async fn add(&mut self, number: u32) -> &mut Self {
        yield_now().await;
        self.0 += number;
        self
    }

    #[rt::main(flavor = "current_thread")]
    async fn into_inner(self) -> u32 {
        yield_now().await;
        self.0
    }
}

#[rt::main(flavor = "current_thread")]
async fn inner_attribute() -> u32 {
    #![allow(unused_variables)]
    #![allow(clippy::let_and_return)]
    let unused = 1;
    let number = 2;
    number
}

#[rt::main(flavor = "current_thread")]
async fn coerces(wrong: bool) -> Result<(), Box<dyn Error>> {
    if wrong {
        return Err(Box::new(io::Error::other("early")));
    }
    Err(Box::new(io::Error::other("late")))
}

#[rt::main(flavor = "current_thread")]
async fn opaque_inside() -> Result<impl std::fmt::Debug, io::Error> {
    ready(Ok(1)).await
}

#[rt::main(flavor = "current_thread")]
pub(crate) async fn exit_code() -> ExitCode {
    ExitCode::from(ready(3).await)
}

/// # Safety
///
/// The pointer is valid.
#[rt::main(flavor = "current_thread")]
async unsafe fn read(from: *const u32) -> u32 {
    yield_now().await;
    // SAFETY: As the caller promises.
    unsafe { *from }
}

#[rt::main(flavor = "current_thread")]
async extern "C" fn for_c(number: u32) -> u32 {
    ready(number).await
}

#[rt::main(flavor = "current_thread")]
async fn bounded<T, F: Fn(u32) -> Option<T>, const N: usize>(make: F, list: [u32; N]) -> Vec<T>
where
    T: PartialOrd<T> + Clone,
    for<'a> &'a T: std::ops::Add<Output = T>,
{
    yield_now().await;
    list.into_iter().filter_map(make).filter(|value| &(value + value) > value).collect()
}

macro_rules! function {
    ($(#[$attribute:meta])* $visibility:vis $name:ident($argument:ident) -> $output:ty $body:block) => {
        #[rt::main(flavor = "current_thread")]
        $(#[$attribute])*
        $visibility async fn $name($argument: u32) -> $output $body
    };
}

function! {
    /// A comment.
    #[must_use]
    pub(crate) from_fragments(number) -> Option<u32> { Some(ready(number).await) }
}
function! { private_from_fragments(number) -> u32 { number } }

macro_rules! with_main {
    ($item:item) => {
        #[rt::main(flavor = "current_thread")]
        $item
    };
}

with_main! { async fn from_item(number: u32) -> u32 { ready(number).await } }

/// A name of the user's in the place of one of the expansion's.
#[rt::main(flavor = "current_thread")]
async fn captured(runtime: u32, error: u32) -> u32 {
    ready(runtime + error).await
}

#[test]
fn functions_of_every_shape() {
    assert_eq!(conditional(1, 2, 3), 3);
    let mut counter = Counter::new(1);
    assert_eq!(*counter.add(2).add(3).get(), 6);
    assert_eq!(counter.into_inner(), 6);
    assert_eq!(inner_attribute(), 2);
    assert_eq!(coerces(true).unwrap_err().to_string(), "early");
    assert_eq!(coerces(false).unwrap_err().to_string(), "late");
    assert_eq!(format!("{:?}", opaque_inside().unwrap()), "1");
    assert_eq!(exit_code(), ExitCode::from(3));
    let number = 9;
    // SAFETY: The number is there.
    assert_eq!(unsafe { read(&raw const number) }, 9);
    assert_eq!(for_c(4), 4);
    assert_eq!(bounded(|number: u32| number.checked_sub(1), [0, 1, 2, 3]), [1, 2]);
    assert_eq!(from_fragments(5), Some(5));
    assert_eq!(private_from_fragments(6), 6);
    assert_eq!(from_item(7), 7);
    assert_eq!(captured(1, 2), 3);
}
