//! The processes of the browser that a world's harvester runs, as the system knows them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::process::{Pid, Signal, kill_process};
use testkit::world::World;

/// Knows the browser by the directory it was started in, once there is a world.
#[derive(Debug, Default)]
pub(crate) struct Processes(OnceLock<PathBuf>);

impl Processes {
    pub(crate) fn of(&self, world: &World) {
        self.0.set(world.dir.path().canonicalize().unwrap()).unwrap();
    }

    /// The browser itself: not the shell that Debian starts it with.
    pub(crate) fn browser(&self) -> Option<u32> {
        let dir = self.0.get()?;
        all().into_iter().find(|id| {
            let words = words(*id);
            let has = |start: &str| words.iter().any(|word| word.starts_with(start));
            let is_here = std::fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd == *dir);
            let is_shell = words.first().is_some_and(|word| word.ends_with("sh") && word.starts_with("/bin"));
            is_here && has("--user-data-dir=") && !has("--type=") && !is_shell
        })
    }

    /// Those that pages run in.
    pub(crate) fn renderers(&self) -> Vec<u32> {
        let Some(own) = self.browser().and_then(group) else { return Vec::new() };
        let is_renderer = |id: &u32| words(*id).iter().any(|word| word == "--type=renderer");
        all().into_iter().filter(|id| group(*id) == Some(own) && is_renderer(id)).collect()
    }
}

pub(crate) fn send(signal: Signal, id: u32) {
    // It may have ended.
    let _ = kill_process(Pid::from_raw(i32::try_from(id).unwrap()).unwrap(), signal);
}

/// Whether there is such a process, dead ones that nobody asked about left aside.
pub(crate) fn is_there(id: u32) -> bool {
    stat(id).is_some_and(|stat| !stat.starts_with('Z'))
}

fn all() -> Vec<u32> {
    let names = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.parse().ok()).collect()
}

fn words(id: u32) -> Vec<String> {
    let line = std::fs::read(Path::new("/proc").join(id.to_string()).join("cmdline")).unwrap_or_default();
    // Processes that were forked write theirs anew, with spaces.
    line.split(|byte| matches!(byte, 0 | b' '))
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// State, parent, group and so on: what follows the name, which may hold anything.
fn stat(id: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    Some(stat.rsplit_once(") ")?.1.to_owned())
}

fn group(id: u32) -> Option<u32> {
    stat(id)?.split(' ').nth(2)?.parse().ok()
}
