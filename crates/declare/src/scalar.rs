//! Single values: whether a text is what its key wants, and if not, why and what would be right.

use std::cmp::Ordering;
use std::net::IpAddr;

use net::http::HeaderError;
use policy::hours::TimeOfDay;
use policy::scope::Pattern;
use policy::time::Span;
use policy::unit::{DURATION_HINT, SIZE_HINT, parse_duration, parse_size, print_duration, print_size};
use policy::url::{UrlRules, normalise, site_of};
use policy::walk::{ID_MAX, StatusRange, Template, parse_id};
use policy::way::{ProxyError, ResolverAddress, Through};
use policy::zone::Zone;
use url::Host;

use crate::hint::Hinted;
use crate::keys::TextRule;
use crate::text::{excerpt, nearest};
use crate::value::Data;

/// An empty hint is replaced by the key's example.
type Read<T> = Result<T, Hinted>;

fn wrong<T>(what: impl Into<String>, hint: impl Into<String>) -> Read<T> {
    Err(Hinted::new(what, hint))
}

pub(crate) fn read_bool(text: &str) -> Read<Data> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "true" | "on" => Ok(Data::Bool(true)),
        "no" | "false" | "off" => Ok(Data::Bool(false)),
        _ => wrong(format!("{} is neither yes nor no", excerpt(text)), "write yes or no (or true, false)"),
    }
}

pub(crate) fn read_duration(text: &str, zero: bool) -> Read<Data> {
    match parse_duration(text) {
        Ok(Span::ZERO) if !zero => wrong("it must be longer than zero", ""),
        Ok(span) => Ok(Data::Span(span)),
        Err(why) => wrong(format!("{} is not a duration: {why}", excerpt(text)), duration_hint(text)),
    }
}

/// F41: one, or the two ends of a range.
pub(crate) fn read_frequency(text: &str) -> Read<Data> {
    const HINT: &str = "one like `1d`, or from the shortest to the longest, like `1h..30d`";
    let Some((fast, slow)) = text.split_once("..") else { return read_duration(text, false) };
    let end = |text: &str| match read_duration(text.trim(), false)? {
        Data::Span(span) => Ok(span),
        _ => wrong("it is no duration", HINT),
    };
    let (fast, slow) = (end(fast)?, end(slow)?);
    let [shown, long] = [fast, slow].map(print_duration);
    match fast.cmp(&slow) {
        Ordering::Less => Ok(Data::Range(fast, slow)),
        Ordering::Equal => wrong(format!("both ends are {shown}"), format!("a fixed frequency is `{shown}`")),
        Ordering::Greater => {
            let what = format!("{shown} is longer than {long}");
            wrong(what, format!("perhaps the other way round: `{long}..{shown}`"))
        }
    }
}

/// A bare number is the most common mistake.
fn duration_hint(text: &str) -> String {
    match text.trim().parse::<u32>() {
        Ok(number) => format!("say of what: {number}s, {number}m, {number}h or {number}d"),
        Err(_) => DURATION_HINT.to_owned(),
    }
}

pub(crate) fn read_size(text: &str, max: u64) -> Read<Data> {
    match parse_size(text) {
        Ok(0) => wrong("it must be more than zero", ""),
        Ok(bytes) if bytes > max => {
            wrong(format!("{} is too much", excerpt(text)), format!("at most {}", print_size(max)))
        }
        Ok(bytes) => Ok(Data::Number(bytes)),
        Err(why) => wrong(format!("{} is not a size: {why}", excerpt(text)), SIZE_HINT),
    }
}

pub(crate) fn read_count(text: &str, min: u32, max: u32) -> Read<Data> {
    let bounds = || match max {
        u32::MAX => format!("a whole number from {min}"),
        max => format!("a whole number from {min} to {max}"),
    };
    match text.parse::<u32>() {
        _ if text.is_empty() || !is_digits(text) => {
            wrong(format!("{} is not a whole number", excerpt(text)), bounds())
        }
        Ok(number) if number < min => wrong(format!("it must be at least {min}"), bounds()),
        Ok(number) if number <= max => Ok(Data::Number(u64::from(number))),
        _ => wrong(format!("{} is too much", excerpt(text)), format!("at most {max}")),
    }
}

pub(crate) fn read_id(text: &str, min: u64) -> Read<Data> {
    let bounds = format!("a whole number from {min} to {ID_MAX}");
    match parse_id("id", text) {
        Ok(number) if number < min => wrong(format!("it must be at least {min}"), bounds),
        Ok(number) => Ok(Data::Number(number)),
        Err(_) if is_digits(text) => wrong(format!("{} is too large", excerpt(text)), bounds),
        Err(_) => wrong(format!("{} is not a whole number", excerpt(text)), bounds),
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

pub(crate) fn read_factor(text: &str, min: f64, max: f64) -> Read<Data> {
    let bounds = || match min > 0.0 {
        true => format!("a number from {min} to {max}, like 1 or 2.5"),
        false => format!("a number from {min}, like 5 or 2.5"),
    };
    let numeric = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match text.parse::<f64>() {
        Ok(factor) if numeric && factor < min => wrong(format!("it must be at least {min}"), bounds()),
        Ok(factor) if numeric && factor <= max => Ok(Data::Factor(factor)),
        Ok(_) if numeric => wrong("it is too much", format!("at most {max}")),
        _ => wrong(format!("{} is not a number", excerpt(text)), bounds()),
    }
}

pub(crate) fn read_choice(text: &str, choices: &[&str]) -> Read<Data> {
    match choices.contains(&text) {
        true => Ok(Data::Text(text.to_owned())),
        false => {
            wrong(format!("{} is unknown here", excerpt(text)), format!("one of: {}", choices.join(", ")))
        }
    }
}

pub fn read_text(text: &str, rule: TextRule, rules: &UrlRules) -> Read<Data> {
    if text.trim().is_empty() {
        return wrong("it is empty", "");
    }
    match rule {
        TextRule::Line => read_line(text),
        TextRule::Name { bytes_max } => read_name(text, bytes_max),
        TextRule::Url => read_url(text, rules),
        TextRule::Host => read_host(text).map(Data::Text),
        TextRule::HostPattern => read_host_pattern(text),
        TextRule::GroupName => read_group_name(text),
        TextRule::Regex => read_regex(text),
        TextRule::Template => read_template(text),
        TextRule::Status => read_status(text),
        TextRule::FilePrefix => read_file_prefix(text),
        TextRule::Contact => read_contact(text),
        TextRule::Without(barred) => read_without(text, barred),
        TextRule::Path => read_path(text),
        TextRule::Languages => read_languages(text),
        TextRule::Timezone => read_timezone(text),
        TextRule::Proxy => read_proxy(text),
        TextRule::Resolver => read_resolver(text),
        TextRule::Address => read_address(text),
        TextRule::Zone => read_zone(text),
        TextRule::TimeOfDay { end } => read_time_of_day(text, end),
    }
}

fn read_line(text: &str) -> Read<Data> {
    const LINE_BYTES_MAX: usize = 8 << 10;
    match text.len() {
        _ if text.chars().any(char::is_control) => {
            wrong(format!("{} holds a line break or control character", excerpt(text)), "one line of text")
        }
        bytes if bytes > LINE_BYTES_MAX => wrong(format!("{bytes} bytes are too long"), "at most 8192 bytes"),
        _ => Ok(Data::Text(text.to_owned())),
    }
}

fn read_name(text: &str, bytes_max: usize) -> Read<Data> {
    if text.len() > bytes_max {
        let what = format!("a name of {} bytes is too long", text.len());
        return wrong(what, format!("at most {bytes_max} bytes"));
    }
    if text.trim() != text {
        let what = format!("the name {} begins or ends with a blank", excerpt(text));
        return wrong(what, format!("write {}", excerpt(text.trim())));
    }
    read_line(text)
}

fn read_url(text: &str, rules: &UrlRules) -> Read<Data> {
    match normalise(text, None, rules) {
        Ok(normal) => Ok(Data::Url { given: text.trim().to_owned(), normal: normal.as_str().to_owned() }),
        Err(refusal) => match with_scheme(text, rules) {
            Some(url) => wrong(format!("{} has no scheme", excerpt(text)), format!("write `{url}`")),
            None => wrong(format!("{}: {refusal}", excerpt(text)), "a URL like `https://vg.no/`"),
        },
    }
}

/// What `vg.no`, `//vg.no/x` or `localhost:8080` would be as a URL.
fn with_scheme(text: &str, rules: &UrlRules) -> Option<String> {
    let bare = text.trim().trim_start_matches('/');
    let authority = bare.split(['/', '?', '#']).next().unwrap_or(bare);
    let host = authority.split(':').next().unwrap_or(authority);
    if bare.contains("://") || !(host.contains('.') || host == "localhost") || authority.contains('@') {
        return None;
    }
    normalise(&format!("https://{bare}"), None, rules).ok().map(|url| url.as_str().to_owned())
}

/// The host as URLs have it (lower case, punycode), as a site.
fn read_host(text: &str) -> Read<String> {
    match Host::parse(text.trim()).map(|host| host.to_string()) {
        Ok(host) if !host.trim_end_matches('.').is_empty() => {
            Ok(site_of(host.trim_end_matches('.')).to_owned())
        }
        _ => wrong(format!("{} is not a host", excerpt(text)), host_hint(text)),
    }
}

fn host_hint(text: &str) -> String {
    let bare = text.trim().split_once("://").map_or(text.trim(), |(_, rest)| rest);
    let bare = bare.split(['/', ':', '?', '#']).next().unwrap_or(bare);
    match Host::parse(bare) {
        Ok(host) => format!("only the host, without scheme, port and path: `{host}`"),
        Err(_) => "a host name like `vg.no`, or an address".to_owned(),
    }
}

fn read_host_pattern(text: &str) -> Read<Data> {
    let domain = text.strip_prefix("*.").or_else(|| text.strip_prefix('.'));
    let (subdomains, host) = domain.map_or(("", text), |domain| ("*.", domain));
    // `*` is no forbidden character of a host in the URL standard, so it is one here.
    if host.contains('*') {
        let hint = "`*` only in front, as in `*.vg.no`; for anything else a regex";
        return wrong(format!("{} is not a host", excerpt(host)), hint);
    }
    Ok(Data::Text(format!("{subdomains}{}", read_host(host)?)))
}

/// A name that can be parsed as a host could be one.
fn read_group_name(text: &str) -> Read<Data> {
    match Host::parse(text) {
        Ok(_) => wrong(
            format!("the group name {} could be a host", excerpt(text)),
            format!("put a colon, slash or blank into it: `group:{text}`"),
        ),
        Err(_) => read_name(text, 200),
    }
}

fn read_regex(text: &str) -> Read<Data> {
    Pattern::regex(text).map(Data::Regex).or_else(|error| {
        let (shown, why) = (excerpt(text), one_line(&error.to_string()));
        match why.contains("size limit") {
            true => wrong(format!("{shown} is too large when compiled"), "repeat less: smaller numbers in `{}`"),
            false => wrong(
                format!("{shown} is not a regular expression: {why}"),
                "a special character that means itself gets a backslash; single quotes keep backslashes as they are",
            ),
        }
    })
}

fn read_template(text: &str) -> Read<Data> {
    match Template::parse(text) {
        Ok(_) => read_line(text),
        Err(problem) => wrong(problem.what, "a URL like `https://example.org/notice/{id}`"),
    }
}

fn read_status(text: &str) -> Read<Data> {
    match text.parse::<StatusRange>() {
        Ok(range) => Ok(Data::Text(range.to_string())),
        Err(_) => wrong(
            format!("{} is no status", excerpt(text)),
            "one from 100 to 599, a range (`500-599`) or a class (`5xx`)",
        ),
    }
}

/// The errors of `regex` draw a picture over several lines; the last one says it.
fn one_line(error: &str) -> String {
    let last = error.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(error);
    last.trim().trim_start_matches("error: ").trim_end_matches('.').to_owned()
}

fn read_file_prefix(text: &str) -> Read<Data> {
    match net::warc::is_legal_part(text) {
        true => Ok(Data::Text(text.to_owned())),
        false => wrong(
            format!("{} cannot begin a file name", excerpt(text)),
            "up to 60 of a–z, A–Z, 0–9, `-`, `_` and `.`, with no `.` at its head",
        ),
    }
}

/// Whoever is harvested must be able to write to us.
fn read_contact(text: &str) -> Read<Data> {
    let text = text.trim();
    let address = text.strip_prefix("mailto:").unwrap_or(text);
    let is_address = address.rsplit_once('@').is_some_and(|(who, at)| {
        !who.is_empty()
            && !who.contains(|c: char| c.is_whitespace() || "@/:".contains(c))
            && Host::parse(at).is_ok()
    });
    let rules = UrlRules::default();
    if is_address || normalise(text, None, &rules).is_ok() {
        return read_line(text);
    }
    let hint = match with_scheme(text, &rules) {
        Some(url) => format!("write `{url}`, or a mail address"),
        None => "a web page like `https://example.org/bot`, or a mail address".to_owned(),
    };
    wrong(format!("{} is neither a URL nor a mail address", excerpt(text)), hint)
}

fn read_without(text: &str, barred: &str) -> Read<Data> {
    match text.chars().find(|c| barred.contains(*c)) {
        Some(c) => wrong(format!("it has `{c}` in it, which would end it there"), "leave it out"),
        None => read_secret(text),
    }
}

/// A line that no message repeats: it may be a password.
fn read_secret(text: &str) -> Read<Data> {
    read_line(text).map_err(|Hinted { what, hint }| match text.chars().any(char::is_control) {
        true => Hinted::new("its value holds a line break or control character", hint),
        false => Hinted { what, hint },
    })
}

fn read_path(text: &str) -> Read<Data> {
    match text.starts_with('/') {
        true => read_line(text),
        false => wrong(
            format!("{} does not begin with a slash", excerpt(text)),
            format!("write {}", excerpt(&format!("/{text}"))),
        ),
    }
}

/// Language tags as RFC 5646 writes them, as far as their look tells; their order is their weight.
fn read_languages(text: &str) -> Read<Data> {
    const LANGUAGES_MAX: usize = 20;
    const HINT: &str = "languages with commas between them, the best first: `nb-NO,nb,en`";
    if text.contains(';') {
        return wrong(format!("{} has weights", excerpt(text)), "leave `;q=…` out: the order says it");
    }
    let tags: Vec<&str> = text.split(',').map(str::trim).collect();
    match tags.iter().find(|tag| !is_language(tag)) {
        Some(&"") => return wrong("a language is missing beside a comma", HINT),
        Some(odd) => return wrong(format!("{} is not a language", excerpt(odd)), HINT),
        None => {}
    }
    match tags.len() {
        number if number > LANGUAGES_MAX => {
            wrong(format!("{number} languages are too many"), format!("at most {LANGUAGES_MAX}"))
        }
        _ => Ok(Data::Text(tags.join(","))),
    }
}

fn is_language(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    (2..=8).contains(&language.len())
        && language.bytes().all(|b| b.is_ascii_alphabetic())
        && parts.all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// Whether a name of the tz database looks like this: which there are, the browser knows. Names
/// without an area are in capitals, but for a few that stand for one with an area.
fn read_timezone(text: &str) -> Read<Data> {
    const TIMEZONE_BYTES_MAX: usize = 64;
    let text = text.trim();
    let letters = |b: u8| b.is_ascii_alphanumeric() || b"_+-".contains(&b);
    let is_part =
        |part: &str| part.bytes().next().is_some_and(|b| b.is_ascii_uppercase()) && part.bytes().all(letters);
    let is_whole = text.contains('/') || !text.contains(|c: char| c.is_ascii_lowercase());
    match text.len() <= TIMEZONE_BYTES_MAX && is_whole && text.split('/').all(is_part) {
        true => Ok(Data::Text(text.to_owned())),
        false => wrong(
            format!("{} is no name of a time zone", excerpt(text)),
            "area and place as the tz database has them, like `Europe/Oslo`, or `UTC`",
        ),
    }
}

/// A17. No message repeats it: it may have a password in it.
fn read_proxy(text: &str) -> Read<Data> {
    let text = text.trim();
    text.parse::<Through>().map(|through| Data::Text(through.written())).or_else(|error| {
        let hint = match error {
            ProxyError::Scheme | ProxyError::Host | ProxyError::Port => {
                "like `http://proxy.example.org:3128` or `socks5://192.0.2.8:1080`; `direct` is none"
            }
            ProxyError::LooksUp => "write socks5://; `resolver` says who looks names up",
            ProxyError::Encrypted => "write http://, or go through a tunnel of your own",
            ProxyError::Path => "end it with the port",
            ProxyError::Login => {
                "user:password@ before the host, with `%3A` for a colon, `%40` for an at and `%25` for a \
                 percent sign"
            }
        };
        wrong(error.to_string(), hint)
    })
}

fn read_resolver(text: &str) -> Read<Data> {
    match text.parse::<ResolverAddress>() {
        Ok(ResolverAddress(address)) if address.port() == 0 || address.ip().is_unspecified() => {
            wrong(format!("{} is nowhere", excerpt(text)), RESOLVER_HINT)
        }
        Ok(resolver) => Ok(Data::Text(resolver.to_string())),
        Err(_) => wrong(format!("{} is no address of a name server", excerpt(text)), RESOLVER_HINT),
    }
}

const RESOLVER_HINT: &str = "an IP address, with its port if that is not 53: `192.0.2.53:5353`";

fn read_address(text: &str) -> Read<Data> {
    match text.trim().parse::<IpAddr>() {
        Ok(address) if address.is_unspecified() || address.is_multicast() => {
            wrong(format!("{} is the address of no machine", excerpt(text)), "leave it out for any")
        }
        Ok(address) => Ok(Data::Text(address.to_string())),
        Err(_) => wrong(
            format!("{} is not an IP address", excerpt(text)),
            "an address that this machine has, like `192.0.2.7`",
        ),
    }
}

/// A zone there is, in the spelling of the database.
fn read_zone(text: &str) -> Read<Data> {
    let text = text.trim();
    if let Some(zone) = Zone::named(text) {
        return Ok(Data::Text(zone.name().to_owned()));
    }
    let names: Vec<String> = Zone::names().collect();
    let by_place = |name: &&String| {
        let place = name.rsplit('/').next().unwrap_or(name);
        place.eq_ignore_ascii_case(text)
    };
    let near = names.iter().find(by_place).map(String::as_str);
    let near = near.or_else(|| nearest(text, names.iter().map(String::as_str)));
    let what = format!("there is no time zone {}", excerpt(text));
    wrong(
        what,
        match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "area and place as the tz database has them, like `Europe/Oslo`, or `UTC`".to_owned(),
        },
    )
}

fn read_time_of_day(text: &str, end: bool) -> Read<Data> {
    match text.parse::<TimeOfDay>() {
        Ok(TimeOfDay::END) if !end => wrong("a day begins at 00:00", "write `00:00`"),
        Ok(time) => Ok(Data::Text(time.to_string())),
        Err(why) => {
            let what = format!("{} is not a time of day: {why}", excerpt(text));
            wrong(what, "hours and minutes, like `03:00` or `22:30`")
        }
    }
}

/// Whether a request header can be declared: what the client refuses to send, and what is declared
/// in another way, is not.
pub(crate) fn check_header(name: &str, value: &str) -> Read<()> {
    let shown = excerpt(name);
    let (why, hint) = match (net::http::check_header(name, value), name.to_ascii_lowercase().as_str()) {
        (Err(HeaderError::Name(_)), _) => {
            let hint = "letters, digits and dashes, like `Accept-Language`";
            return wrong(format!("{shown} is not a header name"), hint);
        }
        (Err(HeaderError::Reserved(_)), _) => {
            ("is sent by skurd itself", "leave it out: it says where a request goes and where it ends")
        }
        (Err(HeaderError::Value(_)), _) => return read_secret(value).map(|_| ()),
        (Ok(()), "cookie") => {
            ("is made from the cookie jar", "give cookies under `cookies`, each with the host that gets it")
        }
        (Ok(()), "user-agent") => ("is declared by a key of its own", "give it as `user_agent`"),
        (Ok(()), "if-match" | "if-modified-since" | "if-none-match" | "if-range" | "if-unmodified-since") => {
            (
                "is sent by skurd itself",
                "leave it out: what was harvested before is asked for with what it was known by",
            )
        }
        (Ok(()), "range") => {
            ("would make every answer a part of one", "leave it out; `max_bytes` limits what is read")
        }
        (Ok(()), _) => return read_secret(value).map(|_| ()),
    };
    wrong(format!("the header {shown} {why}"), hint)
}
