//! Addresses of the archive: `/COLLECTION/TIMESTAMP/URL`, with two letters behind the timestamp where
//! something else is wanted than a page to look at.
//!
//! The URL stands there as it is, with its query: what a browser asks for is read as it was sent,
//! before anything decodes it. A key in front (`/~KEY/…`) lets in who has no other way to say that they
//! may look: what is shown has no origin, so browsers send no cookie with what it loads.

use std::fmt;

use crate::moment::While;

/// Of an address; a URL in it is shorter.
pub const ADDRESS_BYTES_MAX: usize = 8 << 10;

/// What is wanted of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The page as it was seen, with the bar.
    Page,
    /// The document as it was sent, with the bar, where the final DOM is there too: `mp_`.
    Sent,
    /// Something that a page needs, or a frame in it: `if_`, and what other replays call so.
    Part,
    /// As it was sent, to the byte: `id_`.
    Raw,
}

impl View {
    fn read(letters: &str) -> Option<View> {
        match letters {
            "" => Some(View::Page),
            "mp_" => Some(View::Sent),
            "id_" => Some(View::Raw),
            "if_" | "im_" | "cs_" | "js_" | "fr_" | "oe_" | "wkr_" => Some(View::Part),
            _ => None,
        }
    }

    pub fn letters(self) -> &'static str {
        match self {
            View::Page => "",
            View::Sent => "mp_",
            View::Part => "if_",
            View::Raw => "id_",
        }
    }
}

/// The format of a list of captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListFormat {
    Link,
    Json,
}

/// What an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted<'a> {
    Capture {
        at: While,
        view: View,
        url: &'a str,
    },
    /// The last one.
    Latest {
        url: &'a str,
    },
    TimeGate {
        url: &'a str,
    },
    TimeMap {
        format: ListFormat,
        url: &'a str,
    },
}

/// The key in front of an address, if there is one, and what is behind it.
pub fn split_key(path: &str) -> (Option<&str>, &str) {
    let keyed = path.strip_prefix("/~").and_then(|rest| Some(rest.split_at(rest.find('/')?)));
    keyed.map_or((None, path), |(key, rest)| (Some(key), rest))
}

/// The collection of an address without its key, as written, and what is behind it.
pub fn split_collection(path: &str) -> Option<(&str, &str)> {
    let (collection, rest) = path.strip_prefix('/')?.split_once('/')?;
    (!collection.is_empty()).then_some((collection, rest))
}

/// What is named behind the collection.
pub fn read(rest: &str) -> Option<Wanted<'_>> {
    if rest.len() > ADDRESS_BYTES_MAX {
        return None;
    }
    if is_url(rest) {
        return Some(Wanted::Latest { url: rest });
    }
    let (first, behind) = rest.split_once('/')?;
    match first {
        "timegate" => Some(Wanted::TimeGate { url: behind }),
        "timemap" => match behind.split_once('/') {
            Some(("link", url)) => Some(Wanted::TimeMap { format: ListFormat::Link, url }),
            Some(("json", url)) => Some(Wanted::TimeMap { format: ListFormat::Json, url }),
            _ => Some(Wanted::TimeMap { format: ListFormat::Link, url: behind }),
        },
        _ => {
            let digits = first.bytes().take_while(u8::is_ascii_digit).count();
            let (stamp, letters) = first.split_at(digits);
            Some(Wanted::Capture { at: While::read(stamp)?, view: View::read(letters)?, url: behind })
        }
    }
    .filter(|wanted| !wanted.url().is_empty())
}

impl<'a> Wanted<'a> {
    pub fn url(&self) -> &'a str {
        match *self {
            Wanted::Capture { url, .. }
            | Wanted::Latest { url }
            | Wanted::TimeGate { url }
            | Wanted::TimeMap { url, .. } => url,
        }
    }
}

/// Whether it begins like a web address; proxies on the way make one slash of two.
fn is_url(text: &str) -> bool {
    ["http:/", "https:/"].iter().any(|scheme| starts_with(text, scheme))
}

/// The URL that an address names, which is one of the web.
pub fn web_url(text: &str) -> Option<String> {
    if !is_url(text) {
        let has_scheme = text.find([':', '/', '?', '#']).is_some_and(|at| text.as_bytes()[at] == b':');
        let rest = text.split_once(':').map_or("", |(_, rest)| rest);
        // `host:8080/` has no scheme.
        let is_port = rest.starts_with(|c: char| c.is_ascii_digit());
        return (!has_scheme || is_port).then(|| format!("http://{text}"));
    }
    let (scheme, rest) = text.split_once(':')?;
    Some(format!("{scheme}://{}", rest.trim_start_matches('/')))
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// Where addresses begin: the key, if there is one, and the collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix(String);

impl Prefix {
    /// `key` and `collection` as they are to stand in an address.
    pub fn new(key: Option<&str>, collection: &str) -> Prefix {
        match key {
            Some(key) => Prefix(format!("/~{key}/{collection}/")),
            None => Prefix(format!("/{collection}/")),
        }
    }

    /// The address of a capture; `stamp` is digits.
    pub fn capture(&self, stamp: &str, view: View, url: &str) -> String {
        format!("{}{stamp}{}/{url}", self.0, view.letters())
    }

    pub fn time_gate(&self, url: &str) -> String {
        format!("{}timegate/{url}", self.0)
    }

    pub fn time_map(&self, format: ListFormat, url: &str) -> String {
        let format = match format {
            ListFormat::Link => "link",
            ListFormat::Json => "json",
        };
        format!("{}timemap/{format}/{url}", self.0)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn r2_addresses_name_captures() {
        let at = |digits| While::read(digits).unwrap();
        let capture = |digits, view, url| Some(Wanted::Capture { at: at(digits), view, url });
        for (rest, wanted) in [
            ("2024/http://a.test/", capture("2024", View::Page, "http://a.test/")),
            (
                "20240229123456id_/http://a.test/x?y=http://b.test/#z",
                capture("20240229123456", View::Raw, "http://a.test/x?y=http://b.test/#z"),
            ),
            ("20240229123456im_/a.test/x", capture("20240229123456", View::Part, "a.test/x")),
            ("20240229123456mp_/a.test", capture("20240229123456", View::Sent, "a.test")),
            ("http://a.test/2024/x", Some(Wanted::Latest { url: "http://a.test/2024/x" })),
            ("HTTPS:/a.test", Some(Wanted::Latest { url: "HTTPS:/a.test" })),
            ("timegate/http://a.test/", Some(Wanted::TimeGate { url: "http://a.test/" })),
            (
                "timemap/http://a.test/",
                Some(Wanted::TimeMap { format: ListFormat::Link, url: "http://a.test/" }),
            ),
            ("timemap/link/a.test/", Some(Wanted::TimeMap { format: ListFormat::Link, url: "a.test/" })),
            ("timemap/json/a.test/", Some(Wanted::TimeMap { format: ListFormat::Json, url: "a.test/" })),
            ("2024/", None),
            ("2024", None),
            ("2024xx_/a.test", None),
            ("timegate/", None),
            ("x/a.test", None),
            ("", None),
        ] {
            assert_eq!(read(rest), wanted, "{rest}");
        }
        assert_eq!(read(&format!("2024/http://a.test/{}", "x".repeat(ADDRESS_BYTES_MAX))), None);
    }

    #[test]
    fn r1_a_key_stands_in_front() {
        assert_eq!(
            split_key("/~abc/news/2024/http://a.test/~x/"),
            (Some("abc"), "/news/2024/http://a.test/~x/")
        );
        assert_eq!(split_key("/news/2024/http://a.test/~x/"), (None, "/news/2024/http://a.test/~x/"));
        assert_eq!(split_key("/~abc"), (None, "/~abc"));
        assert_eq!(split_collection("/news/2024/x"), Some(("news", "2024/x")));
        assert_eq!(split_collection("//2024/x"), None);
        let prefix = Prefix::new(Some("k"), "news");
        assert_eq!(
            prefix.capture("2024", View::Raw, "http://a.test/?b"),
            "/~k/news/2024id_/http://a.test/?b"
        );
        assert_eq!(Prefix::new(None, "news").time_gate("http://a.test/"), "/news/timegate/http://a.test/");
    }

    #[test]
    fn r8_only_addresses_of_the_web_are_looked_for() {
        for (text, url) in [
            ("http://a.test/x", Some("http://a.test/x")),
            ("http:/a.test/x", Some("http://a.test/x")),
            ("https:///a.test/x", Some("https://a.test/x")),
            ("a.test/x?y:z", Some("http://a.test/x?y:z")),
            ("a.test:8080/x", Some("http://a.test:8080/x")),
            ("urn:dom:http://a.test/", None),
            ("dns:a.test", None),
            ("javascript:alert(1)", None),
            ("data:text/html,x", None),
            ("file:///etc/passwd", None),
        ] {
            assert_eq!(web_url(text).as_deref(), url, "{text}");
        }
    }
}
