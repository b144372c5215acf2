//! Options, which mean nothing to anybody but the operating system.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::net::methods::traffic_class_methods;

use super::UdpSocket;

/// All of these fail with what the operating system says, and in no other way.
impl UdpSocket {
    /// Whether datagrams can be sent to broadcast addresses (`SO_BROADCAST`).
    pub fn broadcast(&self) -> io::Result<bool> {
        self.os().broadcast()
    }

    /// Sets [`broadcast`](Self::broadcast).
    pub fn set_broadcast(&self, on: bool) -> io::Result<()> {
        self.os().set_broadcast(on)
    }

    /// How many hops datagrams from this socket may take (`IP_TTL`).
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.source().ttl()
    }

    /// Sets [`ttl`](Self::ttl).
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.source().set_ttl(ttl)
    }

    traffic_class_methods!(this => this.os());
}

/// Multicast.
impl UdpSocket {
    /// Whether what is sent to IPv4 groups comes back to this host (`IP_MULTICAST_LOOP`).
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.os().multicast_loop_v4()
    }

    /// Sets [`multicast_loop_v4`](Self::multicast_loop_v4).
    pub fn set_multicast_loop_v4(&self, on: bool) -> io::Result<()> {
        self.os().set_multicast_loop_v4(on)
    }

    /// How many hops what is sent to IPv4 groups may take (`IP_MULTICAST_TTL`). At first 1: the local network.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.os().multicast_ttl_v4()
    }

    /// Sets [`multicast_ttl_v4`](Self::multicast_ttl_v4).
    pub fn set_multicast_ttl_v4(&self, ttl: u32) -> io::Result<()> {
        self.os().set_multicast_ttl_v4(ttl)
    }

    /// Whether what is sent to IPv6 groups comes back to this host (`IPV6_MULTICAST_LOOP`).
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.os().multicast_loop_v6()
    }

    /// Sets [`multicast_loop_v6`](Self::multicast_loop_v6).
    pub fn set_multicast_loop_v6(&self, on: bool) -> io::Result<()> {
        self.os().set_multicast_loop_v6(on)
    }

    /// Receives what is sent to an IPv4 group, through the interface that has the address `interface`, or one that the
    /// system picks if that is [`Ipv4Addr::UNSPECIFIED`].
    pub fn join_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.os().join_multicast_v4(&multiaddr, &interface)
    }

    /// Undoes [`join_multicast_v4`](Self::join_multicast_v4).
    pub fn leave_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.os().leave_multicast_v4(&multiaddr, &interface)
    }

    /// Receives what is sent to an IPv6 group, through the interface of that number, or one that the system picks if
    /// it is 0.
    pub fn join_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.os().join_multicast_v6(multiaddr, interface)
    }

    /// Undoes [`join_multicast_v6`](Self::join_multicast_v6).
    pub fn leave_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.os().leave_multicast_v6(multiaddr, interface)
    }
}
