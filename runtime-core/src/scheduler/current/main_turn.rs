//! When the main future is polled: the loop of a thread in `block_on`, by the rules of the line (`line.rs`).

use std::task::Poll;

use super::drive::Worker;
use crate::scheduler::main_waker::MainWaker;
use crate::task::current;

impl Worker {
    /// Polls the main future and tasks until the main future is done, or the runtime closes (`Pending`).
    pub(super) fn run_until_ready<T>(&self, main: &MainWaker, poll: &mut impl FnMut() -> Poll<T>) -> Poll<T> {
        while !self.is_closing() {
            if self.is_mains_turn(main) && main.take() {
                // Those that have given way go before what the main future spawns and wakes.
                self.begin_round();
                let polled = self.measure_main(&mut *poll);
                self.record_passing();
                if polled.is_ready() {
                    return polled;
                }
                self.stand_in_line(main.is_woken());
            }
            if !self.turn() && !main.is_woken() && !self.tell_end() {
                self.park();
            }
        }
        Poll::Pending
    }

    /// After a poll of the main future that was not its last.
    fn stand_in_line(&self, is_woken: bool) {
        let queued = self.core.queue.borrow().number_ready();
        if !is_woken {
            self.line.begin_wait(queued);
        } else if current::has_given_way() {
            self.line.begin_given_way(queued);
        } else {
            self.line.begin_woken(queued);
        }
    }

    /// Whether the main future is to be polled, if it was woken: at once if it goes first, else in its turn. One that
    /// was woken and stands in no line gets in line here.
    #[inline]
    fn is_mains_turn(&self, main: &MainWaker) -> bool {
        if main.is_woken() && !self.line.is_main_in_it() {
            if self.line.is_main_first() {
                return true;
            }
            self.line.begin_woken(self.core.queue.borrow().number_ready());
        }
        !self.line.is_empty() && self.serve_line(main)
    }

    /// Serves the one who stands in the line, if his turn has come: polls the drivers if they do, or if the main future
    /// does that gave way. Returns whether the main future is to be polled then, if it was woken.
    fn serve_line(&self, main: &MainWaker) -> bool {
        let has_injected = || !self.shared().injector.is_empty();
        let has_tasks = || !self.core.queue.borrow().is_empty() || has_injected();
        let is_of_wait = self.line.is_of_wait();
        let is_round_going_on = || self.core.queue.borrow().number_ready() > 0 || has_injected();
        if self.line.is_anybody_ahead() && (is_of_wait || is_round_going_on()) {
            return false;
        }
        // Without tasks, a thread whose main future waits goes to sleep in the drivers.
        let is_drivers_turn =
            if is_of_wait { self.line.has_self_waker() && has_tasks() } else { self.line.has_given_way() };
        self.line.end();
        if is_drivers_turn {
            self.poll_drivers_between_polls();
        }
        !is_of_wait || main.is_woken()
    }
}
