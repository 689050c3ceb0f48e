//! Names of archive files: `prefix-collection-20240229123456789-00000-host.warc.gz`, with `.open`
//! behind it until complete.
//!
//! A part that can stand in a name as it is does. One that cannot (`a/b`, `bø`, sixty letters and
//! more) is spelled with `_` and cut, and gets a few digits of its sum, so that two collections are
//! told apart by people too. Nothing depends on it: whose file it is is stored, not read from its
//! name.

use policy::time::Time;
use sha1::{Digest as _, Sha1};

use super::coder::Compression;
use super::date;

pub(super) const OPEN: &str = ".open";
const PART_CHARS_MAX: usize = 60;
/// Hexadecimal digits of the sum of what could not be spelled, and the `_` before them.
const SUM_CHARS: usize = 8;

/// Whether a prefix or the name of a collection can be part of a file's name as it is.
pub fn is_legal_part(part: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !part.is_empty() && part.len() <= PART_CHARS_MAX && !part.starts_with('.') && part.chars().all(legal)
}

pub(super) fn file_name(
    prefix: &str,
    collection: &str,
    created: Time,
    serial: u32,
    host: &str,
    compression: Compression,
) -> String {
    let (prefix, collection, host) = (part(prefix), part(collection), host_part(host));
    format!("{prefix}-{collection}-{}-{serial:05}-{host}{}", date::digits17(created), compression.suffix())
}

fn part(text: &str) -> String {
    if is_legal_part(text) {
        return text.to_owned();
    }
    let sum = Sha1::digest(text.as_bytes());
    let digits: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}_{}", spelled(text, PART_CHARS_MAX - SUM_CHARS - 1), &digits[..SUM_CHARS])
}

/// The machine. A dash would hide where the number ends.
fn host_part(host: &str) -> String {
    spelled(host, PART_CHARS_MAX).replace('-', "_")
}

/// Letters, digits, dots, dashes and underscores; no dot at either end.
fn spelled(text: &str, chars_max: usize) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let text: String = text.chars().take(chars_max).map(|c| if legal(c) { c } else { '_' }).collect();
    let text = text.trim_matches('.');
    if text.is_empty() { "_".to_owned() } else { text.to_owned() }
}

/// When a file of that name was begun, and its number.
pub(super) fn created_and_serial(name: &str) -> Option<(Time, u32)> {
    let mut parts = name.rsplit('-').skip(1);
    let serial = parts.next()?.parse().ok()?;
    Some((date::from_digits17(parts.next()?)?, serial))
}

/// Whether a file is called like an archive file that is complete.
pub(super) fn is_archive(name: &str) -> bool {
    [Compression::None, Compression::Gzip(1), Compression::Zstd(1)]
        .iter()
        .any(|compression| name.ends_with(compression.suffix()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const TIME: Time = Time(1_709_210_096_789);

    fn named(collection: &str) -> String {
        file_name("skurd", collection, TIME, 7, "", Compression::Gzip(1))
    }

    #[test]
    fn a8_names_are_safe_and_tell_their_time() {
        let name = named("my-news/../x");
        assert_eq!(name, "skurd-my-news_.._x_6e56cc64-20240229123456789-00007-_.warc.gz");
        assert_eq!(created_and_serial(&name), Some((TIME, 7)));
        assert_eq!(
            file_name("NB-NEWS", "a-b", TIME, 1, "my-machine", Compression::None),
            "NB-NEWS-a-b-20240229123456789-00001-my_machine.warc"
        );
        for odd in ["..", ".a", "", "ü\n", "/", "../../etc/passwd"] {
            let name = named(odd);
            assert!(name.starts_with("skurd-") && !name.contains(['/', '\n']), "{name}");
            assert_eq!(created_and_serial(&name), Some((TIME, 7)));
        }
        assert_eq!(created_and_serial("a.warc.gz"), None);
    }

    #[test]
    fn a8_collections_that_are_spelled_or_cut_alike_have_names_of_their_own() {
        let long = "x".repeat(60);
        let collections =
            ["a/b", "a_b", "a-b", "a b", "bø", "bå", "b_", &long, &format!("{long}y"), &format!("{long}z")];
        let names: BTreeSet<String> = collections.iter().map(|collection| named(collection)).collect();
        assert_eq!(names.len(), collections.len(), "{names:#?}");
        assert!(names.iter().all(|name| name.len() < 200), "{names:#?}");
    }
}
