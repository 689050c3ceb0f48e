//! Links out of sitemaps (index, URL set, with the extensions for pictures, videos and languages)
//! and feeds (RSS, Atom, RDF).
//!
//! Read by the names of elements without their prefixes: namespaces are wrong in the wild as often
//! as they are right. Entries and pages are links, what belongs to them (pictures, videos,
//! enclosures) is a requisite. An entry's links have its title as anchor text.

use policy::hint::Said;
use policy::model::LinkKind::{self, Link, Requisite};

use super::charset::Charset;
use super::collect::Collector;
use super::markup::Sink;
use super::part::Parts;
use super::tag::Tag;
use super::text::Gathered;
use super::{Limits, date, prolog, text, value};

/// Longest text of an element that may be a URL or a title.
const TEXT_BYTES_MAX: usize = 8 << 10;

/// Longest name of an element that means something here.
const NAME_BYTES_MAX: usize = 20;

/// Links of an entry that its date is of: its address is often said twice.
const DATED_MAX: usize = 2;

pub(super) struct Feed<'c> {
    pub(super) collector: &'c mut Collector,
    /// The first title, which is that of the feed.
    pub(super) title: Option<String>,
    charset: &'c Charset,
    limits: Limits,
    parts: Parts,
    reading: Option<Reading>,
    gathered: Gathered,
    /// Within `image:image` or `video:video`.
    in_extension: bool,
    /// In an entry: the first link of it, and its title.
    entry: Option<(usize, String)>,
    /// What the entry of a feed, or of a sitemap, is about, and its date.
    dated: Dated,
}

/// The pages that an entry names as itself, and when they changed.
#[derive(Default)]
struct Dated {
    pages: [Option<usize>; DATED_MAX],
    said: Option<Said>,
}

impl Dated {
    fn page(&mut self, at: usize) {
        if let Some(free) = self.pages.iter_mut().find(|page| page.is_none()) {
            *free = Some(at);
        }
    }
}

/// What the text of the element that is open is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Url(LinkKind, &'static str),
    Title,
    Date,
}

impl<'c> Feed<'c> {
    pub(super) fn new(collector: &'c mut Collector, charset: &'c Charset, limits: Limits) -> Feed<'c> {
        Feed {
            collector,
            title: None,
            charset,
            limits,
            parts: Parts::default(),
            reading: None,
            gathered: Gathered::default(),
            in_extension: false,
            entry: None,
            dated: Dated::default(),
        }
    }

    fn reads(&mut self, reading: Reading) {
        self.gathered.begin(TEXT_BYTES_MAX);
        self.reading = Some(reading);
    }

    fn link(&mut self, tag: &Tag<'_>, attribute: &[u8], kind: LinkKind, how: &'static str) {
        if let Some(raw) = tag.get(attribute) {
            let at = self.collector.add(&text::attribute(self.charset, raw), kind, how);
            if let Some(at) = at.filter(|_| how == "link/@href" && kind == Link && self.entry.is_some()) {
                self.dated.page(at);
            }
        }
    }

    fn element(&mut self, name: &[u8], tag: &Tag<'_>) {
        match name {
            b"loc" if self.in_extension => self.reads(Reading::Url(Requisite, "sitemap/image")),
            b"loc" => self.reads(Reading::Url(Link, "sitemap/loc")),
            b"sitemap" => {
                self.close_dated();
                self.reads(Reading::Url(Link, "sitemap/sitemap"));
            }
            b"thumbnail_loc" | b"content_loc" | b"player_loc" | b"content_segment_loc" => {
                self.reads(Reading::Url(Requisite, "sitemap/video"));
            }
            b"gallery_loc" => self.reads(Reading::Url(Link, "sitemap/video")),
            b"image" | b"video" => self.in_extension = true,
            b"lastmod" | b"pubdate" | b"updated" | b"published" | b"modified" | b"date"
                if !self.in_extension =>
            {
                self.reads(Reading::Date);
            }
            b"url" if self.in_extension => self.reads(Reading::Url(Requisite, "feed/image")),
            b"url" => self.close_dated(),
            b"item" | b"entry" => {
                self.close_dated();
                self.entry = Some((self.collector.len(), String::new()));
            }
            b"title" if !tag.name.contains(&b':') => self.reads(Reading::Title),
            b"link" => self.link_element(tag),
            b"guid" if is_permalink(tag) => self.reads(Reading::Url(Link, "feed/guid")),
            b"comments" => self.reads(Reading::Url(Link, "feed/comments")),
            b"icon" | b"logo" => self.reads(Reading::Url(Requisite, "feed/icon")),
            b"enclosure" => self.link(tag, b"url", Requisite, "feed/enclosure"),
            b"content" | b"thumbnail" => {
                self.link(tag, b"url", Requisite, "feed/media");
                self.link(tag, b"src", Link, "feed/content");
            }
            _ => {}
        }
    }

    /// `<link>…</link>` in RSS, `<link href rel>` in Atom and in sitemaps.
    fn link_element(&mut self, tag: &Tag<'_>) {
        if tag.get(b"href").is_none() {
            return self.reads(Reading::Url(Link, "feed/link"));
        }
        let rel = tag.get(b"rel").unwrap_or_default();
        if let Some(kind) = value::rel(&self.charset.text(rel)) {
            self.link(tag, b"href", kind, "link/@href");
        }
    }

    fn close(&mut self) {
        let Some(reading) = self.reading.take() else { return };
        match reading {
            Reading::Url(kind, how) => {
                let raw = self.gathered.shown(self.charset, TEXT_BYTES_MAX);
                if !self.gathered.is_cut()
                    && let Some(at) = self.collector.add(&raw, kind, how)
                    && matches!(how, "sitemap/loc" | "feed/link" | "feed/guid")
                {
                    self.dated.page(at);
                }
            }
            Reading::Title => self.read_title(),
            Reading::Date => {
                let said = date::read(&self.gathered.shown(self.charset, TEXT_BYTES_MAX));
                self.dated.said = self.dated.said.max(said);
            }
        }
    }

    fn read_title(&mut self) {
        if self.in_extension {
            return;
        }
        let max = if self.entry.is_some() { self.limits.anchor_bytes_max } else { text::TITLE_BYTES_MAX };
        let title = self.gathered.shown(self.charset, max);
        match &mut self.entry {
            Some((_, of_entry)) if of_entry.is_empty() => *of_entry = title,
            Some(_) => {}
            None => {
                self.title.get_or_insert(title);
            }
        }
    }

    /// At the end of an entry, of a sitemap too, or where the next begins, its pages get its date.
    fn close_dated(&mut self) {
        let Dated { pages, said } = std::mem::take(&mut self.dated);
        if let Some(said) = said {
            pages.into_iter().flatten().for_each(|at| self.collector.said(at, said));
        }
    }

    /// At the end of an entry its links get its title.
    fn close_entry(&mut self) {
        self.close_dated();
        let Some((first, title)) = self.entry.take() else { return };
        for at in first..self.collector.len() {
            self.collector.anchor(at, &title);
        }
    }
}

impl Sink for Feed<'_> {
    fn start(&mut self, tag: &Tag<'_>) {
        // Text before an inner element is not a URL.
        self.reading = None;
        self.parts.start(tag, self.charset, self.collector);
        let mut name = [0; NAME_BYTES_MAX];
        let local = local_name(tag.name);
        if let Some(name) = name.get_mut(..local.len()) {
            name.copy_from_slice(local);
            name.make_ascii_lowercase();
            self.element(name, tag);
        }
    }

    fn end(&mut self, name: &[u8]) {
        self.close();
        self.parts.end(name, self.collector);
        let name = local_name(name);
        let is = |names: [&[u8]; 2]| names.iter().any(|one| one.eq_ignore_ascii_case(name));
        if is([b"image", b"video"]) {
            self.in_extension = false;
        } else if is([b"item", b"entry"]) {
            self.close_entry();
        } else if is([b"url", b"sitemap"]) && !self.in_extension {
            self.close_dated();
        }
    }

    fn style_sheet(&mut self, tag: &Tag<'_>) {
        prolog::style_sheet(tag, self.charset, self.collector);
    }

    fn wants_text(&self) -> bool {
        self.reading.is_some() && self.gathered.has_room()
    }

    fn text(&mut self, text: &[u8], raw: bool) {
        if raw {
            self.gathered.push_literal(text);
        } else {
            self.gathered.push(text);
        }
    }
}

fn local_name(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b':').next().unwrap_or(name)
}

/// A guid is the address of its entry unless it says that it is not.
fn is_permalink(tag: &Tag<'_>) -> bool {
    tag.get(b"ispermalink").is_none_or(|value| !value.trim_ascii().eq_ignore_ascii_case(b"false"))
}
