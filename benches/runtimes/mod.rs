//! The runtimes that are compared, each set up as its documentation says, with its defaults.

mod files;
mod joined;
mod on_rt;
mod on_smol;
mod on_tokio;
mod rt_with;
mod system;

pub use self::joined::Joined;
pub use self::on_rt::{Rt, RtHandle};
pub use self::on_smol::{Smol, SmolHandle};
pub use self::on_tokio::{Tokio, TokioHandle};
pub use self::rt_with::{Recorded, RtWith, Unmeasured, Variant};
