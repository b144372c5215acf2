//! The user's hooks around a runtime's threads. A panic of one is contained: it must not take a worker down.

use super::config::{Config, Hook};
use crate::task::{contain, discard};

/// The closures that the user wants called on the threads of the runtime.
pub(crate) struct Hooks {
    thread_start: Option<Hook>,
    thread_stop: Option<Hook>,
    park: Option<Hook>,
    unpark: Option<Hook>,
}

impl Hooks {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            thread_start: config.on_thread_start.clone(),
            thread_stop: config.on_thread_stop.clone(),
            park: config.on_thread_park.clone(),
            unpark: config.on_thread_unpark.clone(),
        }
    }

    pub(crate) fn on_thread_start(&self) {
        call(&self.thread_start);
    }

    pub(crate) fn on_thread_stop(&self) {
        call(&self.thread_stop);
    }

    pub(crate) fn has_park(&self) -> bool {
        self.park.is_some()
    }

    pub(crate) fn has_unpark(&self) -> bool {
        self.unpark.is_some()
    }

    pub(crate) fn on_park(&self) {
        call(&self.park);
    }

    pub(crate) fn on_unpark(&self) {
        call(&self.unpark);
    }
}

fn call(hook: &Option<Hook>) {
    if let Some(hook) = hook {
        discard(contain(|| hook()));
    }
}
