//! What is known of hosts, in a bounded memory.
//!
//! Two generations: what is used is in the young one; when that takes half of the room, the old one
//! is forgotten and the young becomes the old. Who is forgotten is read back from its row.

use std::collections::HashMap;

use policy::trap::{Observed, Sense, Suspicion};

use super::HostKey;
use crate::nodes::Claim;

/// For all hosts together.
const BYTES_MAX: usize = 64 << 20;
/// Harvests after which what was learned is written.
const UNWRITTEN_MAX: u32 = 32;
/// Harvests after which the size of a large one is looked at again; a small one is weighed at each.
const WEIGHED_EVERY: u32 = 8;
const SMALL_BYTES: usize = 8 << 10;
/// Beside the sense itself.
const ENTRY_BYTES: usize = 256;

/// A host.
pub(super) struct Known {
    sense: Sense,
    /// Under which it was learned: another node may have had the host since.
    claim: Option<Claim>,
    unwritten: u32,
    since_weighed: u32,
    bytes: usize,
}

#[derive(Default)]
pub(super) struct Senses {
    young: HashMap<HostKey, Known>,
    old: HashMap<HostKey, Known>,
    young_bytes: usize,
}

impl Known {
    pub(super) fn new(sense: Sense, claim: Option<Claim>) -> Known {
        let bytes = sense.bytes() + ENTRY_BYTES;
        Known { sense, claim, unwritten: 0, since_weighed: 0, bytes }
    }

    pub(super) fn sense(&self) -> &Sense {
        &self.sense
    }

    pub(super) fn observe(&mut self, seen: &Observed<'_>) -> Vec<Suspicion> {
        self.unwritten += 1;
        self.since_weighed += 1;
        let suspected = self.sense.observe(seen);
        if self.since_weighed >= WEIGHED_EVERY || self.bytes < SMALL_BYTES {
            self.since_weighed = 0;
            self.bytes = self.sense.bytes() + ENTRY_BYTES;
        }
        suspected
    }
}

impl Senses {
    /// None where it is not known, or was learned while the host was somebody else's since.
    pub(super) fn take(&mut self, key: &HostKey, claim: Option<Claim>) -> Option<Known> {
        let known = match self.young.remove(key) {
            Some(known) => {
                self.young_bytes = self.young_bytes.saturating_sub(known.bytes);
                known
            }
            None => self.old.remove(key)?,
        };
        (known.claim == claim).then_some(known)
    }

    pub(super) fn put(&mut self, key: HostKey, known: Known) {
        self.young_bytes += known.bytes;
        if self.young_bytes > BYTES_MAX / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = known.bytes;
        }
        self.young.insert(key, known);
    }

    pub(super) fn unwritten(&mut self, keys: impl Iterator<Item = HostKey>) -> Vec<(HostKey, Sense)> {
        let mut senses = Vec::new();
        for key in keys {
            let known = match self.young.get_mut(&key) {
                Some(known) => known,
                None => match self.old.get_mut(&key) {
                    Some(known) => known,
                    None => continue,
                },
            };
            if known.unwritten >= UNWRITTEN_MAX {
                known.unwritten = 0;
                senses.push((key, known.sense.clone()));
            }
        }
        senses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::time::Time;
    use policy::trap::text::Sketcher;
    use policy::url::CrawlUrl;

    /// 100,000 hosts, each with articles, sections and searches of its own.
    #[test]
    fn f37_the_memory_of_100000_hosts_is_bounded() {
        let mut senses = Senses::default();
        let mut most = 0;
        for host in 0..100_000 {
            let key = HostKey { host: format!("h{host}.no"), collection: "all".into() };
            let mut known = senses.take(&key, None).unwrap_or_else(|| Known::new(Sense::default(), None));
            for n in 0..3 {
                let url = |path: &str| CrawlUrl::from_normal(format!("https://h{host}.no/{path}")).unwrap();
                let found: Vec<CrawlUrl> = (0..3).map(|k| url(&format!("s{k}/a{n}/{n}{k}"))).collect();
                let text = Sketcher::of(&format!("host {host} says {n} and {}", n * host));
                let own = url(&format!("s/{n}"));
                let seen = Observed { url: &own, text: text.as_ref(), found: &found, run: 1, at: Time(0) };
                known.observe(&seen);
            }
            senses.put(key, known);
            let held = senses.young.values().chain(senses.old.values());
            if host % 10_000 == 0 {
                most = most.max(held.map(|known| known.sense.bytes() + ENTRY_BYTES).sum::<usize>());
            }
        }
        println!("at most {} MiB, {} hosts at the end", most >> 20, senses.young.len() + senses.old.len());
        assert!(most <= BYTES_MAX + BYTES_MAX / 8, "{most}");
    }
}
