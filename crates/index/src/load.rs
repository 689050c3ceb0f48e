//! PageLoader (X2, X4): what a page is now, inside the transaction of whoever knows.
//!
//! A page waits as `page:new` beside `page:cur`, in the slot that is not current. A load that
//! equals what is waiting, or what is current while nothing waits, changes nothing but when the
//! page was last seen. One that equals `page:cur` while something else waits takes that back. The
//! note only names the page: the observer looks at its head, so notes may be late or double.
//!
//! The last load wins, whatever its time. Two loads of a page conflict in its head, so one sees the
//! other.

use policy::time::Time;
use store::{Result, Tx};

use crate::codec::{Reader, put_signed, put_text};
use crate::handle::Index;
use crate::observe::{Outbox, Queue, shard_of};
use crate::page::Page;
use crate::schema::{Content, HEADS, Head, LINKS, Waiting};
use crate::uri::Uri;

/// A page as it was at a moment; `None`: it is gone (X4).
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    pub uri: &'a Uri,
    pub page: Option<&'a Page>,
    pub at: Time,
}

/// What a load did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loaded {
    Unchanged,
    /// The observers will work it in.
    Changed,
}

/// What is to be done to a page's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// Not even the time differs.
    Nothing,
    Seen,
    /// What waits is given up again.
    TakeBack,
    Wait(Waiting),
}

impl Index {
    /// Loads one page. Of many pages in one transaction, [`Index::load_many`] makes less work.
    #[crate::boxed]
    pub async fn load(&self, tx: &Tx, uri: &Uri, page: Option<&Page>, at: Time) -> Result<Loaded> {
        Ok(self.load_many(tx, &[Load { uri, page, at }]).await?.pop().unwrap_or(Loaded::Unchanged))
    }

    /// Loads pages, and says of each whether it changed. A page may be among them twice; the last
    /// counts.
    #[crate::boxed]
    pub async fn load_many(&self, tx: &Tx, loads: &[Load<'_>]) -> Result<Vec<Loaded>> {
        let number = self.number();
        let heads = HEADS.multi_get(tx, loads.iter().map(|load| (number, load.uri.as_str()))).await?;
        let mut known: std::collections::HashMap<&Uri, Option<Head>> =
            loads.iter().map(|load| load.uri).zip(heads).collect();
        let mut outbox = Outbox::new(Queue::Pages);
        let mut done = Vec::with_capacity(loads.len());
        for load in loads {
            let Some(head) = known.get_mut(load.uri) else { continue };
            let changed = self.load_at(tx, load, head)?;
            if changed == Loaded::Changed {
                push_note(&mut outbox, load, head.as_ref());
            }
            done.push(changed);
        }
        self.board().send(tx, outbox, 0).await?;
        Ok(done)
    }

    fn load_at(&self, tx: &Tx, load: &Load<'_>, known: &mut Option<Head>) -> Result<Loaded> {
        let plan = plan(load, known.as_ref());
        if plan == Plan::Nothing {
            return Ok(Loaded::Unchanged);
        }
        let head = known.get_or_insert_with(|| Head::at(load.at));
        if head.cur.is_none() && head.new.is_none() {
            (head.first_seen, head.last_seen) = (load.at, load.at);
        }
        head.first_seen = head.first_seen.min(load.at);
        head.last_seen = head.last_seen.max(load.at);
        let other = (self.number(), load.uri.as_str(), 1 - head.slot);
        let waits_before = matches!(head.new, Some(Waiting::Page(_)));
        match plan {
            Plan::Nothing | Plan::Seen => {}
            Plan::TakeBack => head.new = None,
            Plan::Wait(waiting) => head.new = Some(waiting),
        }
        match (head.new, load.page) {
            (Some(Waiting::Page(_)), Some(page)) if plan != Plan::Seen => {
                LINKS.put_raw(tx, other, page.bytes())?;
            }
            (Some(Waiting::Page(_)), _) => {}
            (Some(Waiting::Nothing) | None, _) if waits_before => LINKS.delete(tx, other)?,
            _ => {}
        }
        HEADS.put(tx, (self.number(), load.uri.as_str()), head)?;
        Ok(if matches!(plan, Plan::Wait(_)) { Loaded::Changed } else { Loaded::Unchanged })
    }
}

impl Head {
    fn at(at: Time) -> Head {
        Head { cur: None, slot: 0, new: None, first_seen: at, last_seen: at, sent: 0 }
    }

    /// What it will be when nothing waits any more.
    fn to_be(&self) -> Option<Content> {
        match self.new {
            Some(Waiting::Page(content)) => Some(content),
            Some(Waiting::Nothing) => None,
            None => self.cur,
        }
    }
}

fn plan(load: &Load<'_>, head: Option<&Head>) -> Plan {
    let digest = load.page.map(Page::digest);
    let to_be = head.and_then(Head::to_be).map(|content| content.digest);
    if digest == to_be {
        let later = head.is_some_and(|head| load.at > head.last_seen || load.at < head.first_seen);
        return if later && digest.is_some() { Plan::Seen } else { Plan::Nothing };
    }
    let current = head.and_then(|head| head.cur).map(|content| content.digest);
    match load.page {
        _ if digest == current && current.is_some() => Plan::TakeBack,
        None => Plan::Wait(Waiting::Nothing),
        Some(page) => Plan::Wait(Waiting::Page(Content {
            digest: page.digest(),
            weight: u32::try_from(page.weight()).unwrap_or(u32::MAX),
            links: u32::try_from(page.len()).unwrap_or(u32::MAX),
            since: load.at,
        })),
    }
}

/// A note weighs what its observer will read: the links of both slots.
fn push_note(outbox: &mut Outbox, load: &Load<'_>, head: Option<&Head>) {
    let cur = head.and_then(|head| head.cur).map_or(0, |content| content.weight as usize);
    let weight = load.uri.as_str().len() + load.page.map_or(0, Page::weight) + cur;
    let shard = shard_of(load.uri.as_str());
    outbox.add(shard, weight, |bytes| {
        put_signed(bytes, load.at.0);
        put_text(bytes, load.uri.as_str());
    });
}

/// When a page of a note was loaded, and which it is.
pub(crate) fn read_note<'a>(reader: &mut Reader<'a>) -> Result<(Time, &'a str)> {
    Ok((Time(reader.signed()?), reader.text()?))
}
