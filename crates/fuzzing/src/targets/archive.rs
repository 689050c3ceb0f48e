//! What is done with the archive's files at a start (A13), whatever store, journal and directory
//! say: restated here in the words of the rule, and not in those of the code. The input draws them.

use std::collections::BTreeMap;

use net::warc::{Batch, Deed, Held, Known, Part, Remembered, Stage, Standing, Why, judge};

use crate::{Draw, Seeds, Target};

pub const ARCHIVE: Target = Target { name: "archive", run: archive, seeds, words: &[], runs: 6000 };

fn seeds(seeds: &mut Seeds) {
    let mut rng = fastrand::Rng::with_seed(1);
    for length in [0, 10, 40, 80, 160] {
        let bytes: Vec<u8> = std::iter::repeat_with(|| rng.u8(..)).take(length).collect();
        seeds.add(bytes);
    }
}

const NAMES: [&str; 3] = ["a.warc", "b.warc.gz", "c.warc.zst"];

fn archive(input: &[u8]) {
    let mut draw = Draw::new(input);
    let small = |draw: &mut Draw<'_>| draw.below(6) as u64;
    let store =
        Standing { id: draw.choice(&[Some(1), Some(1), Some(1), Some(2), None]), batch: small(&mut draw) };
    let mut known = BTreeMap::new();
    for name in NAMES {
        if draw.flag() {
            known.insert(name, small(&mut draw) * 10);
        }
    }
    let journal = (draw.below(8) > 0).then(|| {
        let before = small(&mut draw);
        let mut batches = Vec::new();
        for at in 1..=draw.below(4) {
            let number = before + at as u64;
            let parts = NAMES.iter().filter(|_| !draw.byte().is_multiple_of(3)).collect::<Vec<_>>();
            let parts = parts.into_iter().map(|name| {
                let begin = small(&mut draw) * 10;
                Part { file: (*name).to_owned(), begin, end: begin + 10 * (1 + small(&mut draw)) }
            });
            batches.push(Batch { number, parts: parts.collect(), settled: draw.byte().is_multiple_of(3) });
        }
        Remembered { id: 1, batches, certain: small(&mut draw), rebooted: draw.byte().is_multiple_of(5) }
    });
    let mut files = Vec::new();
    for name in NAMES {
        for stage in [Stage::Complete, Stage::Open, Stage::Aside] {
            if draw.flag() {
                files.push(Held { name: name.to_owned(), stage, bytes: draw.below(12) as u64 * 5 });
            }
        }
    }
    let row = |name: &str| known.get(name).map(|end| Known { end: *end });
    let judged = judge(&files, row, store, journal.as_ref());
    let first_of = |held: &Held| files.iter().find(|other| other.name == held.name) == Some(held);
    let end_of = |held: &Held| match held.stage {
        Stage::Aside => u64::MAX,
        _ if !first_of(held) => 0,
        _ => known.get(held.name.as_str()).copied().unwrap_or(0),
    };
    let is_unknown = |held: &&Held| held.stage != Stage::Aside && held.bytes > end_of(held);
    let unknown: Vec<&Held> = files.iter().filter(is_unknown).collect();
    // A store that may not be the archive's, while there is something it does not know.
    let trusted = journal
        .as_ref()
        .is_some_and(|journal| store.id == Some(journal.id) && store.batch >= journal.certain);
    let deeds = match judged {
        Err(behind) => {
            assert!(!trusted && !unknown.is_empty(), "stopped without need: {behind:?}");
            let bytes: u64 = unknown.iter().map(|held| held.bytes - end_of(held)).sum();
            assert_eq!((behind.files, behind.bytes), (unknown.len(), bytes));
            return assert_eq!(
                matches!(behind.why, Why::Older { .. }),
                store.id == Some(1) && journal.is_some()
            );
        }
        Ok(deeds) => deeds,
    };
    assert!(trusted || unknown.is_empty(), "went on with a store that knows less than it should");
    assert_eq!(deeds.len(), files.len());
    for (held, deed) in files.iter().zip(deeds) {
        match deed {
            // Only these two take bytes away: what is in hand, as store and journal both say.
            Deed::CutBack { to } => {
                let journal = journal.as_ref().expect("nobody noted anything");
                assert!(!journal.rebooted, "what became of the last batch may be lost");
                let last = journal.batches.last().expect("nobody noted a batch");
                let part = last.parts.iter().find(|part| part.file == held.name).expect("not in this file");
                assert!(!last.settled && last.number == store.batch + 1, "that batch is not in hand");
                assert_eq!((to, to), (part.begin, end_of(held)), "the store ends elsewhere");
                assert!(held.stage == Stage::Open && held.bytes <= part.end, "something lies behind it");
            }
            Deed::Remove => assert_eq!((held.stage, held.bytes), (Stage::Open, 0)),
            Deed::Nothing => assert!(held.bytes <= end_of(held)),
            Deed::Short { known } => assert_eq!((known, held.bytes < known), (end_of(held), true)),
            Deed::TakeIn { from } => {
                assert_eq!((from, held.bytes > from), (end_of(held), true));
                assert!(first_of(held), "its captures would point into the file beside it");
            }
            Deed::SetAside => assert!(held.bytes > 0 && end_of(held) == 0),
        }
    }
}
