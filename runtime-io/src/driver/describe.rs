//! What a descriptor is that a task waits for, for `Handle::tasks`.
//!
//! The task is another one, and goes on: it may have closed the descriptor since, and its number may stand for
//! something else. So this only asks the system, which answers or refuses, and keeps nothing.

#![allow(unsafe_code, reason = "names a descriptor that is not ours")]

use std::os::fd::BorrowedFd;

use runtime_core::task::{SocketKind, WaitsFor};
use socket2::{Domain, SockAddr, SockRef, Type};

pub(super) fn describe(number: u64) -> WaitsFor {
    let other = WaitsFor::socket(SocketKind::Other, None, None);
    let Some(number) = i32::try_from(number).ok().filter(|number| *number >= 0) else { return other };
    // SAFETY: nothing is read from it, written to it or closed: the system is asked for its names, and refuses if it is
    // no socket, or none any more.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    let socket = SockRef::from(&descriptor);
    let (Ok(local), Ok(kind)) = (socket.local_addr(), socket.r#type()) else { return other };
    let kind = match (local.domain(), kind) {
        (Domain::UNIX, _) => SocketKind::Unix,
        (Domain::IPV4 | Domain::IPV6, Type::STREAM) => SocketKind::Tcp,
        (Domain::IPV4 | Domain::IPV6, Type::DGRAM) => SocketKind::Udp,
        _ => SocketKind::Other,
    };
    let peer = socket.peer_addr().ok().as_ref().and_then(SockAddr::as_socket);
    WaitsFor::socket(kind, local.as_socket(), peer)
}
