//! Sockets, pipes and descriptors through the facade, many at once.

#[cfg(unix)]
mod async_fd;
#[cfg(unix)]
mod blocking_mode;
mod busy;
mod datagrams;
mod echo;
mod listener;
#[cfg(unix)]
mod pipes;
#[cfg(target_os = "linux")]
mod short_reads;
mod streams;
#[cfg(unix)]
mod unix_names;
#[cfg(unix)]
mod unix_sockets;
