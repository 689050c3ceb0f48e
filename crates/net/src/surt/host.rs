//! The host in a key: decoded, in ASCII, numbers as dotted addresses, then turned around.

use std::net::Ipv4Addr;

use super::{escape, unescape};

/// Host and port of an authority, as Python's `urlsplit` finds them; none where it raises an
/// exception. Port 0 counts as no port.
pub(super) fn and_port(authority: &[u8]) -> Option<(Vec<u8>, Option<u16>)> {
    let end = authority.iter().rposition(|byte| *byte != b':').map_or(0, |last| last + 1);
    let authority = &authority[..end];
    let place = authority.iter().rposition(|byte| *byte == b'@').map_or(authority, |at| &authority[at + 1..]);
    let (host, port) = match partition(place, b'[') {
        (_, Some(bracketed)) => {
            let (host, after) = partition(bracketed, b']');
            (host, partition(after.unwrap_or_default(), b':').1)
        }
        _ => partition(place, b':'),
    };
    let port = match port.filter(|digits| !digits.is_empty()) {
        None => None,
        Some(digits) if digits.iter().all(u8::is_ascii_digit) => {
            let significant =
                digits.iter().position(|digit| *digit != b'0').map_or(&b"0"[..], |at| &digits[at..]);
            Some(str::from_utf8(significant).ok()?.parse::<u16>().ok()?)
        }
        Some(_) => return None,
    };
    let mut host = host.to_vec();
    let zone = host.iter().position(|byte| *byte == b'%').unwrap_or(host.len());
    host[..zone].make_ascii_lowercase();
    Some((host, port.filter(|port| *port != 0)))
}

fn partition(bytes: &[u8], by: u8) -> (&[u8], Option<&[u8]>) {
    match bytes.iter().position(|byte| *byte == by) {
        Some(at) => (&bytes[..at], Some(&bytes[at + 1..])),
        None => (bytes, None),
    }
}

pub(super) fn canonical(host: &[u8]) -> Vec<u8> {
    let mut host = unescape(host);
    if !host.is_ascii() {
        host = in_ascii(&host).unwrap_or(host);
    }
    let host = halve_dots(&host);
    let start = host.iter().position(|byte| *byte != b'.').unwrap_or(host.len());
    let end = host.iter().rposition(|byte| *byte != b'.').map_or(start, |last| last + 1);
    let host = &host[start..end];
    let mut host = address(host).map_or_else(|| escape(&host.to_ascii_lowercase()), String::into_bytes);
    host.make_ascii_lowercase();
    host
}

/// Each pair of dots becomes one, once.
fn halve_dots(host: &[u8]) -> Vec<u8> {
    let mut halved = Vec::with_capacity(host.len());
    let mut rest = host;
    while let [first, after @ ..] = rest {
        halved.push(*first);
        rest = if *first == b'.' { after.strip_prefix(b".").unwrap_or(after) } else { after };
    }
    halved
}

/// Label by label, as Python's codec `idna` does it; none where that fails.
fn in_ascii(host: &[u8]) -> Option<Vec<u8>> {
    let valid: String = host.utf8_chunks().map(|chunk| chunk.valid()).collect();
    if valid.is_empty() {
        return Some(Vec::new());
    }
    let dots = ['.', '\u{3002}', '\u{ff0e}', '\u{ff61}'];
    let (name, trailing) = valid.strip_suffix(dots).map_or((valid.as_str(), ""), |name| (name, "."));
    let labels: Option<Vec<String>> = name.split(dots).map(label_in_ascii).collect();
    Some((labels?.join(".") + trailing).into_bytes())
}

fn label_in_ascii(label: &str) -> Option<String> {
    let ascii = if label.is_ascii() { label.to_owned() } else { punycode(label)? };
    (1..64).contains(&ascii.len()).then_some(ascii)
}

fn punycode(label: &str) -> Option<String> {
    let mut mapped = String::with_capacity(label.len());
    for letter in label.chars() {
        match letter {
            'ß' | 'ẞ' => mapped.push_str("ss"),
            'ς' => mapped.push('σ'),
            '\u{200c}' | '\u{200d}' => {}
            _ => mapped.push(letter),
        }
    }
    idna::domain_to_ascii(&mapped).ok()
}

/// A plain number or up to four of them, decimal or octal, as the C library reads addresses.
fn address(host: &[u8]) -> Option<String> {
    if !host.is_empty() && host.iter().all(u8::is_ascii_digit) {
        let low =
            host.iter().fold(0_u32, |n, digit| n.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')));
        return Some(Ipv4Addr::from(low).to_string());
    }
    let host = str::from_utf8(host).ok()?;
    let octal_only = host.starts_with('0');
    if !host.starts_with(|c: char| c.is_ascii_digit()) || octal_only && host.contains(['8', '9']) {
        return None;
    }
    let numbers: Option<Vec<u32>> = host.split('.').map(number).collect();
    let numbers = numbers?;
    let (last, before) = numbers.split_last()?;
    let bytes_left = 4_u32.checked_sub(u32::try_from(before.len()).ok()?).filter(|left| *left > 0)?;
    if before.iter().any(|n| *n > 255) || u64::from(*last) >= 1 << (8 * bytes_left) {
        return None;
    }
    let high = before.iter().enumerate().fold(0, |sum, (i, n)| sum | n << (24 - 8 * i));
    Some(Ipv4Addr::from(high | last).to_string())
}

fn number(digits: &str) -> Option<u32> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    u32::from_str_radix(digits, if digits.len() > 1 && digits.starts_with('0') { 8 } else { 10 }).ok()
}

/// Without a leading `www.`, `www2.` and the like.
pub(super) fn without_www(host: &[u8]) -> &[u8] {
    let Some(rest) = host.strip_prefix(b"www") else { return host };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    rest[digits..].strip_prefix(b".").unwrap_or(host)
}

/// `www.example.com` as `com,example,www`.
pub(super) fn push_reversed(key: &mut Vec<u8>, host: &[u8]) {
    for (i, label) in host.rsplit(|byte| *byte == b'.').enumerate() {
        if i > 0 {
            key.push(b',');
        }
        key.extend_from_slice(label);
    }
}
