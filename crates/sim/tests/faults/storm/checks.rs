//! What must hold at every moment, and what when all has come home.

use std::collections::{BTreeMap, BTreeSet};

use frontier::{Host, UrlState};
use policy::time::{Span, Time};
use policy::walk::Kind;
use sim::Record;

use super::Storm;
use crate::reference::{self, Walked};

/// What is overdue by more than that in the calm is frozen: longer than any backoff, recheck or
/// slow answer.
const OVERDUE_MAX: Span = Span::hours(2);
/// F40: what lies further ahead than that is frozen, too: longer than any frequency with any
/// backoff.
const AHEAD_MAX: Span = Span::minutes(200 + 60);
/// The longest backoff there is.
const BACKOFF_MAX: Span = Span::hours(1);
/// Every so often the archive is looked at too.
const ARCHIVE_LOOKS: u32 = 8;

impl Storm {
    /// Everything that must hold at every moment.
    pub(super) async fn look(&mut self) {
        let mut wrong = self.simulation.frontier.audit().await.unwrap().findings;
        wrong.extend(self.sentry.books(|books| std::mem::take(&mut books.checker.complaints)));
        wrong.extend(self.sentry.left_at_home());
        self.looks += 1;
        // Reading the whole archive takes longer than all the rest.
        let wrong_there = match self.looks.is_multiple_of(ARCHIVE_LOOKS) {
            true => self.archive_agrees().await,
            false => Vec::new(),
        };
        wrong.extend(wrong_there);
        if !wrong.is_empty() {
            self.fail(&format!("{wrong:#?}"));
        }
    }

    /// F7: every record is the answer to a request of its own.
    pub(super) fn nothing_is_doubled(&self) {
        let mut brought = self.sentry.books(|books| books.brought.clone());
        for record in self.records().into_values() {
            let key = (record.collection, record.capture.url, record.key.time);
            match brought.get_mut(&key) {
                Some(left) if *left > 0 => *left -= 1,
                _ => self.fail(&format!("F7: {key:?} was not brought home so often")),
            }
        }
    }

    /// F7, A13: nothing of what was heard of is lost, and nothing is there that was not, but for
    /// the batch in hand.
    pub(super) async fn archive_agrees(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let stored = self.stored().await;
        let in_hand: BTreeSet<_> = self.simulation.shelf.in_hand().iter().map(Record::place).collect();
        let kept: BTreeSet<_> = self.simulation.shelf.records().iter().map(Record::place).collect();
        self.sentry.books(|books| {
            let lost = books.captures.keys().filter(|place| !stored.contains_key(*place));
            wrong
                .extend(lost.map(|place| format!("F7: the capture at {place:?} was committed, and is gone")));
            let more = stored
                .keys()
                .filter(|place| !books.captures.contains_key(*place) && !in_hand.contains(*place));
            wrong.extend(more.map(|place| format!("F7: the capture at {place:?} comes from nowhere")));
            let bare =
                stored.keys().filter(|place| !kept.contains(*place) && !self.destroyed.contains(*place));
            wrong.extend(bare.map(|place| format!("F7: the capture at {place:?} has no record")));
            let unknown =
                kept.iter().filter(|place| !stored.contains_key(*place) && !in_hand.contains(*place));
            wrong.extend(unknown.map(|place| format!("A13: the record at {place:?} has no capture")));
        });
        wrong
    }

    pub(super) async fn stored(&self) -> BTreeMap<(String, u64), String> {
        let mut stored = BTreeMap::new();
        for collection in ["news", "shop"] {
            let (rows, rest) = self.simulation.frontier.captures(collection, None, 100_000).await.unwrap();
            assert!(rest.is_none());
            stored.extend(rows.into_iter().map(|(_, _, row)| ((row.file, row.offset), row.url)));
        }
        stored
    }

    pub(super) async fn nothing_is_frozen(&self) {
        let now = self.simulation.now();
        let ledger = self.simulation.frontier.audit().await.unwrap();
        // F17: a name that does not resolve keeps the whole host waiting, try after try, but never
        // for longer than that.
        let backs_off = |host: &Host| {
            host.backoff_until.is_some_and(|until| until > now && until <= now.plus(BACKOFF_MAX))
        };
        let frozen = ledger.urls.iter().filter_map(|((collection, url), state)| {
            let UrlState::Queued(record) = state else { return None };
            let host = url.split('/').nth(2).and_then(|name| ledger.hosts.get(name));
            if record.due.plus(OVERDUE_MAX) < now && !host.is_some_and(backs_off) {
                return Some(format!("{url} in {collection} waits since {}: {host:?}", record.due));
            }
            let ahead = record.due > now.plus(AHEAD_MAX) || record.linked > now;
            ahead.then(|| format!("F40: {url} in {collection} waits for {}: {record:?}", record.due))
        });
        let mut frozen: Vec<_> = frozen.collect();
        for (name, host) in &ledger.hosts {
            let ahead = [Some(host.slots.next_free), host.backoff_until, host.deferred_until];
            let slots = host.slots.taken.iter().map(|slot| slot.until);
            let latest = ahead.into_iter().flatten().chain(slots).max();
            if latest.is_some_and(|at| at > now.plus(AHEAD_MAX)) {
                frozen.push(format!("F40: {name} waits for {latest:?}: {host:?}"));
            }
        }
        let (blacklist, _) = self.simulation.frontier.blacklist(None, None, 100_000).await.unwrap();
        let for_ever = blacklist.into_iter().filter(|row| {
            row.entry.since > now || row.entry.until.is_some_and(|until| until > now.plus(Span::days(1)))
        });
        frozen.extend(for_ever.map(|row| format!("F40: {row:?}")));
        if !frozen.is_empty() {
            self.fail(&format!("{frozen:#?}"));
        }
    }

    /// L4, L6, L9: as if each id had been asked after the other, until it was known.
    pub(super) async fn walks_are_complete(&self) {
        for declared in &self.world.walks {
            let name = &declared.name;
            let expected = reference::walk(&declared.settings, &self.ids[name]);
            let sight = self.simulation.frontier.walk(name).await.unwrap();
            let ids = |kind| sight.walk.ranges(kind, 0).flatten().collect::<BTreeSet<u64>>();
            let found = Walked { content: ids(Kind::Content), holes: ids(Kind::Hole) };
            if !sight.ended || found != expected {
                self.fail(&format!(
                    "walk {name}: found {found:?}, ended {}; expected {expected:?}",
                    sight.ended
                ));
            }
            let known: BTreeSet<u64> = expected.content.union(&expected.holes).copied().collect();
            self.sentry.books(|books| {
                let asked = books.asked.iter().filter_map(|asked| asked.walk.as_ref());
                let asked: BTreeSet<u64> = asked.filter(|(own, _)| own == name).map(|(_, id)| *id).collect();
                let more: Vec<_> = asked.difference(&known).collect();
                assert!(
                    more.is_empty(),
                    "seed {}: L9: {more:?} are fetched, which a sequential walk would not",
                    self.seed
                );
                let often = books
                    .walked
                    .iter()
                    .filter(|((own, _), attempts)| own == name && **attempts > declared.settings.attempts());
                assert_eq!(often.count(), 0, "seed {}: L5: more attempts than declared", self.seed);
                let twice = books.found.iter().filter(|((own, _), times)| own == name && **times > 1);
                assert_eq!(twice.count(), 0, "seed {}: L5: an id that was found is asked again", self.seed);
            });
        }
    }

    /// F7, F32: what is counted is what was committed.
    pub(super) async fn accounts_agree(&self) {
        let rows = self.simulation.frontier.traffic(Time(0)).await.unwrap();
        let counted: u64 = rows.iter().map(|row| row.traffic.requests).sum();
        let captures = self.sentry.books(|books| books.captures.len() as u64);
        let (committed, asked) =
            self.sentry.books(|books| (books.committed, u64::try_from(books.asked.len()).unwrap()));
        let too_few = counted < captures || counted < committed;
        if (too_few && !self.disturbed) || counted > asked {
            self.fail(&format!(
                "{counted} requests counted, {committed} committed, {captures} captured, {asked} asked"
            ));
        }
    }
}
