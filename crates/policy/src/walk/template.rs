//! The URL template of a walk: a text with one `{id}` in it, or `{id:08}` for ids filled up with
//! zeros.

use std::fmt;

use super::problem::{Problem, shown};
use crate::url::{CrawlUrl, URL_BYTES_MAX, UrlRules, normalise};

/// Widest zero-padded id: as many digits as a 64-bit number has.
pub const PAD_WIDTH_MAX: usize = 20;

const FIELD: &str = "template";
const OPENING: &str = "{id";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: Box<str>,
    /// Where the placeholder begins and ends.
    begin: usize,
    end: usize,
    /// Fewest digits an id is written with.
    width: usize,
}

impl Template {
    pub fn parse(text: &str) -> Result<Template, Problem> {
        if text.len() > URL_BYTES_MAX {
            let what = format!("it is {} bytes long, it takes at most {URL_BYTES_MAX}", text.len());
            return Err(Problem::new(FIELD, what));
        }
        let (begin, end, width) = placeholder(text)?.ok_or_else(|| {
            let what = format!("`{}` has no `{{id}}`; it takes a URL with exactly one", shown(text));
            Problem::new(FIELD, what)
        })?;
        if placeholder(&text[end..])?.is_some() {
            let what =
                format!("`{}` has `{{id}}` more than once; it takes a URL with exactly one", shown(text));
            return Err(Problem::new(FIELD, what));
        }
        Ok(Template { text: text.into(), begin, end, width })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The URL of this id, as the template spells it.
    pub fn url(&self, id: u64) -> String {
        let (before, after) = (&self.text[..self.begin], &self.text[self.end..]);
        format!("{before}{id:0width$}{after}", width = self.width)
    }

    /// Both ids give URLs that can be harvested, and different ones.
    pub(super) fn check(&self, first: u64, last: u64) -> Result<(), Problem> {
        let one = self.harvestable(first)?;
        let other = self.harvestable(last)?;
        if first != last && one == other {
            let what = format!("every id gives the same URL {one}; the id must stand in host, path or query");
            return Err(Problem::new(FIELD, what));
        }
        Ok(())
    }

    fn harvestable(&self, id: u64) -> Result<CrawlUrl, Problem> {
        let url = self.url(id);
        normalise(&url, None, &UrlRules::default()).map_err(|refusal| {
            let what =
                format!("`{}` cannot be harvested, it takes an http or https URL: {refusal}", shown(&url));
            Problem::new(FIELD, what)
        })
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Begin, end and width of the first placeholder, if there is any.
fn placeholder(text: &str) -> Result<Option<(usize, usize, usize)>, Problem> {
    let Some(begin) = text.find(OPENING) else { return Ok(None) };
    let inside = begin + OPENING.len();
    let Some(length) = text[inside..].find('}') else { return Err(malformed(&text[begin..])) };
    let width = match &text[inside..inside + length] {
        "" => 1,
        format => pad_width(format).ok_or_else(|| malformed(&text[begin..=inside + length]))?,
    };
    Ok(Some((begin, inside + length + 1, width)))
}

/// Of `:08`, eight.
fn pad_width(format: &str) -> Option<usize> {
    let digits =
        format.strip_prefix(":0").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse().ok().filter(|width| (1..=PAD_WIDTH_MAX).contains(width))
}

fn malformed(piece: &str) -> Problem {
    let what = format!(
        "`{}` is no placeholder; it takes `{{id}}`, or `{{id:08}}` for eight digits, with a width from 1 to \
         {PAD_WIDTH_MAX}",
        shown(piece)
    );
    Problem::new(FIELD, what)
}
