//! Which browser there is (B20).

use std::path::{Path, PathBuf};

use policy::browser::BrowserProgram;

/// In the order of preference: the first takes a quarter of the CPU of the others, and calls nobody
/// by itself.
const NAMES: [&str; 5] =
    ["chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome"];
/// Below this, what is asked of it is not all there.
pub const MAJOR_VERSION_MIN: u32 = 120;

/// Why there is no browser to harvest with; what to do about it follows a line further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    #[error("no browser was found (looked for {})", NAMES.join(", "))]
    NotFound,
    #[error("there is no program at {}, which `browser.path` names", .0.display())]
    NotThere(PathBuf),
    #[error("as root a browser does not start with its sandbox on")]
    Root,
}

impl Missing {
    pub fn hint(&self) -> &'static str {
        match self {
            Missing::NotFound => {
                "install Debian's package chromium-headless-shell (or chromium), or say `browser: {path: …}` in the settings"
            }
            Missing::NotThere(_) => {
                "correct `browser.path` in the settings, or leave it out to have a browser looked for"
            }
            Missing::Root => {
                "run skurd as another user; or, if the machine is for nothing else, say `browser: {sandbox: no}` in the settings"
            }
        }
    }
}

/// The program to start, if it can be.
pub fn find(program: &BrowserProgram, is_root: bool) -> Result<PathBuf, Missing> {
    let path = match &program.path {
        Some(path) if Path::new(path).is_file() => PathBuf::from(path),
        Some(path) => return Err(Missing::NotThere(PathBuf::from(path))),
        None => named().ok_or(Missing::NotFound)?,
    };
    if is_root && program.sandbox { Err(Missing::Root) } else { Ok(path) }
}

fn named() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    NAMES.iter().find_map(|name| dirs.iter().map(|dir| dir.join(name)).find(|path| path.is_file()))
}

/// The first number of `Chrome/156.0.1`, or of `HeadlessChrome/156.0.1`.
pub(crate) fn major_version(product: &str) -> Option<u32> {
    product.split_once('/')?.1.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b20_what_keeps_a_browser_from_being_used_is_said() {
        let own = std::env::current_exe().expect("this test").display().to_string();
        let program = |path: &str, sandbox| BrowserProgram {
            path: Some(path.to_owned()),
            sandbox,
            ..BrowserProgram::default()
        };
        for (program, root, expected) in [
            (program(&own, true), false, Ok(PathBuf::from(&own))),
            (program(&own, false), true, Ok(PathBuf::from(&own))),
            (program(&own, true), true, Err(Missing::Root)),
            (program("/no/such", true), false, Err(Missing::NotThere("/no/such".into()))),
        ] {
            assert_eq!(find(&program, root), expected);
        }
        for missing in [Missing::NotFound, Missing::NotThere("/x".into()), Missing::Root] {
            assert!(!missing.hint().is_empty() && !missing.to_string().is_empty());
        }
    }

    #[test]
    fn b20_versions_are_read() {
        for (product, major) in [
            ("HeadlessChrome/156.0.8078.79", Some(156)),
            ("Chrome/99.1", Some(99)),
            ("Chrome", None),
            ("Chrome/x", None),
        ] {
            assert_eq!(major_version(product), major);
        }
    }
}
