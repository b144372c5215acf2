//! Stepping aside: what a worker does whose task says that it is going to block (`block_in_place`).
//!
//! It keeps its core, as a worker that is stuck without a word does, and others see to its work in the same way: they
//! steal it. What it says is only that they shall not wait for the monitor. So it
//!
//! 1. marks its slot, so that even a single task on its lanes counts as work that somebody should come for;
//! 2. counts itself as aside (`balance.rs`); if there are now too few spares and no worker sleeps, starts one;
//! 3. otherwise wakes a sleeper, if there is a task or nobody is in the drivers. If nobody sleeps, those who are up
//!    come by: a spare that was about to retire finds that it is needed, and one that was about to lie down looks
//!    at all lanes after it has said so (`idle.rs`), and finds the mark.
//!
//! While it is aside, what the blocking code spawns or wakes goes to the injector. The code may even block on a future:
//! the thread counts as outside of the runtime.

use super::{Shared, Worker};
use crate::context;
use crate::coop::Budget;

impl Worker {
    /// Runs code that blocks in the middle of a poll.
    pub(crate) fn block_in_place<R>(&self, f: impl FnOnce() -> R) -> R {
        // A guest holds nobody up, and one that is aside has said so. Outside of a poll, in a hook, the worker is
        // known to others as one that searches or sleeps.
        let holds_others_up = !self.passes_on.get() && context::task_id().is_some();
        let _back = holds_others_up.then(|| self.step_aside());
        let _outside = context::leave_for_a_while();
        let _budget = context::replace_budget(Budget::UNCONSTRAINED);
        f()
    }

    #[cold]
    fn step_aside(&self) -> impl Drop {
        struct Back<'a>(&'a Worker);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.shared().spares.balance.step_back();
                self.0.slot().current.step_aside(false);
                self.0.passes_on.set(false);
            }
        }
        self.passes_on.set(true);
        self.slot().current.step_aside(true);
        let back = Back(self);
        let (shared, runtime): (&Shared, _) = (self.shared(), self.runtime());
        let too_few = shared.spares.balance.step_aside();
        if too_few && !shared.idle.has_sleepers() && shared.start_spare(runtime) {
            return back;
        }
        if self.has_queued() {
            shared.notify(runtime, || false);
        }
        shared.see_to_drivers(runtime);
        back
    }
}
