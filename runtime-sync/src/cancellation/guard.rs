//! Guards that cancel a token when they are dropped.

use super::CancellationToken;

const ARMED: &str = "it is without its token only after it was disarmed, which consumes it";

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

    /// The token.
    ///
    /// # Example
    ///
    /// ```
    /// let guard = rt::task::CancellationToken::new().drop_guard();
    /// assert!(!guard.token().is_cancelled());
    /// ```
    pub fn token(&self) -> &CancellationToken {
        self.token.as_ref().expect(ARMED)
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
        self.token.take().expect(ARMED)
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

    /// The token.
    ///
    /// # Example
    ///
    /// ```
    /// let token = rt::task::CancellationToken::new();
    /// let guard = token.drop_guard_ref();
    /// assert!(!guard.token().is_cancelled());
    /// ```
    pub fn token(&self) -> &CancellationToken {
        self.token.expect(ARMED)
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
        self.token.take().expect(ARMED)
    }
}

impl Drop for DropGuardRef<'_> {
    fn drop(&mut self) {
        if let Some(token) = self.token {
            token.cancel();
        }
    }
}
