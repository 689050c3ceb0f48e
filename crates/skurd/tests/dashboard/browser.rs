//! A browser without a screen, driven over loopback.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::world::breathe;
use tokio::time::Instant;

use crate::wire::send;

const PATIENCE: Duration = Duration::from_secs(40);
/// The key of the element's id in answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// How elements are looked for, mostly.
const CSS: &str = "css selector";

pub(crate) const TAB: &str = "\u{E004}";
pub(crate) const ENTER: &str = "\u{E007}";

pub(crate) struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
    site: String,
    _profile: TempDir,
}

impl Browser {
    /// None where there is no browser, unless one must be there.
    pub(crate) fn open(site: SocketAddr) -> Option<Browser> {
        let profile = TempDir::new().unwrap();
        let Some((driver, address)) = start_driver() else {
            assert!(
                std::env::var_os("SKURD_BROWSER_TESTS").is_none(),
                "no browser: install chromium and chromium-driver"
            );
            eprintln!("skipped: no chromedriver; install chromium and chromium-driver");
            return None;
        };
        let mut browser = Browser {
            driver,
            address,
            session: String::new(),
            site: format!("http://{site}"),
            _profile: profile,
        };
        let profile = browser._profile.path().display().to_string();
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--hide-scrollbars",
        ]
        .map(str::to_owned);
        let arguments = [&arguments[..], &[format!("--user-data-dir={profile}")]].concat();
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let session = send(address, "POST", "/session", &wanted).expect("a browser");
        browser.session = session["sessionId"].as_str().unwrap().to_owned();
        browser.size(1280, 900);
        Some(browser)
    }

    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        self.try_command(method, path, body).unwrap_or_else(|error| panic!("{path} {body}: {error}"))
    }

    fn try_command(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        send(self.address, method, &format!("/session/{}/{path}", self.session), body)
    }

    fn devtools(&self, name: &str, parameters: &Value) {
        self.command("POST", "goog/cdp/execute", &json!({ "cmd": name, "params": parameters }));
    }

    /// The width and height that a page sees.
    pub(crate) fn size(&self, width: u32, height: u32) {
        let mobile = width < 600;
        let parameters =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.devtools("Emulation.setDeviceMetricsOverride", &parameters);
    }

    pub(crate) fn dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let parameters = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.devtools("Emulation.setEmulatedMedia", &parameters);
    }

    pub(crate) fn script_off(&self, off: bool) {
        self.devtools("Emulation.setScriptExecutionDisabled", &json!({ "value": off }));
    }

    pub(crate) fn go(&self, path: &str) {
        self.command("POST", "url", &json!({ "url": format!("{}{path}", self.site) }));
    }

    /// Anywhere.
    pub(crate) fn go_to(&self, url: &str) {
        self.command("POST", "url", &json!({ "url": url }));
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        self.command("GET", "url", &Value::Null).as_str().unwrap().to_owned()
    }

    /// Clicks on it, if that can be clicked on.
    pub(crate) fn try_click(&self, selector: &str) {
        if let Ok(found) = self.try_command("POST", "element", &json!({ "using": CSS, "value": selector })) {
            let element = found[ELEMENT].as_str().unwrap();
            let _ = self.try_command("POST", &format!("element/{element}/click"), &json!({}));
        }
    }

    /// Where it is, without the server.
    pub(crate) fn place(&self) -> String {
        let url = self.command("GET", "url", &Value::Null);
        url.as_str()
            .unwrap()
            .strip_prefix(&self.site)
            .unwrap_or_else(|| panic!("left the server for {url}"))
            .to_owned()
    }

    /// What a script of the tester gives, whatever the page's own policy.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.command("POST", "execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// The text of the first element there is of this selector.
    pub(crate) fn text(&self, selector: &str) -> String {
        self.on((CSS, selector), "GET", "text", &Value::Null).as_str().unwrap().to_owned()
    }

    pub(crate) fn main(&self) -> String {
        self.text("main")
    }

    /// What a form that was just sent has come to.
    pub(crate) fn notice(&self) -> String {
        self.until("a notice", |browser| browser.has(".notice"));
        self.text(".notice")
    }

    pub(crate) fn has(&self, selector: &str) -> bool {
        let found = self.command("POST", "elements", &json!({ "using": CSS, "value": selector }));
        !found.as_array().unwrap().is_empty()
    }

    /// Does something with the first such element. It is waited for, and looked for again where a
    /// new page takes the place of the one it was on.
    fn on(&self, (using, value): (&str, &str), method: &str, what: &str, body: &Value) -> Value {
        let deadline = Instant::now() + PATIENCE;
        let wanted = json!({ "using": using, "value": value });
        loop {
            let found = self.try_command("POST", "element", &wanted);
            let done = found.and_then(|found| {
                let element = found[ELEMENT].as_str().unwrap();
                self.try_command(method, &format!("element/{element}/{what}"), body)
            });
            match done {
                Ok(answer) => return answer,
                Err(error) if Instant::now() > deadline || !is_passing(&error) => {
                    panic!("{what} of {value} at {}: {error}", self.place())
                }
                Err(_) => breathe(),
            }
        }
    }

    pub(crate) fn click(&self, selector: &str) {
        self.on((CSS, selector), "POST", "click", &json!({}));
    }

    /// Follows the link with exactly this text.
    pub(crate) fn follow(&self, text: &str) {
        self.on(("link text", text), "POST", "click", &json!({}));
    }

    pub(crate) fn fill(&self, selector: &str, text: &str) {
        self.on((CSS, selector), "POST", "clear", &json!({}));
        self.on((CSS, selector), "POST", "value", &json!({ "text": text }));
    }

    /// Keys on the keyboard, wherever the focus is.
    pub(crate) fn press(&self, keys: &str) {
        let strokes: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                [
                    json!({ "type": "keyDown", "value": key.to_string() }),
                    json!({ "type": "keyUp", "value": key.to_string() }),
                ]
            })
            .collect();
        self.command(
            "POST",
            "actions",
            &json!({ "actions": [{ "type": "key", "id": "keys", "actions": strokes }] }),
        );
    }

    /// Waits until it is so.
    pub(crate) fn until(&self, what: &str, is_so: impl Fn(&Browser) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(Instant::now() < deadline, "never: {what}; at {}:\n{}", self.place(), self.main());
            breathe();
        }
    }

    /// What the console said since last time; refused scripts, styles and images are in it too.
    pub(crate) fn console(&self) -> Vec<String> {
        let lines = self.command("POST", "se/log", &json!({ "type": "browser" }));
        lines.as_array().unwrap().iter().map(|line| line["message"].to_string()).collect()
    }

    pub(crate) fn calm(&self) {
        let lines = self.console();
        assert!(lines.is_empty(), "the console says at {}: {lines:#?}", self.place());
    }

    /// A picture of the whole page.
    pub(crate) fn photograph(&self, file: &Path) {
        let height =
            self.run("return Math.min(document.documentElement.scrollHeight, 6000)").as_u64().unwrap();
        let width = self.run("return window.innerWidth").as_u64().unwrap();
        self.size(u32::try_from(width).unwrap(), u32::try_from(height).unwrap());
        let picture = self.command("GET", "screenshot", &Value::Null);
        let bytes = data_encoding::BASE64.decode(picture.as_str().unwrap().as_bytes()).unwrap();
        std::fs::write(file, bytes).unwrap();
        self.size(u32::try_from(width).unwrap(), 900);
    }
}

/// Of an element that is not there yet, or not any more.
fn is_passing(error: &str) -> bool {
    ["no such element", "stale element", "not interactable", "click intercepted"]
        .iter()
        .any(|kind| error.contains(kind))
}

/// The driver on a port of its choice.
fn start_driver() -> Option<(Child, SocketAddr)> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
        let (_, port) = line.split_once("successfully on port ")?;
        port.trim_end_matches('.').parse::<u16>().ok()
    });
    std::thread::spawn(move || lines.for_each(drop));
    Some((driver, SocketAddr::from(([127, 0, 0, 1], port.expect("the driver says its port")))))
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = send(self.address, "DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
