//! In place of `signals.rs` where there are no signals to listen for: on Windows, without the feature, under loom.

use std::io;
use std::sync::Arc;

use super::Handle;
use crate::readiness::WakeBatch;

/// A driver that listens for nothing.
pub(super) struct Member(());

impl Member {
    #[expect(clippy::unnecessary_wraps, reason = "joining can fail where there are signals")]
    pub(super) fn join(_: &Arc<Handle>) -> io::Result<Self> {
        Ok(Self(()))
    }
}

pub(super) fn deliver(_: &mut WakeBatch) {}
