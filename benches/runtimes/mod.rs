//! The runtimes that are compared, each set up as its documentation says, with its defaults.

mod files;
mod joined;
mod on_rt;
mod on_smol;
mod on_tokio;
mod system;

pub use self::joined::Joined;
pub use self::on_rt::{Rt, RtHandle};
pub use self::on_smol::{Smol, SmolHandle};
pub use self::on_tokio::{Tokio, TokioHandle};
