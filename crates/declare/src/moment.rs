//! Times as other programs write them.

use net::warc::date;
use policy::time::Time;

/// `2024-02-29T12:34:56Z`, with fractions and offsets (RFC 3339).
pub fn rfc3339(text: &str) -> Option<Time> {
    let local = text.get(..19)?;
    let shape: String = local.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    if !matches!(shape.as_str(), "0000-00-00T00:00:00" | "0000-00-00t00:00:00" | "0000-00-00 00:00:00") {
        return None;
    }
    let rest = &text[19..];
    let zone_at = rest.find(|c: char| c != '.' && !c.is_ascii_digit())?;
    let (fraction, zone) = rest.split_at(zone_at);
    let is_fraction = fraction.is_empty() || (fraction.len() > 1 && fraction.rfind('.') == Some(0));
    let time = date::parse(&format!("{local}{fraction}")).filter(|_| is_fraction)?;
    Some(Time(time.0.checked_sub(offset_ms(zone)?)?))
}

/// `Z`, `+01:00`.
fn offset_ms(zone: &str) -> Option<i64> {
    let number = |text: &str, max: i64| text.parse().ok().filter(|number| (0..=max).contains(number));
    match zone.as_bytes() {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), a, b, b':', c, d] if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()) => {
            let ms = (number(&zone[1..3], 23)? * 60 + number(&zone[4..6], 59)?) * 60_000;
            Some(if *sign == b'+' { ms } else { -ms })
        }
        _ => None,
    }
}
