//! Values on the command line, read by the same rules as in the config file.

use std::path::PathBuf;

use policy::model::{NAME_BYTES_MAX, RobotsPolicy};
use policy::scope::{Pattern, Within};
use policy::time::Span;
use policy::url::{URL_BYTES_MAX, UrlRules};

use crate::config::{Data, TextRule, Wrong, read_duration, read_text};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DataDir {
    /// The data directory
    #[arg(long = "data", value_name = "DIR", default_value = "./skurd-data")]
    pub(crate) dir: PathBuf,
}

/// Shortest and longest delay between two requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delay {
    pub(crate) min: Span,
    pub(crate) max: Option<Span>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum WithinArg {
    Path,
    Host,
    Domain,
    Any,
}

impl From<WithinArg> for Within {
    fn from(word: WithinArg) -> Within {
        match word {
            WithinArg::Path => Within::Path,
            WithinArg::Host => Within::Host,
            WithinArg::Domain => Within::Domain,
            WithinArg::Any => Within::Any,
        }
    }
}

pub(crate) fn duration(text: &str) -> Result<Span, String> {
    span(text, false)
}

/// A duration, or a bare number of seconds; may be none at all.
pub(crate) fn pause(text: &str) -> Result<Span, String> {
    seconds_or_span(text)
}

/// `now`, or a length of time from now.
pub(crate) fn from_now(text: &str) -> Result<Span, String> {
    if text == "now" { Ok(Span::ZERO) } else { duration(text) }
}

pub(crate) fn delay(text: &str) -> Result<Delay, String> {
    let Some((min, max)) = text.split_once("..") else {
        return Ok(Delay { min: seconds_or_span(text)?, max: None });
    };
    let (min, max) = (seconds_or_span(min)?, seconds_or_span(max)?);
    match min > max {
        true => Err("the shortest delay is longer than the longest".to_owned()),
        false => Ok(Delay { min, max: Some(max) }),
    }
}

pub(crate) fn name(text: &str) -> Result<String, String> {
    text_of(text, TextRule::Name { bytes_max: NAME_BYTES_MAX })
}

pub(crate) fn seed_name(text: &str) -> Result<String, String> {
    text_of(text, TextRule::Name { bytes_max: URL_BYTES_MAX })
}

pub(crate) fn group_name(text: &str) -> Result<String, String> {
    text_of(text, TextRule::GroupName)
}

pub(crate) fn host(text: &str) -> Result<String, String> {
    text_of(text, TextRule::Host)
}

pub(crate) fn line(text: &str) -> Result<String, String> {
    text_of(text, TextRule::Line)
}

pub(crate) fn contact(text: &str) -> Result<String, String> {
    text_of(text, TextRule::Contact)
}

pub(crate) fn file_prefix(text: &str) -> Result<String, String> {
    text_of(text, TextRule::FilePrefix)
}

/// `host:*.vg.no`, `prefix:vg.no/sport`, `regex:\.pdf$`.
pub(crate) fn pattern(text: &str) -> Result<Pattern, String> {
    let forms = || "write host:HOST, prefix:PREFIX or regex:EXPRESSION".to_owned();
    let (kind, rest) = text.split_once(':').ok_or_else(forms)?;
    match kind {
        "host" => text_of(rest, TextRule::HostPattern).map(Pattern::Host),
        "prefix" => line(rest).map(Pattern::Prefix),
        "regex" => match read_text(rest, TextRule::Regex, &UrlRules::default()) {
            Ok(Data::Regex(pattern)) => Ok(pattern),
            Ok(_) => Err(forms()),
            Err(wrong) => Err(sentence(wrong)),
        },
        _ => Err(forms()),
    }
}

pub(crate) fn robots(text: &str) -> Result<RobotsPolicy, String> {
    match (text, text.strip_prefix("as:")) {
        ("obey", _) => Ok(RobotsPolicy::Obey),
        ("ignore", _) => Ok(RobotsPolicy::Ignore),
        (_, Some(agent)) => line(agent).map(RobotsPolicy::ObeyAs),
        _ => Err("write obey, ignore or as:AGENT".to_owned()),
    }
}

fn text_of(text: &str, rule: TextRule) -> Result<String, String> {
    match read_text(text, rule, &UrlRules::default()) {
        Ok(Data::Text(text)) => Ok(text),
        Ok(_) => Err("this is not a text".to_owned()),
        Err(wrong) => Err(sentence(wrong)),
    }
}

fn span(text: &str, zero: bool) -> Result<Span, String> {
    match read_duration(text, zero) {
        Ok(Data::Span(span)) => Ok(span),
        Ok(_) => Err("this is not a duration".to_owned()),
        Err(wrong) => Err(sentence(wrong)),
    }
}

/// A duration, or a bare number of seconds as other crawlers take it.
fn seconds_or_span(text: &str) -> Result<Span, String> {
    match text.parse::<u32>() {
        Ok(seconds) => Ok(Span::seconds(seconds.into())),
        Err(_) => span(text, true),
    }
}

fn sentence(wrong: Wrong) -> String {
    match wrong.hint.is_empty() {
        true => wrong.what,
        false => format!("{}\nhint: {}", wrong.what, wrong.hint),
    }
}

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
}
