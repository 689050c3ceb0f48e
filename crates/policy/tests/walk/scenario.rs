//! L9, L11: whatever the parallelism, the order of the answers, lost leases and kills, a walk
//! fetches the ids that a sequential walk fetches, and ends with the same content and holes.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use policy::time::Span;
use policy::walk::{Direction, Draft, Outcome, Resume, Retry, STRETCH, WalkSettings};
use proptest::prelude::*;
use testkit::random::Random;

use crate::driver::{Driver, Weather};
use crate::reference::Reference;
use crate::world::Stored;

/// So far above the start nothing exists.
const FAR: u64 = 80;

/// A run of a walk: how it is resumed, and with what.
#[derive(Clone, Debug)]
struct Run {
    how: Resume,
    draft: Draft,
}

/// What every id says at every attempt of every run.
#[derive(Clone, Copy, Debug)]
struct Nature {
    seed: u64,
    /// Of a hundred ids, how many exist sooner or later.
    share: u64,
    /// Whether those that exist do so at once.
    prompt: bool,
}

impl Nature {
    fn answer(&self, settings: &WalkSettings, id: u64, run: usize, attempt: u32) -> Outcome {
        let mut dice = Random(self.seed ^ id.wrapping_mul(0x5851_F42D_4C95_7F2D));
        let exists = id < settings.start() + FAR && dice.below(100) < self.share;
        let (late_run, late_attempt) = if self.prompt { (0, 0) } else { (dice.below(3), dice.below(4)) };
        if exists && (run as u64, u64::from(attempt)) >= (late_run, 1 + late_attempt) {
            return Outcome::Exists;
        }
        let mut dice = Random(dice.0 ^ (run as u64) << 32 ^ u64::from(attempt));
        if dice.below(2) == 0 { Outcome::Absent } else { Outcome::Failed }
    }
}

fn drafts() -> impl Strategy<Value = Draft> {
    let ids = (0u64..40, 0u64..40, 0u64..60, 1u64..5, any::<bool>());
    let counts = (prop::option::of(1u32..7), 1u32..4, 0u64..300, 1u32..4);
    let kinds = (0..3u8, any::<bool>(), any::<bool>());
    (ids, counts, kinds).prop_map(
        |((min, more, rest, step, bounded), counts, (direction, failed_only, far_up))| {
            let (margin, attempts, cooldown, rate) = counts;
            // Around the end of a stretch, or in the first one.
            let min = if far_up { STRETCH * step - min } else { min };
            Draft {
                template: "https://a.test/{id:06}".into(),
                min: Some(min),
                max: (bounded || margin.is_none()).then_some(min + more + rest),
                from: Some(min + more),
                direction: [Direction::Up, Direction::Down, Direction::Both]
                    .get(usize::from(direction))
                    .copied(),
                step: Some(step),
                margin,
                attempts: Some(attempts),
                cooldown: Some(Span(cooldown)),
                retry: Some(if failed_only { Retry::Failed } else { Retry::All }),
                rate: Some(rate),
                ..Draft::default()
            }
        },
    )
}

/// The first run, and up to three more with wider settings.
fn runs() -> impl Strategy<Value = Vec<Run>> {
    let how = prop_oneof![Just(Resume::Continue), Just(Resume::Holes), Just(Resume::Both)];
    let wider = (how, 0u64..30, 0u32..3, 0u32..2);
    (drafts(), prop::collection::vec(wider, 0..4)).prop_map(|(first, more)| {
        let mut runs = vec![Run { how: Resume::Continue, draft: first.clone() }];
        let mut draft = first;
        for (how, max, margin, attempts) in more {
            draft.max = draft.max.map(|before| before + max);
            draft.margin = draft.margin.map(|before| before + margin);
            draft.attempts = draft.attempts.map(|before| before + attempts);
            runs.push(Run { how, draft: draft.clone() });
        }
        runs
    })
}

fn natures() -> impl Strategy<Value = Nature> {
    let fields = (any::<u64>(), prop_oneof![0u64..=100, Just(90)], any::<bool>());
    fields.prop_map(|(seed, share, prompt)| Nature { seed, share, prompt })
}

fn weathers() -> impl Strategy<Value = Weather> {
    let fields = (
        prop_oneof![Just(1usize), 1usize..40],
        prop_oneof![Just(0u32), 0u32..12],
        any::<bool>(),
        any::<u64>(),
    );
    fields.prop_map(|(parallel, kills, losses, seed)| Weather { parallel, kills, losses, seed })
}

fn ids_of(ranges: &[RangeInclusive<u64>], step: u64) -> BTreeSet<u64> {
    let step = usize::try_from(step).unwrap();
    ranges.iter().flat_map(|range| range.clone().step_by(step)).collect()
}

fn same_as_reference(runs: &[Run], nature: Nature, weather: Weather) {
    let mut reference = Reference::default();
    let mut stored = Stored::default();
    for (number, Run { how, draft }) in runs.iter().enumerate() {
        let settings = WalkSettings::new(draft.clone()).unwrap();
        let answer = |id, attempt| nature.answer(&settings, id, number, attempt);
        reference.run(&settings, *how, &answer);
        let mut driver = Driver::new(&settings, *how, stored, &reference.fetches, &answer, weather);
        let (walk, written) = driver.run();
        if weather.kills == 0 {
            let fetches: Vec<_> = driver.fetches.iter().filter(|(_, count)| **count > 0).collect();
            assert_eq!(fetches, reference.fetches.iter().collect::<Vec<_>>(), "attempts in run {number}");
        }
        stored = written;
        let split = walk.split(usize::MAX);
        assert_eq!(ids_of(&split.content, settings.step()), reference.content, "content of run {number}");
        assert_eq!(ids_of(&split.holes, settings.step()), reference.holes, "holes of run {number}");
        assert_eq!(walk.ended(), Some(reference.ended()), "end of run {number}");
        if settings.max().is_some() {
            assert_eq!(ids_of(&split.remaining, settings.step()), reference.remaining());
            assert_eq!(walk.counts().remaining, Some(reference.remaining().len() as u64));
        }
        assert_eq!(walk.counts().content, reference.content.len() as u64);
        assert_eq!(walk.counts().holes, reference.holes.len() as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn l9_l11_a_walk_fetches_what_a_sequential_walk_fetches(
        runs in runs(),
        nature in natures(),
        weather in weathers(),
    ) {
        same_as_reference(&runs, nature, weather);
    }
}
