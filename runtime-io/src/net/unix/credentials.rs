//! Who is at the other end of a stream.

use std::io;
use std::os::fd::AsFd;

use runtime_core::os::peer::{PeerCredentials, peer_credentials};

use super::{gid_t, pid_t, uid_t};

/// The credentials of the process at the other end of a [`UnixStream`](crate::net::UnixStream), as of when it
/// connected.
///
/// See [`UnixStream::peer_cred`](crate::net::UnixStream::peer_cred).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct UCred {
    peer: PeerCredentials,
}

impl UCred {
    pub(super) fn of_peer(socket: impl AsFd) -> io::Result<Self> {
        Ok(Self { peer: peer_credentials(socket)? })
    }

    /// The effective user of the process.
    pub fn uid(&self) -> uid_t {
        self.peer.user
    }

    /// The effective group of the process.
    pub fn gid(&self) -> gid_t {
        self.peer.group
    }

    /// The number of the process, where the system tells: Linux, Android and Apple's systems do.
    pub fn pid(&self) -> Option<pid_t> {
        self.peer.process
    }
}
