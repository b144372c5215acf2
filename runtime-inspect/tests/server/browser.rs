//! A browser without a window, which is told what to do: Debian's chromium, by its protocol for developer tools.
//! Commands go over two pipes, each a JSON text that ends in a zero byte.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A browser with one page.
pub(crate) struct Browser {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    session: String,
    sent: u64,
    profile: PathBuf,
}

impl Browser {
    /// Starts it. `None` if there is none on this machine.
    pub(crate) fn start() -> Option<Self> {
        let profile = env::temp_dir().join(format!("rt-inspect-browser-{}", std::process::id()));
        // The shell only puts the pipes where the browser looks for them.
        let mut process = Command::new("sh")
            .args(["-c", "command -v chromium >/dev/null && exec chromium \"$@\" 3<&0 4>&1 >/dev/null", "sh"])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server"])
            .args(["--no-first-run", "--disable-background-networking", "--remote-debugging-pipe"])
            .args(["--hide-scrollbars", &format!("--user-data-dir={}", profile.display())])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let (commands, answers) = (process.stdin.take()?, BufReader::new(process.stdout.take()?));
        let mut browser = Self { process, commands, answers, session: String::new(), sent: 0, profile };
        let target = browser.try_call("Target.createTarget", &json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session = browser.call("Target.attachToTarget", &attach)["sessionId"].as_str()?.to_owned();
        Some(browser)
    }

    /// Calls a method, and waits for its result. What the browser tells meanwhile is passed over.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.try_call(method, parameters).unwrap_or_else(|| panic!("the browser has ended before {method}"))
    }

    fn try_call(&mut self, method: &str, parameters: &Value) -> Option<Value> {
        self.sent += 1;
        let mut command = json!({ "id": self.sent, "method": method, "params": parameters });
        if !self.session.is_empty() {
            command["sessionId"] = self.session.clone().into();
        }
        let mut text = command.to_string().into_bytes();
        text.push(0);
        self.commands.write_all(&text).ok()?;
        loop {
            let mut answer = Vec::new();
            if self.answers.read_until(0, &mut answer).ok()? == 0 {
                return None;
            }
            let answer: Value = serde_json::from_slice(answer.strip_suffix(&[0])?).unwrap();
            if answer["id"] == self.sent {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return Some(answer["result"].clone());
            }
        }
    }

    /// Opens an address.
    pub(crate) fn open(&mut self, address: &str) {
        self.call("Page.navigate", &json!({ "url": address }));
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", &parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true. What it refers to may not be there yet.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let guarded = format!("(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()");
        while self.value(&guarded) != true {
            // The page is busy, or waits for the program.
            std::thread::yield_now();
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
