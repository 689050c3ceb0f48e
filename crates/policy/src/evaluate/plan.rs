//! On whose behalf and under which terms a URL is harvested: several profiles become one harvest.
//!
//! One fetch serves all of them, so it must satisfy the most demanding: robots are ignored if one
//! of them ignores them, else read as the agent one of them names, else as our own; a limit is that
//! of the most patient.

use crate::model::{Limits, Profile, RobotsPolicy};
use crate::time::{Span, Time};

/// The live profiles of a URL as one order to harvest.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Names of the active profiles that have the URL in scope and cycles left.
    pub profiles: Vec<String>,
    pub every: Span,
    /// The longest `length`; none if one of them has none.
    pub length: Option<u32>,
    pub robots: RobotsPolicy,
    pub limits: Limits,
    /// F38: no request of it begins then or later; none: at any time.
    pub closes: Option<Time>,
}

impl Plan {
    /// None if there is no profile.
    pub fn of<'a>(profiles: impl IntoIterator<Item = &'a Profile>) -> Option<Plan> {
        let mut profiles = profiles.into_iter();
        let mut plan = Plan::from(profiles.next()?);
        for profile in profiles {
            plan.join(profile);
        }
        Some(plan)
    }

    fn join(&mut self, profile: &Profile) {
        self.profiles.push(profile.name.clone());
        self.every = self.every.min(profile.every);
        self.length = self.length.zip(profile.length).map(|(a, b)| a.max(b));
        if boldness(&profile.robots) > boldness(&self.robots) {
            self.robots = profile.robots.clone();
        }
        self.limits = more_patient(&self.limits, &profile.limits);
    }
}

impl From<&Profile> for Plan {
    fn from(profile: &Profile) -> Plan {
        Plan {
            profiles: vec![profile.name.clone()],
            every: profile.every,
            length: profile.length,
            robots: profile.robots.clone(),
            limits: profile.limits.clone(),
            closes: None,
        }
    }
}

fn boldness(robots: &RobotsPolicy) -> u8 {
    match robots {
        RobotsPolicy::Obey => 0,
        RobotsPolicy::ObeyAs(_) => 1,
        RobotsPolicy::Ignore => 2,
    }
}

/// Field by field whatever gives the URL more chances and the fetch more room.
pub(crate) fn more_patient(a: &Limits, b: &Limits) -> Limits {
    Limits {
        max_errors: a.max_errors.max(b.max_errors),
        max_not_found: a.max_not_found.max(b.max_not_found),
        blacklist_for: shorter(a.blacklist_for, b.blacklist_for),
        backoff_base: a.backoff_base.min(b.backoff_base),
        backoff_cap: a.backoff_cap.min(b.backoff_cap),
        max_bytes: a.max_bytes.max(b.max_bytes),
        max_decoded_bytes: a.max_decoded_bytes.max(b.max_decoded_bytes),
        max_header_bytes: a.max_header_bytes.max(b.max_header_bytes),
        connect_timeout: a.connect_timeout.max(b.connect_timeout),
        first_byte_timeout: a.first_byte_timeout.max(b.first_byte_timeout),
        total_timeout: a.total_timeout.max(b.total_timeout),
        max_outlinks: a.max_outlinks.max(b.max_outlinks),
        max_redirects: a.max_redirects.max(b.max_redirects),
    }
}

/// None is for ever.
fn shorter(a: Option<Span>, b: Option<Span>) -> Option<Span> {
    a.into_iter().chain(b).min()
}
