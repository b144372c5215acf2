//! `/metrics`, scraped by Prometheus itself.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::{env, fs};

use rt_test_util::{eventually, watchdog};
use serde_json::Value;

use crate::client::{inspected, send};

/// A Prometheus with a directory of its own.
struct Prometheus {
    process: Child,
    directory: PathBuf,
    address: SocketAddr,
}

impl Prometheus {
    /// Starts one that scrapes this address. `None` if there is none on this machine.
    fn start(target: SocketAddr) -> Option<Self> {
        let directory = env::temp_dir().join(format!("rt-inspect-prometheus-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let configuration = directory.join("prometheus.yml");
        let text = format!(
            "scrape_configs:\n- job_name: rt\n  scrape_interval: 1s\n  scrape_timeout: 1s\n  static_configs:\n  \
             - targets: ['{target}']\n"
        );
        fs::write(&configuration, text).unwrap();
        let process = Command::new("prometheus")
            .arg(format!("--config.file={}", configuration.display()))
            .arg(format!("--storage.tsdb.path={}", directory.join("data").display()))
            .arg("--web.listen-address=127.0.0.1:0")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut process) = process else {
            let _ = fs::remove_dir_all(&directory);
            return None;
        };
        let mut output = BufReader::new(process.stderr.take().unwrap());
        let mut said = String::new();
        let mut prometheus = Self { process, directory, address: ([127, 0, 0, 1], 0).into() };
        loop {
            let mut line = String::new();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "Prometheus has ended: {said}");
            if let Some((_, rest)) = line.split_once("127.0.0.1:") {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                if let Some(port) = digits.parse().ok().filter(|port| *port != 0) {
                    prometheus.address.set_port(port);
                    break;
                }
            }
            said.push_str(&line);
        }
        // It would wait when the pipe is full.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        Some(prometheus)
    }

    fn ask(&self, path: &str) -> Value {
        let answer = send(self.address, format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        serde_json::from_str(body).unwrap_or_default()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

#[test]
fn prometheus_scrapes_it() {
    let (runtime, address) = inspected(41, 1);
    let Some(prometheus) = Prometheus::start(address) else {
        eprintln!("left out: there is no `prometheus` (ecosystem/install gets it)");
        return;
    };
    let _watchdog = watchdog();
    runtime.block_on(async {
        for _ in 0..10 {
            rt::spawn(async {}).await.unwrap();
        }
    });
    loop {
        let target = &prometheus.ask("/api/v1/targets")["data"]["activeTargets"][0];
        // It may be asked before it has scraped; but a scrape must not go wrong.
        if target["health"] == "up" {
            break;
        }
        assert!(target["lastError"].as_str().unwrap_or_default().is_empty(), "{target}");
        std::thread::yield_now();
    }
    for (query, least) in [
        ("rt_tasks_completed_total", 10.0),
        ("rt_poll_duration_seconds_bucket{le=%22%2BInf%22}", 10.0),
        ("count(rt_worker_busy_seconds_total{worker=%220%22,name=%22test%2041%22})", 1.0),
    ] {
        // The first scrape may have been before the tasks, and what was scraped can be asked for a moment later.
        eventually(|| {
            let answer = prometheus.ask(&format!("/api/v1/query?query={query}"));
            assert_eq!(answer["status"], "success", "{query}: {answer}");
            let value = answer["data"]["result"][0]["value"][1].as_str().and_then(|value| value.parse::<f64>().ok());
            value.is_some_and(|value| value >= least)
        });
    }
    let kinds = &prometheus.ask("/api/v1/metadata")["data"];
    assert_eq!(kinds["rt_poll_duration_seconds"][0]["type"], "histogram");
    assert!(kinds.to_string().contains("\"rt_tasks_spawned"), "{kinds}");
}
