//! quinn on rt's sockets: what arrives, and how connections end.

mod ends;
mod peers;
mod transfers;
