//! Guards that cancel a token when they are dropped.

use super::CancellationToken;

/// Cancels a token when it is dropped. Made by [`CancellationToken::drop_guard`].
#[derive(Debug)]
#[must_use = "it cancels the token when it is dropped"]
pub struct DropGuard {
    /// Empty when it was disarmed.
    token: Option<CancellationToken>,
}

impl DropGuard {
    pub(super) fn new(token: CancellationToken) -> Self {
        Self { token: Some(token) }
    }

    /// Gives the token back, without cancelling it.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::task::CancellationToken;
    ///
    /// let guard = CancellationToken::new().drop_guard();
    /// let token = guard.disarm();
    /// assert!(!token.is_cancelled());
    /// ```
    pub fn disarm(mut self) -> CancellationToken {
        self.token.take().expect("it is empty only after this")
    }
}

impl Drop for DropGuard {
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            token.cancel();
        }
    }
}

/// Cancels a token when it is dropped, and borrows it. Made by [`CancellationToken::drop_guard_ref`].
#[derive(Debug)]
#[must_use = "it cancels the token when it is dropped"]
pub struct DropGuardRef<'a> {
    /// Empty when it was disarmed.
    token: Option<&'a CancellationToken>,
}

impl<'a> DropGuardRef<'a> {
    pub(super) fn new(token: &'a CancellationToken) -> Self {
        Self { token: Some(token) }
    }

    /// Gives the token back, without cancelling it.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::task::CancellationToken;
    ///
    /// let token = CancellationToken::new();
    /// token.drop_guard_ref().disarm();
    /// assert!(!token.is_cancelled());
    /// ```
    pub fn disarm(mut self) -> &'a CancellationToken {
        self.token.take().expect("it is empty only after this")
    }
}

impl Drop for DropGuardRef<'_> {
    fn drop(&mut self) {
        if let Some(token) = self.token {
            token.cancel();
        }
    }
}
