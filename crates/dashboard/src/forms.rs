//! Forms: how pages change something.
//!
//! The guard has seen that the request comes from a page of this server. A form carries a token of
//! this process besides, which no page of another origin can read. What came of it is kept as a
//! notice until the next page shows it, once.

use std::collections::BTreeMap;

use app::Problem;
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
/// Notices that nobody has fetched yet.
const NOTICES_MAX: usize = 64;

pub(super) struct Forms {
    token: String,
    notices: Mutex<Notices>,
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
}

impl Forms {
    pub(super) fn new() -> std::io::Result<Forms> {
        Ok(Forms { token: server::drawn_key()?, notices: Mutex::default() })
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

impl Filled {
    /// The field of this name; empty if it is not there.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }
}

impl FromRequest<Site> for Filled {
    type Rejection = Failure;

    async fn from_request(request: Request, site: &Site) -> Result<Filled, Failure> {
        let filled = fields(request).await?;
        match site.forms.is_token(filled.get("form")) {
            true => Ok(filled),
            false => Err(Problem::new(StatusCode::FORBIDDEN, "this form is not of this run of the server")
                .hint("go back, load the page anew and try again")
                .into()),
        }
    }
}

/// A form, whoever made it.
pub(super) async fn fields(request: Request) -> Result<Filled, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")) {
        let what = "this is for forms; scripts use /api/v1";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
    }
    let bytes = read_body(request.into_body(), FORM_BYTES_MAX).await?;
    let pairs = form_urlencoded::parse(&bytes).take(FIELDS_MAX);
    Ok(Filled(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()))
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
            Ok(text) => Notice { good: true, text },
            Err(problem) => Notice { good: false, text: sentence(&problem) },
        };
        let back = local(filled.get("back"));
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
}

fn sentence(problem: &Problem) -> String {
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
        let ids: Vec<u64> = (0..100).map(|n| forms.put(Notice { good: true, text: n.to_string() })).collect();
        assert_eq!(forms.take(ids[0]), None, "too old");
        assert_eq!(forms.take(ids[99]).unwrap().text, "99");
        assert_eq!(forms.take(ids[99]), None);
        assert!(forms.is_token(&forms.token.clone()) && !forms.is_token("") && !forms.is_token("x"));
    }
}
