//! `skurd archive adopt`: what is in the files, back into the store.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use declare::counted;
use declare::hint::hinted;
use harvest::data_dir;
use harvest::session::{Session, note};
use harvest::wire::archive::adopt::{Adopted, adopt};
use harvest::wire::warc_dir;
use serde_json::{Value, json};

use crate::output::line;

pub(crate) fn run(data: &Path, files: &[PathBuf], collection: Option<&str>, as_json: bool) -> Result<()> {
    let dir = warc_dir(data);
    if !dir.is_dir() {
        return Err(hinted(
            format!("there is no archive: {} is no directory", dir.display()),
            "--data DIR says where the data directory is",
        ));
    }
    let names: Vec<String> = files
        .iter()
        .filter_map(|file| file.file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    let store = data_dir::create_anew(data).map_err(|error| data_dir::explain(data, error))?;
    let session = Session::with(store)?;
    let (mut read, mut captures, mut unread) = (0, 0, Vec::new());
    session.wait(adopt(&session.frontier, data, &names, collection, |file, adopted| {
        match adopted {
            Some(adopted) => {
                read += 1;
                captures += adopted.captures;
            }
            None => unread.push(file.to_owned()),
        }
        line(if as_json { event(file, adopted).to_string() } else { sentences(file, adopted) })
    }))?;
    match as_json {
        true => line(
            json!({ "event": "summary", "files": read, "captures": captures, "unreadable": unread.len() }),
        )?,
        false => note(&format!(
            "{captures} captures taken in from {}; `skurd archive check` looks at all of them",
            counted(read, "file")
        ))?,
    }
    // What was set aside because nothing can be read in it stays so; who names it wants to know.
    if let Some(first) = unread.first().filter(|_| !names.is_empty()) {
        bail!(
            "nothing can be read in {} of the archive, like {first}: left as it is",
            counted(unread.len(), "file")
        );
    }
    Ok(())
}

fn sentences(file: &str, adopted: Option<&Adopted>) -> String {
    let Some(adopted) = adopted else { return format!("{file}: nothing can be read") };
    let mut lines = vec![format!("{file}: {} captures read, {} of them new", adopted.read, adopted.captures)];
    let damaged = adopted.damaged.iter();
    lines.extend(damaged.map(|part| format!("  bytes {} to {}: {}", part.from, part.to, part.reason)));
    if adopted.damaged_more > 0 {
        lines.push(format!("  and {} more", adopted.damaged_more));
    }
    let aside = adopted.aside.iter();
    lines.extend(aside.map(|aside| format!("  what could not be read at its end is in {aside}")));
    lines.join("\n")
}

fn event(file: &str, adopted: Option<&Adopted>) -> Value {
    let mut event = adopted.map_or_else(|| json!({}), |adopted| json!(adopted));
    event["event"] = if adopted.is_some() { "adopted" } else { "unreadable" }.into();
    event["file"] = file.into();
    event
}
