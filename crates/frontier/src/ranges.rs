//! Where the rows of a list lie. Who goes through one page by page begins with its whole range, and
//! goes on with what is left of it.

use policy::time::Time;
use store::table::KeyRange;

use crate::declared::BARRED;
use crate::schema::{BLACKLIST, CAPTURES, DECLARED, HOSTS, QUEUE, URLS, surt_in_key};

/// The URLs of a collection, or of all, in the order of their names.
pub fn urls(collection: Option<&str>) -> KeyRange {
    collection.map_or_else(|| URLS.range(()), |name| URLS.range((name,)))
}

/// The URLs of a site in a collection: they stand together by scheme, `www.`, and whether they have
/// a port.
pub fn urls_of_site(collection: &str, site: &str) -> Vec<KeyRange> {
    let mut ranges = Vec::new();
    for scheme in ["http://", "https://"] {
        for host in [site.to_owned(), format!("www.{site}")] {
            for (first, beyond) in [('/', '0'), (':', ';')] {
                let key = |end: char| URLS.key((collection, &format!("{scheme}{host}{end}")));
                ranges.push(KeyRange { from: key(first), to: key(beyond) });
            }
        }
    }
    ranges
}

/// What is queued of a host, in the order of due times.
pub fn queue(host: &str) -> KeyRange {
    QUEUE.range((host,))
}

/// The hosts that have URLs.
pub fn hosts() -> KeyRange {
    HOSTS.range(())
}

/// The patterns on the blacklist (F39), in the order of their names.
pub fn patterns() -> KeyRange {
    DECLARED.range((BARRED,))
}

/// What is blacklisted in a collection, or in any.
pub fn blacklist(collection: Option<&str>) -> KeyRange {
    collection.map_or_else(|| BLACKLIST.range(()), |name| BLACKLIST.range((name,)))
}

/// The captures of a collection, or of all, in the order of their SURT keys and times.
pub fn captures(collection: Option<&str>) -> KeyRange {
    collection.map_or_else(|| CAPTURES.range(()), |name| CAPTURES.range((name,)))
}

/// The captures of a URL, and of those that are spelled alike in SURT.
pub fn captures_of(collection: &str, surt: &str) -> KeyRange {
    CAPTURES.range((collection, surt_in_key(surt)))
}

/// Those of them from a time on.
pub fn captures_since(collection: &str, surt: &str, from: Time) -> KeyRange {
    let surt = surt_in_key(surt);
    CAPTURES.range_from((collection, surt), (collection, surt, from.0))
}

/// Those of them before a time.
pub fn captures_before(collection: &str, surt: &str, end: Time) -> KeyRange {
    let surt = surt_in_key(surt);
    CAPTURES.range_before((collection, surt), (collection, surt, end.0))
}

/// The captures of URLs whose SURT keys begin so.
pub fn captures_below(collection: &str, surt: &str) -> KeyRange {
    let surt = surt_in_key(surt);
    let end = format!("{surt}\u{10FFFF}");
    KeyRange {
        from: CAPTURES.range_from((collection,), (collection, surt)).from,
        to: CAPTURES.range_before((collection,), (collection, end.as_str())).to,
    }
}
