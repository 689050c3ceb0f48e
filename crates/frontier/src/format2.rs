//! Rows as format 2 wrote them, where they are other than now, and what they mean now.
//!
//! As in [`crate::format1`], **nothing here changes** but the right-hand sides of the conversions.
//! What people declared was in format 2 as it was when format 1 ended, but for the settings, which
//! had one field more. So those types are shared: they are frozen there.
//!
//! All other tables are as they were in format 2. Who changes one of them copies its type into this
//! module first, unless it is in [`crate::format1`] and was the same; the test of golden rows
//! notices who does not.

use policy::catalog::Change;
use policy::model;
use policy::time::Span;
use serde::Deserialize;
use store::table::read;

use crate::format1::{self, PUT_SETTINGS};

pub(crate) fn change(row: &[u8]) -> Option<Change> {
    match row.split_first() {
        Some((&PUT_SETTINGS, settings)) => {
            read::<Settings>(settings).map(|old| Change::PutSettings(Box::new(old.into())))
        }
        _ => format1::whole_change(row),
    }
}

#[derive(Deserialize)]
struct Settings {
    /// Written as its fields, one after the other, with nothing around them.
    first: format1::Settings,
    robots_cache: Span,
}

impl From<Settings> for model::Settings {
    fn from(old: Settings) -> model::Settings {
        model::Settings { robots_cache: old.robots_cache, ..old.first.into() }
    }
}
