//! What is shown to nobody (I7): the values of cookies and headers that are given for a login.
//!
//! They are declared, kept and sent, and wherever they would be shown there is a mask instead. The
//! mask that comes back, because somebody edited what they were shown, means the value that is
//! there: it never becomes a value.

use policy::catalog::{Catalog, Change};
use policy::model::Collection;

use crate::entry::Invalid;
use crate::text::{escaped, excerpt};

const MASK: &str = "•••";

/// Headers whose values say nothing about who sends them; of all others nobody knows.
const HARMLESS: [&str; 9] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "dnt",
    "pragma",
    "sec-gpc",
    "upgrade-insecure-requests",
];

/// The value of a header as it is shown.
fn shown_header<'a>(name: &str, value: &'a str) -> &'a str {
    let harmless = HARMLESS.iter().any(|known| known.eq_ignore_ascii_case(name));
    if harmless { value } else { MASK }
}

/// A collection as it is shown.
pub(crate) fn masked(collection: &Collection) -> Collection {
    let mut shown = collection.clone();
    for (name, value) in &mut shown.headers {
        *value = shown_header(name, value).to_owned();
    }
    shown.cookies.iter_mut().for_each(|cookie| cookie.value = MASK.to_owned());
    shown
}

/// Puts the values back that the collection of this name has behind its masks.
pub fn restore(collection: &mut Collection, catalog: &Catalog) -> Result<(), Invalid> {
    const HINT: &str = "a masked value can only be put back where it was shown: write the value itself";
    let before = catalog.collection(&collection.name);
    let name = excerpt(&collection.name);
    let lost = |what: &str, which: &str, pointer: String| {
        let what = format!("the {what} {} of collection {name} is a mask", excerpt(which));
        Invalid::one(&pointer, format!("{what}, and there is no value behind it"), HINT)
    };
    for (header, value) in collection.headers.iter_mut().filter(|(_, value)| value == MASK) {
        let known = before.and_then(|before| {
            before.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(header)).map(|(_, value)| value)
        });
        let pointer = || format!("/headers/{}", escaped(header));
        *value = known.cloned().ok_or_else(|| lost("header", header, pointer()))?;
    }
    for (place, cookie) in
        collection.cookies.iter_mut().enumerate().filter(|(_, cookie)| cookie.value == MASK)
    {
        let known = before.and_then(|before| {
            let same = |other: &&policy::model::GivenCookie| {
                (&other.host, &other.name, &other.path) == (&cookie.host, &cookie.name, &cookie.path)
            };
            before.cookies.iter().find(same).map(|other| &other.value)
        });
        let pointer = || format!("/cookies/{place}/value");
        cookie.value = known.cloned().ok_or_else(|| lost("cookie", &cookie.name, pointer()))?;
    }
    Ok(())
}

/// The same for whatever is about to be declared.
pub fn restore_all(changes: &mut [Change], catalog: &Catalog) -> Result<(), Invalid> {
    changes.iter_mut().try_for_each(|change| match change {
        Change::PutCollection(collection) => restore(collection, catalog),
        _ => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    use policy::model::GivenCookie;

    use super::*;

    fn collection(headers: &[(&str, &str)], cookies: &[(&str, &str, &str)]) -> Collection {
        Collection {
            name: "c".to_owned(),
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            cookies: cookies
                .iter()
                .map(|(host, name, value)| GivenCookie {
                    host: (*host).to_owned(),
                    name: (*name).to_owned(),
                    value: (*value).to_owned(),
                    path: None,
                })
                .collect(),
            ..Collection::default()
        }
    }

    #[test]
    fn i7_a_mask_that_comes_back_is_the_value_that_is_there() {
        let mut catalog = Catalog::new();
        let kept = collection(
            &[("Authorization", "Basic s3cret"), ("Accept", "text/html")],
            &[("a.no", "sid", "s1"), ("b.no", "sid", "s2")],
        );
        catalog.apply(Change::PutCollection(Box::new(kept.clone()))).unwrap();
        let cookies = [("b.no", "sid", MASK), ("a.no", "sid", MASK)];
        let mut shown = collection(&[("AUTHORIZATION", MASK), ("X-New", "n")], &cookies);
        restore(&mut shown, &catalog).unwrap();
        let expected = collection(
            &[("AUTHORIZATION", "Basic s3cret"), ("X-New", "n")],
            &[("b.no", "sid", "s2"), ("a.no", "sid", "s1")],
        );
        assert_eq!(shown, expected);
        for (mut wrong, pointer) in [
            (collection(&[("X-Other", MASK)], &[]), "/headers/X-Other"),
            (collection(&[], &[("a.no", "sid", MASK), ("c.no", "sid", MASK)]), "/cookies/1/value"),
        ] {
            assert_eq!(restore(&mut wrong, &catalog).unwrap_err().0[0].pointer, pointer);
            assert!(restore(&mut wrong, &Catalog::new()).is_err());
        }
    }

    #[test]
    fn i7_only_what_is_known_to_be_harmless_is_shown() {
        for (name, shown) in [
            ("Accept-Language", true),
            ("ACCEPT", true),
            ("Authorization", false),
            ("Proxy-Authorization", false),
            ("Cookie", false),
            ("X-Api-Key", false),
            ("X-Auth-Token", false),
            ("Anything-Else", false),
        ] {
            assert_eq!(shown_header(name, "v") == "v", shown, "{name}");
        }
    }
}
