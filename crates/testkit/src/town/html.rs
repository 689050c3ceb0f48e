//! Pages of one look: a head, a little navigation, the text, and a foot that leads to others.

use super::reply::Reply;

/// What the pages of a site have in common.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) name: &'static str,
    pub(super) motto: &'static str,
    pub(super) colour: &'static str,
    /// As prose: on every page.
    pub(super) menu: &'static str,
    pub(super) foot: &'static str,
}

impl Site {
    /// A whole page; the body is HTML.
    pub(super) fn page(&self, title: &str, body: &str) -> String {
        self.page_with("", title, body)
    }

    /// The same with more for the head.
    pub(super) fn page_with(&self, head: &str, title: &str, body: &str) -> String {
        let Site { name, motto, colour, .. } = self;
        let (menu, foot) = (linked(self.menu), linked(self.foot));
        format!(
            "<!doctype html>\n<html lang=\"nb\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title} – {name}</title>\n\
             <link rel=\"stylesheet\" href=\"http://bilder.avis.test/stil.css\">\n\
             <style>:root {{ --farge: {colour} }}</style>\n{head}</head>\n<body>\n\
             <header><strong>{name}</strong> <em>{motto}</em>\n<nav>{menu}</nav></header>\n\
             <main>\n<h1>{title}</h1>\n{body}</main>\n<footer>{foot}</footer>\n</body>\n</html>\n"
        )
    }

    pub(super) fn reply(&self, title: &str, body: &str) -> Reply {
        Reply::html(self.page(title, body))
    }

    pub(super) fn not_found(&self) -> Reply {
        self.reply(
            "Finnes ikke",
            &prose("There is nothing here, and as far as anyone knows there never was."),
        )
        .status(404)
    }
}

/// Paragraphs, one a line.
pub(super) fn prose(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| format!("<p>{}</p>\n", linked(line))).collect()
}

/// A list of links.
pub(super) fn list<'a>(links: impl IntoIterator<Item = (String, &'a str)>) -> String {
    let items = links.into_iter().map(|(url, anchor)| format!("<li><a href=\"{url}\">{anchor}</a></li>\n"));
    format!("<ul>\n{}</ul>\n", items.collect::<String>())
}

/// `[anchor](url)` as a link; everything else is HTML already.
pub(super) fn linked(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some((before, anchor, url, after)) = first_link(rest) {
        out.push_str(before);
        out.push_str(&format!("<a href=\"{url}\">{anchor}</a>"));
        rest = after;
    }
    out.push_str(rest);
    out
}

fn first_link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (before, rest) = text.split_once('[')?;
    let (anchor, rest) = rest.split_once("](")?;
    let (url, after) = rest.split_once(')')?;
    Some((before, anchor, url, after))
}

/// The number at the end of a path, if it is one of these and written the plain way.
pub(super) fn number(path: &str, before: &str, max: u32) -> Option<u32> {
    let digits = path.strip_prefix(before)?;
    let number: u32 = digits.parse().ok().filter(|number| (1..=max).contains(number))?;
    (number.to_string() == digits).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_becomes_html() {
        assert_eq!(
            prose("See [a](/b) and [c](/d).\n\nEnd [of"),
            "<p>See <a href=\"/b\">a</a> and <a href=\"/d\">c</a>.</p>\n<p>End [of</p>\n"
        );
        assert_eq!(list([("/a".to_owned(), "A")]), "<ul>\n<li><a href=\"/a\">A</a></li>\n</ul>\n");
    }

    #[test]
    fn numbers_are_plain_and_bounded() {
        let table = [
            ("/b/1", Some(1)),
            ("/b/9", Some(9)),
            ("/b/10", None),
            ("/b/0", None),
            ("/b/01", None),
            ("/b/+1", None),
            ("/b/", None),
            ("/c/1", None),
        ];
        for (path, expected) in table {
            assert_eq!(number(path, "/b/", 9), expected, "{path}");
        }
    }
}
