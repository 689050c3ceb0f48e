//! Text that somebody else wrote, and figures.
//!
//! What harvested pages say is escaped, kept in its own direction, cut where it would never end,
//! and what a reader could not see in it (control characters, marks that turn the direction of text
//! around) is written as its code point.

use std::fmt::Write;

use maud::{Escaper, Markup, PreEscaped, html};
use plan::text::grouped;
use policy::time::Span;

use super::address::href;

/// Longer texts are cut.
const CHARS_MAX: usize = 2000;
/// In a table, the middle of a longer text is left out.
const BRIEF_CHARS_MAX: usize = 96;

/// A text from outside, on one line.
pub(super) fn shown(text: &str) -> Markup {
    written(text, CHARS_MAX, is_visible)
}

/// With its line breaks and tabs, and not cut: the caller bounds it.
pub(super) fn lines(text: &str) -> Markup {
    written(text, usize::MAX, |c| is_visible(c) || matches!(c, '\n' | '\t'))
}

fn written(text: &str, chars_max: usize, is_plain: impl Fn(char) -> bool) -> Markup {
    let mut out = "<bdi>".to_owned();
    for c in text.chars().take(chars_max) {
        // Writing to a string does not fail.
        let _ = match is_plain(c) {
            true => Escaper::new(&mut out).write_char(c),
            false => write!(out, "<span class=\"odd\">U+{:04X}</span>", u32::from(c)),
        };
    }
    if text.chars().nth(chars_max).is_some() {
        out.push('…');
    }
    out.push_str("</bdi>");
    PreEscaped(out)
}

/// Whether a reader sees it, or what is missing where it is.
fn is_visible(c: char) -> bool {
    let hidden = matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}');
    !hidden && !c.is_control()
}

/// For tables: both ends of a long text.
pub(super) fn brief(text: &str) -> Markup {
    let count = text.chars().count();
    if count <= BRIEF_CHARS_MAX {
        return shown(text);
    }
    let side = BRIEF_CHARS_MAX / 2;
    let head: String = text.chars().take(side).collect();
    let tail: String = text.chars().skip(count - side).collect();
    html! { (shown(&head)) "…" (shown(&tail)) }
}

/// A harvested URL: what is known of it here, and the way out to the web.
pub(super) fn url(text: &str) -> Markup {
    html! { (inspected(text)) (way_out(text)) }
}

/// A harvested URL: what is known of it here.
pub(super) fn inspected(text: &str) -> Markup {
    html! { a href=(href("/inspect", &[("url", text)])) { (brief(text)) } }
}

/// A link to the web itself, which learns nothing of where it was followed.
pub(super) fn way_out(text: &str) -> Markup {
    let is_web = url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    html! {
        @if is_web {
            " " a.out href=(text) rel="noreferrer noopener nofollow" target="_blank" title="Open on the web" aria-label="Open on the web" { "↗" }
        }
    }
}

/// `12 345`, which does not break.
pub(super) fn number(value: u64) -> String {
    grouped(value, '\u{202F}')
}

pub(super) fn count(value: usize) -> String {
    number(value as u64)
}

/// A moment as the API writes it.
pub(super) fn time(text: &str) -> Markup {
    let short = text.trim_end_matches('Z').replacen('T', " ", 1);
    html! { time datetime=(text) title=(format!("{short} UTC")) { (shown(&short)) } }
}

pub(super) fn time_or_dash(text: Option<&str>) -> Markup {
    html! { @match text { Some(text) => (time(text)), None => (dash()) } }
}

pub(super) fn dash() -> Markup {
    html! { span.faint { "–" } }
}

pub(super) fn or_dash(text: Option<&str>) -> Markup {
    html! { @match text { Some(text) => (shown(text)), None => (dash()) } }
}

/// `350ms`, `2min 5s`.
pub(super) fn span(ms: u64) -> String {
    if ms == 0 { "0s".to_owned() } else { Span(ms).to_string() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn i5_hostile_text_is_escaped_and_what_is_invisible_is_shown() {
        for (text, html) in [
            ("a<script>alert(1)</script>", "a&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("\"' onload=x", "&quot;' onload=x"),
            ("a\u{202E}b", "a<span class=\"odd\">U+202E</span>b"),
            ("a\u{0}\n", "a<span class=\"odd\">U+0000</span><span class=\"odd\">U+000A</span>"),
            ("å\u{200B}", "å<span class=\"odd\">U+200B</span>"),
        ] {
            assert_eq!(shown(text).into_string(), format!("<bdi>{html}</bdi>"));
        }
        assert_eq!(lines("a\n\tb\r").into_string(), "<bdi>a\n\tb<span class=\"odd\">U+000D</span></bdi>");
    }

    #[test]
    fn i5_only_web_addresses_lead_out() {
        for (text, is) in [
            ("http://a.test/", true),
            ("HTTPS://a.test/?q=<b>", true),
            ("javascript:alert(1)", false),
            ("data:text/html,x", false),
            ("ftp://a.test/", false),
            ("//a.test/", false),
            (" javascript:alert(1)", false),
        ] {
            let html = way_out(text).into_string();
            assert_eq!(html.contains("href"), is, "{text}");
            assert!(!is || html.contains("rel=\"noreferrer noopener nofollow\""));
        }
    }

    #[test]
    fn i5_numbers_are_grouped() {
        let told = [0, 12, 123, 1234, 1_234_567].map(number);
        assert_eq!(told, ["0", "12", "123", "1\u{202F}234", "1\u{202F}234\u{202F}567"]);
    }

    proptest! {
        #[test]
        fn i5_no_text_becomes_markup(text in "\\PC*|[<>&\"'\\x00-\\x20\u{202A}-\u{202E}a/]*") {
            for html in [shown(&text).into_string(), brief(&text).into_string(), lines(&text).into_string()] {
                let bare = html.replace("<bdi>", "").replace("</bdi>", "").replace("<span class=\"odd\">", "").replace("</span>", "");
                prop_assert!(!bare.contains(['<', '>', '"']), "{bare}");
                let turns = bare.contains(['\u{202E}', '\u{0}']);
                prop_assert!(!turns);
            }
        }
    }
}
