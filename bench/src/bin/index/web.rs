//! A generated web with realistic skew: half of a page's links stay on its site, half go anywhere,
//! and of both a few targets get most (Zipf).

use index::{Page, Uri};

const PAGES_PER_SITE: u64 = 100;

pub(crate) struct Web {
    /// Pages that are loaded; as many again are only linked to.
    pub(crate) pages: u64,
}

impl Web {
    pub(crate) fn uri(&self, id: u64) -> Uri {
        let site = id / PAGES_PER_SITE;
        let sub = ["www", "blog", "shop"][usize::try_from(site % 3).unwrap_or(0)];
        let mixed = mix(id);
        uri(&format!(
            "http://{sub}.site{site:06}.com/news/{:08x}-headline-{}.html",
            mixed >> 32,
            mixed % 1000
        ))
    }

    /// Page `id` in its `version`; each version changes a fifth of the links.
    pub(crate) fn page(&self, id: u64, version: u64) -> Page {
        let mut rng = fastrand::Rng::with_seed(mix(id));
        let mut fresh = fastrand::Rng::with_seed(mix(id ^ version << 40));
        let count = rng.u64(20..=50);
        let links = (0..count).map(|n| {
            let source = if version > 0 && n % 5 == 0 { &mut fresh } else { &mut rng };
            let target = self.target(id, source);
            (self.uri(target), format!("headline {}", target % 1000))
        });
        Page::new(links.collect::<Vec<_>>())
    }

    fn target(&self, id: u64, rng: &mut fastrand::Rng) -> u64 {
        if rng.bool() {
            let site = id - id % PAGES_PER_SITE;
            site + zipf(rng, PAGES_PER_SITE)
        } else {
            // Ranks are spread over the sites: not all that is popular is next to each other.
            mix(zipf(rng, 2 * self.pages)) % (2 * self.pages)
        }
    }
}

pub(crate) fn uri(url: &str) -> Uri {
    Uri::of_url(url).unwrap_or_else(|skip| panic!("{url}: {skip}"))
}

/// Ranks below `n`, each as often as it is low.
fn zipf(rng: &mut fastrand::Rng, n: u64) -> u64 {
    #[allow(clippy::cast_possible_truncation, reason = "below n")]
    let rank = (n as f64).powf(rng.f64()) as u64;
    rank.min(n) - 1
}

pub(crate) fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
