//! Futures that have a name, because something can be done with them before they are awaited.

pub use crate::notify::{Notified, OwnedNotified};
