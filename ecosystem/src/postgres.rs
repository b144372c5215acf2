//! A PostgreSQL of its own for each test, with a Unix socket, a TCP port and TLS.

use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use crate::{Certificate, Directory, Server, command, free_port};

/// The server with its data, gone in the end. The user is `postgres`, without a password, and so is the database.
pub struct Postgres {
    // Dropped first: the server is not to see its data vanish.
    server: Option<Server>,
    directory: Directory,
    port: u16,
    /// Its own, for `localhost`.
    pub certificate: Certificate,
}

impl Postgres {
    /// Makes a database and starts the server. Blocks the thread for as long.
    pub fn start() -> Self {
        let directory = Directory::new();
        let data = directory.path().join("data");
        let certificate = Certificate::new();
        let user = User::of_server();
        user.give(directory.path());

        let mut initdb = user.command("initdb");
        initdb.args(["--auth=trust", "--username=postgres", "--no-sync", "--encoding=UTF8", "--locale=C", "--pgdata"]);
        let made = initdb.arg(&data).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

        for (name, text) in [("server.crt", certificate.pem()), ("server.key", certificate.key_pem())] {
            let path = data.join(name);
            fs::write(&path, text).unwrap();
            user.give(&path);
            // It takes no key that others could read.
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        }
        let mut postgres = Postgres { server: None, directory, port: free_port(), certificate };
        postgres.run();
        postgres
    }

    fn run(&mut self) {
        let mut command = User::of_server().command("postgres");
        command.arg("-D").arg(self.directory.path().join("data"));
        command.arg("-k").arg(self.directory.path());
        command.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-l", "-F"]);
        // SIGINT ends it without waiting for its clients.
        self.server = Some(Server::start(command, "ready to accept connections", "-INT"));
    }

    /// Ends the server and starts it again where it was, with the data that it had.
    pub fn restart(&mut self) {
        self.server = None;
        self.run();
    }

    /// Where the socket is, which takes the place of a host's name.
    pub fn socket(&self) -> &Path {
        self.directory.path()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// A file with the certificate, for clients that want to read it from one.
    pub fn certificate_file(&self) -> std::path::PathBuf {
        self.directory.path().join("data/server.crt")
    }
}

/// As what the server runs: it refuses to as root.
struct User(Option<(u32, u32)>);

impl User {
    /// The user that Debian's package makes, for root; else the one that runs the test.
    fn of_server() -> Self {
        if number("--user", None) != 0 {
            return User(None);
        }
        User(Some((number("--user", Some("postgres")), number("--group", Some("postgres")))))
    }

    fn command(&self, program: &str) -> Command {
        let program = command(program);
        let Some((user, group)) = self.0 else { return program };
        let mut command = Command::new("setpriv");
        command.arg(format!("--reuid={user}")).arg(format!("--regid={group}")).arg("--clear-groups");
        // It need not be able to read where the test runs.
        command.arg("--").arg(program.get_program()).current_dir("/");
        command
    }

    fn give(&self, path: &Path) {
        let Some((user, group)) = self.0 else { return };
        chown(path, Some(user), Some(group)).unwrap();
    }
}

/// What `id` says of a user.
fn number(of: &str, user: Option<&str>) -> u32 {
    let output: io::Result<_> = Command::new("id").arg(of).args(user).output();
    let output = String::from_utf8(output.unwrap().stdout).unwrap();
    output.trim().parse().expect("there must be a user `postgres`: ./install gets it")
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn the_server_and_its_data_go_with_a_test_that_panics() {
        let mut place = None;
        let test = catch_unwind(AssertUnwindSafe(|| {
            let server = Postgres::start();
            let port = server.port();
            TcpStream::connect(("127.0.0.1", port)).unwrap();
            place = Some((port, server.socket().to_owned()));
            panic!("as a test does");
        }));
        assert!(test.is_err());
        let (port, directory) = place.unwrap();
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
        assert!(!directory.exists());
    }
}
