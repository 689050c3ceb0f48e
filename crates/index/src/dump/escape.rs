//! Fields of the dump (X14): what would break a line is written out.

pub(super) fn line(out: &mut Vec<u8>, row: &str, family: &str, qualifier: &str, value: &str) {
    field(out, row);
    out.push(b'\t');
    out.extend_from_slice(family.as_bytes());
    out.push(b'\t');
    field(out, qualifier);
    out.push(b'\t');
    field(out, value);
    out.push(b'\n');
}

fn field(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0..0x20 => out.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
            _ => out.push(byte),
        }
    }
}

/// `page:cur` as the seed shows it, in the URIs of the index: `{"outlinkcount": 2,
/// "outlinks":["com.b","com.c"]}`.
pub(super) fn outlinks(links: &[(String, &str)]) -> String {
    let mut text = format!("{{\"outlinkcount\": {}, \"outlinks\":[", links.len());
    for (n, (target, _)) in links.iter().enumerate() {
        if n > 0 {
            text.push(',');
        }
        text.push('"');
        // URIs are printable ASCII: a quote or a backslash is all there can be to escape.
        for c in target.chars() {
            if matches!(c, '"' | '\\') {
                text.push('\\');
            }
            text.push(c);
        }
        text.push('"');
    }
    text.push_str("]}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x14_fields_stay_on_their_line() {
        let mut out = Vec::new();
        line(&mut out, "p:a", "inlinks", "b\\c", "tab\there\nand\r\u{1}é");
        assert_eq!(String::from_utf8(out).unwrap(), "p:a\tinlinks\tb\\\\c\ttab\\there\\nand\\r\\x01é\n");
    }
}
