//! What an answer says it is, in one header or several.

/// What the Content-Types of an answer come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentType {
    /// `type/subtype` in lower case; empty if there is none that makes sense.
    pub essence: String,
    pub charset: Option<String>,
}

impl ContentType {
    /// Reads all that were given: the last that makes sense counts, with the charset of an earlier
    /// one of the same type if it has none itself (Fetch, "extract a MIME type").
    pub fn read<'h>(values: impl Iterator<Item = &'h [u8]>) -> ContentType {
        let mut found = ContentType::default();
        for value in values.map(String::from_utf8_lossy) {
            for one in split_unquoted(b',', &value) {
                found.add(one.trim_ascii());
            }
        }
        found
    }

    fn add(&mut self, one: &str) {
        // Some forget the semicolon before the charset.
        let essence = one.split([';', ' ', '\t']).next().unwrap_or_default().to_ascii_lowercase();
        if !essence.contains('/') || essence == "*/*" {
            return;
        }
        let charset = charset_of(&one[essence.len()..]);
        if charset.is_some() || essence != self.essence {
            self.charset = charset.map(str::to_owned);
        }
        self.essence = essence;
    }
}

fn charset_of(parameters: &str) -> Option<&str> {
    split_unquoted(b';', parameters).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })
}

/// What stands between the marks outside of quoted strings.
fn split_unquoted(mark: u8, text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (one, after) = text.split_at(unquoted(mark, text));
        rest = after.get(1..);
        Some(one)
    })
}

/// Where the mark first stands outside of quoted strings; the end if it does not.
pub(crate) fn unquoted(mark: u8, text: &str) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    let end = text.bytes().position(|byte| {
        if escaped {
            escaped = false;
        } else if quoted && byte == b'\\' {
            escaped = true;
        } else if byte == b'"' {
            quoted = !quoted;
        }
        byte == mark && !quoted
    });
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a10_content_types_are_read_by_the_fetch_standard() {
        let table = r#"
            text/html                                   | text/html | -
            TEXT/Html;Charset="UTF-8"                   | text/html | UTF-8
            text/html charset=utf-8                     | text/html | utf-8
            text/html, text/html; charset=utf-8         | text/html | utf-8
            text/html; charset=a, text/html             | text/html | a
            text/html; charset=a, text/plain            | text/plain | -
            text/html; charset=a / text/html; charset=b | text/html | b
            text/html;x=", text/plain;charset=a"        | text/html | -
            text/html, */*, nonsense, ,                 | text/html | -
            nonsense                                    |           | -
            , ;                                         |           | -"#;
        for line in table.lines().filter(|line| line.contains('|')) {
            let [values, essence, charset] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let found = ContentType::read(values.split(" / ").map(str::as_bytes));
            assert_eq!(
                (&*found.essence, found.charset.as_deref().unwrap_or("-")),
                (essence, charset),
                "{line}"
            );
        }
    }
}
