//! A server at work on the data of a world.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::client::{Answer, Request};
use crate::reply::Reply;
use crate::world::World;

/// Longer than anything takes: only a hang is that slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// Two collections, three hosts; slow enough that something is always left.
pub(crate) const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 20ms, max: 20ms}}
collections: [{name: news}, {name: law}]
profiles:
  - {name: daily, collection: news, every: 1d}
  - {name: weekly, collection: law, every: 7d}
seeds:
  - {url: 'http://a.test/', name: a, profiles: [daily]}
  - {url: 'http://b.test/', profiles: [daily, weekly]}
";

/// The pages of a host, one after the other: `/`, `/1`, `/2`, …
pub(crate) fn world(pages: usize) -> World {
    let world = World::new(move |ask| match (ask.path.as_str(), ask.path[1..].parse::<usize>()) {
        ("/robots.txt", _) => Reply::text(""),
        ("/", _) => Reply::html("<title>First</title><script>alert(1)</script><a href='/1'>on</a>"),
        (_, Ok(number)) if number < pages => Reply::html(format!("<a href='/{}'>on</a>", number + 1)),
        _ => Reply::not_found(),
    });
    world.write("c.yaml", CONFIG);
    world
}

pub(crate) struct Served {
    child: Child,
    pub(crate) address: SocketAddr,
    token: Option<String>,
}

impl Served {
    /// With the config of the world, on any port.
    pub(crate) fn start(world: &World) -> Served {
        Served::with(world, &["c.yaml"], None)
    }

    pub(crate) fn with(world: &World, args: &[&str], token: Option<&str>) -> Served {
        let way = world.way();
        let mut command = Command::new(env!("CARGO_BIN_EXE_skurd"));
        command.current_dir(world.dir.path()).arg("serve").args(args).args(way).arg("--json");
        if !args.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        command.env_remove("SKURD_TOKEN");
        if let Some(token) = token {
            command.env("SKURD_TOKEN", token);
        }
        Served::launch(command, token)
    }

    /// A command that says where it serves in its first line.
    pub(crate) fn launch(mut command: Command, token: Option<&str>) -> Served {
        command.env("RUST_BACKTRACE", "0").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first: Value = serde_json::from_str(&lines.next().expect("it says where").unwrap()).unwrap();
        let mut address: SocketAddr = first["address"].as_str().unwrap().parse().unwrap();
        if address.ip().is_unspecified() {
            address.set_ip([127, 0, 0, 1].into());
        }
        std::thread::spawn(move || lines.for_each(drop));
        Served { child, address, token: token.map(str::to_owned) }
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> Request {
        let request = Request::new(self.address, method, path);
        match &self.token {
            Some(token) => request.header("Authorization", &format!("Bearer {token}")),
            None => request,
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path).send()
    }

    /// What is there, which must be so.
    pub(crate) fn json(&self, path: &str) -> Value {
        let answer = self.get(&format!("/api/v1/{path}"));
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.request("POST", &format!("/api/v1/{path}")).json(body).send()
    }

    /// Waits until it is so.
    pub(crate) fn until(&self, what: &str, is_so: impl Fn(&Served) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(Instant::now() < deadline, "never: {what}");
            breathe();
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "it does not end");
            breathe();
        }
    }

    /// Ends it as a service manager does.
    pub(crate) fn stop(mut self) -> ExitStatus {
        self.signal("-TERM");
        self.wait()
    }
}

/// What a path gives, item by item, as the command prints it.
pub(crate) fn items(served: &Served, path: &str) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    let sign = if path.contains('?') { '&' } else { '?' };
    loop {
        let mut page = served.json(&format!("{path}{cursor}"));
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

/// What a command came to: its exit code and what it said.
pub(crate) fn told(world: &World, args: &[&str]) -> (Option<i32>, String, String) {
    let told = world.skurd(args);
    (told.code, told.out, told.err)
}

/// Until the next look.
pub(crate) fn breathe() {
    let (_nobody, nothing) = sync_channel::<()>(0);
    let _ = nothing.recv_timeout(Duration::from_millis(20));
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
