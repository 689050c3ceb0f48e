//! Session identifiers, which say who asked and not what for, taken out of paths and queries.
//!
//! Each of the package's regular expressions begins with a greedy `.*`, so what counts is the last
//! place that fits; the searches here go from the right.

/// `/(s(4hqa0555fwsecu455xqckv45))/page.aspx` and `/(4hqa0555fwsecu455xqckv45)/page.aspx` as
/// `/page.aspx`; in lower case already.
pub(super) fn strip_from_path(path: Vec<u8>) -> Vec<u8> {
    let path = strip_segment(path, several_ids);
    strip_segment(path, id)
}

fn strip_segment(mut path: Vec<u8>, segment: impl Fn(&[u8]) -> Option<usize>) -> Vec<u8> {
    let slashes = path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
    let found = slashes.filter_map(|from| Some((from, segment(&path[from..])?)));
    let mut fitting = found.filter(|(from, len)| is_aspx_after_slash(&path[from + len..]));
    if let Some((from, len)) = fitting.next() {
        path.drain(from..=from + len);
    }
    path
}

fn is_aspx_after_slash(rest: &[u8]) -> bool {
    let Some(page) = rest.strip_prefix(b"/") else { return false };
    let before_query = page.iter().position(|byte| *byte == b'?').unwrap_or(page.len());
    page[..before_query].windows(5).skip(1).any(|window| window == b".aspx")
}

/// `(a(…)b(…))`: its length.
fn several_ids(rest: &[u8]) -> Option<usize> {
    let mut at = usize::from(*rest.first()? == b'(');
    while at > 0 && rest.get(at).is_some_and(u8::is_ascii_lowercase) {
        at += 1 + id(&rest[at + 1..])?;
    }
    (at > 1 && rest.get(at) == Some(&b')')).then_some(at + 1)
}

/// Twenty-four letters or digits in parentheses: the length.
fn id(rest: &[u8]) -> Option<usize> {
    let inner = rest.strip_prefix(b"(")?;
    let fits = inner.len() > 24 && inner[..24].iter().all(u8::is_ascii_alphanumeric) && inner[24] == b')';
    fits.then_some(26)
}

/// The length of a value that fits.
type Value = fn(&[u8]) -> Option<usize>;

/// Takes out `jsessionid=…`, `phpsessid=…`, `sid=…`, `ASPSESSIONID…=…` and `cfid=…&cftoken=…`, each
/// once.
pub(super) fn strip_from_query(mut query: Vec<u8>) -> Vec<u8> {
    let patterns: [(&[u8], Value); 5] = [
        (b"jsessionid=", long_id),
        (b"phpsessid=", long_id),
        (b"sid=", long_id),
        (b"aspsessionid", asp_id),
        (b"cfid=", cold_fusion_ids),
    ];
    for (name, value) in patterns {
        let fits = |from: &usize| ends_argument(&query[*from..], name, value).is_some();
        let Some(from) = (0..query.len()).rev().find(fits) else { continue };
        if let Some(len) = ends_argument(&query[from..], name, value) {
            query.drain(from..(from + len + 1).min(query.len()));
        }
    }
    query
}

/// The length of name and value, if they end the argument.
fn ends_argument(rest: &[u8], name: &[u8], value: Value) -> Option<usize> {
    let len = name.len() + value(strip_name(rest, name)?)?;
    matches!(rest.get(len), None | Some(b'&')).then_some(len)
}

fn strip_name<'a>(rest: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, after) = rest.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then_some(after)
}

fn run(rest: &[u8], len: usize, legal: fn(&u8) -> bool) -> Option<usize> {
    rest.get(..len)?.iter().all(legal).then_some(len)
}

fn long_id(rest: &[u8]) -> Option<usize> {
    run(rest, 32, u8::is_ascii_alphanumeric)
}

fn asp_id(rest: &[u8]) -> Option<usize> {
    let name = run(rest, 8, u8::is_ascii_alphabetic)?;
    let value = rest[name..].strip_prefix(b"=")?;
    Some(name + 1 + run(value, 24, u8::is_ascii_alphabetic)?)
}

fn cold_fusion_ids(rest: &[u8]) -> Option<usize> {
    let id = memchr::memchr(b'&', rest).filter(|len| *len > 0)?;
    let token = strip_name(&rest[id..], b"&cftoken=")?;
    let len = memchr::memchr(b'&', token).unwrap_or(token.len());
    (len > 0).then_some(id + b"&cftoken=".len() + len)
}
