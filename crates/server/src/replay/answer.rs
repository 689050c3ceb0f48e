//! One capture, as it is shown (R2): rewritten if it is a document, in part if that is asked for (R6), to
//! where it leads if it leads on, with the headers of Memento (R3).

use std::io::{self, Read};

use app::captures::replay::{At, Found, Opened, Stored, answer_of, final_dom, find};
use app::{Answer, Problem};
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use net::exchange::Head;
use replay::bar::Bar;
use replay::kind::{HEAD_BYTES, Kind};
use replay::memento::Site;
use replay::moment::{While, http_date, stamp};
use replay::place::{Prefix, View};
use replay::rewrite::{Document, led_to};

use super::pieces::{Teller, written};
use super::range::{Part, Range};
use super::{Visit, missing};

const MEMENTO_DATETIME: HeaderName = HeaderName::from_static("memento-datetime");
/// Longest value of a header that is passed on.
const VALUE_BYTES_MAX: usize = 8 << 10;

pub(super) async fn capture(visit: &Visit<'_>, at: While, view: View, url: &str) -> Answer<Response> {
    let app = &visit.replay.app;
    let Some(found) = find(app, &visit.collection, url, At::In(at)).await? else {
        return Ok(missing(visit, url));
    };
    let stamp = stamp_of(&found);
    // What a page needs is shown where it was asked for; a page has an address of its own.
    let is_here = While::read(&stamp) == Some(at) && found.url == url;
    if matches!(view, View::Page | View::Sent) && !is_here {
        return Ok(moved(visit, &found, view));
    }
    let dom = match view {
        View::Page | View::Sent => final_dom(app, &found).await?,
        View::Part | View::Raw => None,
    };
    let has_dom = dom.is_some();
    let (stored, is_final) = match dom.filter(|_| view == View::Page) {
        Some(dom) => (dom, true),
        None => (answer_of(app, &found).await?, false),
    };
    let bar = matches!(view, View::Page | View::Sent).then(|| bar(visit, &found, &stamp, view, has_dom));
    let site = visit.site(&found.url);
    let link = site.link(found.time, &found.beside);
    let range = visit.headers.get(header::RANGE).and_then(|range| range.to_str().ok()).and_then(Range::read);
    let showing = Showing {
        stored,
        view,
        is_final,
        bar,
        range,
        prefix: visit.prefix.clone(),
        stamp,
        url: found.url.clone(),
    };
    let (told, body) = written(move |teller| showing.write(teller)).await?;
    let mut response = told.response(body);
    let headers = response.headers_mut();
    put(headers, MEMENTO_DATETIME, &http_date(found.time));
    put(headers, header::LINK, &link);
    Ok(response)
}

/// To the address that a capture has.
pub(super) fn moved(visit: &Visit<'_>, found: &Found, view: View) -> Response {
    let Site { origin, prefix, url } = visit.site(&found.url);
    let address = format!("{origin}{}", prefix.capture(&stamp_of(found), view, url));
    redirect(StatusCode::FOUND, &address, &visit.site(&found.url).link_on_the_way())
}

pub(super) fn redirect(status: StatusCode, to: &str, link: &str) -> Response {
    let mut response = status.into_response();
    put(response.headers_mut(), header::LOCATION, to);
    put(response.headers_mut(), header::LINK, link);
    response
}

/// What no header can say is left out.
fn put(headers: &mut axum::http::HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.insert(name, value);
    }
}

fn stamp_of(found: &Found) -> String {
    stamp(found.time, [found.beside.prev, found.beside.next].into_iter().flatten())
}

fn bar(visit: &Visit<'_>, found: &Found, own: &str, view: View, has_dom: bool) -> String {
    let prefix = &visit.prefix;
    let to = |time| prefix.capture(&stamp(time, [found.time]), View::Page, &found.url);
    let otherwise = match (has_dom, view) {
        (true, View::Page) => vec![("as it was sent", prefix.capture(own, View::Sent, &found.url))],
        (true, _) => vec![("as the browser saw it", prefix.capture(own, View::Page, &found.url))],
        (false, _) => Vec::new(),
    };
    let time = found.time.to_string();
    let time = format!(
        "{} UTC",
        time.split('.').next().unwrap_or(&time).trim_end_matches('Z').replacen('T', " ", 1)
    );
    Bar {
        url: &found.url,
        collection: &visit.collection,
        time: &time,
        earlier: found.beside.prev.map(to),
        later: found.beside.next.map(to),
        otherwise,
        back: visit.replay.place.back(visit.headers, &found.id),
    }
    .write()
}

/// A capture on its way out.
struct Showing {
    stored: Stored,
    view: View,
    /// It is the final DOM of the page.
    is_final: bool,
    bar: Option<String>,
    range: Option<Range>,
    prefix: Prefix,
    stamp: String,
    url: String,
}

/// What an answer begins with.
struct Told {
    status: StatusCode,
    headers: Vec<(HeaderName, String)>,
}

impl Told {
    fn response(self, body: Body) -> Response {
        let mut response = (self.status, body).into_response();
        for (name, value) in self.headers {
            put(response.headers_mut(), name, &value);
        }
        response
    }
}

impl Showing {
    /// Reads, says what it is, and writes it.
    fn write(mut self, teller: Teller<Told>) {
        let opened = match self.stored.open(self.view == View::Raw) {
            Ok(opened) => opened,
            Err(problem) => return teller.fail(problem),
        };
        let Opened { head, body } = opened;
        let mut told = self.head(&head);
        if self.view == View::Raw {
            let Some(mut out) = teller.begin(told) else { return };
            let mut body = body;
            let copied = io::copy(&mut body, &mut out).map(drop);
            return out.end(copied);
        }
        let (kind, charset, body) = match kind_of(&head, body) {
            Ok(known) => known,
            Err(error) => return teller.fail(Problem::internal(&error)),
        };
        told.headers.push((header::CONTENT_TYPE, kind.content_type(charset.as_deref())));
        if !kind.is_rewritten() && told.status == StatusCode::OK {
            told.headers.push((header::ACCEPT_RANGES, "bytes".to_owned()));
            if let Some(range) = self.range.take() {
                return self.write_part(range, told, body, teller);
            }
        }
        let Some(mut out) = teller.begin(told) else { return };
        let document = Document {
            url: &self.url,
            kind,
            charset: charset.as_deref(),
            prefix: &self.prefix,
            stamp: &self.stamp,
            is_final: self.is_final,
            bar: self.bar.as_deref(),
        };
        let written = document.write(body, &mut out);
        out.end(written);
    }

    /// Status and headers, but for the type.
    fn head(&self, head: &Head) -> Told {
        let mut headers = Vec::new();
        let mut pass = |name: HeaderName| {
            let value = head.all(name.as_str()).next().and_then(|value| std::str::from_utf8(value).ok());
            if let Some(value) = value.filter(|value| value.len() <= VALUE_BYTES_MAX) {
                headers.push((name, value.to_owned()));
            }
        };
        pass(header::CONTENT_LANGUAGE);
        if head.status == 206 {
            pass(header::CONTENT_RANGE);
        }
        if self.view == View::Raw {
            pass(header::CONTENT_TYPE);
            pass(header::CONTENT_ENCODING);
        }
        let location = head.header("location").filter(|_| (300..400).contains(&head.status));
        if let Some(address) =
            location.and_then(|raw| led_to(&self.url, &raw, &self.prefix, &self.stamp, self.view))
        {
            headers.push((header::LOCATION, address));
        }
        // What means something between two machines on the way is not what was captured.
        let status = match head.status {
            100..=199 | 304 | 407 | 408 | 421 | 425 => StatusCode::OK,
            status => StatusCode::from_u16(status).unwrap_or(StatusCode::OK),
        };
        Told { status, headers }
    }

    /// R6: the whole is read once for its length, and once more for the part.
    fn write_part(&self, range: Range, mut told: Told, mut whole: Box<dyn Read>, teller: Teller<Told>) {
        let length = match io::copy(&mut whole, &mut io::sink()) {
            Ok(length) => length,
            Err(error) => return teller.fail(Problem::internal(&error)),
        };
        let Part::From { first, last } = range.of(length) else {
            told.status = StatusCode::RANGE_NOT_SATISFIABLE;
            told.headers.push((header::CONTENT_RANGE, format!("bytes */{length}")));
            return drop(teller.begin(told));
        };
        let mut again = match self.stored.open(false) {
            Ok(opened) => opened.body,
            Err(problem) => return teller.fail(problem),
        };
        told.status = StatusCode::PARTIAL_CONTENT;
        told.headers.push((header::CONTENT_RANGE, format!("bytes {first}-{last}/{length}")));
        told.headers.push((header::CONTENT_LENGTH, (last - first + 1).to_string()));
        let Some(mut out) = teller.begin(told) else { return };
        let skipped = io::copy(&mut again.by_ref().take(first), &mut io::sink());
        let copied = skipped.and_then(|_| io::copy(&mut again.take(last - first + 1), &mut out)).map(drop);
        out.end(copied);
    }
}

/// What it is, in which characters, and the whole of it.
fn kind_of(head: &Head, mut body: Box<dyn Read>) -> io::Result<(Kind, Option<String>, Box<dyn Read>)> {
    let mut begun = Vec::with_capacity(HEAD_BYTES);
    body.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut begun)?;
    let said = head.content_type();
    let kind = Kind::of(&said.essence, &begun);
    Ok((kind, said.charset, Box::new(io::Cursor::new(begun).chain(body))))
}
