//! The binary at work: what it says, what it takes, and how it comes to its end.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tokio::time::Instant;

/// Longer than any run takes: only a hang is that slow.
const PATIENCE: Duration = Duration::from_secs(240);
/// How often the memory of a run is looked at.
const SAMPLE_EVERY: Duration = Duration::from_millis(20);

/// What the binary said.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// None if a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    /// The most memory it was seen to hold.
    pub peak_kib: u64,
}

/// A process, which goes with it.
#[derive(Debug)]
pub struct Run {
    child: Child,
    heard: Arc<Heard>,
    peak_kib: u64,
}

#[derive(Debug, Default)]
struct Heard {
    said: Mutex<Said>,
    more: Condvar,
}

#[derive(Debug, Default)]
struct Said {
    out: String,
    err: String,
    /// Streams that have not ended.
    open: usize,
}

impl Run {
    pub fn of(program: &str, dir: &Path, args: &[&str]) -> Run {
        let mut command = Command::new(program);
        command.current_dir(dir).args(args);
        Run::spawn(command)
    }

    pub fn spawn(mut command: Command) -> Run {
        let mut child = command
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let heard = Arc::new(Heard::default());
        heard.said.lock().open = 2;
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        listen(&heard, out, |said| &mut said.out);
        listen(&heard, err, |said| &mut said.err);
        Run { child, heard, peak_kib: 0 }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn is_running(&self) -> bool {
        std::fs::metadata(format!("/proc/{}/exe", self.id())).is_ok()
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits for a line of standard output of which something can be made.
    pub fn line<T>(&self, within: Duration, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let deadline = (Instant::now() + within).into_std();
        let mut said = self.heard.said.lock();
        let mut from = 0;
        loop {
            while let Some(end) = said.out[from..].find('\n') {
                if let Some(found) = read(&said.out[from..from + end]) {
                    return Some(found);
                }
                from += end + 1;
            }
            if said.open == 0 || self.heard.more.wait_until(&mut said, deadline).timed_out() {
                return None;
            }
        }
    }

    /// Kills it as the power going out would, and gives what it had said.
    pub fn kill(mut self) -> Told {
        assert!(self.ended().is_none(), "it ended before: {:?}", self.told());
        self.put_down()
    }

    /// The same if it may have ended.
    pub fn put_down(mut self) -> Told {
        self.child.kill().unwrap();
        self.end()
    }

    /// Ctrl-C.
    pub fn interrupt(&self) {
        self.signal("-INT");
    }

    pub fn signal(&self, name: &str) {
        let pid = self.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// Waits until it has ended.
    pub fn end(mut self) -> Told {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.sample();
            let mut said = self.heard.said.lock();
            if said.open == 0 {
                break;
            }
            self.heard.more.wait_for(&mut said, SAMPLE_EVERY);
            drop(said);
            assert!(Instant::now() < deadline, "it does not end: {:?}", self.told());
        }
        let code = self.child.wait().unwrap().code();
        Told { code, ..self.told() }
    }

    /// What it has said so far.
    pub fn told(&self) -> Told {
        let said = self.heard.said.lock();
        Told { code: None, out: said.out.clone(), err: said.err.clone(), peak_kib: self.peak_kib }
    }

    /// The kernel keeps the peak as long as the process is there.
    fn sample(&mut self) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|text| text.trim().strip_suffix(" kB")?.parse().ok());
        self.peak_kib = self.peak_kib.max(peak.unwrap_or(0));
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // It has mostly ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Takes down what comes, line by line.
fn listen(heard: &Arc<Heard>, stream: impl Read + Send + 'static, into: fn(&mut Said) -> &mut String) {
    let heard = Arc::clone(heard);
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).unwrap_or(0) > 0 {
            into(&mut heard.said.lock()).push_str(&String::from_utf8_lossy(&line));
            heard.more.notify_all();
            line.clear();
        }
        heard.said.lock().open -= 1;
        heard.more.notify_all();
    });
}
