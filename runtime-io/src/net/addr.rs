//! What can be turned into socket addresses, and the turning itself.
//!
//! Most of it is known on the spot. Names are not: they go to the backend's resolver, which may block and therefore
//! runs on the blocking pool.

use std::io;
use std::iter;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::vec;

use super::backend;

/// Something that stands for one or more socket addresses.
///
/// Addresses are taken as they are. A name is looked up by the operating system on the runtime's blocking pool, when
/// the future that was given it is polled.
///
/// It is implemented for addresses with a port, for pairs of an IP address or a name and a port, for text of the form
/// `host:port`, for slices of addresses, and for references to all of them: see below. It cannot be implemented outside
/// of this crate.
///
/// # Example
///
/// ```
/// use std::net::Ipv4Addr;
/// use rt::net::{ToSocketAddrs, lookup_host};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// async fn first(of: impl ToSocketAddrs) -> rt::io::Result<std::net::SocketAddr> {
///     Ok(lookup_host(of).await?.next().expect("a lookup yields at least one"))
/// }
///
/// assert_eq!(first("127.0.0.1:80").await?, first((Ipv4Addr::LOCALHOST, 80)).await?);
/// # Ok(())
/// # }
/// ```
pub trait ToSocketAddrs: sealed::ToQuery {}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {}
impl ToSocketAddrs for SocketAddr {}
impl ToSocketAddrs for SocketAddrV4 {}
impl ToSocketAddrs for SocketAddrV6 {}
impl ToSocketAddrs for (IpAddr, u16) {}
impl ToSocketAddrs for (Ipv4Addr, u16) {}
impl ToSocketAddrs for (Ipv6Addr, u16) {}
impl ToSocketAddrs for [SocketAddr] {}
impl ToSocketAddrs for (&str, u16) {}
impl ToSocketAddrs for (String, u16) {}
impl ToSocketAddrs for str {}
impl ToSocketAddrs for String {}

/// What it takes to get the addresses.
#[derive(Debug)]
pub enum Query {
    /// Nothing.
    Known(Addresses),
    /// To look the name up.
    Name(String, u16),
    /// It cannot be done: the text makes no sense.
    Invalid(&'static str),
}

/// Addresses, in the order in which they are to be tried.
#[derive(Debug)]
pub enum Addresses {
    /// One, with no allocation.
    One(iter::Once<SocketAddr>),
    /// Any number.
    Many(vec::IntoIter<SocketAddr>),
}

impl Iterator for Addresses {
    type Item = SocketAddr;

    fn next(&mut self) -> Option<SocketAddr> {
        match self {
            Addresses::One(one) => one.next(),
            Addresses::Many(many) => many.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Addresses::One(one) => one.size_hint(),
            Addresses::Many(many) => many.size_hint(),
        }
    }
}

impl Query {
    fn known(addr: SocketAddr) -> Self {
        Query::Known(Addresses::One(iter::once(addr)))
    }

    fn host(host: &str, port: u16) -> Self {
        match host.parse::<IpAddr>() {
            Ok(ip) => Query::known(SocketAddr::new(ip, port)),
            Err(_) => Query::Name(host.to_owned(), port),
        }
    }

    fn text(text: &str) -> Self {
        if let Ok(addr) = text.parse::<SocketAddr>() {
            return Query::known(addr);
        }
        let Some((host, port)) = text.rsplit_once(':') else {
            return Query::Invalid("an address needs a port: \"host:port\"");
        };
        match port.parse::<u16>() {
            Ok(port) => Query::host(host, port),
            Err(_) => Query::Invalid("the port of an address must be a number up to 65535"),
        }
    }

    /// Whether it takes a lookup, for which there must be a runtime.
    pub(super) fn needs_runtime(&self) -> bool {
        matches!(self, Query::Name(..))
    }

    /// The addresses. Polled first within a runtime if it takes a lookup.
    pub(super) async fn resolve(self) -> io::Result<Addresses> {
        match self {
            Query::Known(addresses) => Ok(addresses),
            Query::Name(host, port) => Ok(Addresses::Many(backend::resolve(host, port).await?.into_iter())),
            Query::Invalid(why) => Err(io::Error::new(io::ErrorKind::InvalidInput, why)),
        }
    }
}

/// Tries one address after the other until something can be made of one; else the error is that of the last.
pub(super) async fn first_that_works<T, F: Future<Output = io::Result<T>>>(
    query: Query,
    mut attempt: impl FnMut(SocketAddr) -> F,
) -> io::Result<T> {
    let mut last = None;
    for addr in query.resolve().await? {
        match attempt(addr).await {
            Ok(made) => return Ok(made),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no address to use")))
}

pub(super) mod sealed {
    /// What [`ToSocketAddrs`](super::ToSocketAddrs) does, out of reach.
    pub trait ToQuery {
        /// What it takes.
        fn to_query(&self) -> super::Query;
    }
}

use sealed::ToQuery;

impl<T: ToQuery + ?Sized> ToQuery for &T {
    fn to_query(&self) -> Query {
        (**self).to_query()
    }
}

impl ToQuery for SocketAddr {
    fn to_query(&self) -> Query {
        Query::known(*self)
    }
}

impl ToQuery for SocketAddrV4 {
    fn to_query(&self) -> Query {
        Query::known((*self).into())
    }
}

impl ToQuery for SocketAddrV6 {
    fn to_query(&self) -> Query {
        Query::known((*self).into())
    }
}

impl ToQuery for (IpAddr, u16) {
    fn to_query(&self) -> Query {
        Query::known((*self).into())
    }
}

impl ToQuery for (Ipv4Addr, u16) {
    fn to_query(&self) -> Query {
        Query::known((*self).into())
    }
}

impl ToQuery for (Ipv6Addr, u16) {
    fn to_query(&self) -> Query {
        Query::known((*self).into())
    }
}

impl ToQuery for [SocketAddr] {
    fn to_query(&self) -> Query {
        Query::Known(Addresses::Many(Vec::from(self).into_iter()))
    }
}

impl ToQuery for (&str, u16) {
    fn to_query(&self) -> Query {
        Query::host(self.0, self.1)
    }
}

impl ToQuery for (String, u16) {
    fn to_query(&self) -> Query {
        Query::host(&self.0, self.1)
    }
}

impl ToQuery for str {
    fn to_query(&self) -> Query {
        Query::text(self)
    }
}

impl ToQuery for String {
    fn to_query(&self) -> Query {
        Query::text(self)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn known(of: impl ToSocketAddrs) -> Vec<SocketAddr> {
        match of.to_query() {
            Query::Known(addresses) => addresses.collect(),
            other => panic!("not known at once: {other:?}"),
        }
    }

    #[test]
    fn literals_need_no_lookup() {
        let v4: SocketAddr = "127.0.0.1:80".parse().unwrap();
        let v6: SocketAddr = "[::1]:80".parse().unwrap();
        assert_eq!(known(v4), [v4]);
        assert_eq!(known("127.0.0.1:80"), [v4]);
        assert_eq!(known(String::from("[::1]:80")), [v6]);
        assert_eq!(known(("127.0.0.1", 80)), [v4]);
        assert_eq!(known((String::from("::1"), 80)), [v6]);
        assert_eq!(known((Ipv4Addr::LOCALHOST, 80)), [v4]);
        assert_eq!(known((IpAddr::from(Ipv6Addr::LOCALHOST), 80)), [v6]);
        assert_eq!(known(&[v4, v6][..]), [v4, v6]);
        let borrowed = &v4;
        assert_eq!(known(borrowed), [v4]);
    }

    #[test]
    fn names_are_left_to_the_resolver() {
        assert!(matches!("localhost:80".to_query(), Query::Name(host, 80) if host == "localhost"));
        assert!(matches!(("localhost", 1).to_query(), Query::Name(host, 1) if host == "localhost"));
    }

    #[test]
    fn nonsense_is_refused_without_asking_anybody() {
        assert!(matches!("localhost".to_query(), Query::Invalid(_)));
        assert!(matches!("localhost:".to_query(), Query::Invalid(_)));
        assert!(matches!("localhost:65536".to_query(), Query::Invalid(_)));
    }
}
