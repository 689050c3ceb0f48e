//! The settings of the whole installation.

use declare::{entry, written};
use policy::catalog::Change;
use serde_json::Value;

use super::{Expected, Tagged, etag};
use crate::{Answer, App};

/// The settings, and the tag of what they say.
#[crate::boxed]
pub async fn get_settings(app: &App) -> Answer<Tagged> {
    let settings = app.look(|catalog| written(catalog.settings())).await?;
    Ok(Tagged { tag: etag(&settings), thing: settings })
}

#[crate::boxed]
pub async fn put_settings(app: &App, expected: &Expected, body: &Value) -> Answer<Tagged> {
    let _turn = app.edits.lock().await;
    let (since, now) = app.look_to_edit(|catalog| written(catalog.settings())).await?;
    expected.check(Some(&etag(&now)), || "the settings".to_owned())?;
    let change = Change::PutSettings(Box::new(entry::read_settings(body)?));
    app.declare(since, &[change]).await?;
    get_settings(app).await
}
