//! A server at work on the data of a world.

use std::net::SocketAddr;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{Request, Response, Run, World};

/// Longer than anything takes: only a hang is that slow.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct Served {
    run: Run,
    pub address: SocketAddr,
    /// Where the archive is shown, if it is.
    pub replay: Option<SocketAddr>,
    token: Option<String>,
}

impl World {
    /// The command that serves this world on any port, and says where in its first line.
    pub fn serve_command(&self, args: &[&str], token: Option<&str>) -> Command {
        let mut command = self.command();
        command.arg("serve").args(args).args(self.way()).arg("--json");
        if !args.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        command.env_remove("SKURD_TOKEN");
        if let Some(token) = token {
            command.env("SKURD_TOKEN", token);
        }
        command
    }
}

impl Served {
    /// With the config of the world, on any port.
    pub fn start(world: &World) -> Served {
        Served::with(world, &["c.yaml"], None)
    }

    pub fn with(world: &World, args: &[&str], token: Option<&str>) -> Served {
        Served::launch(world.serve_command(args, token), token)
    }

    /// A command that says where it serves in its first line.
    pub fn launch(command: Command, token: Option<&str>) -> Served {
        let run = Run::spawn(command);
        let first = run.line(PATIENCE, |line| Some(serde_json::from_str::<Value>(line).unwrap()));
        let first = first.unwrap_or_else(|| panic!("it does not say where it serves: {:?}", run.told()));
        let reached = |text: &str| {
            let mut address: SocketAddr = text.parse().unwrap();
            if address.ip().is_unspecified() {
                address.set_ip([127, 0, 0, 1].into());
            }
            address
        };
        let address = reached(first["address"].as_str().unwrap());
        let replay = first["replay"].as_str();
        let replay = replay.map(|url| reached(url.trim_start_matches("http://").trim_end_matches('/')));
        Served { run, address, replay, token: token.map(str::to_owned) }
    }

    pub fn request(&self, method: &str, path: &str) -> Request {
        let request = Request::new(self.address, method, path);
        match &self.token {
            Some(token) => request.header("Authorization", &format!("Bearer {token}")),
            None => request,
        }
    }

    pub fn get(&self, path: &str) -> Response {
        self.request("GET", path).send()
    }

    /// Asks where the archive is shown, without a token.
    pub fn replay(&self, method: &str, path: &str) -> Request {
        Request::new(self.replay.expect("the archive is shown"), method, path)
    }

    /// What is there, which must be so.
    pub fn json(&self, path: &str) -> Value {
        let response = self.get(&format!("/api/v1/{path}"));
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        response.json()
    }

    pub fn post(&self, path: &str, body: &Value) -> Response {
        self.request("POST", &format!("/api/v1/{path}")).json(body).send()
    }

    /// What a path gives, item by item, as the command prints it.
    pub fn items(&self, path: &str) -> Vec<Value> {
        let (mut items, mut cursor) = (Vec::new(), String::new());
        let sign = if path.contains('?') { '&' } else { '?' };
        loop {
            let mut page = self.json(&format!("{path}{cursor}"));
            if page.is_array() {
                return page.as_array().unwrap().clone();
            }
            items.append(page["items"].as_array_mut().unwrap());
            if let Some(queue) = page["queue"].as_array_mut() {
                items.append(queue);
            }
            match page["next"].as_str() {
                Some(next) => cursor = format!("{sign}cursor={next}"),
                None => return items,
            }
        }
    }

    /// Waits until it is so.
    pub fn until(&self, what: &str, is_so: impl Fn(&Served) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(Instant::now() < deadline, "never: {what}");
            breathe();
        }
    }

    pub fn signal(&self, name: &str) {
        self.run.signal(name);
    }

    pub fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.run.ended() {
                return status;
            }
            assert!(Instant::now() < deadline, "it does not end");
            breathe();
        }
    }

    /// Ends it as a service manager does.
    pub fn stop(mut self) -> ExitStatus {
        self.signal("-TERM");
        self.wait()
    }
}

/// Until the next look.
pub fn breathe() {
    let (_nobody, nothing) = sync_channel::<()>(0);
    let _ = nothing.recv_timeout(Duration::from_millis(20));
}
