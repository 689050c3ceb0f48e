//! Memento (RFC 7089): the headers of captures, and the lists of them.

use net::warc::date::digits14;
use policy::time::Time;

use crate::moment::{http_date, stamp};
use crate::place::{ListFormat, Prefix, View};

/// What all addresses of one URL in one collection begin with.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// `http://localhost:8643`: lists are read elsewhere too, so addresses in them are whole.
    pub origin: &'a str,
    pub prefix: &'a Prefix,
    /// The URL that was captured.
    pub url: &'a str,
}

/// Captures beside one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    pub first: Option<Time>,
    pub prev: Option<Time>,
    pub next: Option<Time>,
    pub last: Option<Time>,
}

impl Site<'_> {
    pub fn capture(&self, time: Time, others: impl IntoIterator<Item = Time>) -> String {
        let stamp = stamp(time, others);
        format!("{}{}", self.origin, self.prefix.capture(&stamp, View::Page, self.url))
    }

    pub fn time_gate(&self) -> String {
        format!("{}{}", self.origin, self.prefix.time_gate(self.url))
    }

    pub fn time_map(&self, format: ListFormat) -> String {
        format!("{}{}", self.origin, self.prefix.time_map(format, self.url))
    }

    /// What every answer about the URL links to, but for captures.
    fn general(&self, with_gate: bool) -> String {
        let mut text = format!("<{}>; rel=\"original\"", target(self.url));
        if with_gate {
            text.push_str(&format!(", <{}>; rel=\"timegate\"", target(&self.time_gate())));
        }
        let map = self.time_map(ListFormat::Link);
        text.push_str(&format!(", <{}>; rel=\"timemap\"; type=\"application/link-format\"", target(&map)));
        text
    }

    /// `Link` of what leads to a capture, and is none.
    pub fn link_of_gate(&self, beside: &Neighbours) -> String {
        let mut text = self.general(false);
        let ends = [("first memento", beside.first), ("last memento", beside.last)];
        self.push_captures(&mut text, ends.into_iter(), &[]);
        text
    }

    /// `Link` of something on the way that is no gate itself.
    pub fn link_on_the_way(&self) -> String {
        self.general(true)
    }

    /// `Link` of a capture.
    pub fn link(&self, this: Time, beside: &Neighbours) -> String {
        let mut text = self.general(true);
        let named = [
            ("first", beside.first),
            ("prev", beside.prev),
            ("", Some(this)),
            ("next", beside.next),
            ("last", beside.last),
        ];
        // One capture may be several of these.
        let mut all: Vec<(String, Time)> = Vec::new();
        for (name, time) in named {
            let Some(time) = time else { continue };
            match all.iter_mut().find(|(_, own)| *own == time) {
                Some((names, _)) if !name.is_empty() => names.push_str(&format!(" {name}")),
                Some(_) => {}
                None => all.push((name.to_owned(), time)),
            }
        }
        let others = [Some(this), beside.prev, beside.next].into_iter().flatten().collect::<Vec<_>>();
        let all: Vec<(String, Time)> = all
            .into_iter()
            .map(|(names, time)| (format!("{names} memento").trim_start().to_owned(), time))
            .collect();
        self.push_captures(&mut text, all.iter().map(|(names, time)| (names.as_str(), Some(*time))), &others);
        text
    }

    fn push_captures<'n>(
        &self,
        text: &mut String,
        captures: impl Iterator<Item = (&'n str, Option<Time>)>,
        others: &[Time],
    ) {
        for (rel, time) in captures {
            let Some(time) = time else { continue };
            let address = self.capture(time, others.iter().copied());
            text.push_str(&format!(
                ", <{}>; rel=\"{rel}\"; datetime=\"{}\"",
                target(&address),
                http_date(time)
            ));
        }
    }
}

/// A list of captures, made piece by piece: [`List::begin`], [`List::add`] for each in the order of
/// their times, [`List::end`].
#[derive(Debug)]
pub struct List<'a> {
    site: Site<'a>,
    format: ListFormat,
    ends: (Time, Time),
    held: Option<(Option<Time>, Time)>,
    is_begun: bool,
}

impl<'a> List<'a> {
    /// `ends` are the times of the first and the last.
    pub fn new(site: Site<'a>, format: ListFormat, ends: (Time, Time)) -> List<'a> {
        List { site, format, ends, held: None, is_begun: false }
    }

    pub fn begin(&self) -> String {
        let (from, until) = (http_date(self.ends.0), http_date(self.ends.1));
        let Site { url, .. } = self.site;
        let (gate, own) = (self.site.time_gate(), self.site.time_map(self.format));
        match self.format {
            ListFormat::Link => format!(
                "<{}>; rel=\"original\",\n<{}>; rel=\"self\"; type=\"application/link-format\"; from=\"{from}\"; until=\"{until}\",\n\
                 <{}>; rel=\"timegate\"",
                target(url),
                target(&own),
                target(&gate),
            ),
            ListFormat::Json => format!(
                "{{\"original_uri\":{},\"self\":{},\"timegate_uri\":{},\"timemap_uri\":{{\"link_format\":{},\"json_format\":{}}},\
                 \"mementos\":{{\"first\":{},\"last\":{},\"list\":[",
                json(url),
                json(&own),
                json(&gate),
                json(&self.site.time_map(ListFormat::Link)),
                json(&self.site.time_map(ListFormat::Json)),
                self.json_item(self.ends.0, &[]),
                self.json_item(self.ends.1, &[]),
            ),
        }
    }

    /// What of the list is sure by now.
    pub fn add(&mut self, time: Time) -> String {
        let before = self.held.take();
        self.held = Some((before.map(|(_, time)| time), time));
        before.map_or_else(String::new, |(prev, own)| self.item(own, &[prev, Some(time)]))
    }

    pub fn end(mut self) -> String {
        let rest = self.held.take().map_or_else(String::new, |(prev, own)| self.item(own, &[prev]));
        match self.format {
            ListFormat::Link => format!("{rest}\n"),
            ListFormat::Json => format!("{rest}]}}}}\n"),
        }
    }

    fn item(&mut self, time: Time, others: &[Option<Time>]) -> String {
        let others: Vec<Time> = others.iter().flatten().copied().collect();
        let separator = if std::mem::replace(&mut self.is_begun, true) { "," } else { "" };
        match self.format {
            ListFormat::Json => format!("{separator}{}", self.json_item(time, &others)),
            ListFormat::Link => {
                let address = self.site.capture(time, others);
                let rel = match (time == self.ends.0, time == self.ends.1) {
                    (true, true) => "first last memento",
                    (true, false) => "first memento",
                    (false, true) => "last memento",
                    (false, false) => "memento",
                };
                format!(",\n<{}>; rel=\"{rel}\"; datetime=\"{}\"", target(&address), http_date(time))
            }
        }
    }

    fn json_item(&self, time: Time, others: &[Time]) -> String {
        let address = self.site.capture(time, others.iter().copied());
        let at = digits14(time);
        let iso =
            format!("{}-{}-{}T{}:{}:{}Z", &at[..4], &at[4..6], &at[6..8], &at[8..10], &at[10..12], &at[12..]);
        format!("{{\"datetime\":{},\"uri\":{}}}", json(&iso), json(&address))
    }
}

/// Between the angles of a `Link` header.
fn target(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for c in url.chars() {
        match c {
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '"' => out.push_str("%22"),
            ' '..='~' => out.push(c),
            c => out.extend(url::form_urlencoded::byte_serialize(c.encode_utf8(&mut [0; 4]).as_bytes())),
        }
    }
    out
}

/// A JSON string in ASCII.
fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    net::cdx::push_json(&mut out, text);
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use net::warc::date::parse;

    use super::*;

    fn time(text: &str) -> Time {
        parse(text).unwrap()
    }

    fn on_site<T>(url: &str, look: impl FnOnce(Site<'_>) -> T) -> T {
        let prefix = Prefix::new(None, "news");
        look(Site { origin: "http://arxiv.example.net", prefix: &prefix, url })
    }

    /// RFC 7089, figures 6 to 9, with our addresses.
    #[test]
    fn r3_a_capture_links_to_all_that_belongs_to_it() {
        let beside = Neighbours {
            first: Some(time("2000-09-15T11:28:26Z")),
            prev: Some(time("2001-09-11T20:30:51Z")),
            next: Some(time("2001-09-11T20:47:33Z")),
            last: Some(time("2009-10-27T20:49:54Z")),
        };
        let link = on_site("http://a.example.org/", |site| site.link(time("2001-09-11T20:36:10Z"), &beside));
        assert_eq!(
            link.replace(", <", ",\n<"),
            "<http://a.example.org/>; rel=\"original\",\n\
             <http://arxiv.example.net/news/timegate/http://a.example.org/>; rel=\"timegate\",\n\
             <http://arxiv.example.net/news/timemap/link/http://a.example.org/>; rel=\"timemap\"; type=\"application/link-format\",\n\
             <http://arxiv.example.net/news/20000915112826/http://a.example.org/>; rel=\"first memento\"; datetime=\"Fri, 15 Sep 2000 11:28:26 GMT\",\n\
             <http://arxiv.example.net/news/20010911203051/http://a.example.org/>; rel=\"prev memento\"; datetime=\"Tue, 11 Sep 2001 20:30:51 GMT\",\n\
             <http://arxiv.example.net/news/20010911203610/http://a.example.org/>; rel=\"memento\"; datetime=\"Tue, 11 Sep 2001 20:36:10 GMT\",\n\
             <http://arxiv.example.net/news/20010911204733/http://a.example.org/>; rel=\"next memento\"; datetime=\"Tue, 11 Sep 2001 20:47:33 GMT\",\n\
             <http://arxiv.example.net/news/20091027204954/http://a.example.org/>; rel=\"last memento\"; datetime=\"Tue, 27 Oct 2009 20:49:54 GMT\""
        );
    }

    #[test]
    fn r3_one_capture_may_be_several_of_them() {
        let at = time("2001-09-11T20:36:10.5Z");
        let later = time("2001-09-11T20:36:10.7Z");
        let alone = Neighbours { first: Some(at), last: Some(at), ..Neighbours::default() };
        let link = on_site("http://a.test/", |site| site.link(at, &alone));
        assert!(link.contains("rel=\"first last memento\""), "{link}");
        assert_eq!(link.matches("memento\"").count(), 1, "{link}");
        let two =
            Neighbours { first: Some(at), next: Some(later), last: Some(later), ..Neighbours::default() };
        let link = on_site("http://a.test/", |site| site.link(at, &two));
        assert!(link.contains("20010911203610500/") && link.contains("20010911203610700/"), "{link}");
        assert!(
            link.contains("rel=\"first memento\"") && link.contains("rel=\"next last memento\""),
            "{link}"
        );
    }

    /// RFC 7089, figure 28.
    #[test]
    fn r3_a_list_names_every_capture_in_order() {
        let times = [
            "2000-06-20T18:02:59Z",
            "2000-06-21T04:41:56Z",
            "2000-06-21T04:41:56.3Z",
            "2009-10-27T20:49:54Z",
        ]
        .map(time);
        let made = |format| {
            on_site("http://a.example.org/", |site| {
                let mut list = List::new(site, format, (times[0], times[3]));
                let mut text = list.begin();
                text.extend(times.iter().map(|time| list.add(*time)).collect::<Vec<_>>());
                text + &list.end()
            })
        };
        assert_eq!(
            made(ListFormat::Link),
            "<http://a.example.org/>; rel=\"original\",\n\
             <http://arxiv.example.net/news/timemap/link/http://a.example.org/>; rel=\"self\"; type=\"application/link-format\"; \
             from=\"Tue, 20 Jun 2000 18:02:59 GMT\"; until=\"Tue, 27 Oct 2009 20:49:54 GMT\",\n\
             <http://arxiv.example.net/news/timegate/http://a.example.org/>; rel=\"timegate\",\n\
             <http://arxiv.example.net/news/20000620180259/http://a.example.org/>; rel=\"first memento\"; datetime=\"Tue, 20 Jun 2000 18:02:59 GMT\",\n\
             <http://arxiv.example.net/news/20000621044156000/http://a.example.org/>; rel=\"memento\"; datetime=\"Wed, 21 Jun 2000 04:41:56 GMT\",\n\
             <http://arxiv.example.net/news/20000621044156300/http://a.example.org/>; rel=\"memento\"; datetime=\"Wed, 21 Jun 2000 04:41:56 GMT\",\n\
             <http://arxiv.example.net/news/20091027204954/http://a.example.org/>; rel=\"last memento\"; datetime=\"Tue, 27 Oct 2009 20:49:54 GMT\"\n"
        );
        let json = made(ListFormat::Json);
        assert!(json.starts_with("{\"original_uri\":\"http://a.example.org/\","), "{json}");
        assert_eq!(json.matches("\"datetime\"").count(), 6, "{json}");
        assert!(json.ends_with("]}}\n"), "{json}");
    }

    #[test]
    fn r8_no_url_ends_a_header_or_an_angle() {
        let link = on_site("http://a.test/?\r\nSet-Cookie: x>; rel=\"evil\"å", |site| {
            site.link_of_gate(&Neighbours::default())
        });
        assert!(!link.contains(['\r', '\n']) && !link.contains("evil\""), "{link}");
        assert!(link.is_ascii());
    }
}
