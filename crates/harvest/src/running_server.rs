//! `serve.json` in the data directory: where its server is, for commands that find the directory in
//! use.
//!
//! Only its owner can read the file, who could read the whole archive too. It holds the key of this
//! run, and no token that a person chose. A file that a crash left behind names a server that does
//! not answer, and is overwritten by the next.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

const FILE: &str = "serve.json";
const FILE_BYTES_MAX: u64 = 64 << 10;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningServer {
    pub address: SocketAddr,
    /// Where the archive is shown, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<SocketAddr>,
    pub pid: u32,
    pub key: String,
}

impl RunningServer {
    /// What the server of this directory left there, if one did.
    pub fn read(data: &Path) -> Option<RunningServer> {
        let bytes = declare::read_bounded(&data.join(FILE), FILE_BYTES_MAX).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    pub fn write(&self, data: &Path) -> Result<PathBuf> {
        let path = data.join(FILE);
        let fresh = data.join(format!("{FILE}.new"));
        let cannot = || format!("cannot write {}", path.display());
        let _ = fs::remove_file(&fresh);
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh).with_context(cannot)?;
        file.write_all(&serde_json::to_vec(self)?).with_context(cannot)?;
        fs::rename(&fresh, &path).with_context(cannot)?;
        Ok(path)
    }

    /// Where this machine reaches it.
    pub fn reached_at(&self) -> SocketAddr {
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        SocketAddr::new(ip, self.address.port())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn i4_the_notice_is_for_its_owner_only() {
        let dir = tempfile::TempDir::new().unwrap();
        let address = "0.0.0.0:80".parse().unwrap();
        let notice = RunningServer { address, replay: None, pid: 1, key: "k".to_owned() };
        for _ in 0..2 {
            let path = notice.write(dir.path()).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(RunningServer::read(dir.path()), Some(notice.clone()));
        }
        assert_eq!(notice.reached_at(), "127.0.0.1:80".parse().unwrap());
        fs::write(dir.path().join(FILE), "{").unwrap();
        assert_eq!(RunningServer::read(dir.path()), None);
    }
}
