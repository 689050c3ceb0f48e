//! The node that a data directory is (M1, M2): what it is called, and where its store is.
//!
//! A directory has its store in itself, unless `node.yaml` in it names one on a cluster. That file is
//! written by the first harvest that is told `--store`, and may be written by hand; from then on
//! every command on the directory means that store. The archive stays in the directory, which is
//! used by one process at a time either way.
//!
//! ```yaml
//! name: vm1
//! store: tikv://pd1:2379,pd2:2379/skurd
//! home: 1234
//! ```

use std::fmt::Write;
use std::path::{Path, PathBuf};

use store::cluster::Address;
use store::{OpenError, Place};

const FILE: &str = "node.yaml";
const FILE_BYTES_MAX: u64 = 64 << 10;
/// Of a name: it stands in keys, and in the names of files.
const NAME_BYTES_MAX: usize = 100;

/// What `node.yaml` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub name: Option<String>,
    pub store: Option<Address>,
    /// The address as it is written, with its certificates.
    written: Option<String>,
    /// Tells this directory from any other.
    pub home: Option<u64>,
}

fn bad(path: &Path, problem: impl Into<String>) -> OpenError {
    OpenError::BadNodeFile { path: path.to_owned(), problem: problem.into() }
}

impl Node {
    /// Of a directory, which may be one that is not there yet.
    pub fn read(dir: &Path) -> Result<Node, OpenError> {
        let path = dir.join(FILE);
        if !path.exists() {
            return Ok(Node::default());
        }
        let bytes =
            declare::read_bounded(&path, FILE_BYTES_MAX).map_err(|error| bad(&path, error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| bad(&path, "it is not text"))?;
        let mut node = Node::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split(" #").next().unwrap_or_default().trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: String| bad(&path, format!("line {}: {what}", number + 1));
            let (key, value) =
                line.split_once(": ").ok_or_else(|| wrong(format!("{line:?} is not `key: value`")))?;
            let value = value.trim().trim_matches('"');
            match key {
                "name" => node.name = Some(named(value).map_err(&wrong)?),
                "store" => node.set_store(value).map_err(&wrong)?,
                "home" => {
                    let home = value.parse().map_err(|_| wrong(format!("{value:?} is no number")))?;
                    node.home = Some(home);
                }
                other => return Err(wrong(format!("there is no {other:?}, only name, store and home"))),
            }
        }
        Ok(node)
    }

    fn set_store(&mut self, text: &str) -> Result<(), String> {
        self.store = Some(text.parse::<Address>().map_err(|error| error.to_string())?);
        self.written = Some(text.to_owned());
        Ok(())
    }

    /// What a harvest is told of its node, with what the directory knows.
    pub fn settle(dir: &Path, store: Option<&str>, name: Option<&str>) -> Result<Node, OpenError> {
        let path = dir.join(FILE);
        let before = Node::read(dir)?;
        let mut node = before.clone();
        if let Some(name) = name {
            node.name = Some(named(name).map_err(|problem| bad(&path, problem))?);
        }
        if let Some(text) = store {
            node.set_store(text).map_err(|problem| bad(&path, problem))?;
            let is_other = |other: &&Address| node.store.as_ref().is_none_or(|own| !is_same(own, other));
            if let Some(other) = before.store.as_ref().filter(is_other) {
                return Err(bad(
                    &path,
                    format!("the directory belongs to the store at {other}, and not to {text}"),
                ));
            }
        }
        node.home.get_or_insert_with(|| fastrand::u64(1..));
        Ok(node)
    }

    /// The directory is this node from now on: to be said once the node has its place at the store, so
    /// that a slip of the pen is not what is remembered.
    pub fn keep(&self, dir: &Path) -> Result<(), OpenError> {
        // A directory of its own store needs no file: its name follows from where it is.
        if (self.store.is_none() && self.name.is_none()) || *self == Node::read(dir)? {
            return Ok(());
        }
        let path = &dir.join(FILE);
        let failed = |source| OpenError::Io { action: "write", path: path.to_owned(), source };
        let mut text = String::new();
        for (key, value) in [
            ("name", self.name.clone()),
            ("store", self.written.clone()),
            ("home", self.home.map(|home| home.to_string())),
        ] {
            if let Some(value) = value {
                let _ = writeln!(text, "{key}: {value}");
            }
        }
        std::fs::create_dir_all(dir).map_err(failed)?;
        let fresh = dir.join(format!("{FILE}.new"));
        std::fs::write(&fresh, text).and_then(|()| std::fs::rename(&fresh, path)).map_err(failed)
    }

    /// What it is called: as it was told, or by its machine and directory.
    pub fn name_in(&self, dir: &Path) -> String {
        let usual = || {
            let dir = dir.canonicalize().unwrap_or_else(|_| PathBuf::from(dir));
            let mut name = format!("{}:{}", crate::wire::host_name(), dir.display());
            let bytes = name.floor_char_boundary(NAME_BYTES_MAX);
            name.truncate(bytes);
            name
        };
        self.name.clone().unwrap_or_else(usual)
    }
}

/// Placement drivers come and go, and certificates are renewed: what stays is the prefix, and somebody
/// who knows the others.
fn is_same(one: &Address, other: &Address) -> bool {
    Place::Cluster(one.clone()).is_same(&Place::Cluster(other.clone()))
}

fn named(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_alphanumeric() || "-_.:/@".contains(c);
    match !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.chars().all(plain) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "{text:?} is no name of a node: 1 to {NAME_BYTES_MAX} letters, digits, '-', '_', '.', ':', '/' or '@'"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m1_m2_a_directory_remembers_its_node() {
        let dir = tempfile::TempDir::new().unwrap();
        let dir = dir.path();
        assert_eq!(Node::read(dir).unwrap(), Node::default());
        let own = Node::settle(dir, None, None).unwrap();
        assert!(own.store.is_none() && !dir.join(FILE).exists());
        let address = "tikv://pd:2379/skurd?gc=off";
        let first = Node::settle(dir, Some(address), Some("vm1")).unwrap();
        assert_eq!(Node::read(dir).unwrap(), Node::default(), "it may turn out to be wrong");
        first.keep(dir).unwrap();
        assert_eq!(Node::read(dir).unwrap(), first);
        assert_eq!(Node::settle(dir, None, None).unwrap(), first, "said once");
        assert_eq!(first.name_in(dir), "vm1");
        let other = Node::settle(dir, Some("tikv://pd:2379/other"), None).unwrap_err().to_string();
        assert!(other.contains("belongs to the store at tikv://pd:2379/skurd"), "{other}");
        let elsewhere = Node::settle(dir, Some("tikv://pd9:2379/skurd"), None).unwrap_err().to_string();
        assert!(elsewhere.contains("belongs to the store at tikv://pd:2379/skurd"), "{elsewhere}");
        // Another placement driver has come, and certificates.
        let renewed = "tikv://pd2:2379,pd:2379/skurd?ca=a&cert=b&key=c";
        Node::settle(dir, Some(renewed), None).unwrap().keep(dir).unwrap();
        let node = Node::read(dir).unwrap();
        assert_eq!((node.store, node.name, node.home), (renewed.parse().ok(), first.name, first.home));
    }

    #[test]
    fn m1_m2_what_is_wrong_with_the_file_is_told_with_its_line() {
        let dir = tempfile::TempDir::new().unwrap();
        for (text, told) in [
            ("name vm1", "line 1: \"name vm1\" is not `key: value`"),
            (
                "# mine\nstore: nowhere\n",
                "line 2: \"nowhere\" is no address of a store: it begins with tikv://",
            ),
            ("home: x", "line 1: \"x\" is no number"),
            ("nmae: x", "line 1: there is no \"nmae\", only name, store and home"),
            ("name: a b", "line 1: \"a b\" is no name of a node"),
        ] {
            std::fs::write(dir.path().join(FILE), text).unwrap();
            let sentence = Node::read(dir.path()).unwrap_err().to_string();
            assert!(sentence.contains(told), "{sentence}");
        }
    }
}
