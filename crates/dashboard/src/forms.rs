//! Forms: how pages change something.
//!
//! The guard has seen that the request comes from a page of this server. A form carries a token of
//! this process besides, which no page of another origin can read. What came of it is kept as a
//! notice until the next page shows it, once.

use std::collections::BTreeMap;

use app::Problem;
use app::declared::Undo;
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use parking_lot::Mutex;
use server::Failure;
use server::api::read_body;
use subtle::ConstantTimeEq;
use url::form_urlencoded;

use super::Site;
use super::layout::Visit;

const FORM_BYTES_MAX: usize = 64 << 10;
const FIELDS_MAX: usize = 32;
/// Of a form for something declared, or a list that was pasted.
const LONG_FORM_BYTES_MAX: usize = 1 << 20;
const LONG_FIELDS_MAX: usize = 4096;
/// Notices that nobody has fetched yet.
const NOTICES_MAX: usize = 64;
/// Changes that can be undone.
const UNDOS_MAX: usize = 64;

pub(super) struct Forms {
    token: String,
    notices: Mutex<Notices>,
    undos: Mutex<Undos>,
}

/// The latest changes of this run of the server, by number.
#[derive(Default)]
struct Undos {
    last: u64,
    kept: BTreeMap<u64, Undo>,
}

#[derive(Default)]
struct Notices {
    last: u64,
    waiting: BTreeMap<u64, Notice>,
}

/// What came of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    pub(super) good: bool,
    pub(super) text: String,
    /// The change that it tells of, where it can be undone.
    pub(super) undo: Option<u64>,
}

impl Notice {
    fn plain(good: bool, text: String) -> Notice {
        Notice { good, text, undo: None }
    }
}

impl Forms {
    pub(super) fn new() -> std::io::Result<Forms> {
        Ok(Forms { token: server::drawn_key()?, notices: Mutex::default(), undos: Mutex::default() })
    }

    /// Keeps what undoes a change, as long as there is room.
    pub(super) fn keep(&self, undo: Undo) -> u64 {
        let mut undos = self.undos.lock();
        undos.last += 1;
        let id = undos.last;
        undos.kept.insert(id, undo);
        if undos.kept.len() > UNDOS_MAX {
            undos.kept.pop_first();
        }
        id
    }

    /// What undoes the change of this number, once.
    pub(super) fn undo(&self, id: u64) -> Option<Undo> {
        self.undos.lock().kept.remove(&id)
    }

    fn put(&self, notice: Notice) -> u64 {
        let mut notices = self.notices.lock();
        notices.last += 1;
        let id = notices.last;
        notices.waiting.insert(id, notice);
        if notices.waiting.len() > NOTICES_MAX {
            notices.waiting.pop_first();
        }
        id
    }

    /// The notice of this number, once.
    pub(super) fn take(&self, id: u64) -> Option<Notice> {
        self.notices.lock().waiting.remove(&id)
    }

    fn is_token(&self, given: &str) -> bool {
        given.as_bytes().ct_eq(self.token.as_bytes()).into()
    }
}

/// A form that a page of this process made.
pub(super) struct Filled(Vec<(String, String)>);

/// A form that may be long.
pub(super) struct Long(pub(super) Filled);

impl Filled {
    #[cfg(test)]
    pub(super) fn of(pairs: Vec<(String, String)>) -> Filled {
        Filled(pairs)
    }

    /// All fields of this name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The field of this name; empty if it is not there.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }
}

impl FromRequest<Site> for Filled {
    type Rejection = Failure;

    async fn from_request(request: Request, site: &Site) -> Result<Filled, Failure> {
        Ok(own(fields(request).await?, site)?)
    }
}

impl FromRequest<Site> for Long {
    type Rejection = Failure;

    async fn from_request(request: Request, site: &Site) -> Result<Long, Failure> {
        let filled = bounded(request, LONG_FORM_BYTES_MAX, LONG_FIELDS_MAX).await?;
        Ok(Long(own(filled, site)?))
    }
}

/// A form of a page of this process.
fn own(filled: Filled, site: &Site) -> Result<Filled, Problem> {
    match site.forms.is_token(filled.get("form")) {
        true => Ok(filled),
        false => Err(Problem::new(StatusCode::FORBIDDEN, "this form is not of this run of the server")
            .hint("go back, load the page anew and try again")),
    }
}

/// A form, whoever made it.
pub(super) async fn fields(request: Request) -> Result<Filled, Problem> {
    bounded(request, FORM_BYTES_MAX, FIELDS_MAX).await
}

async fn bounded(request: Request, bytes_max: usize, fields_max: usize) -> Result<Filled, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")) {
        let what = "this is for forms; scripts use /api/v1";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
    }
    let bytes = read_body(request.into_body(), bytes_max).await?;
    let mut pairs =
        form_urlencoded::parse(&bytes).map(|(name, value)| (name.into_owned(), value.into_owned()));
    let filled = Filled(pairs.by_ref().take(fields_max).collect());
    match pairs.next() {
        None => Ok(filled),
        // Half a form would say something else.
        Some(_) => Err(Problem::bad_request(format!("this form has more than {fields_max} fields"))),
    }
}

impl Visit {
    /// A form with one button. The fields say what it does.
    pub(super) fn button(&self, action: &str, fields: &[(&str, &str)], face: &Face<'_>) -> Markup {
        html! {
            form.act method="post" action=(action) {
                (self.hidden())
                @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
                button.(face.class) type="submit" aria-label=[face.says.as_deref()] title=[face.says.as_deref()] { (face.label) }
            }
        }
    }

    /// Lets something rest; what rests already goes on.
    pub(super) fn pause_button(&self, what: &str, name: &str, is_paused: bool) -> Markup {
        let (word, label) = if is_paused { ("resume", "Resume") } else { ("pause", "Pause") };
        let fields = [("do", word), ("what", what), ("name", name)];
        self.button("/act/pause", &fields, &Face::plain(label, name))
    }

    /// Switches something off that is on, or on.
    pub(super) fn switch_button(&self, kind: &str, name: &str, active: bool) -> Markup {
        let (word, label) = if active { ("disable", "Disable") } else { ("enable", "Enable") };
        let fields = [("kind", kind), ("name", name), ("do", word)];
        self.button("/act/switch", &fields, &Face::plain(label, name))
    }

    /// What every form carries.
    pub(super) fn hidden(&self) -> Markup {
        html! {
            input type="hidden" name="form" value=(self.site.forms.token);
            input type="hidden" name="back" value=(self.here());
        }
    }
}

impl Site {
    /// Back to where the form was, with what came of it.
    pub(super) fn done(&self, filled: &Filled, came: Result<String, Problem>) -> Response {
        let notice = match came {
            Ok(text) => Notice::plain(true, text),
            Err(problem) => Notice::plain(false, sentence(&problem)),
        };
        self.told(local(filled.get("back")), notice)
    }

    /// To a page of this server, which tells what was changed and how to undo that.
    pub(super) fn changed(&self, path: &str, text: String, undo: Undo) -> Response {
        self.told(path, Notice { undo: Some(self.forms.keep(undo)), ..Notice::plain(true, text) })
    }

    fn told(&self, back: &str, notice: Notice) -> Response {
        let joint = if back.contains('?') { '&' } else { '?' };
        see_other(&format!("{back}{joint}note={}", self.forms.put(notice)))
    }
}

/// How a button looks, and what it says to who does not see what it stands beside.
pub(super) struct Face<'a> {
    pub(super) label: &'a str,
    pub(super) class: &'static str,
    pub(super) says: Option<String>,
}

impl<'a> Face<'a> {
    /// A button among those of something.
    pub(super) fn plain(label: &'a str, name: &str) -> Face<'a> {
        Face { label, class: "plain", says: Some(format!("{label} {name}")) }
    }

    /// The one that takes back what was just done.
    pub(super) fn undo() -> Face<'a> {
        Face { label: "Undo", class: "plain", says: None }
    }
}

pub(super) fn sentence(problem: &Problem) -> String {
    match &problem.hint {
        Some(hint) => format!("{}. {hint}", problem.detail),
        None => problem.detail.to_string(),
    }
}

pub(super) fn see_other(path: &str) -> Response {
    let place = HeaderValue::try_from(path).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, place)], Body::empty()).into_response()
}

/// A place on this server, whatever was given.
pub(super) fn local(path: &str) -> &str {
    let is_here = path.starts_with('/') && !path.starts_with("//");
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_here && is_plain { path } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i5_forms_lead_back_to_this_server_only() {
        for (given, to) in [
            ("/seeds?q=a&after=b", "/seeds?q=a&after=b"),
            ("//evil.test/", "/"),
            ("/\\evil.test/", "/"),
            ("https://evil.test/", "/"),
            ("/a\r\nSet-Cookie: x", "/"),
            ("", "/"),
        ] {
            assert_eq!(local(given), to, "{given}");
        }
    }

    #[test]
    fn i5_notices_are_shown_once_and_bounded() {
        let forms = Forms::new().unwrap();
        let ids: Vec<u64> = (0..100).map(|n| forms.put(Notice::plain(true, n.to_string()))).collect();
        assert_eq!(forms.take(ids[0]), None, "too old");
        assert_eq!(forms.take(ids[99]).unwrap().text, "99");
        assert_eq!(forms.take(ids[99]), None);
        assert!(forms.is_token(&forms.token.clone()) && !forms.is_token("") && !forms.is_token("x"));
    }
}
