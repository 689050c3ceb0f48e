//! B5: what an index knows a POST by: its URL with what was sent, as cdxj-indexer's post-append
//! writes it (<https://specs.webrecorder.net/request-body-canonicalization/latest/>).

use data_encoding::BASE64;
use serde_json::Value;

/// Of what was sent, in the index.
const QUERY_CHARS_MAX: usize = 4096;
/// Values in a body of JSON that are looked at.
const VALUES_MAX: usize = 1000;

/// The URL with the body in it.
pub(super) fn indexed_as(url: &str, content_type: &str, body: &[u8]) -> String {
    let query = query(content_type, body);
    let joint = if url.contains('?') { '&' } else { '?' };
    let query: String = query.chars().take(QUERY_CHARS_MAX).collect();
    let sent = if query.is_empty() { String::new() } else { format!("&{query}") };
    format!("{url}{joint}__wb_method=POST{sent}")
}

fn query(content_type: &str, body: &[u8]) -> String {
    let binary = || format!("__wb_post_data={}", BASE64.encode(body));
    if content_type.starts_with("application/x-www-form-urlencoded") {
        return std::str::from_utf8(body).map_or_else(|_| binary(), unquote_plus);
    }
    if content_type.starts_with("multipart/") {
        return multipart(content_type, body).unwrap_or_else(binary);
    }
    if content_type.starts_with("application/json") {
        return json(body).unwrap_or_default();
    }
    if content_type.starts_with("text/plain") {
        return json(body).unwrap_or_else(binary);
    }
    binary()
}

fn unquote_plus(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = |at: usize| after.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        match (first, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
                rest = &after[2..];
                continue;
            }
            (b'+', ..) => bytes.push(b' '),
            (other, ..) => bytes.push(*other),
        }
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// As Python's `urlencode` does.
fn quote_plus(text: &[u8], into: &mut String) {
    for byte in text {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => {
                into.push(char::from(*byte));
            }
            b' ' => into.push('+'),
            _ => into.push_str(&format!("%{byte:02X}")),
        }
    }
}

fn pair(name: &[u8], value: &[u8], into: &mut String) {
    if !into.is_empty() {
        into.push('&');
    }
    quote_plus(name, into);
    into.push('=');
    quote_plus(value, into);
}

/// The fields of a form and the files in it.
fn multipart(content_type: &str, body: &[u8]) -> Option<String> {
    let boundary = content_type.split_once("boundary=")?.1.trim_matches('"');
    let boundary = format!("--{boundary}");
    let mut query = String::new();
    let mut rest = &body[find(body, boundary.as_bytes())? + boundary.len()..];
    while let Some(end) = find(rest, boundary.as_bytes()) {
        let part = rest[..end].strip_prefix(b"\r\n")?;
        let part = part.strip_suffix(b"\r\n").unwrap_or(part);
        rest = &rest[end + boundary.len()..];
        let head_end = find(part, b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&part[..head_end]);
        let name = head.split("name=\"").nth(1).and_then(|after| after.split('"').next())?;
        pair(name.as_bytes(), &part[head_end + 4..], &mut query);
    }
    Some(query)
}

fn find(within: &[u8], what: &[u8]) -> Option<usize> {
    within.windows(what.len()).position(|window| window == what)
}

/// Each value under its own name, wherever it stands; none if it is no JSON.
fn json(body: &[u8]) -> Option<String> {
    let mut values = Vec::new();
    match serde_json::from_slice::<Value>(body) {
        Ok(value) => flatten(&value, "", &mut values),
        Err(_) if body.contains(&b'\n') => {
            for line in body.split(|byte| *byte == b'\n') {
                flatten(&serde_json::from_slice(line).ok()?, "", &mut values);
            }
        }
        Err(_) => return None,
    }
    let mut query = String::new();
    let mut seen = std::collections::HashMap::<String, u32>::new();
    for (name, value) in values {
        let count = seen.entry(name.clone()).and_modify(|count| *count += 1).or_insert(1);
        let name = if *count == 1 { name } else { format!("{name}.{count}_") };
        pair(name.as_bytes(), value.as_bytes(), &mut query);
    }
    Some(query)
}

/// As Python's `str` writes them.
fn flatten(value: &Value, name: &str, into: &mut Vec<(String, String)>) {
    if into.len() >= VALUES_MAX {
        return;
    }
    let text = match value {
        Value::Object(fields) => return fields.iter().for_each(|(name, value)| flatten(value, name, into)),
        Value::Array(items) => return items.iter().for_each(|value| flatten(value, name, into)),
        Value::String(text) => text.clone(),
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
    };
    if !name.is_empty() {
        into.push((name.to_owned(), text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b5_a_post_is_indexed_with_what_was_sent() {
        let form = "application/x-www-form-urlencoded";
        let parts = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1 2\r\n\
                     --x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n\"\r\nContent-Type: a/b\r\n\r\n&\r\n--x--\r\n";
        for (url, kind, body, expected) in [
            ("http://a/", form, "x=1&y=a%20b+c", "http://a/?__wb_method=POST&x=1&y=a b c"),
            ("http://a/?q", form, "", "http://a/?q&__wb_method=POST"),
            (
                "http://a/",
                "application/json",
                r#"{"a":1,"b":{"c":[true,null]},"d":"x y"}"#,
                "http://a/?__wb_method=POST&a=1&c=True&c.2_=None&d=x+y",
            ),
            ("http://a/", "application/json; charset=utf-8", "nonsense", "http://a/?__wb_method=POST"),
            (
                "http://a/",
                "text/plain;charset=UTF-8",
                "{\"a\":1}\n{\"a\":2}",
                "http://a/?__wb_method=POST&a=1&a.2_=2",
            ),
            ("http://a/", "text/plain", "hello", "http://a/?__wb_method=POST&__wb_post_data=aGVsbG8="),
            ("http://a/", "", "hello", "http://a/?__wb_method=POST&__wb_post_data=aGVsbG8="),
            ("http://a/", "multipart/form-data; boundary=x", parts, "http://a/?__wb_method=POST&a=1+2&f=%26"),
            ("http://a/", "multipart/form-data", "z", "http://a/?__wb_method=POST&__wb_post_data=eg=="),
        ] {
            assert_eq!(indexed_as(url, kind, body.as_bytes()), expected, "{kind}");
        }
        let long = indexed_as("http://a/", "", &[0; 100_000]);
        assert_eq!(long.len(), "http://a/?__wb_method=POST&".len() + QUERY_CHARS_MAX);
    }
}
