//! Files, directories and standard streams, through the facade.

mod cancelled;
mod directories;
mod ends;
mod files;
#[cfg(unix)]
mod standard_streams;
mod temporary;
