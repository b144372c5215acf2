//! TCP and descriptors through the facade, many at once.

#[cfg(unix)]
mod async_fd;
#[cfg(unix)]
mod blocking_mode;
mod busy;
mod echo;
mod listener;
#[cfg(target_os = "linux")]
mod short_reads;
mod streams;
