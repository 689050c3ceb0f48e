//! Jars of cookies: one a host, with all that the host had set, also for the domain above it. They
//! stay where they are, and are sent as before; what is set anew for a domain goes to the row of
//! the domain.

use policy::cookies;
use policy::time::Time;
use serde::Deserialize;
use store::table::read;

/// What the bytes of a jar began with.
const LAYOUT: u8 = 1;

/// A jar that cannot be read was forgotten then, too.
pub(crate) fn cookies(row: &[u8]) -> Option<cookies::Row> {
    let bytes: Vec<u8> = read(row)?;
    let jar = bytes.strip_prefix(&[LAYOUT]).and_then(read::<Jar>);
    Some(jar.map(Into::into).unwrap_or_default())
}

#[derive(Deserialize)]
struct Jar {
    given: Vec<Given>,
    cookies: Vec<Cookie>,
}

#[derive(Deserialize)]
struct Given {
    name: String,
    value: String,
    path: String,
}

#[derive(Deserialize)]
struct Cookie {
    name: String,
    value: String,
    domain: String,
    host_only: bool,
    path: String,
    secure: bool,
    expires: Option<Time>,
    /// Which was first.
    order: u64,
}

impl From<Jar> for cookies::Row {
    fn from(old: Jar) -> cookies::Row {
        let given = |old: Given| cookies::Given { name: old.name, value: old.value, path: old.path };
        let cookie = |old: Cookie| cookies::Cookie {
            name: old.name,
            value: old.value,
            domain: old.domain,
            host_only: old.host_only,
            path: old.path,
            secure: old.secure,
            http_only: false,
            same_site: None,
            expires: old.expires,
            // Before all that were ever set at a time, and in their order.
            created: Time(i64::try_from(old.order).unwrap_or(i64::MAX)),
        };
        cookies::Row {
            given: old.given.into_iter().map(given).collect(),
            cookies: old.cookies.into_iter().map(cookie).collect(),
        }
    }
}
