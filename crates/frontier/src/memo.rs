//! Links that were looked up lately and changed nothing.
//!
//! The pages of a site repeat the same links, and nearly all of them are known. A link that was
//! decided to change nothing, seen again from a page of the same seed, position and run, under the
//! same declarations and within the same minute, changes nothing again, unless what is known of its
//! URL was changed meanwhile, or the page is the very one by whose claim the URL has its owner
//! (O10). This remembers such decisions, a bounded number of them, so that they cost no look-up.
//!
//! Every change of a URL is told here twice, when it becomes part of a transaction and when that is
//! over, and each time its shard notes the moment. A decision is only remembered if its shard has
//! noted nothing since before the deciding transaction took its snapshot: so none outlives the
//! state it was made on. It knows of the changes of its own process
//! only: with other nodes on the store nothing of it is used (M3).

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

const SHARDS: usize = 4096;
/// URLs remembered in a shard; beyond it, it starts anew.
const SHARD_URLS_MAX: usize = 64;
/// Decisions remembered of one URL: pages at a few different depths link to it.
const CONTEXTS: usize = 4;

pub(crate) struct Memo {
    shards: Vec<Mutex<Shard>>,
    /// Counts changes.
    moment: AtomicU64,
    hasher: foldhash::quality::RandomState,
}

#[derive(Default)]
struct Shard {
    changed: u64,
    known: HashMap<u64, Known, foldhash::fast::FixedState>,
}

#[derive(Default)]
struct Known {
    contexts: [u64; CONTEXTS],
    /// The page by whose claim the URL has its owner.
    via: Option<u32>,
}

/// A URL in a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UrlHash(u64);

impl Memo {
    pub(crate) fn new() -> Memo {
        Memo {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            moment: AtomicU64::new(0),
            hasher: foldhash::quality::RandomState::default(),
        }
    }

    pub(crate) fn url(&self, collection: &str, url: &str) -> UrlHash {
        UrlHash(self.hash((collection, url)))
    }

    /// Never zero, which stands for none.
    pub(crate) fn hash(&self, what: impl Hash) -> u64 {
        self.hasher.hash_one(what).max(1)
    }

    /// The moment before a transaction takes its snapshot.
    pub(crate) fn now(&self) -> u64 {
        self.moment.load(Ordering::SeqCst)
    }

    /// What is known of the URL changes, or has changed.
    pub(crate) fn changed(&self, url: UrlHash) {
        let mut shard = self.shard(url).lock();
        shard.changed = self.moment.fetch_add(1, Ordering::SeqCst) + 1;
        shard.known.remove(&url.0);
    }

    /// Whether a link to it was seen in this context and changed nothing, and neither will one of
    /// this page.
    pub(crate) fn knows(&self, url: UrlHash, context: u64, page: Option<u32>) -> bool {
        let shard = self.shard(url).lock();
        let known = shard.known.get(&url.0);
        known.is_some_and(|known| {
            known.contexts.contains(&context) && (known.via.is_none() || known.via != page)
        })
    }

    /// A link to it changed nothing, as of a snapshot taken after `before`; `via` is the page by
    /// whose claim it has its owner.
    pub(crate) fn remember(&self, url: UrlHash, context: u64, via: Option<u32>, before: u64) {
        let mut shard = self.shard(url).lock();
        if shard.changed > before {
            return;
        }
        if shard.known.len() >= SHARD_URLS_MAX && !shard.known.contains_key(&url.0) {
            shard.known.clear();
        }
        let known = shard.known.entry(url.0).or_default();
        known.contexts.rotate_right(1);
        known.contexts[0] = context;
        known.via = via;
    }

    fn shard(&self, url: UrlHash) -> &Mutex<Shard> {
        let at = usize::try_from(url.0 % SHARDS as u64).unwrap_or(0);
        &self.shards[at]
    }
}

impl std::fmt::Debug for Memo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memo").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f23_nothing_is_remembered_beyond_a_change() {
        let memo = Memo::new();
        let (url, other) = (memo.url("news", "https://vg.no/"), memo.url("shop", "https://vg.no/"));
        let before = memo.now();
        let knows = |url, context| memo.knows(url, context, Some(1));
        memo.remember(url, 7, None, before);
        assert!(knows(url, 7) && !knows(url, 8) && !knows(other, 7));
        memo.changed(url);
        assert!(!knows(url, 7));
        memo.remember(url, 7, None, before);
        assert!(!knows(url, 7), "its transaction may not have seen the change");
        memo.remember(url, 7, None, memo.now());
        assert!(knows(url, 7));
    }

    #[test]
    fn o10_the_page_that_claimed_a_url_is_always_heard() {
        let memo = Memo::new();
        let url = memo.url("news", "https://vg.no/");
        memo.remember(url, 7, Some(1), memo.now());
        assert!(memo.knows(url, 7, Some(2)) && memo.knows(url, 7, None));
        assert!(!memo.knows(url, 7, Some(1)));
    }

    #[test]
    fn a11_it_is_bounded() {
        let memo = Memo::new();
        for n in 0..2_000_000u32 {
            memo.remember(memo.url("news", &n.to_string()), 1, None, memo.now());
        }
        let held: usize = memo.shards.iter().map(|shard| shard.lock().known.len()).sum();
        assert!(held <= SHARDS * SHARD_URLS_MAX && held > SHARDS);
    }
}
