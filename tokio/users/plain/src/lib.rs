//! Has Tokio to give away, as web frameworks do: see `renamed-user`.

pub use tokio;
