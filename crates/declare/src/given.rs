//! Values that are given one by one, on the command line or in a request, read by the same rules as
//! in the config file.

use policy::civil::rfc3339;
use policy::hours::{TimeOfDay, Weekday, Window};
use policy::model::{NAME_BYTES_MAX, RobotsPolicy};
use policy::scope::Pattern;
use policy::time::{Span, Time};
use policy::url::{URL_BYTES_MAX, UrlRules};
use policy::zone::Zone;

use crate::field::{Field, Words};
use crate::hint::Hinted;
use crate::scalar::{read_choice, read_duration, read_frequency, read_size};
use crate::{Data, TextRule, read_text};

/// Shortest and longest delay between two requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    pub min: Span,
    pub max: Option<Span>,
}

pub fn duration(text: &str) -> Result<Span, String> {
    one(read_duration(text, false))
}

/// `500MB`, never nothing.
pub fn size(text: &str) -> Result<u64, String> {
    one(read_size(text, 1 << 50))
}

/// A duration, or a bare number of seconds as other crawlers take it; may be none at all.
pub fn pause(text: &str) -> Result<Span, String> {
    match text.parse::<u32>() {
        Ok(seconds) => Ok(Span::seconds(seconds.into())),
        Err(_) => one(read_duration(text, true)),
    }
}

/// `now`, or a length of time from now.
pub fn from_now(text: &str) -> Result<Span, String> {
    if text == "now" { Ok(Span::ZERO) } else { duration(text) }
}

pub fn delay(text: &str) -> Result<Delay, String> {
    let Some((min, max)) = text.split_once("..") else {
        return Ok(Delay { min: pause(text)?, max: None });
    };
    let (min, max) = (pause(min)?, pause(max)?);
    match min > max {
        true => Err("the shortest delay is longer than the longest".to_owned()),
        false => Ok(Delay { min, max: Some(max) }),
    }
}

/// `1d`, or `1h..30d`: the fast end, and the slow one if it adapts.
pub fn frequency(text: &str) -> Result<(Span, Option<Span>), String> {
    match read_frequency(text) {
        Ok(Data::Range(fast, slow)) => Ok((fast, Some(slow))),
        read => Ok((one(read)?, None)),
    }
}

pub fn moment(text: &str) -> Result<TimeOfDay, String> {
    one(read_text(text, TextRule::TimeOfDay { end: false }, &UrlRules::default()))
}

pub fn weekday(text: &str) -> Result<Weekday, String> {
    one(read_choice(text, Weekday::WORDS))
}

pub fn zone(text: &str) -> Result<Zone, String> {
    one(read_text(text, TextRule::Zone, &UrlRules::default()))
}

/// `22:00-06:00`, or with the days it opens on: `22:00-06:00,mon,fri`.
pub fn window(text: &str) -> Result<Window, String> {
    let mut parts = text.split(',');
    let hours = parts.next().unwrap_or_default();
    let (from, to) = hours.split_once('-').ok_or("write from and to, like 22:00-06:00")?;
    let to = one(read_text(to, TextRule::TimeOfDay { end: true }, &UrlRules::default()))?;
    Ok(Window {
        from: moment(from)?,
        to,
        weekdays: Weekday::tidy(parts.map(weekday).collect::<Result<_, _>>()?),
    })
}

pub fn name(text: &str) -> Result<String, String> {
    text_of(text, TextRule::Name { bytes_max: NAME_BYTES_MAX })
}

pub fn seed_name(text: &str) -> Result<String, String> {
    text_of(text, TextRule::Name { bytes_max: URL_BYTES_MAX })
}

pub fn group_name(text: &str) -> Result<String, String> {
    text_of(text, TextRule::GroupName)
}

pub fn host(text: &str) -> Result<String, String> {
    text_of(text, TextRule::Host)
}

pub fn line(text: &str) -> Result<String, String> {
    text_of(text, TextRule::Line)
}

pub fn contact(text: &str) -> Result<String, String> {
    text_of(text, TextRule::Contact)
}

pub fn file_prefix(text: &str) -> Result<String, String> {
    text_of(text, TextRule::FilePrefix)
}

/// `host:*.vg.no`, `prefix:vg.no/sport`, `regex:\.pdf$`.
pub fn pattern(text: &str) -> Result<Pattern, String> {
    let forms = || "write host:HOST, prefix:PREFIX or regex:EXPRESSION".to_owned();
    let (kind, rest) = text.split_once(':').ok_or_else(forms)?;
    match kind {
        "host" => text_of(rest, TextRule::HostPattern).map(Pattern::Host),
        "prefix" => line(rest).map(Pattern::Prefix),
        "regex" => one(read_text(rest, TextRule::Regex, &UrlRules::default())),
        _ => Err(forms()),
    }
}

pub fn robots(text: &str) -> Result<RobotsPolicy, String> {
    match (text, text.strip_prefix("as:")) {
        ("obey", _) => Ok(RobotsPolicy::Obey),
        ("ignore", _) => Ok(RobotsPolicy::Ignore),
        (_, Some(agent)) => line(agent).map(RobotsPolicy::ObeyAs),
        _ => Err("write obey, ignore or as:AGENT".to_owned()),
    }
}

fn text_of(text: &str, rule: TextRule) -> Result<String, String> {
    one(read_text(text, rule, &UrlRules::default()))
}

fn one<T: Field>(read: Result<Data, Hinted>) -> Result<T, String> {
    let data = read.map_err(|wrong| wrong.to_string())?;
    T::of(&data).ok_or_else(|| "this is something else".to_owned())
}

/// The first moment of a year, month or day; or a moment.
pub fn period_begin(text: &str) -> Result<Time, String> {
    period(text).map(|(first, _)| first)
}

/// The last moment of it.
pub fn period_end(text: &str) -> Result<Time, String> {
    period(text).map(|(_, last)| last)
}

/// First and last millisecond of a year, month, day or moment.
fn period(text: &str) -> Result<(Time, Time), String> {
    if let Some(moment) = rfc3339(text) {
        return Ok((moment, moment));
    }
    let parts: Vec<&str> = text.split('-').collect();
    let digits = |at: usize| if at == 0 { 4 } else { 2 };
    let number = |at: usize| parts.get(at).filter(|part| part.len() == digits(at))?.parse::<u32>().ok();
    let next = match (parts.len(), number(0), number(1), number(2)) {
        (1, Some(year), ..) => Some((year + 1, 1, 1)),
        (2, Some(year), Some(12), _) => Some((year + 1, 1, 1)),
        (2, Some(year), Some(month), _) => Some((year, month + 1, 1)),
        (3, Some(year), Some(month), Some(day)) => Some((year, month, day)),
        _ => None,
    };
    let midnight =
        |year: u32, month: u32, day: u32| rfc3339(&format!("{year:04}-{month:02}-{day:02}T00:00:00Z"));
    let first = midnight(number(0).unwrap_or(0), number(1).unwrap_or(1), number(2).unwrap_or(1));
    let beyond = next.and_then(|(year, month, day)| midnight(year, month, day));
    match (first, beyond) {
        (Some(first), Some(beyond)) if beyond > first => Ok((first, Time(beyond.0 - 1))),
        (Some(first), Some(_)) => Ok((first, Time(first.0 + DAY_MS - 1))),
        _ => {
            Err("write a year, month or day like 2024-02-29, or a time like 2024-02-29T12:00:00Z".to_owned())
        }
    }
}

const DAY_MS: i64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i1_delays_are_one_duration_or_two() {
        let seconds = Span::seconds;
        assert_eq!(delay("2s"), Ok(Delay { min: seconds(2), max: None }));
        assert_eq!(delay("0s..1m"), Ok(Delay { min: Span::ZERO, max: Some(seconds(60)) }));
        assert_eq!(delay("0"), Ok(Delay { min: Span::ZERO, max: None }));
        assert_eq!(delay("1..2500ms"), Ok(Delay { min: seconds(1), max: Some(Span(2500)) }));
        for wrong in ["", "-1", "2s..1s", "..1s", "1s.."] {
            assert!(delay(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn i1_patterns_say_their_kind() {
        assert_eq!(pattern("host:*.VG.no"), Ok(Pattern::Host("*.vg.no".to_owned())));
        assert_eq!(pattern("prefix:vg.no/a:b"), Ok(Pattern::Prefix("vg.no/a:b".to_owned())));
        assert!(pattern("regex:[").unwrap_err().contains("hint: "));
        assert!(pattern("vg.no").unwrap_err().starts_with("write host:"));
    }

    #[test]
    fn x15_a_year_a_month_and_a_day_have_a_beginning_and_an_end() {
        for (text, first, last) in [
            ("2024", "2024-01-01T00:00:00Z", "2024-12-31T23:59:59Z"),
            ("2024-02", "2024-02-01T00:00:00Z", "2024-02-29T23:59:59Z"),
            ("2023-12", "2023-12-01T00:00:00Z", "2023-12-31T23:59:59Z"),
            ("2024-12-31", "2024-12-31T00:00:00Z", "2024-12-31T23:59:59Z"),
            ("2024-12-31T01:02:03Z", "2024-12-31T01:02:03Z", "2024-12-31T01:02:03Z"),
        ] {
            let told = period(text).map(|(first, last)| (first.to_string(), last.to_string()));
            assert_eq!(told, Ok((first.to_owned(), last.to_owned())), "{text}");
        }
        for wrong in ["", "24", "2024-", "2024-13", "2023-02-29", "2024-1-1-1", "4294967295", "now", "-1"] {
            assert!(period(wrong).is_err(), "{wrong}");
        }
    }
}
