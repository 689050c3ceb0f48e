//! A network of the test's own: in it every address of the world is this machine's, so whoever gets
//! past a guard is heard, and nothing leaves the machine.
//!
//! A test runs itself once more inside of it ([`inside`]), with a name server of its own. There is
//! loopback, and all addresses are routed to it; [`Catcher`] listens on all of them. Beside it a cable
//! with both of its ends in here makes it look like a network.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use testkit::world::breathe;

const INSIDE: &str = "SKURD_TEST_NAMESPACE";
/// Where the name server of the namespace is.
pub(crate) const NAME_SERVER: Ipv4Addr = Ipv4Addr::new(127, 77, 0, 53);
const REQUEST_WAIT: Duration = Duration::from_secs(2);

/// Does this in a namespace. `test` is the full name of the test that asks for it. Where there can be
/// none it says so.
pub(crate) fn inside(test: &str, work: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        set_up();
        return work();
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: a network of its own takes root");
        return;
    }
    let has = |program: &str| Command::new(program).arg("-V").output().is_ok();
    if !has("ip") || !has("unshare") {
        let required = std::env::var_os("SKURD_BROWSER_TESTS").is_some();
        assert!(!required, "there is no `ip` or `unshare`, and SKURD_BROWSER_TESTS wants this tested");
        eprintln!("skipped: there is no `ip` or `unshare`");
        return;
    }
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount"]).arg(own).args(["--exact", test, "--nocapture"]).env(INSIDE, "1");
    let ended = command.output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (said(&ended.stdout), said(&ended.stderr));
    eprint!("{err}");
    assert!(ended.status.success() && out.contains("1 passed"), "{out}\n{err}");
}

fn set_up() {
    let listed = Command::new("ip").args(["-o", "link"]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert_eq!(listed.lines().count(), 1, "not a namespace of its own: {listed}");
    for line in [
        "link set lo up",
        "route add local 0.0.0.0/0 dev lo",
        "-6 route add local ::/0 dev lo",
        "-6 addr add fe80::1/64 dev lo",
        // Browsers do not count loopback among the networks that they may speak from.
        "link add out type veth peer name end",
        "addr add 192.0.2.1/24 dev out",
        "link set out up",
        "link set end up",
    ] {
        assert!(Command::new("ip").args(line.split(' ')).status().unwrap().success(), "ip {line}");
    }
    let servers = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(servers.path(), format!("nameserver {NAME_SERVER}\n")).unwrap();
    let mut mount = Command::new("mount");
    mount.arg("--bind").arg(servers.path()).arg("/etc/resolv.conf");
    assert!(mount.status().unwrap().success(), "another /etc/resolv.conf");
}

/// Somebody who was heard.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Heard {
    /// `tcp` or `udp`.
    pub(crate) by: &'static str,
    /// What was connected to; of UDP only the port is known.
    pub(crate) at: SocketAddr,
    /// Of an HTTP request; of a connection alone it is empty.
    pub(crate) path: String,
}

/// Listens on all addresses.
#[derive(Clone, Default)]
pub(crate) struct Catcher(Arc<Mutex<Vec<Heard>>>);

impl Catcher {
    pub(crate) fn listen(tcp: &[SocketAddr], udp: &[u16]) -> Catcher {
        let catcher = Catcher::default();
        for address in tcp {
            let listener = TcpListener::bind(address).unwrap();
            let own = catcher.clone();
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let own = own.clone();
                    std::thread::spawn(move || own.hear(stream));
                }
            });
        }
        for port in udp {
            let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, *port)).unwrap();
            let own = catcher.clone();
            std::thread::spawn(move || {
                let at = socket.local_addr().unwrap();
                while socket.recv_from(&mut [0; 2048]).is_ok() {
                    own.0.lock().push(Heard { by: "udp", at, path: String::new() });
                }
            });
        }
        catcher
    }

    fn hear(&self, mut stream: TcpStream) {
        let at = stream.local_addr().map(|at| SocketAddr::new(at.ip().to_canonical(), at.port()));
        let Ok(at) = at else { return };
        self.0.lock().push(Heard { by: "tcp", at, path: String::new() });
        let _ = stream.set_read_timeout(Some(REQUEST_WAIT));
        let mut head = [0; 4096];
        let read = stream.read(&mut head).unwrap_or(0);
        let line = String::from_utf8_lossy(&head[..read]).into_owned();
        if let Some(path) = line.split(' ').nth(1).filter(|path| path.starts_with('/')) {
            self.0.lock().push(Heard { by: "tcp", at, path: path.to_owned() });
        }
        let cors = "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *\r\n";
        let answer = format!("HTTP/1.1 200 OK\r\n{cors}Connection: close\r\nContent-Length: 0\r\n\r\n");
        let _ = stream.write_all(answer.as_bytes());
    }

    /// Until somebody was heard so often.
    pub(crate) fn wait_for(&self, count: usize) {
        while self.0.lock().len() < count {
            breathe();
        }
    }

    /// What was heard since it was last asked for.
    pub(crate) fn take(&self) -> Vec<Heard> {
        let mut heard = std::mem::take(&mut *self.0.lock());
        heard.sort();
        heard
    }
}

/// A name server: what each name is, by how often it was asked for before.
pub(crate) struct Names {
    asked: Arc<Mutex<HashMap<String, usize>>>,
}

impl Names {
    pub(crate) fn serve(find: impl Fn(&str, usize) -> Option<IpAddr> + Send + 'static) -> Names {
        let socket = UdpSocket::bind((NAME_SERVER, 53)).unwrap();
        let asked: Arc<Mutex<HashMap<String, usize>>> = Arc::default();
        let count = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut query = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut query) {
                let Some((name, kind, end)) = question(&query[..length]) else { continue };
                // Both families are asked for: the address is one of them.
                let nth = {
                    let mut asked = count.lock();
                    let times = asked.entry(name.clone()).or_default();
                    *times += 1;
                    (*times - 1) / 2
                };
                let answer = answer(&query[..end], kind, find(&name, nth));
                let _ = socket.send_to(&answer, from);
            }
        });
        Names { asked }
    }

    /// Queries so far.
    pub(crate) fn count(&self) -> usize {
        self.asked.lock().values().sum()
    }

    pub(crate) fn times(&self, name: &str) -> usize {
        self.asked.lock().get(name).copied().unwrap_or(0)
    }
}

/// Name, type, and where the question ends.
fn question(query: &[u8]) -> Option<(String, u16, usize)> {
    let (mut at, mut labels) = (12, Vec::new());
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(query.get(at..at + length)?).to_ascii_lowercase());
        at += length;
    }
    let kind = u16::from_be_bytes([*query.get(at)?, *query.get(at + 1)?]);
    Some((labels.join("."), kind, at + 4))
}

fn answer(question: &[u8], kind: u16, address: Option<IpAddr>) -> Vec<u8> {
    let data = match (kind, address) {
        (1, Some(IpAddr::V4(v4))) => v4.octets().to_vec(),
        (28, Some(IpAddr::V6(v6))) => v6.octets().to_vec(),
        _ => Vec::new(),
    };
    let mut bytes = question.to_vec();
    // An answer that is authoritative and has no error; counts of its parts.
    bytes[2..4].copy_from_slice(&[0x85, 0x80]);
    bytes[4..12].copy_from_slice(&[0, 1, 0, u8::from(!data.is_empty()), 0, 0, 0, 0]);
    if !data.is_empty() {
        let [high, low] = kind.to_be_bytes();
        bytes.extend([0xc0, 0x0c, high, low, 0, 1, 0, 0, 0, 0, 0, u8::try_from(data.len()).unwrap()]);
        bytes.extend(data);
    }
    bytes
}

/// Datagrams that were sent in this namespace so far, by the kernel's own count.
pub(crate) fn datagrams() -> u64 {
    let v4 = std::fs::read_to_string("/proc/net/snmp").unwrap();
    let mut lines = v4.lines().filter_map(|line| line.strip_prefix("Udp: "));
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let place = names.split(' ').position(|name| name == "OutDatagrams").unwrap();
    let v4: u64 = values.split(' ').nth(place).unwrap().parse().unwrap();
    let v6 = std::fs::read_to_string("/proc/net/snmp6").unwrap();
    let v6 = v6.lines().find_map(|line| line.strip_prefix("Udp6OutDatagrams")).unwrap();
    v4 + v6.trim().parse::<u64>().unwrap()
}
