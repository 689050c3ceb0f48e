//! `skurd index dump`: every cell, a line each (X14).

use std::io::{IsTerminal, Write};

use anyhow::Result;
use declare::hint::hinted;
use declare::text::is_harmful;
use harvest::session::stdout;

use super::Opened;
use crate::args::WhichArgs;

pub(super) fn run(which: &WhichArgs) -> Result<()> {
    if which.json {
        return Err(hinted(
            "a dump has a form of its own",
            "leave out --json; `skurd index top --json` prints JSON",
        ));
    }
    let opened = Opened::new(which)?;
    opened.session.wait(opened.index.to_rest())?;
    let mut dump = opened.session.wait(opened.index.dump())?;
    let on_terminal = std::io::stdout().is_terminal();
    let mut out = stdout();
    while let Some(lines) = opened.session.wait(dump.next())? {
        match on_terminal {
            true => out.write_all(harmless(&lines).as_bytes())?,
            false => out.write_all(&lines)?,
        }
    }
    Ok(out.flush()?)
}

/// The form escapes what would break a line; a terminal obeys more than that.
fn harmless(lines: &[u8]) -> String {
    let text = String::from_utf8_lossy(lines);
    text.chars().map(|c| if is_harmful(c) && c != '\n' && c != '\t' { '\u{FFFD}' } else { c }).collect()
}
