//! [`Settings`]: where to listen, and who may ask; from the builder or from the environment.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The environment variable with the address to listen at.
pub const ADDRESS_VAR: &str = "RT_INSPECT";

/// The environment variable with the token that a client must show.
pub const TOKEN_VAR: &str = "RT_INSPECT_TOKEN";

/// Where to listen, and who may ask.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// The address. With port zero the system chooses a port.
    pub address: SocketAddr,
    /// What a client must show. `None`: nothing on a loopback address; elsewhere a token is made, and told on stderr.
    pub token: Option<String>,
}

impl Settings {
    /// An address, and the token that the environment has, if any. What is not UTF-8 in it is replaced: it must not be
    /// as if there were none.
    pub fn new(address: SocketAddr) -> Self {
        let token = std::env::var_os(TOKEN_VAR).map(|token| token.to_string_lossy().trim().to_owned());
        Self { address, token: token.filter(|token| !token.is_empty()) }
    }

    /// Whether a client must show a token.
    pub(crate) fn needs_token(&self) -> bool {
        self.token.is_some() || !self.address.ip().is_loopback()
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A token is nobody's business who reads a log.
        f.debug_struct("Settings").field("address", &self.address).field("token", &self.token.is_some()).finish()
    }
}

/// What the environment asks for, if `RT_INSPECT` is set and is not empty. An address that cannot be read is told on
/// stderr, and is as if it were not set: a program is not kept from running by it.
pub fn from_environment() -> Option<Settings> {
    let text = std::env::var_os(ADDRESS_VAR)?;
    let text = text.to_string_lossy();
    if text.trim().is_empty() {
        return None;
    }
    match parse_address(&text) {
        Some(address) => Some(Settings::new(address)),
        None => {
            tell(&format!(
                "{ADDRESS_VAR} must be an address with a port, such as 127.0.0.1:9600, or a port, and is {text:?}"
            ));
            None
        }
    }
}

/// `127.0.0.1:9600`, `[::1]:9600`, `localhost:9600`, or `9600`, which is on the loopback address. Never asks a name
/// server.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let text = text.trim();
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    match port.parse() {
        Ok(port) => Some(SocketAddr::new(loopback, port)),
        Err(_) => text.parse().ok(),
    }
}

/// Tells the user something.
pub(crate) fn tell(line: &str) {
    // Nobody is left to be told that stderr is gone.
    drop(writeln!(io::stderr(), "rt: {line}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_an_address_or_a_port_of_this_machine() {
        for (text, address) in [
            ("127.0.0.1:9600", "127.0.0.1:9600"),
            (" 0.0.0.0:0 ", "0.0.0.0:0"),
            ("[::1]:9600", "[::1]:9600"),
            ("9600", "127.0.0.1:9600"),
            ("localhost:9600", "127.0.0.1:9600"),
        ] {
            assert_eq!(parse_address(text), Some(address.parse().unwrap()), "{text}");
        }
        for text in ["", "yes", "127.0.0.1", "99999", "localhost", "localhost:x", "example.org:80", ":9600"] {
            assert_eq!(parse_address(text), None, "{text}");
        }
    }

    #[test]
    fn only_a_loopback_address_goes_without_a_token() {
        for (address, needs_token) in
            [("127.0.0.1:1", false), ("127.8.0.1:1", false), ("[::1]:1", false), ("0.0.0.0:1", true), ("[::]:1", true)]
        {
            let settings = Settings { address: address.parse().unwrap(), token: None };
            assert_eq!(settings.needs_token(), needs_token, "{address}");
        }
        assert!(Settings { address: "127.0.0.1:1".parse().unwrap(), token: Some("x".into()) }.needs_token());
    }

    #[test]
    #[cfg(unix)]
    fn a_token_that_is_not_utf_8_is_one() {
        use std::os::unix::ffi::OsStrExt;

        let token = std::ffi::OsStr::from_bytes(b" s3cr\xe9t ");
        rt_test_util::in_own_process_with(
            |command| _ = command.env(TOKEN_VAR, token),
            || {
                let settings = Settings::new("127.0.0.1:1".parse().unwrap());
                assert_eq!(settings.token.as_deref(), Some("s3cr\u{fffd}t"));
            },
        );
    }

    #[test]
    fn a_token_is_in_no_log() {
        let settings = Settings { address: "127.0.0.1:1".parse().unwrap(), token: Some("secret".into()) };
        assert!(!format!("{settings:?}").contains("secret"));
    }
}
