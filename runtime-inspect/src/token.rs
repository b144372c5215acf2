//! [`Token`]: what a client must show that comes from another machine.

use std::hint::black_box;
use std::io;

/// A secret that the user and the server know.
pub(crate) struct Token(String);

impl Token {
    pub(crate) fn new(token: String) -> Self {
        Self(token)
    }

    /// A new one, of 128 random bits.
    ///
    /// # Errors
    ///
    /// If the operating system has no random numbers.
    pub(crate) fn make() -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not depend on where the two differ, so that a client cannot find the token byte by
    /// byte. How long it is may be known.
    pub(crate) fn is(&self, shown: &[u8]) -> bool {
        let own = self.0.as_bytes();
        if own.len() != shown.len() {
            return false;
        }
        let difference =
            own.iter().zip(shown).fold(0, |difference, (own, shown)| black_box(difference | (own ^ shown)));
        black_box(difference) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_is_the_same() {
        let token = Token::new("open sesame".into());
        assert!(token.is(b"open sesame"));
        for other in ["", "open sesam", "open sesame ", "Open sesame", "open sesamf", "xxxxxxxxxxx"] {
            assert!(!token.is(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn one_that_is_made_is_long_and_another_each_time() {
        let (one, other) = (Token::make().unwrap(), Token::make().unwrap());
        assert_eq!(one.as_str().len(), 32);
        assert!(!one.is(other.as_str().as_bytes()));
    }
}
