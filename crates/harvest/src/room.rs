//! Room on the disk of the data directory (I9). Where less is free than somebody wants to keep free, the
//! harvest is held back: what is under way comes home and is archived, nothing new is asked for. When there
//! is room again it goes on by itself.
//!
//! Without a floor a full disk ends the harvest instead, and loses nothing either.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use declare::text::bytes_text;
use frontier::{Brake, Frontier};

use crate::figures::{Disk, Figures};
use crate::session::note;

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How much is free on the disk of a directory, for this user.
fn free_bytes(dir: &Path) -> std::io::Result<u64> {
    let disk = rustix::fs::statvfs(dir)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Looks until it is dropped; ends only with an error.
pub(crate) async fn keep_free(
    frontier: &Arc<Frontier>,
    dir: &Path,
    floor: Option<u64>,
    figures: &Figures,
) -> anyhow::Error {
    let mut is_held = false;
    loop {
        match look(dir, floor, is_held) {
            Ok(disk) => {
                frontier.hold_back(Brake::Disk, disk.is_full);
                if disk.is_full != is_held {
                    let _ = note(&sentence(&disk, dir));
                }
                is_held = disk.is_full;
                figures.see_disk(disk);
            }
            Err(error) => return error,
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Once held, a little more than the floor must be free, so that a disk just at its floor does not stop
/// and go with every file.
fn look(dir: &Path, floor: Option<u64>, is_held: bool) -> Result<Disk> {
    let free =
        free_bytes(dir).with_context(|| format!("cannot see how full the disk of {} is", dir.display()))?;
    let wanted = floor.map_or(0, |floor| if is_held { floor.saturating_add(floor / 20) } else { floor });
    Ok(Disk { free, floor, is_full: free < wanted })
}

fn sentence(disk: &Disk, dir: &Path) -> String {
    let (free, floor) = (bytes_text(disk.free), bytes_text(disk.floor.unwrap_or(0)));
    match disk.is_full {
        true => format!(
            "{free} are free on the disk of {}, and {floor} are to stay free (--disk-floor): nothing is harvested until there is room",
            dir.display()
        ),
        false => {
            format!("there is room again on the disk of {} ({free}): the harvest goes on", dir.display())
        }
    }
}
