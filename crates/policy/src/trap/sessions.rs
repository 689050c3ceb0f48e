//! Session ids: a value that is another for each visitor, and changes nothing.
//!
//! By its shape a session id cannot be told from the id of an article. So pages are compared: what
//! is the same address but for the value, seen under two values, is the same page, or it is not. An
//! id makes another page each time; a session does not. Several addresses have to agree, for one
//! address whose pages are all the same ("no such article") is a trap of another kind.

use serde::{Deserialize, Serialize};

use super::shape::pairs;
use super::text::Sketch;
use super::track::Track;
use super::{EXAMPLES_MAX, Kind, Remedy, Suspicion, hash, remedy};
use crate::url::CrawlUrl;

/// Parameters of a host that are watched.
const NAMES_MAX: usize = 4;
/// Addresses of each.
const BASES_MAX: usize = 128;
const VALUES_MAX: usize = 256;
/// Shorter values are no session ids.
const VALUE_BYTES_MIN: usize = 8;
const SAME_MIN: u32 = 12;
const ADDRESSES_MIN: usize = 3;
const VALUES_MIN: usize = 8;
/// For one page that differs, so many that are the same.
const SAME_PER_DIFFERENT: u32 = 9;
/// Names that say what they are; they are believed a little sooner.
const KNOWN: [&str; 9] =
    ["phpsessid", "jsessionid", "sessionid", "session_id", "sid", "aspsessionid", "cfid", "cftoken", "zenid"];
const SAME_MIN_KNOWN: u32 = 6;

/// How ASP.NET writes a session into a path.
const DOT_NET: &str = "(S(";

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Place {
    /// `?sid=…` or `;jsessionid=…`.
    Parameter,
    /// `/(S(…))/`, which has no name.
    Segment,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Candidate {
    place: Place,
    /// In lower case; of a segment, what stands before its value.
    name: String,
    values: Vec<u32>,
    bases: Vec<Base>,
    same: u32,
    different: u32,
    examples: Vec<String>,
    told: u32,
    found: u32,
}

/// An address but for the value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Base {
    hash: u32,
    value: u32,
    sketch: Sketch,
    /// It was the same under another value.
    agrees: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sessions(Vec<Candidate>);

/// A value in a URL that may be a session id.
struct Value<'u> {
    place: Place,
    name: &'u str,
    value: &'u str,
}

impl Sessions {
    /// A page that was harvested.
    pub(super) fn page(&mut self, url: &CrawlUrl, sketch: Sketch) {
        for value in values(url) {
            let name = value.name.to_ascii_lowercase();
            let at = self.0.iter().position(|known| known.place == value.place && known.name == name);
            let at = match at {
                Some(at) => at,
                None if self.0.len() < NAMES_MAX => {
                    self.0.push(Candidate::new(value.place, name));
                    self.0.len() - 1
                }
                None => continue,
            };
            self.0[at].page(url, value.value, sketch);
        }
        // What proved to be an id makes room.
        self.0
            .retain(|known| known.different < SAME_MIN || known.same > known.different * SAME_PER_DIFFERENT);
    }

    pub(super) fn judge(
        &mut self,
        site: &str,
        of: impl FnOnce(Kind, Remedy, &Track) -> Option<Suspicion>,
    ) -> Option<Suspicion> {
        let found = self.0.iter_mut().find(|candidate| candidate.is_session())?;
        let (host, name) = (remedy::host(site), regex::escape(&found.name));
        let pattern = match found.place {
            Place::Parameter => format!("{host}/.*[?&;](?i:{name})="),
            Place::Segment => format!("{host}/(?:[^?]*/)?(?i:{name})"),
        };
        let remedy = match found.place {
            Place::Parameter => Remedy::SessionId { name: found.name.clone(), pattern },
            Place::Segment => Remedy::Exclude(pattern),
        };
        let mut suspicion = of(Kind::Sessions, remedy, &Track::default())?;
        let figures = &mut suspicion.figures;
        figures.found = found.found;
        figures.pages = found.same + found.different;
        figures.values = u32::try_from(found.values.len()).unwrap_or(u32::MAX);
        figures.same = found.same;
        figures.alike = super::percent(found.same, found.same + found.different);
        figures.stale = figures.alike;
        suspicion.template = match found.place {
            Place::Parameter => format!("…{}=…", found.name),
            Place::Segment => format!("/{}…/", found.name),
        };
        suspicion.examples.clone_from(&found.examples);
        found.told = found.same;
        Some(suspicion)
    }

    pub(super) fn bytes(&self) -> usize {
        let bytes = |candidate: &Candidate| {
            let examples: usize = candidate.examples.iter().map(|example| example.len() + 24).sum();
            size_of::<Candidate>()
                + examples
                + candidate.values.len() * 4
                + candidate.bases.len() * size_of::<Base>()
        };
        self.0.iter().map(bytes).sum()
    }
}

impl Candidate {
    fn new(place: Place, name: String) -> Candidate {
        Candidate {
            place,
            name,
            values: Vec::new(),
            bases: Vec::new(),
            same: 0,
            different: 0,
            examples: Vec::new(),
            told: 0,
            found: 0,
        }
    }

    fn page(&mut self, url: &CrawlUrl, value: &str, sketch: Sketch) {
        self.found = self.found.saturating_add(1);
        let base = hash(url.as_str().replacen(value, "", 1).as_bytes());
        let value = hash(value.as_bytes());
        if self.values.len() < VALUES_MAX && !self.values.contains(&value) {
            self.values.push(value);
        }
        let Some(known) = self.bases.iter_mut().find(|known| known.hash == base) else {
            if self.bases.len() < BASES_MAX {
                self.bases.push(Base { hash: base, value, sketch, agrees: false });
            }
            return;
        };
        if known.value == value {
            return;
        }
        let same = known.sketch.is_next_to(sketch);
        (known.value, known.sketch, known.agrees) = (value, sketch, known.agrees || same);
        self.same += u32::from(same);
        self.different += u32::from(!same);
        if same {
            if self.examples.len() == EXAMPLES_MAX {
                self.examples.remove(EXAMPLES_MAX / 2);
            }
            self.examples.push(url.as_str().to_owned());
        }
    }

    fn is_session(&self) -> bool {
        let is_known = KNOWN.contains(&self.name.as_str());
        let (same_min, addresses_min) =
            if is_known { (SAME_MIN_KNOWN, 2) } else { (SAME_MIN, ADDRESSES_MIN) };
        self.same >= same_min
            && self.same >= self.different * SAME_PER_DIFFERENT
            && self.values.len() >= VALUES_MIN.min(usize::try_from(same_min).unwrap_or(VALUES_MIN))
            && self.bases.iter().filter(|base| base.agrees).count() >= addresses_min
            && self.same >= self.told.saturating_mul(2)
    }
}

/// What may be a session id in this URL.
fn values(url: &CrawlUrl) -> impl Iterator<Item = Value<'_>> {
    let of_query = url.query().into_iter().flat_map(pairs);
    let of_path = url
        .path()
        .split('/')
        .flat_map(|segment| segment.split(';').skip(1))
        .filter_map(|p| p.split_once('='));
    let parameters =
        of_query.chain(of_path).map(|(name, value)| Value { place: Place::Parameter, name, value });
    let segments = url.path().split('/').filter_map(|segment| {
        let name = &segment[..segment.starts_with(DOT_NET).then_some(DOT_NET.len())?];
        Some(Value { place: Place::Segment, name, value: &segment[DOT_NET.len()..] })
    });
    parameters.chain(segments).filter(|value| is_drawn(value.value))
}

/// Long, and of letters and digits in no order; or a long number.
fn is_drawn(value: &str) -> bool {
    let run = value.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let is_plain =
        run.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'!'));
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let letters = run.bytes().filter(u8::is_ascii_alphabetic).count();
    run.len() >= VALUE_BYTES_MIN && is_plain && digits >= 2 && (letters >= 2 || digits >= 16)
}
