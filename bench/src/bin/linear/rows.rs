//! What a walk costs in the store: its rows as they are written, counted byte by byte.

use anyhow::{Context, Result};
use frontier::WalkRun;
use frontier::schema::{WALK_IDS, WALKS, WalkRow};
use policy::time::Time;
use policy::walk::{Draft, Leg, Outcome, Resume, Step, Walk, WalkSettings};
use store::table::KeyRange;
use store::{Order, Store};

const NAME: &str = "https://example.org/notice/{id}";
/// Results between two writes of the rows that changed.
const BATCH: u64 = 100_000;

/// Rows, and bytes of their keys and values, after a walk of so many ids that all exist.
pub(crate) fn of_contiguous(ids: u64) -> Result<(usize, usize)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(async {
        let store = Store::in_memory(1);
        let draft = Draft { template: NAME.to_owned(), min: Some(1), max: Some(ids), ..Draft::default() };
        let mut walk = Walk::new(WalkSettings::new(draft)?);
        let mut fetched = 0;
        while let Step::Fetch { id, .. } = walk.next(Leg::Up, Time(0)) {
            walk.result(id, Outcome::Exists, Time(i64::try_from(id)?));
            fetched += 1;
            if fetched % BATCH == 0 {
                write(&store, &mut walk).await?;
            }
        }
        write(&store, &mut walk).await?;
        let (head, head_bytes) = size(&store, WALKS.range(())).await?;
        let (stretches, bytes) = size(&store, WALK_IDS.range(())).await?;
        Ok((head + stretches, head_bytes + bytes))
    })
}

async fn write(store: &Store, walk: &mut Walk) -> Result<()> {
    let changes = walk.dirty().context("nothing changed")?;
    let ended = walk.ended().is_some();
    let row = &WalkRow { head: changes.head, resume: Resume::Continue, ended, run: WalkRun::default() };
    let stretches = &changes.stretches;
    let written = store.transact(|tx| async move {
        WALKS.put(&tx, (NAME,), row)?;
        stretches.iter().try_for_each(|(stretch, row)| WALK_IDS.put(&tx, (NAME, *stretch), row))
    });
    Ok(written.await?)
}

async fn size(store: &Store, range: KeyRange) -> Result<(usize, usize)> {
    let tx = store.begin().await?;
    let (mut rows, mut bytes, mut rest) = (0, 0, Some(range));
    while let Some(range) = rest {
        let page = tx.scan(&range, 1000, Order::Forward).await?;
        rows += page.items.len();
        bytes += page.items.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
        rest = page.rest;
    }
    Ok((rows, bytes))
}
