//! `skurd archive adopt`: what is in the files, back into the store.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use declare::counted;
use declare::hint::hinted;
use harvest::data_dir;
use harvest::session::{Session, note, stdout};
use harvest::wire::archive::adopt::{Adopted, adopt};
use harvest::wire::warc_dir;
use serde_json::json;

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
    let mut total = (0, 0);
    let mut unread = Vec::new();
    let done = session.wait(adopt(&session.frontier, data, &names, collection, |file, adopted| {
        match adopted {
            Some(adopted) => {
                total.0 += 1;
                total.1 += adopted.captures;
            }
            None => unread.push(file.to_owned()),
        }
        if as_json { print_json(file, adopted) } else { print(file, adopted) }
    }));
    done?;
    let mut out = stdout();
    if as_json {
        let summary =
            json!({ "event": "summary", "files": total.0, "captures": total.1, "unreadable": unread.len() });
        writeln!(out, "{summary}")?;
    }
    out.flush()?;
    drop(out);
    if !as_json {
        let (files, captures) = (counted(total.0, "file"), total.1);
        note(&format!(
            "{captures} captures taken in from {files}; `skurd archive check` looks at all of them"
        ))?;
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

fn print(file: &str, adopted: Option<&Adopted>) -> Result<()> {
    let mut out = stdout();
    let Some(adopted) = adopted else {
        writeln!(out, "{file}: nothing can be read")?;
        return Ok(out.flush()?);
    };
    writeln!(out, "{file}: {} captures read, {} of them new", adopted.read, adopted.captures)?;
    for damaged in &adopted.damaged {
        writeln!(out, "  bytes {} to {}: {}", damaged.from, damaged.to, damaged.reason)?;
    }
    if adopted.damaged_more > 0 {
        writeln!(out, "  and {} more", adopted.damaged_more)?;
    }
    if let Some(aside) = &adopted.aside {
        writeln!(out, "  what could not be read at its end is in {aside}")?;
    }
    Ok(out.flush()?)
}

fn print_json(file: &str, adopted: Option<&Adopted>) -> Result<()> {
    let event = match adopted {
        None => json!({ "event": "unreadable", "file": file }),
        Some(adopted) => {
            let damaged = adopted.damaged.iter();
            let damaged: Vec<_> = damaged
                .map(|part| json!({ "from": part.from, "to": part.to, "reason": part.reason }))
                .collect();
            json!({
                "event": "adopted",
                "file": file,
                "read": adopted.read,
                "captures": adopted.captures,
                "damaged": damaged,
                "damaged_more": adopted.damaged_more,
                "aside": adopted.aside,
            })
        }
    };
    let mut out = stdout();
    writeln!(out, "{event}")?;
    Ok(out.flush()?)
}
