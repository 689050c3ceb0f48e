//! Names of archive files: `prefix-collection-20240229123456789-00000-host.warc.gz`, with `.open` behind it until complete.

use policy::time::Time;

use super::coder::Compression;
use super::date;

pub(super) const OPEN: &str = ".open";
const PART_CHARS_MAX: usize = 60;

pub(super) fn file_name(
    prefix: &str,
    collection: &str,
    created: Time,
    serial: u32,
    host: &str,
    compression: Compression,
) -> String {
    let (prefix, collection, host) = (sanitised(prefix), sanitised(collection), sanitised(host));
    format!("{prefix}-{collection}-{}-{serial:05}-{host}{}", date::digits17(created), compression.suffix())
}

/// Letters, digits, dots and underscores; a dot not at the beginning.
fn sanitised(part: &str) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    let text: String = part.chars().take(PART_CHARS_MAX).map(|c| if legal(c) { c } else { '_' }).collect();
    let text = text.trim_matches('.');
    if text.is_empty() { "_".to_owned() } else { text.to_owned() }
}

/// When a file of that name was begun, and its number.
pub(super) fn created_and_serial(name: &str) -> Option<(Time, u32)> {
    let mut parts = name.rsplit('-').skip(1);
    let serial = parts.next()?.parse().ok()?;
    Some((date::from_digits17(parts.next()?)?, serial))
}

/// The name an open file will have, if it is one of ours.
pub(super) fn complete_name(open: &str) -> Option<&str> {
    let name = open.strip_suffix(OPEN)?;
    [Compression::None, Compression::Gzip(1), Compression::Zstd(1)]
        .iter()
        .any(|compression| name.ends_with(compression.suffix()))
        .then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a8_names_are_safe_and_tell_their_time() {
        let time = Time(1_709_210_096_789);
        let name = file_name("skurd", "my-news/../x", time, 7, "", Compression::Gzip(1));
        assert_eq!(name, "skurd-my_news_.._x-20240229123456789-00007-_.warc.gz");
        assert_eq!(created_and_serial(&name), Some((time, 7)));
        assert_eq!(file_name("..", ".a", time, 0, "ü\n", Compression::None).split('-').next(), Some("_"));
        assert_eq!(complete_name("a.warc.gz.open"), Some("a.warc.gz"));
        assert_eq!(complete_name("a.warc.gz"), None);
        assert_eq!(complete_name("a.cdxj.open"), None);
        assert_eq!(created_and_serial("a.warc.gz"), None);
    }
}
