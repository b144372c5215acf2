//! [`FileTimes`].

use std::time::SystemTime;

/// When a file was read and changed last, for [`File::set_times`](super::File::set_times). What is not set here is left
/// as it is.
///
/// # Example
///
/// ```
/// use std::time::SystemTime;
///
/// let times = rt::fs::FileTimes::new().set_accessed(SystemTime::now()).set_modified(SystemTime::UNIX_EPOCH);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "this does nothing until `File::set_times` is given it"]
pub struct FileTimes {
    accessed: Option<SystemTime>,
    modified: Option<SystemTime>,
    #[cfg(any(windows, target_vendor = "apple"))]
    created: Option<SystemTime>,
}

impl FileTimes {
    /// Sets nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// When the file was read last.
    pub fn set_accessed(mut self, t: SystemTime) -> Self {
        self.accessed = Some(t);
        self
    }

    /// When the file was changed last.
    pub fn set_modified(mut self, t: SystemTime) -> Self {
        self.modified = Some(t);
        self
    }

    /// When the file was created. On Windows and Apple's systems only.
    #[cfg(any(windows, target_vendor = "apple"))]
    pub fn set_created(mut self, t: SystemTime) -> Self {
        self.created = Some(t);
        self
    }

    pub(super) fn into_std(self) -> std::fs::FileTimes {
        #[cfg(target_vendor = "apple")]
        use std::os::darwin::fs::FileTimesExt as _;
        #[cfg(windows)]
        use std::os::windows::fs::FileTimesExt as _;

        let mut times = std::fs::FileTimes::new();
        if let Some(accessed) = self.accessed {
            times = times.set_accessed(accessed);
        }
        if let Some(modified) = self.modified {
            times = times.set_modified(modified);
        }
        #[cfg(any(windows, target_vendor = "apple"))]
        if let Some(created) = self.created {
            times = times.set_created(created);
        }
        times
    }
}
