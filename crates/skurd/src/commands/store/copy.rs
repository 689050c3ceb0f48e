//! `skurd store copy`: the store of one place copied to another, and what is to be done after.

use std::io::Write;
use std::path::Path;

use anyhow::{Error, Result};
use declare::counted;
use declare::hint::{Usage, hinted, misused};
use declare::text::{bytes_text, time_json};
use frontier::ports::Clock;
use harvest::clock::SystemClock;
use harvest::data_dir;
use harvest::session::{note, stdout};
use serde_json::{Value, json};
use store::copy::{Amount, CopyError, Differences, Stage, copy};
use store::{OpenError, Place};

use super::{explained, print_lines};
use crate::output::line;
use crate::progress::{Manner, Progress};

pub(crate) fn run(from: &Path, to: &Path, as_json: bool) -> Result<()> {
    let place = |text| Place::parse(text).map_err(|error| Error::from(Usage(error.to_string())));
    let (from, to) = (place(from)?, place(to)?);
    if from.is_same(&to) {
        return Err(misused(format!("{from} and {to} are the same place"), "say where the copy is to be"));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("skurd").build()?;
    let mut progress = Progress::new(as_json);
    let copied = runtime.block_on(copy_all(&from, &to, &mut progress));
    progress.end();
    copied.and_then(|copied| tell_end(&from, &to, copied, progress.manner))
}

async fn copy_all(from: &Place, to: &Place, progress: &mut Progress) -> Result<Amount> {
    let source = data_dir::open_source(from).map_err(|error| unopened(from, error))?;
    let target = data_dir::open_target(to).map_err(|error| unopened(to, error))?;
    let tell = |stage| {
        if progress.due().is_some() {
            progress.tell(|| progress_text(stage), || progress_json(stage));
        }
    };
    let copied = copy(&source, &from.full_name(), &target, tell).await;
    copied.map_err(|error| failed(from, to, error, progress))
}

fn unopened(place: &Place, error: OpenError) -> Error {
    match place {
        Place::Dir(dir) => explained(error, dir),
        Place::Cluster(_) => error.into(),
    }
}

fn failed(from: &Place, to: &Place, error: CopyError, progress: &mut Progress) -> Error {
    match error {
        CopyError::Different(differences) => {
            progress.end();
            match tell_differences(&differences, progress.manner) {
                Ok(()) => hinted(
                    format!("{to} is not yet what {from} is: {differences}"),
                    "the same command again writes what differs, if nobody else uses either of them",
                ),
                Err(error) => error,
            }
        }
        CopyError::Store(error) => Error::from(error).context(format!(
            "the copy of {from} to {to} did not come to its end, and goes on with the same command"
        )),
        refusal => Error::from(refusal).context(format!("cannot copy {from} to {to}")),
    }
}

fn tell_differences(differences: &Differences, manner: Manner) -> Result<()> {
    let named: Vec<String> = differences.named.iter().map(ToString::to_string).collect();
    let mut out = stdout();
    print_lines(&mut out, "difference", &named, differences.count, manner == Manner::Json)?;
    Ok(out.flush()?)
}

fn words(stage: Stage) -> (&'static str, Amount) {
    match stage {
        Stage::Copied(amount) => ("copied", amount),
        Stage::Compared(amount) => ("compared", amount),
    }
}

fn amount_text(amount: Amount) -> String {
    format!("{}, {}", counted(amount.rows, "row"), bytes_text(amount.bytes))
}

fn progress_text(stage: Stage) -> String {
    let (word, amount) = words(stage);
    format!("{word}: {}", amount_text(amount))
}

fn progress_json(stage: Stage) -> Value {
    let (stage, Amount { rows, bytes }) = words(stage);
    let time = time_json(Some(SystemClock.now()));
    json!({ "event": "progress", "time": time, "stage": stage, "rows": rows, "bytes": bytes })
}

fn tell_end(from: &Place, to: &Place, copied: Amount, manner: Manner) -> Result<()> {
    let Amount { rows, bytes } = copied;
    if manner == Manner::Json {
        let (from, to) = (from.to_string(), to.to_string());
        return line(json!({ "event": "summary", "from": from, "to": to, "rows": rows, "bytes": bytes }));
    }
    line(format!("{to} is a copy of {from}, row by row: {}", amount_text(copied)))?;
    note(&what_next(from, to))
}

/// A store without its archive is half of an installation.
fn what_next(from: &Place, to: &Place) -> String {
    let files = match (from, to) {
        (Place::Dir(from), Place::Dir(to)) => {
            format!(
                "put the WARC files of {} into {}",
                from.join("warc").display(),
                to.join("warc").display()
            )
        }
        (Place::Cluster(_), Place::Dir(to)) => {
            format!("put the WARC files of all nodes into {}", to.join("warc").display())
        }
        (Place::Dir(from), Place::Cluster(_)) => {
            format!("its captures are in the WARC files of {}, so keep them", from.join("warc").display())
        }
        (Place::Cluster(_), Place::Cluster(_)) => {
            "its captures are in the WARC files of the nodes, so keep them".to_owned()
        }
    };
    format!("only the store was copied: {files}; then harvest with one of the two, not with both")
}
