//! The stream itself. It waits where its script says so, for the other side, or for the handle.

use std::fmt;
use std::io;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use super::script::{Action, Added, Script, give_out};
use crate::io::{AsyncRead, AsyncWrite, ReadBuf};
use crate::time::{Sleep, sleep_until};

/// A stream that follows a script, and panics if it cannot. Made by [`Builder`](super::Builder).
///
/// See [the module](super) for what it checks.
pub struct Mock {
    script: Script,
    /// The reader and the writer.
    sides: [Side; 2],
    is_shut_down: bool,
    name: Name,
}

/// What panics tell.
pub(super) struct Name {
    pub(super) name: String,
    pub(super) built_at: &'static Location<'static>,
}

const READER: usize = 0;
const WRITER: usize = 1;

/// What a side waits for: a time, or the other side.
#[derive(Default)]
struct Side {
    sleep: Option<Pin<Box<Sleep>>>,
    waker: Option<Waker>,
}

impl Mock {
    pub(super) fn new(script: Script, name: Name) -> Self {
        Self { script, sides: Default::default(), is_shut_down: false, name }
    }

    /// Waits while the script says so.
    fn poll_wait(&mut self, side: usize, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            self.script.next();
            let Some(until) = self.script.waits_until() else {
                self.sides[side].sleep = None;
                return Poll::Ready(());
            };
            let sleep = &mut self.sides[side].sleep;
            let sleep = match sleep {
                Some(sleep) if sleep.deadline() == until => sleep,
                _ => sleep.insert(Box::pin(sleep_until(until))),
            };
            ready!(sleep.as_mut().poll(cx));
        }
    }

    /// Takes the next action from the handle.
    fn poll_more(&mut self, side: usize, cx: &Context<'_>) -> Poll<bool> {
        match self.script.more.take(side, cx.waker()) {
            Added::Action(action) => {
                self.script.actions.push_back(action);
                // It may be the other side's.
                self.wake_other(side);
                Poll::Ready(true)
            }
            Added::Nothing => Poll::Ready(false),
            Added::NothingYet => Poll::Pending,
        }
    }

    fn wait_for_other(&mut self, side: usize, cx: &Context<'_>) {
        self.sides[side].waker = Some(cx.waker().clone());
    }

    /// The script has gone on.
    fn wake_other(&mut self, side: usize) {
        if let Some(waker) = self.sides[1 - side].waker.take() {
            waker.wake();
        }
    }

    fn panic(&self, what: fmt::Arguments<'_>) -> ! {
        panic!("{what} {}", self.place())
    }

    fn place(&self) -> String {
        let (Name { name, built_at }, actions) = (&self.name, self.script.actions.len());
        let name = if name.is_empty() { String::new() } else { format!("name {name}, ") };
        format!("({name}{actions} actions remain, built at {built_at})")
    }
}

impl AsyncRead for Mock {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            ready!(self.poll_wait(READER, cx));
            let result = match self.script.next() {
                Some(Action::Read(data)) => {
                    let n = buf.remaining().min(data.len());
                    buf.put_slice(&data[..n]);
                    data.drain(..n);
                    Ok(())
                }
                Some(Action::ReadError(error)) => Err(give_out(error.take().expect("it is not done"))),
                Some(_) => {
                    self.wait_for_other(READER, cx);
                    return Poll::Pending;
                }
                None => match ready!(self.poll_more(READER, cx)) {
                    true => continue,
                    false => return Poll::Ready(Ok(())),
                },
            };
            self.wake_other(READER);
            return Poll::Ready(result);
        }
    }
}

impl AsyncWrite for Mock {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_shut_down {
            self.panic(format_args!("unexpected write after shutdown: b\"{}\"", buf.escape_ascii()));
        }
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        loop {
            ready!(self.poll_wait(WRITER, cx));
            let result = match self.script.next() {
                Some(Action::WriteError(error)) => Err(give_out(error.take().expect("it is not done"))),
                _ => match self.script.accept(buf) {
                    Ok(0) if self.script.expects_writes() => {
                        // Behind something that is to be read first.
                        self.wait_for_other(WRITER, cx);
                        return Poll::Pending;
                    }
                    Ok(0) => match ready!(self.poll_more(WRITER, cx)) {
                        true => continue,
                        false => self.panic(format_args!("unexpected write of b\"{}\"", buf.escape_ascii())),
                    },
                    Ok(n) => Ok(n),
                    Err(expected) => self.panic(format_args!(
                        "unexpected write of b\"{}\", expected b\"{}\"",
                        buf.escape_ascii(),
                        expected.escape_ascii()
                    )),
                },
            };
            self.wake_other(WRITER);
            return Poll::Ready(result);
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.is_shut_down = true;
        Poll::Ready(Ok(()))
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.script.more.mock_is_gone();
        if std::thread::panicking() {
            // The test has failed already, and a second panic would end the process.
            return;
        }
        for action in &self.script.actions {
            match action {
                Action::Read(data) if !data.is_empty() => {
                    self.panic(format_args!("There is still data left to read. b\"{}\"", data.escape_ascii()));
                }
                Action::Write(data) if !data.is_empty() => {
                    self.panic(format_args!("There is still data left to write. b\"{}\"", data.escape_ascii()));
                }
                _ => {}
            }
        }
    }
}

impl fmt::Debug for Mock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let actions = &self.script.actions;
        f.debug_struct("Mock").field("name", &self.name.name).field("actions", actions).finish_non_exhaustive()
    }
}
