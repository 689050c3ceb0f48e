//! What is to be done with each file of an archive at a start, decided on what the store and the
//! archive each know (A8, A13).
//!
//! The store knows of each file up to where it is committed, and the number of the last batch. The
//! archive knows from its journal the last batches and up to which of them the store was certain.
//! Bytes that the store does not know are one of these:
//!
//! | what | how it is known | what is done |
//! |---|---|---|
//! | the batch in hand | the last in the journal, not settled, the next after the store's, and the machine has not been started anew; it begins where the store ends, and nothing lies behind it | cut off: it is harvested again |
//! | of the last moments | a power cut takes back what the store had committed and not synced; it knows all that was certain | taken in: the captures are there, and their URLs are harvested again |
//! | nobody's | no row, no line in the journal | the file is set aside |
//! | anything else | the store is not the journal's, or knows less than was certain, or there is no journal | the start stops, and nothing is touched |
//!
//! Bytes that the store does not know and that nobody can explain are the sign of a store that
//! knows less than it should: emptied, cut off, an older copy. Where there are none there is
//! nothing to stop for, whatever the numbers say.

use super::journal::{Batch, Remembered};
use super::shelf::{Held, Stage};

/// What the store knows of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Up to this byte it is committed.
    pub end: u64,
}

/// What the store knows of the archive as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The number of the archive it belongs to.
    pub id: Option<u64>,
    /// The last batch that is in it.
    pub batch: u64,
}

/// What is to be done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// All of it is known.
    Nothing,
    /// Bytes that were archived are missing.
    Short {
        known: u64,
    },
    /// What was in hand goes.
    CutBack {
        to: u64,
    },
    /// What is in it from here on is taken in.
    TakeIn {
        from: u64,
    },
    SetAside,
    /// It was begun, and nothing ever came.
    Remove,
}

/// Why nothing is to be done with any of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behind {
    pub why: Why,
    /// With bytes the store does not know, and how many those are.
    pub files: usize,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The store has never had an archive.
    New,
    /// It belongs to another one.
    Another,
    /// It has fewer batches than it is certain to have had.
    Older { batch: u64, certain: u64 },
    /// The archive does not remember anything.
    NoJournal,
}

/// Decides for each file, or that the start has to stop.
pub fn judge(
    files: &[Held],
    known: impl Fn(&str) -> Option<Known>,
    store: Standing,
    journal: Option<&Remembered>,
) -> Result<Vec<Deed>, Behind> {
    let mut seen: Option<&str> = None;
    let mut deeds = Vec::with_capacity(files.len());
    let in_hand = journal.and_then(|journal| in_hand(journal, store, &known));
    let (mut unknown, mut unknown_bytes) = (0, 0);
    for held in files {
        // An open file beside a complete one of its name is not the one that is known, nor the one that was
        // written to.
        let beside = seen == Some(&held.name);
        let row = known(&held.name).filter(|_| !beside && held.stage != Stage::Aside);
        seen = Some(&held.name);
        let end = row.map_or(0, |row| row.end);
        if held.bytes > end && held.stage != Stage::Aside {
            unknown += 1;
            unknown_bytes += held.bytes - end;
        }
        deeds.push(match held.stage {
            Stage::Open if beside && held.bytes > 0 => Deed::SetAside,
            _ => deed(held, row, store, journal, in_hand),
        });
    }
    match distrust(store, journal) {
        Some(why) if unknown > 0 => Err(Behind { why, files: unknown, bytes: unknown_bytes }),
        _ => Ok(deeds),
    }
}

/// Whether the store is the one the archive was last written with, to the last batch it had
/// committed. After a start on any other, batches are counted on from what it has, and only a new
/// number tells it from its copies.
pub fn is_same(store: Standing, journal: Option<&Remembered>) -> bool {
    distrust(store, journal).is_none() && journal.is_some_and(|journal| !journal.settled_after(store.batch))
}

/// Why the store cannot be what the archive was written with; none if it can.
fn distrust(store: Standing, journal: Option<&Remembered>) -> Option<Why> {
    match (store.id, journal) {
        (None, _) => Some(Why::New),
        (Some(_), None) => Some(Why::NoJournal),
        (Some(id), Some(journal)) if id != journal.id => Some(Why::Another),
        (Some(_), Some(journal)) if store.batch < journal.certain => {
            Some(Why::Older { batch: store.batch, certain: journal.certain })
        }
        _ => None,
    }
}

/// The batch that was kept and not committed, if the store says the same of every file of it.
fn in_hand<'a>(
    journal: &'a Remembered,
    store: Standing,
    known: &impl Fn(&str) -> Option<Known>,
) -> Option<&'a Batch> {
    let is_next = |last: &&Batch| !last.settled && last.number == store.batch + 1;
    let last = journal.batches.last().filter(is_next).filter(|_| !journal.rebooted)?;
    let agrees = last.parts.iter().all(|part| known(&part.file).map_or(0, |row| row.end) == part.begin);
    agrees.then_some(last)
}

fn deed(
    held: &Held,
    row: Option<Known>,
    store: Standing,
    journal: Option<&Remembered>,
    in_hand: Option<&Batch>,
) -> Deed {
    let end = row.map_or(0, |row| row.end);
    match held.stage {
        Stage::Aside => return Deed::Nothing,
        Stage::Open if held.bytes == 0 && end == 0 => return Deed::Remove,
        _ if held.bytes < end => return Deed::Short { known: end },
        _ if held.bytes == end => return Deed::Nothing,
        _ => {}
    }
    let part = in_hand.and_then(|batch| batch.parts.iter().find(|part| part.file == held.name));
    match part {
        Some(part) if held.stage == Stage::Open && held.bytes <= part.end => Deed::CutBack { to: part.begin },
        _ if row.is_some() => Deed::TakeIn { from: end },
        _ if journal.is_some_and(|journal| journal.names_after(store.batch, &held.name)) => {
            Deed::TakeIn { from: 0 }
        }
        _ => Deed::SetAside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warc::journal::Part;

    const ID: u64 = 7;

    /// `a` has 100 bytes up to batch 8, and batches 9 and 10 brought 10 more each.
    fn journal(certain: u64, settled: bool) -> Remembered {
        let part = |begin| Part { file: "a.warc".into(), begin, end: begin + 10 };
        let batches = vec![
            Batch { number: 9, parts: vec![part(100)], settled: true },
            Batch { number: 10, parts: vec![part(110)], settled },
        ];
        Remembered { id: ID, batches, certain, rebooted: false }
    }

    fn held(name: &str, bytes: u64) -> Held {
        let (name, stage) = Held::named(name).unwrap_or((name, Stage::Complete));
        Held { name: name.to_owned(), stage, bytes }
    }

    fn judged(file: Held, end: Option<u64>, batch: u64, journal: Option<&Remembered>) -> Result<Deed, Why> {
        let store = Standing { id: Some(ID), batch };
        let known = |name: &str| end.filter(|_| name == "a.warc").map(|end| Known { end });
        judge(&[file], known, store, journal).map(|deeds| deeds[0]).map_err(|behind| behind.why)
    }

    #[test]
    fn a13_only_the_batch_in_hand_is_cut_off_and_nothing_unexplained_is_touched() {
        let open = |bytes| held("a.warc.open", bytes);
        let complete = |bytes| held("a.warc", bytes);
        let hand = &journal(8, false);
        let rebooted = &Remembered { rebooted: true, ..journal(8, false) };
        let older = |batch, certain| Err(Why::Older { batch, certain });
        let cases = [
            // A killed process: the last batch is in hand, whole or in part, or was committed.
            ("F7", open(120), Some(110), 9, Some(hand), Ok(Deed::CutBack { to: 110 })),
            ("F7", open(115), Some(110), 9, Some(hand), Ok(Deed::CutBack { to: 110 })),
            ("F7", open(110), Some(110), 9, Some(hand), Ok(Deed::Nothing)),
            ("F7", open(120), Some(120), 10, Some(hand), Ok(Deed::Nothing)),
            // A power cut may have taken the commit and the line that told of it.
            ("A13", open(120), Some(110), 9, Some(rebooted), Ok(Deed::TakeIn { from: 110 })),
            // Longer than the batch was, or committed: not in hand.
            ("A13", open(121), Some(110), 9, Some(hand), Ok(Deed::TakeIn { from: 110 })),
            ("A13", open(120), Some(110), 9, Some(&journal(8, true)), Ok(Deed::TakeIn { from: 110 })),
            // The store says something else than the archive.
            ("A13", open(120), Some(105), 9, Some(hand), Ok(Deed::TakeIn { from: 105 })),
            // A power cut took back the last moments, in a file that is open or was completed in them.
            ("A13", open(120), Some(100), 8, Some(hand), Ok(Deed::TakeIn { from: 100 })),
            ("A13", complete(120), Some(100), 8, Some(&journal(8, true)), Ok(Deed::TakeIn { from: 100 })),
            ("A13", complete(120), Some(110), 9, Some(hand), Ok(Deed::TakeIn { from: 110 })),
            ("A13", open(120), None, 8, Some(hand), Ok(Deed::TakeIn { from: 0 })),
            // And the last lines of the journal too: it knows of less.
            ("A13", open(140), Some(130), 11, Some(hand), Ok(Deed::TakeIn { from: 130 })),
            // A store that knows less than it should.
            ("A13", open(120), Some(90), 7, Some(hand), older(7, 8)),
            ("A13", open(120), Some(100), 8, Some(&journal(9, true)), older(8, 9)),
            ("A13", open(120), None, 0, Some(hand), older(0, 8)),
            ("A13", complete(120), None, 0, Some(hand), older(0, 8)),
            ("A13", open(120), Some(110), 9, None, Err(Why::NoJournal)),
            // But there is nothing to be lost.
            ("A13", open(110), Some(110), 9, None, Ok(Deed::Nothing)),
            ("A13", open(90), Some(90), 7, Some(hand), Ok(Deed::Nothing)),
            // Nobody's, and nothing at all.
            ("A13", held("b.warc.open", 5), None, 10, Some(hand), Ok(Deed::SetAside)),
            ("A13", held("b.warc", 5), None, 10, Some(hand), Ok(Deed::SetAside)),
            ("A13", held("b.warc.open", 0), None, 10, Some(hand), Ok(Deed::Remove)),
            ("A13", held("b.warc.aside", 5), None, 10, Some(hand), Ok(Deed::Nothing)),
            ("A13", held("b.warc.aside", 5), None, 0, None, Ok(Deed::Nothing)),
            // A14: damage.
            ("A14", open(80), Some(110), 9, Some(hand), Ok(Deed::Short { known: 110 })),
            ("A14", complete(0), Some(110), 9, Some(hand), Ok(Deed::Short { known: 110 })),
        ];
        for (rule, file, end, batch, journal, expected) in cases {
            let got = judged(file.clone(), end, batch, journal);
            assert_eq!(got, expected, "{rule}: {file:?}, known to {end:?} in batch {batch}, {journal:?}");
        }
    }

    #[test]
    fn a13_a_store_that_is_new_or_of_another_archive_is_told() {
        for (id, why) in [(None, Why::New), (Some(ID + 1), Why::Another)] {
            let store = Standing { id, batch: 10 };
            let file = [held("a.warc.open", 120), held("b.warc", 7), held("c.warc.aside", 9)];
            let known = |name: &str| (name == "a.warc").then_some(Known { end: 110 });
            let behind = judge(&file, known, store, Some(&journal(8, false))).unwrap_err();
            assert_eq!(behind, Behind { why, files: 2, bytes: 17 });
        }
    }

    #[test]
    fn a13_a_batch_of_which_one_file_disagrees_is_not_in_hand() {
        let part = |file: &str| Part { file: file.into(), begin: 10, end: 20 };
        let batch = Batch { number: 1, parts: vec![part("a.warc"), part("b.warc")], settled: false };
        let journal = Remembered { id: ID, batches: vec![batch], ..Remembered::default() };
        let files = [held("a.warc.open", 20), held("b.warc.open", 20)];
        let store = Standing { id: Some(ID), batch: 0 };
        for (b, expected) in [(10, Deed::CutBack { to: 10 }), (9, Deed::TakeIn { from: 10 })] {
            let known = |name: &str| Some(Known { end: if name == "a.warc" { 10 } else { b } });
            assert_eq!(judge(&files, known, store, Some(&journal)).unwrap()[0], expected);
        }
    }

    #[test]
    fn a13_an_open_file_beside_a_complete_one_is_not_the_one_that_is_known() {
        let files = [held("a.warc", 110), held("a.warc.open", 50)];
        let known = |_: &str| Some(Known { end: 110 });
        let store = Standing { id: Some(ID), batch: 10 };
        let deeds = judge(&files, known, store, Some(&journal(8, true))).unwrap();
        assert_eq!(deeds, [Deed::Nothing, Deed::SetAside]);
        // Nor is it cut where the known one would be, if a batch of that name is in hand.
        let files = [held("a.warc", 110), held("a.warc.open", 115)];
        let store = Standing { id: Some(ID), batch: 9 };
        let deeds = judge(&files, known, store, Some(&journal(8, false))).unwrap();
        assert_eq!(deeds, [Deed::Nothing, Deed::SetAside]);
    }
}
