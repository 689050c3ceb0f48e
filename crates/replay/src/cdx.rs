//! The index as CDX servers give it: what is asked (as OutbackCDX and pywb ask), and a line of eleven
//! fields for each capture.
//!
//! `com,example)/ 20240229123456 http://example.com/ text/html 200 BASE32 - - 1234 5678 a.warc.gz`

use net::warc::date::digits14;
use policy::time::Time;

/// What of an index a URL stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    Exact,
    /// Everything that begins so.
    Prefix,
    Host,
    /// The host, and those below it.
    Domain,
}

/// In which order lines come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Forward,
    /// The latest first.
    Reverse,
    /// The nearest to a time first.
    Closest,
}

impl Match {
    /// By its name; `*` at the ends of the URL says the same.
    pub fn of(name: Option<&str>, url: &str) -> Option<(Match, String)> {
        let plain = |kind| Some((kind, url.to_owned()));
        match name {
            Some("exact") => plain(Match::Exact),
            Some("prefix") => plain(Match::Prefix),
            Some("host") => plain(Match::Host),
            Some("domain") => plain(Match::Domain),
            Some(_) => None,
            None => match (url.strip_prefix("*."), url.strip_suffix('*')) {
                (Some(host), _) => Some((Match::Domain, host.to_owned())),
                (None, Some(start)) => Some((Match::Prefix, start.to_owned())),
                (None, None) => plain(Match::Exact),
            },
        }
    }

    /// How the keys of what is asked for begin; `key` is that of the URL.
    pub fn starts(self, key: &str) -> Vec<String> {
        let host = key.split([')', ':']).next().unwrap_or(key);
        match self {
            Match::Exact | Match::Prefix => vec![key.to_owned()],
            Match::Host => vec![format!("{host})")],
            Match::Domain => vec![format!("{host})"), format!("{host},")],
        }
    }
}

/// One capture, as far as a line tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    pub key: &'a str,
    pub time: Time,
    pub url: &'a str,
    pub mime: Option<&'a str>,
    pub status: Option<u16>,
    pub digest: &'a str,
    pub length: u64,
    pub offset: u64,
    pub file: &'a str,
}

impl Line<'_> {
    /// With its line end.
    pub fn write(&self, out: &mut String) {
        let digest = self.digest.strip_prefix("sha1:").unwrap_or(self.digest);
        let status = self.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
        let (length, offset) = (self.length.to_string(), self.offset.to_string());
        let at = digits14(self.time);
        let fields = [
            self.key,
            &at,
            self.url,
            self.mime.unwrap_or("-"),
            &status,
            digest,
            "-",
            "-",
            &length,
            &offset,
            self.file,
        ];
        for (n, field) in fields.iter().enumerate() {
            if n > 0 {
                out.push(' ');
            }
            // A blank in a field would be another field.
            let visible = field.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c });
            out.extend(visible);
            if field.is_empty() {
                out.push('-');
            }
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r3_a_line_has_eleven_fields_whatever_is_in_them() {
        for mime in [Some("text/html"), None, Some(""), Some("text/html; a b\r\nc")] {
            let mut out = String::new();
            let line = Line {
                key: "com,example)/",
                time: Time(0),
                url: "http://example.com/",
                mime,
                status: Some(200),
                digest: "sha1:ABC",
                length: 12,
                offset: 34,
                file: "a b.warc.gz",
            };
            line.write(&mut out);
            assert_eq!(out.trim_end().split(' ').count(), 11, "{out}");
            assert!(
                out.starts_with("com,example)/ 19700101000000 http://example.com/ ")
                    && out.ends_with(" 200 ABC - - 12 34 a_b.warc.gz\n"),
                "{out}"
            );
        }
    }

    #[test]
    fn r3_what_is_asked_for_is_a_range_of_keys() {
        let starts = |kind: Match| kind.starts("com,example)/a").join(" ");
        assert_eq!(starts(Match::Prefix), "com,example)/a");
        assert_eq!(starts(Match::Host), "com,example)");
        assert_eq!(starts(Match::Domain), "com,example) com,example,");
        for (name, url, kind, bare) in [
            (None, "http://a.test/*", Match::Prefix, "http://a.test/"),
            (None, "*.a.test", Match::Domain, "a.test"),
            (None, "http://a.test/", Match::Exact, "http://a.test/"),
            (Some("host"), "a.test/x", Match::Host, "a.test/x"),
        ] {
            assert_eq!(Match::of(name, url), Some((kind, bare.to_owned())));
        }
        assert_eq!(Match::of(Some("fuzzy"), "a.test"), None);
    }
}
