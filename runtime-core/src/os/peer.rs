//! Who is at the other end of a Unix socket.

use std::io;
use std::os::fd::AsFd;

/// The credentials of the process at the other end of a Unix stream socket, as of when it connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeerCredentials {
    /// Its effective user.
    pub user: u32,
    /// Its effective group.
    pub group: u32,
    /// Its number, where the system tells.
    pub process: Option<i32>,
}

/// The credentials of the process at the other end.
///
/// # Errors
///
/// The operating system's: the socket is not connected, for example. `Unsupported` where the system has no such call.
pub fn peer_credentials(socket: impl AsFd) -> io::Result<PeerCredentials> {
    system::peer_credentials(socket.as_fd())
}

/// Reads a socket option that is a plain struct.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod option {
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd, BorrowedFd};

    /// # Safety
    ///
    /// `T` must be what the option of this name holds, and consist of integers only.
    pub(super) unsafe fn get<T>(socket: BorrowedFd<'_>, level: libc::c_int, name: libc::c_int) -> io::Result<T> {
        let mut value = MaybeUninit::<T>::zeroed();
        let mut length = libc::socklen_t::try_from(size_of::<T>()).expect("options are small");
        // SAFETY: The pointers are to locals, and the length is that of the value.
        let result =
            unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, value.as_mut_ptr().cast(), &raw mut length) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: All zeroes is a value of integers, and so is what the system has written over them.
        Ok(unsafe { value.assume_init() })
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use std::io;
    use std::os::fd::BorrowedFd;

    use super::{PeerCredentials, option};

    pub(super) fn peer_credentials(socket: BorrowedFd<'_>) -> io::Result<PeerCredentials> {
        // SAFETY: This option holds this struct, which is made of three integers.
        let peer: libc::ucred = unsafe { option::get(socket, libc::SOL_SOCKET, libc::SO_PEERCRED)? };
        Ok(PeerCredentials { user: peer.uid, group: peer.gid, process: Some(peer.pid) })
    }
}

#[cfg(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "dragonfly",
    target_os = "netbsd",
    target_os = "openbsd"
))]
mod system {
    use std::io;
    use std::os::fd::{AsRawFd, BorrowedFd};

    use super::PeerCredentials;

    pub(super) fn peer_credentials(socket: BorrowedFd<'_>) -> io::Result<PeerCredentials> {
        let (mut user, mut group) = (0, 0);
        // SAFETY: Both pointers are to locals.
        if unsafe { libc::getpeereid(socket.as_raw_fd(), &raw mut user, &raw mut group) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(PeerCredentials { user, group, process: process(socket) })
    }

    #[cfg(target_vendor = "apple")]
    fn process(socket: BorrowedFd<'_>) -> Option<i32> {
        // SAFETY: This option holds one integer.
        unsafe { super::option::get(socket, libc::SOL_LOCAL, libc::LOCAL_PEERPID) }.ok()
    }

    #[cfg(not(target_vendor = "apple"))]
    fn process(_: BorrowedFd<'_>) -> Option<i32> {
        None
    }
}

#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "dragonfly",
    target_os = "netbsd",
    target_os = "openbsd"
)))]
mod system {
    use std::io;
    use std::os::fd::BorrowedFd;

    use super::PeerCredentials;

    pub(super) fn peer_credentials(_: BorrowedFd<'_>) -> io::Result<PeerCredentials> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, target_os = "linux", not(loom)))]
mod tests {
    use std::os::unix::net::UnixStream;

    #[test]
    fn the_peer_of_a_pair_is_this_process() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let peer = super::peer_credentials(&ours).unwrap();
        assert_eq!(peer.process, i32::try_from(std::process::id()).ok());
    }
}
