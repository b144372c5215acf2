//! Reading from a Unix stream, and what a short read proves.
//!
//! A read of a Unix stream that returns fewer bytes than it was asked for has taken all there is, unless it ended
//! behind descriptors or credentials, or at the mark of urgent data ([`readiness`](crate::readiness) has the list). The
//! first two are seen by the read itself, if it is made by a call that tells of them. Urgent data is announced by an
//! event, which makes the registration wary, as for TCP; and so do descriptors here. A stream that has had none of them
//! is told to be empty by its short read, and need not be read once more to find that out.
//!
//! [`UnixStream`](super::UnixStream) calls this for the trait; `try_read` and `async_io` clear readiness by a refusal
//! only.

use std::io;
use std::task::{Context, Poll};

use socket2::SockRef;

use crate::interest::Interest;
use crate::io::ReadBuf;
use crate::net::endpoint::{BOTH_WAYS, Endpoint};
use crate::net::receive::receive_telling;
use crate::readiness::Direction;

/// Reads stop at the mark of urgent data, although hardly anybody sends it.
pub(super) const INTEREST: Interest = BOTH_WAYS.add(Interest::PRIORITY);

#[inline]
pub(super) fn poll_read(
    io: &Endpoint<mio::net::UnixStream>,
    cx: &mut Context<'_>,
    buf: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    let (stream, wanted) = (io.source(), buf.remaining());
    let receive = || stream.try_io(|| receive(io, buf));
    io.registration().poll_transfer(cx, Direction::Read, wanted, receive).map_ok(drop)
}

fn receive(io: &Endpoint<mio::net::UnixStream>, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
    let (count, may_have_more) = receive_telling(&SockRef::from(io.source()), buf)?;
    if may_have_more {
        // Before readiness would be cleared: it is not, then.
        io.registration().be_wary();
    }
    Ok(count)
}
