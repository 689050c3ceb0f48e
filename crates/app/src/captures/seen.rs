//! What a browser saw of a URL the last time, as the archive has it (B21).

use std::io::Read;

use harvest::page_info::{PAGE_INFO, PageInfo, THUMBNAIL, VIEW};
use http::StatusCode;

use super::{get_content, item};
use crate::{Answer, App, Problem};

/// A page makes a thousand requests at most, and their URLs are not long.
const INFO_BYTES_MAX: u64 = 8 << 20;

/// The records of one visit.
#[derive(Clone, Debug)]
pub struct SeenPage {
    pub time: String,
    /// Of the capture that is the page information.
    pub id: String,
    pub info: PageInfo,
    /// Of the captures that are its pictures, for [`get_picture`](super::picture::get_picture).
    pub view: Option<String>,
    pub thumbnail: Option<String>,
}

/// What was seen the last time; none if it never was.
#[crate::boxed]
pub async fn last_seen(app: &App, collection: &str, url: &str) -> Answer<Option<SeenPage>> {
    let last = async |what: &str| {
        let name = format!("{what}{url}");
        app.frontier.last_record(collection, &net::surt::key(&name), &name).await
    };
    let Some(found) = last(PAGE_INFO).await? else { return Ok(None) };
    // A visit that ended badly has no pictures; those of an earlier one are not its own.
    let at = found.0.time;
    let of_this_visit = |(id, _): &(frontier::CaptureId, frontier::Capture)| id.time == at;
    let view = last(VIEW).await?.filter(of_this_visit).map(|found| item(found).id);
    let thumbnail = last(THUMBNAIL).await?.filter(of_this_visit).map(|found| item(found).id);
    let found = item(found);
    let stored = get_content(app, found.id.clone()).await?;
    let info = app.heavy(async move |_| read(stored.open()?.1)).await?;
    Ok(Some(SeenPage { time: found.time, id: found.id, info, view, thumbnail }))
}

fn read(source: impl Read) -> Answer<PageInfo> {
    let mut bytes = Vec::new();
    let read = source.take(INFO_BYTES_MAX).read_to_end(&mut bytes);
    read.map_err(|error| Problem::internal(&error))?;
    serde_json::from_slice(&bytes)
        .map_err(|_| Problem::new(StatusCode::GONE, "the page information in the archive cannot be read"))
}
