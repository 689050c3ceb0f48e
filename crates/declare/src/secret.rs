//! What is shown to nobody (I7): the values of cookies and headers that are given for a login, and
//! the passwords of proxies (A17).
//!
//! They are declared, kept and sent, and wherever they would be shown there is a mask instead. The
//! mask that comes back, because somebody edited what they were shown, means the value that is
//! there: it never becomes a value.

use policy::catalog::{Catalog, Change};
use policy::model::{Collection, HostGroup};
use policy::way::{Proxy, Through, Way};

use crate::Declared;
use crate::entry::Invalid;
use crate::text::{escaped, excerpt};

const MASK: &str = "•••";
const HINT: &str = "a masked value can only be put back where it was shown: write the value itself";

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
    mask(&mut shown.way);
    shown
}

/// A host group as it is shown.
pub(crate) fn masked_group(group: &HostGroup) -> HostGroup {
    let mut shown = group.clone();
    mask(&mut shown.way);
    shown
}

pub(crate) fn masked_way(way: &Way) -> Way {
    let mut shown = way.clone();
    mask(&mut shown);
    shown
}

fn mask(way: &mut Way) {
    if let Some(Through::Proxy(Proxy { login: Some(login), .. })) = &mut way.proxy
        && !login.password.is_empty()
    {
        login.password = MASK.to_owned();
    }
}

/// A password goes back only to the proxy and the user it was shown for.
fn restore_way(way: &mut Way, before: Option<&Way>, whose: &str) -> Result<(), Invalid> {
    let Some(Through::Proxy(proxy)) = &mut way.proxy else { return Ok(()) };
    let place = (proxy.kind, proxy.host.clone(), proxy.port);
    let Some(login) = proxy.login.as_mut().filter(|login| login.password == MASK) else { return Ok(()) };
    let known = before.and_then(Way::through).filter(|old| (old.kind, old.host.clone(), old.port) == place);
    let known = known.and_then(|old| old.login.as_ref()).filter(|old| old.user == login.user);
    let lost = || {
        let what =
            format!("the password of the proxy of {whose} is a mask, and there is no password behind it");
        Invalid::one("/proxy", what, HINT)
    };
    login.password = known.map(|old| old.password.clone()).ok_or_else(lost)?;
    Ok(())
}

pub(crate) fn restore_group(group: &mut HostGroup, catalog: &Catalog) -> Result<(), Invalid> {
    let before = catalog.group(&group.name).map(|group| &group.way);
    restore_way(&mut group.way, before, &format!("host group {}", excerpt(&group.name)))
}

pub(crate) fn restore_host(host: &str, way: &mut Way, catalog: &Catalog) -> Result<(), Invalid> {
    let before = catalog.host_overrides().find(|(own, _)| *own == host).map(|(_, (_, way))| way);
    restore_way(way, before, &format!("host {}", excerpt(host)))
}

/// Puts the values back that the collection of this name has behind its masks.
pub fn restore(collection: &mut Collection, catalog: &Catalog) -> Result<(), Invalid> {
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
    restore_way(&mut collection.way, before.map(|before| &before.way), &format!("collection {name}"))
}

/// The same for all that a config declares.
pub fn restore_declared(declared: &mut Declared, catalog: &Catalog) -> Result<(), Invalid> {
    declared.collections.iter_mut().try_for_each(|collection| restore(collection, catalog))?;
    declared.groups.iter_mut().try_for_each(|group| restore_group(group, catalog))?;
    declared.hosts.iter_mut().try_for_each(|(host, _, way)| restore_host(host, way, catalog))
}

/// The same for whatever is about to be declared.
pub fn restore_all(changes: &mut [Change], catalog: &Catalog) -> Result<(), Invalid> {
    changes.iter_mut().try_for_each(|change| match change {
        Change::PutCollection(collection) => restore(collection, catalog),
        Change::PutGroup(group) => restore_group(group, catalog),
        Change::PutHostPoliteness { host, way, .. } => restore_host(host, way, catalog),
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
    fn i7_a17_a_password_goes_back_only_to_the_proxy_it_was_shown_for() {
        let way = |proxy: &str| Way { proxy: Some(proxy.parse().unwrap()), ..Way::default() };
        let kept = way("http://u:s3cret@proxy.test:3128");
        let mut catalog = Catalog::new();
        let own = Collection { way: kept.clone(), ..collection(&[], &[]) };
        let group = HostGroup { name: "group:g".to_owned(), way: kept.clone(), ..HostGroup::default() };
        let host = Change::PutHostPoliteness {
            host: "h.test".to_owned(),
            politeness: policy::model::Politeness::default(),
            way: kept.clone(),
        };
        for change in [Change::PutCollection(Box::new(own.clone())), Change::PutGroup(group.clone()), host] {
            catalog.apply(change).unwrap();
        }
        let (mut shown, mut shown_group) = (masked(&own), masked_group(&group));
        for shown in [&shown.way, &shown_group.way] {
            assert_eq!(shown.proxy.as_ref().unwrap().written(), "http://u:•••@proxy.test:3128");
        }
        restore(&mut shown, &catalog).unwrap();
        restore_group(&mut shown_group, &catalog).unwrap();
        let mut of_host = way("http://u:•••@proxy.test:3128");
        restore_host("h.test", &mut of_host, &catalog).unwrap();
        assert_eq!((&shown.way, &shown_group.way, &of_host), (&kept, &kept, &kept));
        for elsewhere in [
            "http://u:•••@other.test:3128",
            "http://u:•••@proxy.test:3129",
            "socks5://u:•••@proxy.test:3128",
            "http://v:•••@proxy.test:3128",
        ] {
            let mut wrong = Collection { way: way(elsewhere), ..collection(&[], &[]) };
            assert_eq!(restore(&mut wrong, &catalog).unwrap_err().0[0].pointer, "/proxy", "{elsewhere}");
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
