//! The links of a page (A10): what an answer and its body name, as normalised URLs with their kind
//! and anchor text.
//!
//! The life of an answer here: its headers are asked first (`Location`, `Link`, `Refresh`); its
//! Content-Type says whether the body is worth reading; the [codings](crate::decode) are taken off;
//! its first bytes say what it really is and in which characters it is written; and one pass over
//! it in a bounded window gathers the links, which become URLs at its end. Whatever is wrong with a
//! body, everything before that point counts, and [`Extracted::problem`] says what it was (A11).
//!
//! Memory is bounded by the window, by the number of links, and by the decoders; time is linear in
//! the bytes that are read.

mod charset;
mod collect;
mod css;
mod date;
mod feed;
mod foreign;
mod html;
mod markup;
mod part;
mod prescan;
mod prolog;
mod sniff;
mod tag;
mod text;
mod value;
mod window;
mod words;

/// What other readers of pages share with this one: the scanner of markup and of style sheets, and the
/// characters a page is in.
pub mod scanner {
    pub use super::charset::{Written, in_utf8};
    pub use super::collect::with_legacy_query;
    pub use super::css::{finished as finished_css, urls as urls_of_css};
    pub use super::markup::{Dialect, Sink, raw_element, scan};
    pub use super::tag::Tag;
    pub use super::value::{refresh, srcset};
    pub use super::window::Window;
}

use std::io::{BufReader, Read};

use encoding_rs::Encoding;
use policy::hint::Said;
use policy::model::LinkKind;
use policy::trap::text::{Sketcher, Text};
use policy::url::{CrawlUrl, UrlRules};

use crate::decode;
use crate::exchange::Head;
use charset::{Charset, Transcoded};
use collect::{Against, Collector};
use feed::Feed;
use html::Html;
use markup::Dialect;
use prolog::Prolog;
use sniff::Form;
use window::Window;

pub use words::words;

/// An answer to be read.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    pub url: &'a CrawlUrl,
    pub head: &'a Head,
    pub limits: Limits,
    pub rules: &'a UrlRules,
    /// Whether the targets of GET forms are links.
    pub forms: bool,
    /// Robots.txt or an index named it as a sitemap, so that a plain list of URLs is taken for one.
    pub announced_as_sitemap: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Links beyond it are counted and dropped.
    pub links_max: usize,
    /// Longest anchor text that is kept; 0: none is read.
    pub anchor_bytes_max: usize,
    /// What is read of the body, codings taken off.
    pub decoded_bytes_max: u64,
    /// Whether what a page says is of interest.
    pub text: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { links_max: 10_000, anchor_bytes_max: 256, decoded_bytes_max: 64 << 20, text: false }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// Each URL once for each kind, in the order of the page, headers first.
    pub links: Vec<Found>,
    pub title: Option<String>,
    /// The name of the encoding the body was read in; none if it was not read.
    pub encoding: Option<&'static str>,
    /// Links beyond the limit.
    pub dropped: u64,
    /// Links that cannot be harvested: other schemes, nonsense, traps, monsters.
    pub unusable: u64,
    /// Why there may be more on the page than was found.
    pub problem: Option<String>,
    /// What it says, of HTML, where that was asked for.
    pub text: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub url: CrawlUrl,
    pub kind: LinkKind,
    /// In one line, without markup; empty if there is none.
    pub anchor: String,
    /// Where it stood: `a/@href`, `header/location`.
    pub how: &'static str,
    /// It named a user, whom the URL does not.
    pub user_info: bool,
    /// When it changed, as a sitemap or feed says.
    pub said: Option<Said>,
}

impl Found {
    /// Whether it is a link of the link index: one that a person could click, to a public address.
    pub fn is_indexed(&self) -> bool {
        matches!(self.how, "a/@href" | "a/@xlink:href" | "area/@href") && !self.user_info
    }
}

/// What the reading of a body gives besides links.
#[derive(Default)]
struct Reading {
    title: Option<String>,
    base: Option<String>,
    encoding: Option<&'static Encoding>,
    overlong: bool,
    text: Option<Text>,
}

/// Reads an answer; `body` is what followed its head, without transfer coding but with its content
/// codings.
pub fn links(page: &Page<'_>, body: &mut dyn Read) -> Extracted {
    let mut collector = Collector::new(page.limits.links_max);
    headers(page, &mut collector);
    let content_type = page.head.content_type();
    let promise = sniff::promise(&content_type.essence);
    let mut reading = Reading::default();
    let mut problem = None;
    if promise != sniff::Promise::Other {
        let max = page.limits.decoded_bytes_max;
        let mut body = decode::decoded(page.head.all("content-encoding"), body, max).unwrapped(max);
        let http = content_type.charset.as_deref();
        let window = Window::new(&mut body);
        let form = sniff::form(promise, window.bytes(), sniff::may_be_sitemap(page));
        reading = read(page, form, window, http, &mut collector);
        problem = body.problem().map(ToString::to_string);
    }
    let encoding = reading.encoding.unwrap_or(encoding_rs::UTF_8);
    let collected = collector.finish(page.url, reading.base.as_deref(), encoding, page.rules);
    let overlong = reading.overlong.then(|| "a tag or line too long to be read".to_owned());
    Extracted {
        links: collected.links,
        title: reading.title,
        encoding: reading.encoding.map(Encoding::name),
        dropped: collected.dropped,
        unusable: collected.unusable,
        problem: problem.or(overlong),
        text: reading.text,
    }
}

fn headers(page: &Page<'_>, collector: &mut Collector) {
    let mut add = |raw: &str, kind, how| collector.add_against(raw, kind, how, Against::Address);
    let lossy = |value| String::from_utf8_lossy(value).into_owned();
    if matches!(page.head.status, 201 | 300..=399)
        && let Some(location) = page.head.header("location")
    {
        add(&location, LinkKind::Redirect, "header/location");
    }
    if let Some(url) = page.head.header("refresh").as_deref().and_then(value::refresh) {
        add(url, LinkKind::Redirect, "header/refresh");
    }
    for header in page.head.all("link").map(lossy) {
        for (url, kind) in value::link_header(&header) {
            add(url, kind, "header/link");
        }
    }
}

fn read(
    page: &Page<'_>,
    form: Form,
    window: Window<'_>,
    http: Option<&str>,
    collector: &mut Collector,
) -> Reading {
    match form {
        Form::Html | Form::Xhtml => read_html(page, form, window, http, collector),
        Form::Feed => read_feed(page, window, http, collector),
        Form::Xml => read_prolog(&window, http, collector),
        Form::Css => {
            let charset = css::file(window, http, collector);
            Reading { encoding: Some(charset.encoding()), ..Reading::default() }
        }
        Form::Lines => read_lines(window, http, collector),
        Form::Other => Reading::default(),
    }
}

fn read_html(
    page: &Page<'_>,
    form: Form,
    window: Window<'_>,
    http: Option<&str>,
    collector: &mut Collector,
) -> Reading {
    let of = if form == Form::Html { charset::of_html } else { charset::of_xml };
    let (charset, mark) = of(window.bytes(), http);
    let dialect = if form == Form::Html { Dialect::Html } else { Dialect::Xml };
    let mut html = Html::new(collector, &charset, dialect, page.limits, page.forms);
    html.sketcher = page.limits.text.then(|| Sketcher::at(page.url));
    let overlong = markup::scan(&mut readable(window, &charset, mark), dialect, &mut html);
    html.finish();
    let Html { title, base, sketcher, .. } = html;
    let text = sketcher.and_then(Sketcher::finish);
    Reading { title, base, encoding: Some(charset.encoding()), overlong, text }
}

fn read_feed(page: &Page<'_>, window: Window<'_>, http: Option<&str>, collector: &mut Collector) -> Reading {
    let (charset, mark) = charset::of_xml(window.bytes(), http);
    let mut feed = Feed::new(collector, &charset, page.limits);
    let overlong = markup::scan(&mut readable(window, &charset, mark), Dialect::Xml, &mut feed);
    let title = feed.title;
    Reading { title, encoding: Some(charset.encoding()), overlong, ..Reading::default() }
}

/// The first window is enough for what comes before the first element.
fn read_prolog(window: &Window<'_>, http: Option<&str>, collector: &mut Collector) -> Reading {
    let (charset, mark) = charset::of_xml(window.bytes(), http);
    let mut head = readable(Window::new(window.bytes()), &charset, mark);
    markup::scan(&mut head, Dialect::Xml, &mut Prolog::new(collector, &charset));
    Reading { encoding: Some(charset.encoding()), ..Reading::default() }
}

/// One URL a line.
fn read_lines(window: Window<'_>, http: Option<&str>, collector: &mut Collector) -> Reading {
    let (charset, mark) = charset::of_xml(window.bytes(), http);
    let mut window = readable(window, &charset, mark);
    let mut overlong = false;
    loop {
        let (bytes, last) = (window.bytes(), window.is_last());
        let end = if last { Some(bytes.len()) } else { memchr::memrchr(b'\n', bytes).map(|at| at + 1) };
        let consumed = end.unwrap_or(0);
        for line in bytes[..consumed].split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii) {
            if line.get(..4).is_some_and(|head| head.eq_ignore_ascii_case(b"http")) {
                collector.add(&charset.text(line), LinkKind::Link, "sitemap/line");
            }
        }
        window.consume(consumed);
        if last {
            return Reading { encoding: Some(charset.encoding()), overlong, ..Reading::default() };
        }
        if !window.extend() {
            overlong = true;
            window.consume(window::WINDOW_BYTES_MAX);
        }
    }
}

/// Without byte order mark, and in an encoding that can be scanned.
fn readable<'w>(mut window: Window<'w>, charset: &Charset, mark: usize) -> Window<'w> {
    window.consume(mark);
    if !charset.needs_transcoding() {
        return window;
    }
    // It gives whole characters only: a window may end within one.
    Window::new(BufReader::new(Transcoded::new(window.into_reader(), charset)))
}
