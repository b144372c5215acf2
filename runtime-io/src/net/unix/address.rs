//! The names of Unix sockets.

use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net;
use std::path::Path;

use socket2::SockAddr;

/// The address of a Unix socket: a path, a name in the abstract namespace (Linux), or none.
///
/// It converts to and from [`std::os::unix::net::SocketAddr`].
///
/// # Example
///
/// ```
/// use rt::net::UnixStream;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let (one, _other) = UnixStream::pair()?;
/// assert!(one.local_addr()?.is_unnamed());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SocketAddr(net::SocketAddr);

impl SocketAddr {
    /// Whether the socket has no name: it was never bound.
    pub fn is_unnamed(&self) -> bool {
        self.0.is_unnamed()
    }

    /// The path that the socket is bound to, if it is.
    pub fn as_pathname(&self) -> Option<&Path> {
        self.0.as_pathname()
    }

    /// The name in the abstract namespace that the socket is bound to, if it is, without the zero byte in front.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn as_abstract_name(&self) -> Option<&[u8]> {
        #[cfg(target_os = "android")]
        use std::os::android::net::SocketAddrExt;
        #[cfg(target_os = "linux")]
        use std::os::linux::net::SocketAddrExt;

        self.0.as_abstract_name()
    }
}

impl fmt::Debug for SocketAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<net::SocketAddr> for SocketAddr {
    fn from(address: net::SocketAddr) -> Self {
        Self(address)
    }
}

impl From<SocketAddr> for net::SocketAddr {
    fn from(address: SocketAddr) -> Self {
        address.0
    }
}

/// The address for a path. On Linux a path that begins with a zero byte is a name in the abstract namespace.
///
/// # Errors
///
/// If it is too long, or has a zero byte where there must be none.
pub(super) fn to_system(path: &Path) -> io::Result<SockAddr> {
    let bytes = path.as_os_str().as_bytes();
    let is_abstract = cfg!(any(target_os = "linux", target_os = "android")) && bytes.first() == Some(&0);
    // The system would end the path there, and so take another one.
    if !is_abstract && bytes.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a path must have no zero byte in it"));
    }
    SockAddr::unix(path)
}

/// As [`to_system`], for an address, which may be of any kind.
///
/// # Errors
///
/// None for addresses that std has made.
pub(super) fn named_to_system(address: &SocketAddr) -> io::Result<SockAddr> {
    if let Some(path) = address.as_pathname() {
        return SockAddr::unix(path);
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(name) = address.as_abstract_name() {
        use std::ffi::OsStr;

        let path = [b"\0", name].concat();
        return SockAddr::unix(OsStr::from_bytes(&path));
    }
    // To bind to it, Linux picks an abstract name; whatever else cannot be done with it, the system says.
    SockAddr::unix("")
}

/// What the system says of a socket's address. A socket that was never bound has none to tell, and is unnamed.
///
/// # Errors
///
/// If it is not the address of a Unix socket.
pub(super) fn from_system(address: &SockAddr) -> io::Result<SocketAddr> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(name) = address.as_abstract_namespace() {
        #[cfg(target_os = "android")]
        use std::os::android::net::SocketAddrExt;
        #[cfg(target_os = "linux")]
        use std::os::linux::net::SocketAddrExt;

        return net::SocketAddr::from_abstract_name(name).map(SocketAddr);
    }
    let path = address.as_pathname().unwrap_or(Path::new(""));
    // A path that fills all of the system's field ends without a zero, and std has no such addresses. A message is not
    // to be lost for that: its sender is as good as unnamed.
    net::SocketAddr::from_pathname(path).or_else(|_| net::SocketAddr::from_pathname("")).map(SocketAddr)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn there_and_back(address: &SocketAddr) -> SocketAddr {
        from_system(&named_to_system(address).unwrap()).unwrap()
    }

    #[test]
    fn a_path_survives() {
        let address = from_system(&to_system(Path::new("/a/path")).unwrap()).unwrap();
        assert_eq!(address.as_pathname(), Some(Path::new("/a/path")));
        assert_eq!(there_and_back(&address).as_pathname(), Some(Path::new("/a/path")));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn so_does_an_abstract_name_with_zeros_in_it() {
        use std::os::linux::net::SocketAddrExt;

        let address = SocketAddr(net::SocketAddr::from_abstract_name(b"na\0me").unwrap());
        assert_eq!(there_and_back(&address).as_abstract_name(), Some(&b"na\0me"[..]));
        let address = from_system(&to_system(Path::new("\0name")).unwrap()).unwrap();
        assert_eq!(address.as_abstract_name(), Some(&b"name"[..]));
        assert!(address.as_pathname().is_none() && !address.is_unnamed());
    }

    #[test]
    fn a_path_with_a_zero_byte_is_refused_and_not_cut_off() {
        for path in ["a\0b", "a\0"] {
            let error = to_system(Path::new(path)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert_eq!(error.to_string(), "a path must have no zero byte in it");
        }
        let has_abstract_names = cfg!(any(target_os = "linux", target_os = "android"));
        assert_eq!(to_system(Path::new("\0a\0b")).is_ok(), has_abstract_names);
    }

    #[test]
    fn nothing_is_unnamed_and_stays_so() {
        let (socket, _) = net::UnixStream::pair().unwrap();
        let address = SocketAddr(socket.local_addr().unwrap());
        assert!(address.is_unnamed());
        assert!(there_and_back(&address).is_unnamed());
        let system = socket2::SockRef::from(&socket).local_addr().unwrap();
        assert!(from_system(&system).unwrap().is_unnamed());
    }
}
