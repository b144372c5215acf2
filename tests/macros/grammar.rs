//! What Tokio's macros accept, form by form: each of these compiles there too, with the other name of the crate, and
//! does the same. (Forms that only rt accepts are in the other files.)

// What can be written is tried here, whether or not it is good style.
#![allow(clippy::complexity, clippy::style, clippy::never_loop)]

use super::*;

#[derive(Debug, PartialEq)]
enum Shape {
    Dot,
    Line(i32),
    Area { width: i32, height: i32 },
}

struct Fields<F> {
    future: F,
}

impl<F: Future> Fields<F> {
    async fn run(self) -> F::Output {
        self.future.await
    }
}

macro_rules! seven {
    () => {
        ready(7)
    };
}

#[rt::test]
async fn futures_of_every_form_in_select() {
    let (flag, number) = (true, 3);
    let pair = (ready(1), ready(2));
    let futures = [ready(5)];
    macro_rules! selected {
        ($($branch:tt)*) => {
            rt::select! { n = $($branch)* => n, else => unreachable!() }
        };
    }
    assert_eq!(selected!(ready(1)), 1);
    assert_eq!(selected!(async { 2 }), 2);
    assert_eq!(selected!(async move { number }), 3);
    assert_eq!(selected!({ ready(4) }), 4);
    assert_eq!(selected!((ready(5), 0).0), 5);
    assert_eq!(selected!(&mut ready(6)), 6);
    assert_eq!(selected!(seven!()), 7);
    assert_eq!(selected!(pair.1.clone()), 2);
    assert_eq!(selected!(futures[0].clone()), 5);
    assert_eq!(selected!(if flag { ready(1) } else { ready(2) }), 1);
    assert_eq!(
        selected!(match number {
            3 => ready(4),
            _ => ready(0),
        }),
        4
    );
    assert_eq!(
        selected!(loop {
            break ready(8);
        }),
        8
    );
    assert_eq!(selected!((|n| ready(n))(9)), 9);
    assert_eq!(selected!(ready::<Vec<(u8, u8)>>(vec![(1, 2), (3, 4)])).len(), 2);
    assert_eq!(selected!(<u8 as Into<u16>>::into(1).pipe(ready)), 1);
    assert_eq!(selected!(Fields { future: ready(10) }.run()), 10);
    assert_eq!(selected!(std::pin::pin!(ready(11))), 11);
    assert_eq!(selected!({ Zero }.get()), 0);
    assert!(selected!(ready(number < 4 && number > 2 || number == 7 | 1)));
}

/// For a method behind a path in angle brackets.
trait Pipe: Sized {
    fn pipe<R>(self, f: impl FnOnce(Self) -> R) -> R {
        f(self)
    }
}
impl Pipe for u16 {}

struct Zero;

impl Zero {
    async fn get(self) -> u8 {
        0
    }
}

#[rt::test]
async fn patterns_of_every_form_in_select() {
    macro_rules! fits {
        ($pattern:pat, $value:expr) => {
            rt::select! { $pattern = ready($value) => true, else => false }
        };
    }
    assert!(fits!(_, 1) && fits!(-1, -1) && !fits!(1, 2));
    assert!(fits!(1.., 2) && !fits!(1..3, 3) && fits!('a'..='z', 'q'));
    assert!(fits!(Shape::Dot, Shape::Dot) && fits!(self::Shape::Line(1 | 2), Shape::Line(2)));
    assert!(fits!(Shape::Line(..) | Shape::Dot, Shape::Line(0)) && !fits!(Shape::Area { width: 0, .. }, Shape::Dot));
    assert!(fits!(std::option::Option::<u8>::Some(1), Some(1)) && fits!((1, (_, 2)), (1, (0, 2))));

    assert_eq!(rt::select! { 1.. = ready(2) => "from", else => "" }, "from");
    assert_eq!(rt::select! { n @ 1..=3 = ready(2) => n, else => 0 }, 2);
    assert_eq!(rt::select! { n @ (1 | 2) = ready(2) => n, else => 0 }, 2);
    assert_eq!(rt::select! { &(a, ref b) = ready(&(1, 2)) => a + *b }, 3);
    assert_eq!(rt::select! { [a, rest @ ..] = ready([1, 2, 3]) => a + rest.len() }, 3);
    assert_eq!(
        rt::select! {
            Shape::Area { width, height: mut h } = ready(Shape::Area { width: 2, height: 3 }) => { h += 1; width * h },
            else => 0
        },
        8
    );
    assert_eq!(
        rt::select! { Some(Ok(text)) = ready(Some(Ok::<_, ()>(String::from("moved")))) => text, else => String::new() },
        "moved"
    );
    assert_eq!(rt::select! { biased = ready(1) => biased }, 1);
}

#[rt::test]
async fn handlers_and_commas_of_every_form_in_select() {
    let mut total = 0;
    for round in 0..12 {
        rt::select! {
            biased;
            _ = ready(()), if round == 0 => {}
            _ = ready(()), if round == 1 => {},
            _ = ready(()), if round == 2 => (),
            n = ready(1), if round == 3 => total += n,
            n = ready(1), if round == 4 => { total += n }
            n = ready(1), if round == 5 => if n == 1 { total += n } else { unreachable!() },
            n = ready(1), if round == 6 => match n { n => total += n },
            n = ready(1), if round == 7 => total = ready(total + n).await,
            n = ready(1), if round == 8 => 'block: { if n == 1 { total += 1; break 'block; } },
            n = ready(1), if round == 9 => drop([total += n]),
            n = ready(1), if { round == 10 } => for _ in 0..n { total += 1 },
            else => total += 1,
        }
    }
    assert_eq!(total, 9);
    let closure = rt::select! { n = ready(2) => move |a, b| a + b + n };
    assert_eq!(closure(1, 1), 4);
    assert_eq!(rt::select! { n = ready(2) => n..5 }, 2..5);
    assert_eq!(rt::select! { n = ready(2) => n as u64 + 1, }, 3);
    assert_eq!(rt::select! { n = ready(2) => Shape::Line(n), else => Shape::Dot }, Shape::Line(2));
    assert_eq!(rt::select! { biased; n = ready(2), if true => n, else => 0, }, 2);
    assert_eq!(rt::select! { biased; _ = pending::<()>() => 1, _ = ready(()) => 2 }, 2);
}

/// The parts may leave the function, wait, and borrow.
#[rt::test]
async fn futures_may_wait_and_fail_before_select_begins() {
    async fn run(text: &str) -> Result<u32, std::num::ParseIntError> {
        let mut log = Vec::new();
        let n = rt::select! {
            n = ready(text.parse::<u32>()?) => n,
            n = { yield_now().await; log.push(1); ready(7) }, if false => n,
        };
        assert_eq!(log, [1]);
        Ok(n)
    }
    assert_eq!(run("5").await, Ok(5));
    assert!(run("x").await.is_err());
}

macro_rules! race {
    ($($pattern:pat = $future:expr $(, if $condition:expr)? => $handler:expr,)+ ; $otherwise:expr) => {
        rt::select! { biased; $($pattern = $future $(, if $condition)? => { $handler })+ else => $otherwise }
    };
    ($name:ident in $future:expr => $body:block) => {
        rt::select! { $name = $future => $body }
    };
    (tokens $($tokens:tt)*) => {
        rt::select! { $($tokens)* }
    };
}

#[rt::test]
async fn select_in_macros_of_others() {
    assert_eq!(race! { Some(n) = ready(None) => n, n = ready(2), if 1 + 1 == 2 => n + 1, ; 0 }, 3);
    assert_eq!(race!(n in ready(2) => { n + 2 }), 4);
    assert_eq!(race!(tokens biased; n = ready(2), if true => { n + 3 } else => 0), 5);
    let nested = rt::select! {
        n = async { race!(m in ready(1) => { m + 1 }) } => race! {
            k = ready(n) => rt::join!(ready(k), async { rt::select! { j = ready(k) => j } }).1,
            ; 0
        },
    };
    assert_eq!(nested, 2);
}

#[rt::test]
async fn join_and_try_join_of_every_form() {
    let number = 3;
    let future = ready(4);
    assert_eq!(rt::join!(ready(1),), (1,));
    assert_eq!(rt::join!(biased; ready(1), seven!(),), (1, 7));
    assert_eq!(rt::join!(async { 1 }, async move { number }, { ready(2) }, future), (1, 3, 2, 4));
    let (mut by_reference, pinned) = (ready(1), std::pin::pin!(ready(2)));
    assert_eq!(rt::join!(&mut by_reference, pinned, Box::pin(async { 3 })), (1, 2, 3));
    assert_eq!(rt::join!(rt::join!(ready(1), ready(2)).pipe_ready(), ready(3)), ((1, 2), 3));
    rt::join!(biased;);
    let () = rt::join!();
    assert_eq!(rt::try_join!(ready(Ok::<_, ()>(1)),), Ok((1,)));
    assert_eq!(rt::try_join!(biased; ready(Ok::<_, u8>(1)), ready(Err::<u8, _>(2)),), Err(2));
    assert_eq!(
        rt::try_join!(async { Ok::<_, u8>(1) }, async { Ok(rt::try_join!(async { Err::<u8, _>(3u8) })?.0) }),
        Err(3)
    );
    macro_rules! all {
        ($($future:expr),*) => { rt::join!($($future),*) };
        (biased $($future:expr),*) => { rt::join!(biased; $($future,)*) };
    }
    assert_eq!(all!(ready(1), ready(2)), (1, 2));
    assert_eq!(all!(biased ready(1), ready(2)), (1, 2));
}

trait PipeReady: Sized {
    fn pipe_ready(self) -> std::future::Ready<Self> {
        ready(self)
    }
}
impl PipeReady for (i32, i32) {}

#[rt::test]
async fn pin_of_every_form() {
    let (a, b) = (async { 1 }, async { 2 });
    rt::pin!(a);
    rt::pin!(b);
    assert_eq!((a.as_mut().await, (&mut b).await), (1, 2));
    rt::pin! {
        let one = async { 1 };
        let two = ready(2);
    }
    assert_eq!(rt::join!(one, two), (1, 2));
    rt::pin!();
}

trait Service {
    fn name(&self) -> String;
    fn boxed(self: Box<Self>, suffix: &str) -> String;
    fn consume(self) -> usize
    where
        Self: Sized;
}

struct Named<'a, T>(&'a str, T);

impl<T: Clone + ToString> Service for Named<'_, T> {
    #[rt::main(flavor = "current_thread")]
    async fn name(&self) -> String {
        yield_now().await;
        format!("{}{}", self.0, self.1.to_string())
    }

    /// Documented.
    #[rt::main(flavor = "current_thread")]
    async fn boxed(self: Box<Self>, suffix: &str) -> String {
        format!("{}{suffix}", self.0)
    }

    #[doc = "Documented, too."]
    #[rt::main(flavor = "current_thread")]
    async fn consume(mut self) -> usize
    where
        Self: Sized,
    {
        self.0 = &self.0[1..];
        self.0.len()
    }
}

#[rt::main(flavor = "current_thread")]
#[allow(clippy::needless_lifetimes)]
pub(super) async fn borrows<'a, 'b: 'a>(
    a: &'a str,
    b: &'b mut Vec<&'b str>,
    f: impl Fn(&str) -> bool,
) -> impl Iterator<Item = &'a str> {
    yield_now().await;
    let found = b.drain(..).find(|text| f(text));
    found.into_iter().chain([a])
}

#[rt::main(worker_threads = 1)]
#[cfg_attr(all(), inline(never))]
async fn on_one_worker(
    r#type: Box<dyn Fn(u32) -> u32 + Send>,
) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    let number = rt::spawn(async { 7 }).await?;
    Ok(r#type(number))
}

#[rt::main(flavor = "multi_thread", worker_threads = 2, crate = "rt")]
async fn every_option() {}

#[rt::main(flavor = "current_thread", start_paused = false)]
async fn a_comma_at_the_end() {}

#[test]
fn main_of_every_form() {
    assert_eq!(Named("a", 1).name(), "a1");
    assert_eq!(Box::new(Named("a", 1)).boxed("b"), "ab");
    assert_eq!(Named("abc", 1).consume(), 2);
    let mut texts = vec!["x", "yy"];
    assert_eq!(borrows("a", &mut texts, |text| text.len() == 2).collect::<Vec<_>>(), ["yy", "a"]);
    assert_eq!(on_one_worker(Box::new(|n| n + 1)).unwrap(), 8);
    every_option();
    a_comma_at_the_end();
}

#[rt::test(flavor = "multi_thread", worker_threads = 1, crate = "rt")]
async fn a_test_with_every_option() {
    rt::spawn(async {}).await.unwrap();
}

#[rt::test(flavor = "current_thread", start_paused = true)]
#[should_panic = "in a test"]
async fn a_test_that_fails() {
    sleep(Duration::from_secs(1)).await;
    panic!("in a test");
}

macro_rules! tests {
    ($($(#[$attribute:meta])* $name:ident: $future:expr => $expected:expr;)+) => {
        $(
            #[rt::test]
            $(#[$attribute])*
            async fn $name() {
                assert_eq!($future.await, $expected);
            }
        )+
    };
}

tests! {
    /// A comment.
    made_by_a_macro: ready(1) => 1;
    #[ignore = "shows that it can be"]
    ignored: ready(1) => 2;
}
