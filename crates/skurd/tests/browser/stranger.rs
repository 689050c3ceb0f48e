//! B4: the port of a page is for its browser. Another user of the machine who finds it gets nothing,
//! and nothing is asked or archived in the page's name.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use testkit::web::{Answer, Ask};
use testkit::world::{World, breathe};

use crate::{config, has_browser};

const NOBODY: &str = "65534";

fn site(ask: &Ask) -> Answer {
    match ask.path.as_str() {
        "/" => Answer::html("<img src=/slow>"),
        "/slow" => Answer::text("slow").after(Duration::from_secs(6)),
        "/robots.txt" => Answer::not_found(),
        _ => Answer::text("something"),
    }
}

#[test]
fn b4_another_user_of_the_machine_gets_nothing_from_a_pages_port() {
    if !has_browser() {
        return;
    }
    if !rustix::process::geteuid().is_root() || Command::new("setpriv").arg("--version").output().is_err() {
        eprintln!("skipped: being another user takes root and `setpriv`");
        return;
    }
    let world = World::new(crate::SKURD, site);
    let collection = "  - {name: web, engine: browser, browser: {limits: {quiet: 300ms}}}\n";
    world.write("c.yaml", &config(collection, &[("web", "http://page.test/")]));
    let run = world.start(&["c.yaml", "--until-done"]);
    while world.web().times("http://page.test/slow") == 0 {
        assert!(run.is_running(), "{:?}", run.told());
        breathe();
    }
    // One is of the server that other commands of this user ask, who bring a key.
    let notice = std::fs::read(world.data().join("serve.json")).unwrap();
    let notice: serde_json::Value = serde_json::from_slice(&notice).unwrap();
    let commands: std::net::SocketAddr = notice["address"].as_str().unwrap().parse().unwrap();
    for user in [Some(NOBODY), None] {
        assert_eq!(ask(commands.port(), user, "/stolen"), "HTTP/1.1 401");
    }
    let mut ports = ports_of(run.id());
    ports.retain(|port| *port != commands.port());
    assert!(!ports.is_empty());
    for port in &ports {
        assert_eq!(ask(*port, Some(NOBODY), "/stolen"), "", "port {port}");
    }
    // The same user gets an answer from one of them: it can be heard there.
    let own: Vec<String> = ports.iter().map(|port| ask(*port, None, "/own")).collect();
    assert!(own.iter().any(|answer| answer == "HTTP/1.1 200"), "{own:?}");
    let told = run.end();
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert_eq!(world.web().times("http://page.test/stolen"), 0);
    assert_eq!(world.web().times("http://page.test/own"), 1);
    assert!(world.captures_of("http://page.test/stolen").is_empty());
    world.check();
}

/// The beginning of what a port answers a user.
fn ask(port: u16, user: Option<&str>, path: &str) -> String {
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{port} && printf 'GET http://page.test{path} HTTP/1.1\\r\\nHost: page.test\\r\\n\\r\\n' >&3 && timeout 4 head -c 12 <&3"
    );
    let mut command = match user {
        Some(user) => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", user, "--regid", user, "--clear-groups", "bash"]);
            command
        }
        None => Command::new("bash"),
    };
    let answer = command.args(["-c", &script]).output().unwrap();
    String::from_utf8_lossy(&answer.stdout).into_owned()
}

/// Ports of IPv4 that a process listens on.
fn ports_of(process: u32) -> Vec<u16> {
    let own = Path::new("/proc").join(process.to_string());
    let links = std::fs::read_dir(own.join("fd")).into_iter().flatten().flatten();
    let links: Vec<String> = links
        .filter_map(|entry| Some(std::fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned()))
        .collect();
    let table = std::fs::read_to_string(own.join("net/tcp")).unwrap();
    let port = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        let is_own = *state == "0A" && links.contains(&format!("socket:[{inode}]"));
        is_own.then(|| u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok())?
    };
    table.lines().skip(1).filter_map(port).collect()
}
