//! Takes a picture of the page of a program that runs, for the guide: see `docs/guide/picture`.
//!
//! ```text
//! picture ADDRESS SECONDS light|dark HEIGHT png|webp      writes it in base64
//! ```
//!
//! The page is open for some seconds before, so that there is something on it.

#[path = "../tests/server/browser.rs"]
mod browser;

use std::env;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address, seconds, scheme, height, format] = &*arguments else {
        panic!("picture ADDRESS SECONDS light|dark HEIGHT png|webp")
    };
    let (seconds, height): (u64, u32) = (seconds.parse().unwrap(), height.parse().unwrap());
    let mut browser = browser::Browser::start().expect("there must be a `chromium`: ecosystem/install gets it");
    let metrics = json!({ "width": 1200, "height": height, "deviceScaleFactor": 1, "mobile": false });
    browser.call("Emulation.setDeviceMetricsOverride", &metrics);
    let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
    browser.call("Emulation.setEmulatedMedia", &media);
    browser.open(address);
    browser.wait_for("document.querySelector('#status').className.includes('live')");
    sleep(Duration::from_secs(seconds));
    browser.wait_for("document.querySelectorAll('#rows tr').length > 0");
    let picture = browser.call("Page.captureScreenshot", &picture_of(format));
    println!("{}", picture["data"].as_str().unwrap());
}

fn picture_of(format: &str) -> serde_json::Value {
    if format == "webp" { json!({ "format": "webp", "quality": 85 }) } else { json!({ "format": format }) }
}
