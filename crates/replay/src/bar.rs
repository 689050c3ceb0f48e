//! What stands beside a capture: the bar on top of a page, and pages of the replay itself.
//!
//! The bar is an element of its own with a shadow tree, so that neither the page's style sheets nor the
//! bar's reach into each other. It is all links: nothing here runs.

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

/// What the bar says.
#[derive(Clone, Debug, Default)]
pub struct Bar<'a> {
    pub url: &'a str,
    pub collection: &'a str,
    /// As people read it.
    pub time: &'a str,
    /// Addresses of other captures.
    pub earlier: Option<String>,
    pub later: Option<String>,
    /// What it is called to see it otherwise, and where.
    pub otherwise: Vec<(&'a str, String)>,
    /// The page of the dashboard that tells of this capture.
    pub back: Option<String>,
}

const STYLE: &str = ":host{all:initial}\
    div{position:relative;display:flex;flex-wrap:wrap;gap:.3em 1em;align-items:baseline;padding:.35em .8em;background:#20303c;color:#fff;\
    font:14px/1.4 system-ui,sans-serif;border-bottom:2px solid #e0a526;text-align:left}\
    a{color:#ffd98a}b{font-weight:600}span.u{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;max-width:40em;opacity:.85}\
    span.n{opacity:.55}";

/// What the page's own style sheets cannot change of it.
const HOST: &str = "all:initial!important;display:block!important;position:sticky!important;top:0!important;z-index:2147483647!important";

impl Bar<'_> {
    pub fn write(&self) -> String {
        let inside = html! {
            style { (PreEscaped(STYLE)) }
            div role="region" aria-label="Archived page" {
                b { "Archived " (self.time) }
                span { "in " (plain(self.collection)) }
                (way("◂ earlier", self.earlier.as_deref()))
                (way("later ▸", self.later.as_deref()))
                @for (name, address) in &self.otherwise { a href=(address) { (name) } }
                @if let Some(back) = &self.back { a href=(back) { "About this capture" } }
                span.u { (plain(self.url)) }
            }
        };
        let inside = ascii(&inside.into_string());
        format!(
            "<skurd-bar style=\"{HOST}\"><template shadowrootmode=\"closed\">{inside}</template></skurd-bar>"
        )
    }
}

fn way(name: &str, address: Option<&str>) -> Markup {
    html! {
        @match address {
            Some(address) => a href=(address) { (name) },
            None => span.n { (name) },
        }
    }
}

/// For pages that would send their reader on: browsers do not do that in a sandbox.
pub fn forward(address: &str) -> String {
    let inside = html! {
        style { (PreEscaped(STYLE)) }
        div role="region" aria-label="Archived page" { "This page sends its readers on: " a href=(address) { "follow it in the archive" } }
    };
    let inside = ascii(&inside.into_string());
    format!("<skurd-bar style=\"{HOST}\"><template shadowrootmode=\"closed\">{inside}</template></skurd-bar>")
}

/// A page of the replay itself, with a way out of it at most to the dashboard.
pub fn page(title: &str, inside: &Markup) -> String {
    let style = "body{font:16px/1.5 system-ui,sans-serif;max-width:46em;margin:3em auto;padding:0 1em;color:#1c262d;background:#fff}\
        code{overflow-wrap:anywhere;background:#eef1f3;padding:.1em .3em;border-radius:3px}a{color:#0b5a8a}\
        @media(prefers-color-scheme:dark){body{background:#12191e;color:#e6ebee}code{background:#26323a}a{color:#8fc7ea}}";
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · Skurd" }
                style { (PreEscaped(style)) }
            }
            body { h1 { (title) } (inside) }
        }
    }
    .into_string()
}

/// Something that went wrong.
pub fn message(title: &str, text: &str) -> String {
    page(title, &html! { p { (plain(text)) } })
}

/// That something is not in the archive. What is on the web instead is said and not linked to.
pub fn missing(collection: &str, url: &str, why: Option<&str>) -> String {
    let inside = html! {
        p { code { (plain(url)) } }
        p {
            @match why {
                Some(why) => (why),
                None => { "Nothing was captured of this address in the collection " b { (plain(collection)) } "." },
            }
        }
        @if why.is_none() { p { "The archive never asks the web: what was not harvested is not here." } }
    };
    page("Not in the archive", &inside)
}

/// A text from outside: what nobody would see in it is shown as what it is.
pub fn plain(text: &str) -> impl Render {
    const CHARS_MAX: usize = 2000;
    let is_odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{AD}' | '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
    };
    let mut shown = String::new();
    for c in text.chars().take(CHARS_MAX) {
        match is_odd(c) {
            true => shown.push_str(&format!("[U+{:04X}]", u32::from(c))),
            false => shown.push(c),
        }
    }
    html! { bdi { (shown) } }
}

/// In letters that mean the same in every encoding.
fn ascii(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    for c in html.chars() {
        match c.is_ascii() {
            true => out.push(c),
            false => out.push_str(&format!("&#{};", u32::from(c))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r8_what_a_url_says_is_text_in_the_bar_and_in_pages() {
        let url = "http://a.test/\"><script>alert(1)</script>\u{202E}";
        let bar = Bar { url, collection: "<b>", time: "2024", ..Bar::default() }.write();
        for html in [bar, missing("<b>", url, None), missing("c", url, Some("why"))] {
            assert!(
                !html.contains("<script") && !html.contains("<b></b>") && !html.contains('\u{202E}'),
                "{html}"
            );
            assert!(html.contains("[U+202E]") && html.contains("&lt;script&gt;"), "{html}");
            assert!(!html.contains("href=\"http"), "no way to the live web: {html}");
        }
    }

    #[test]
    fn r2_the_bar_has_the_ways_there_are() {
        let bar = Bar {
            url: "http://a.test/",
            earlier: Some("/c/2023/http://a.test/?a&b".to_owned()),
            ..Bar::default()
        };
        let html = bar.write();
        assert!(html.contains("<a href=\"/c/2023/http://a.test/?a&amp;b\">"), "{html}");
        assert!(html.contains("<span class=\"n\">later"), "{html}");
        assert!(html.is_ascii());
    }
}
