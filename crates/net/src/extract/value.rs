//! The little languages inside attributes and headers: refresh, srcset, rel, and the `Link` header.

use policy::model::LinkKind;

use super::tag::is_space;
use crate::content_type::unquoted;

/// Candidates read from one `srcset`.
const SRCSET_MAX: usize = 64;

/// The URL of a refresh (`0; url=/x`), by the HTML standard's "shared declarative refresh steps".
/// One that only reloads has none.
pub fn refresh(value: &str) -> Option<&str> {
    let value = value.trim_ascii_start();
    let digits = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    if digits == 0 && !value.starts_with('.') {
        return None;
    }
    let rest = value[digits..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !rest.starts_with([';', ',']) && !rest.starts_with(is_ascii_space) {
        return None;
    }
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_ascii_start();
    let url = after_url_word(rest).unwrap_or(rest);
    let url = match url.chars().next() {
        Some(quote @ ('"' | '\'')) => url[1..].split(quote).next().unwrap_or_default(),
        _ => url,
    };
    Some(url.trim_ascii()).filter(|url| !url.is_empty())
}

fn is_ascii_space(c: char) -> bool {
    u8::try_from(c).is_ok_and(is_space)
}

/// What follows `url =`, if the text begins so.
fn after_url_word(text: &str) -> Option<&str> {
    let (word, rest) = text.split_at_checked(3)?;
    if !word.eq_ignore_ascii_case("url") {
        return None;
    }
    Some(rest.trim_ascii_start().strip_prefix('=')?.trim_ascii_start())
}

/// The URLs of a `srcset`: each up to a blank, its descriptors up to a comma outside parentheses.
pub fn srcset(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| is_ascii_space(c) || c == ',');
        let end = rest.find(is_ascii_space).unwrap_or(rest.len());
        let (url, after) = rest.split_at(end);
        let bare = url.trim_end_matches(',');
        rest = if bare.len() < url.len() { after } else { &after[descriptors(after)..] };
        (!bare.is_empty()).then_some(bare)
    })
    .take(SRCSET_MAX)
}

fn descriptors(text: &str) -> usize {
    let mut depth = 0u32;
    let end = text.bytes().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        byte == b',' && depth == 0
    });
    end.unwrap_or(text.len())
}

/// What a relation makes of a link: something the page needs, something to click, or nothing to
/// fetch.
pub(super) fn rel(rel: &str) -> Option<LinkKind> {
    const NEEDED: [&str; 12] = [
        "stylesheet",
        "icon",
        "apple-touch-icon",
        "apple-touch-icon-precomposed",
        "apple-touch-startup-image",
        "mask-icon",
        "fluid-icon",
        "manifest",
        "preload",
        "modulepreload",
        "image_src",
        "enclosure",
    ];
    const NOT_FETCHED: [&str; 2] = ["dns-prefetch", "preconnect"];
    let is_one_of = |word: &str, names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(word));
    let mut words = rel.split_ascii_whitespace().peekable();
    if words.peek().is_some() && words.clone().all(|word| is_one_of(word, &NOT_FETCHED)) {
        return None;
    }
    let is_needed = words.any(|word| is_one_of(word, &NEEDED));
    Some(if is_needed { LinkKind::Requisite } else { LinkKind::Link })
}

/// The targets of a `Link` header (RFC 8288) with their kinds.
pub(super) fn link_header(value: &str) -> impl Iterator<Item = (&str, LinkKind)> {
    let mut rest = value;
    std::iter::from_fn(move || {
        loop {
            let (url, after) = rest.split_once('<')?.1.split_once('>')?;
            let (parameters, next) = after.split_at(unquoted(b',', after));
            rest = next;
            if let Some(kind) = rel(relation(parameters)) {
                return Some((url, kind));
            }
        }
    })
}

/// The value of the first `rel`; further ones do not count.
fn relation(parameters: &str) -> &str {
    let mut rest = parameters;
    while !rest.is_empty() {
        let (parameter, next) = rest.split_at(unquoted(b';', rest));
        rest = next.get(1..).unwrap_or_default();
        if let Some((name, value)) = parameter.split_once('=')
            && name.trim().eq_ignore_ascii_case("rel")
        {
            return value.trim().trim_matches('"');
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a10_srcset_is_read_by_the_standard() {
        let table = "
            a.png                     | a.png
            a.png 1x, b.png 2x        | a.png b.png
            a.png, b.png              | a.png b.png
            a.png,b.png               | a.png,b.png
            a,b.png 2x,c.png          | a,b.png c.png
            ,, a.png 100w ,b.png      | a.png b.png
            a.png foo(1,2) 1x, b.png  | a.png b.png
            data:image/png;base64,AA== 1x, b.png 2x | data:image/png;base64,AA== b.png
            ,                         | ";
        for line in table.lines().filter(|line| line.contains('|')) {
            let (value, expected) = line.rsplit_once('|').unwrap();
            let found: Vec<&str> = srcset(value.trim()).collect();
            assert_eq!(found.join(" "), expected.trim(), "{value}");
        }
    }

    #[test]
    fn a10_link_headers_are_read_by_rfc_8288() {
        let table = r#"
            </a>                                     => /a Link
            </a>; rel=next                           => /a Link
            </a>; rel="preload"; as=style, </b>      => /a Requisite, /b Link
            </a,b>; title="x, <y>; rel=icon", </c>;rel=icon => /a,b Link, /c Requisite
            </a>; title="\", <y>"; REL = stylesheet  => /a Requisite
            <https://cdn.no>; rel=preconnect, </d>   => /d Link
            no brackets; rel=next                    =>
            </a; rel=next                            => "#;
        for line in table.lines().filter(|line| line.contains("=>")) {
            let (value, expected) = line.split_once("=>").unwrap();
            let found: Vec<String> =
                link_header(value).map(|(url, kind)| format!("{url} {kind:?}")).collect();
            assert_eq!(found.join(", "), expected.trim(), "{value}");
        }
    }

    #[test]
    fn a10_relations_have_kinds() {
        let table = "
            stylesheet            | Some(Requisite)
            alternate stylesheet  | Some(Requisite)
            SHORTCUT Icon         | Some(Requisite)
            canonical             | Some(Link)
            next nofollow         | Some(Link)
            dns-prefetch          | None
            preconnect dns-prefetch | None
            preconnect preload    | Some(Requisite)
            | Some(Link)";
        for line in table.lines().filter(|line| line.contains('|')) {
            let (value, expected) = line.split_once('|').unwrap();
            assert_eq!(format!("{:?}", rel(value)), expected.trim(), "{value}");
        }
    }
}
