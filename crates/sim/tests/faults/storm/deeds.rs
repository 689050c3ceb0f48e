//! What people do while it blows.

use std::sync::Arc;
use std::time::Duration;

use frontier::{Frontier, Pause, Target};
use policy::catalog::Change;
use policy::time::Span;
use policy::url::CrawlUrl;
use store::Result;

use super::disasters::Disaster;
use super::{Doing, Storm};
use crate::world;

/// How far a clock is wrong, mostly.
const FAST_MAX: Span = Span::hours(2);
const SLOW_MAX: Span = Span::minutes(30);
/// And now and then.
const FAR_AHEAD_MAX: Span = Span::days(400);

/// Something that people do.
enum Deed {
    Declare(Box<Change>),
    Start(Target),
    Blacklist(String),
    Lift(String),
    Pause(Pause),
    Resume(Pause),
    MoveDue(String),
    Sweep,
}

impl Storm {
    pub(super) fn pause_between_deeds(&mut self) -> Duration {
        Duration::from_millis(self.rng.u64(0..600_000))
    }

    /// What happens next, if it is not over at once.
    pub(super) fn deed(&mut self, frontier: &Arc<Frontier>) -> Option<Doing> {
        let now = self.simulation.now();
        if self.rng.u32(0..12) == 0 {
            self.jump();
            return None;
        }
        if self.disaster_one_in.is_some() && self.rng.u32(0..24) == 0 {
            // Under the hands of who writes it: nothing more may be taken for archived.
            self.disturbed = true;
            self.damage_file(Disaster::FileDeleted);
            return None;
        }
        let deed = match self.rng.u32(0..16) {
            0..6 => Deed::Declare(Box::new(self.world.change(&mut self.rng))),
            6..8 => Deed::Start(self.world.target(&mut self.rng)),
            8 => Deed::Blacklist(world::some_url(&mut self.rng)),
            9 => Deed::Lift(world::some_url(&mut self.rng)),
            10..12 => Deed::Pause(self.world.pause(&mut self.rng)),
            12..14 => Deed::Resume(self.world.pause(&mut self.rng)),
            14 => Deed::MoveDue(world::some_url(&mut self.rng)),
            _ => Deed::Sweep,
        };
        self.tell(deed.to_string());
        self.sentry.books(|books| {
            books.changed = Some(now);
            books.checker.forget_contract();
        });
        let (frontier, sentry) = (Arc::clone(frontier), Arc::clone(&self.sentry));
        Some(Box::pin(async move {
            // It may be refused, and the storm may swallow it.
            let _ = deed.done(&frontier).await;
            // What was harvested while it was under way may be due again, too (F2).
            sentry.books(|books| {
                books.changed = Some(frontier.now());
                books.checker.forget_contract();
            });
        }))
    }

    /// The clock is set, by others than those who live by it: it is wrong by something else from
    /// now on, which may be far ahead (F40).
    fn jump(&mut self) {
        let ms = |span: Span| i64::try_from(span.0).unwrap();
        let off = match self.rng.u32(0..4) {
            0 => {
                let most = ms(FAR_AHEAD_MAX) >> self.rng.u32(0..16);
                self.rng.i64(0..=most)
            }
            _ => self.rng.i64(-ms(SLOW_MAX)..=ms(FAST_MAX)),
        };
        self.set_clock(off);
    }

    /// It is wrong by so much from now on.
    pub(super) fn set_clock(&mut self, off: i64) {
        let jump = off - std::mem::replace(&mut self.clock_off, off);
        self.simulation.clock.jump(jump);
        self.tell(format!("the clock jumps {} s", jump / 1000));
        let now = self.simulation.now();
        self.sentry.books(|books| books.checker.clock_set(now));
        self.sentry.forget_home();
    }
}

impl Deed {
    async fn done(&self, frontier: &Frontier) -> Result<()> {
        let url = |text: &String| CrawlUrl::from_normal(text.as_str()).unwrap();
        match self {
            Deed::Declare(change) => drop(frontier.declare(std::slice::from_ref(&**change)).await),
            Deed::Start(target) => {
                frontier.start(target).await?;
            }
            Deed::Blacklist(text) => {
                let until = frontier.now().plus(Span::hours(1));
                frontier.blacklist_add("news", &url(text), "too loud", Some(until)).await?;
            }
            Deed::Lift(text) => drop(frontier.blacklist_lift("news", &url(text)).await?),
            Deed::Pause(what) => drop(frontier.pause(what).await?),
            Deed::Resume(what) => drop(frontier.resume(what).await?),
            Deed::MoveDue(text) => drop(frontier.move_due("shop", &url(text), frontier.now()).await?),
            Deed::Sweep => drop(frontier.sweep().await?),
        }
        Ok(())
    }
}

impl std::fmt::Display for Deed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Deed::Declare(change) => {
                write!(f, "declare {}", format!("{change:?}").chars().take(80).collect::<String>())
            }
            Deed::Start(target) => write!(f, "start {target:?}"),
            Deed::Blacklist(url) => write!(f, "blacklist {url}"),
            Deed::Lift(url) => write!(f, "lift {url}"),
            Deed::Pause(what) => write!(f, "pause {what:?}"),
            Deed::Resume(what) => write!(f, "resume {what:?}"),
            Deed::MoveDue(url) => write!(f, "move {url}"),
            Deed::Sweep => f.write_str("sweep"),
        }
    }
}
