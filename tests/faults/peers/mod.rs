//! Faults of the other side of a connection.

#[cfg(target_os = "linux")]
mod abrupt_ends;
mod broken_connections;
