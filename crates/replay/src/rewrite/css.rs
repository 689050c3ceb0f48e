//! Style sheets: `url(…)` and `@import`, wherever they stand; everything else as it is.

use std::io::{self, Read, Write};

use net::extract::scanner::{finished_css, urls_of_css};

use super::{For, Links};

/// Of a style sheet; what is beyond is left out.
const CSS_BYTES_MAX: u64 = 8 << 20;

/// A style sheet of its own, which is in UTF-8.
pub(super) fn write(text: impl Read, links: &Links, out: &mut dyn Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    text.take(CSS_BYTES_MAX).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() as u64 == CSS_BYTES_MAX;
    let css = String::from_utf8_lossy(&bytes);
    out.write_all(rewritten(if is_cut { finished_css(&css) } else { &css }, links).as_bytes())
}

/// The same with addresses of the archive. What cannot have one names nothing.
pub(super) fn rewritten(css: &str, links: &Links) -> String {
    let mut out = String::with_capacity(css.len() + css.len() / 8);
    let mut done = 0;
    for (range, url) in urls_of_css(css) {
        // What is within the document is not fetched.
        let is_written_out = url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
        if url.starts_with('#') || url.is_empty() || is_written_out {
            continue;
        }
        out.push_str(&css[done..range.start]);
        escape(&links.to(&url, For::Page).unwrap_or_default(), &mut out);
        done = range.end;
    }
    out.push_str(&css[done..]);
    out
}

/// For a place within quotes of either kind, or without any.
fn escape(address: &str, out: &mut String) {
    for c in address.chars() {
        match c {
            '"' | '\'' | '(' | ')' | '\\' | '<' => {
                out.push('\\');
                // `</style>` ends an element even where it is escaped for a style sheet.
                if c == '<' { out.push_str("3c ") } else { out.push(c) }
            }
            c if c.is_whitespace() || c.is_control() => {}
            c => out.push(c),
        }
    }
}
