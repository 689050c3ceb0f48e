//! What a capture is served as: by what it said it is, and where it said nothing, by how it begins.
//!
//! Only what browsers show and cannot be harmed by goes out under its own name; anything else is
//! bytes, or text where it was said to be some.

/// Of the body, as much as is looked at.
pub const HEAD_BYTES: usize = 512;

/// How a capture goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Rewritten.
    Html,
    /// Rewritten, under this name.
    Xml(&'static str),
    /// Rewritten.
    Css,
    /// As it is, under this name.
    Plain(&'static str),
}

/// Names under which something goes out as it is.
const PLAIN: [&str; 51] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/avif",
    "image/bmp",
    "image/apng",
    "image/x-icon",
    "image/vnd.microsoft.icon",
    "image/jxl",
    "image/tiff",
    "image/heic",
    "image/jpg",
    "image/pjpeg",
    "image/x-png",
    "font/woff",
    "font/woff2",
    "font/ttf",
    "font/otf",
    "font/sfnt",
    "font/collection",
    "application/font-woff",
    "application/font-woff2",
    "application/x-font-woff",
    "application/x-font-ttf",
    "application/x-font-otf",
    "application/x-font-opentype",
    "application/x-font-truetype",
    "application/vnd.ms-fontobject",
    "video/mp4",
    "video/webm",
    "video/ogg",
    "video/quicktime",
    "video/mpeg",
    "video/x-matroska",
    "video/mp2t",
    "video/3gpp",
    "audio/mpeg",
    "audio/mp4",
    "audio/ogg",
    "audio/webm",
    "audio/wav",
    "audio/x-wav",
    "audio/aac",
    "audio/flac",
    "audio/mp3",
    "audio/opus",
    "application/json",
    "application/ogg",
    "application/pdf",
    "text/vtt",
];

/// XML that browsers know by its own name; other XML is shown as XML.
const XML: [&str; 3] = ["application/xhtml+xml", "image/svg+xml", "application/mathml+xml"];

const BYTES: Kind = Kind::Plain("application/octet-stream");
const TEXT: Kind = Kind::Plain("text/plain");

impl Kind {
    /// `essence` is the type that was said, in lower case; `head` is how the body begins.
    pub fn of(essence: &str, head: &[u8]) -> Kind {
        if let Some(name) = PLAIN.iter().find(|name| **name == essence) {
            return Kind::Plain(name);
        }
        if let Some(name) = XML.iter().find(|name| **name == essence) {
            return Kind::Xml(name);
        }
        match essence {
            "text/html" => Kind::Html,
            "text/css" => Kind::Css,
            "application/xml" | "text/xml" | "text/xsl" => Kind::Xml("application/xml"),
            "" | "unknown/unknown" | "application/unknown" | "*/*" | "content/unknown" => Kind::sniffed(head),
            essence if essence.ends_with("+xml") => Kind::Xml("application/xml"),
            essence
                if essence.starts_with("text/")
                    || essence.ends_with("javascript")
                    || essence.ends_with("+json") =>
            {
                TEXT
            }
            _ => BYTES,
        }
    }

    /// Nobody said what it is.
    fn sniffed(head: &[u8]) -> Kind {
        const MARKS: [(&[u8], &str); 9] = [
            (b"\x89PNG\r\n\x1a\n", "image/png"),
            (b"\xff\xd8\xff", "image/jpeg"),
            (b"GIF8", "image/gif"),
            (b"BM", "image/bmp"),
            (b"\0\0\x01\0", "image/x-icon"),
            (b"%PDF-", "application/pdf"),
            (b"wOFF", "font/woff"),
            (b"wOF2", "font/woff2"),
            (b"OggS", "application/ogg"),
        ];
        const TAGS: [&[u8]; 13] = [
            b"<!doctype html",
            b"<html",
            b"<head",
            b"<body",
            b"<title",
            b"<script",
            b"<style",
            b"<meta",
            b"<div",
            b"<table",
            b"<!--",
            b"<p>",
            b"<a ",
        ];
        if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
            return Kind::Plain("image/webp");
        }
        if let Some((_, name)) = MARKS.iter().find(|(mark, _)| head.starts_with(mark)) {
            return Kind::Plain(name);
        }
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        let begins = |tag: &[u8]| text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
        if TAGS.iter().any(|tag| begins(tag)) {
            return Kind::Html;
        }
        if begins(b"<?xml") || begins(b"<svg") {
            return Kind::Xml(if begins(b"<svg") { "image/svg+xml" } else { "application/xml" });
        }
        let is_binary = head.iter().any(|byte| matches!(byte, 0..=8 | 0x0e..=0x1a | 0x1c..=0x1f));
        if is_binary { BYTES } else { TEXT }
    }

    pub fn is_rewritten(self) -> bool {
        !matches!(self, Kind::Plain(_))
    }

    /// The name it goes out under. What is rewritten is in UTF-8 afterwards; text that is not keeps
    /// what was said of it.
    pub fn content_type(self, charset: Option<&str>) -> String {
        match self {
            Kind::Html => "text/html; charset=utf-8".to_owned(),
            Kind::Css => "text/css; charset=utf-8".to_owned(),
            Kind::Xml(name) => format!("{name}; charset=utf-8"),
            Kind::Plain(name) => match charset.filter(|charset| is_name(charset)) {
                Some(charset) if name.starts_with("text/") => format!("{name}; charset={charset}"),
                _ => name.to_owned(),
            },
        }
    }
}

/// Whether it can be the name of an encoding, and nothing else.
fn is_name(text: &str) -> bool {
    (1..=40).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r8_what_goes_out_goes_out_under_a_name_that_is_known() {
        let svg = Kind::Xml("image/svg+xml");
        for (essence, head, kind) in [
            ("text/html", "", Kind::Html),
            ("application/xhtml+xml", "", Kind::Xml("application/xhtml+xml")),
            ("image/svg+xml", "", svg),
            ("application/rss+xml", "", Kind::Xml("application/xml")),
            ("text/xsl", "", Kind::Xml("application/xml")),
            ("text/css", "", Kind::Css),
            ("image/png", "<html>", Kind::Plain("image/png")),
            ("text/javascript", "", TEXT),
            ("application/javascript", "", TEXT),
            ("text/x-anything", "<html>", TEXT),
            ("multipart/x-mixed-replace", "<html>", BYTES),
            ("message/rfc822", "<html>", BYTES),
            ("application/x-shockwave-flash", "", BYTES),
            ("text\n/html", "", BYTES),
            ("", " <!DOCTYPE HTML>", Kind::Html),
            ("", "\u{feff}<Html>", Kind::Html),
            ("", "<svg>", svg),
            ("", "GIF89a<html>", Kind::Plain("image/gif")),
            ("", "words", TEXT),
            ("", "w\0rds", BYTES),
            ("", "", TEXT),
        ] {
            assert_eq!(Kind::of(essence, head.as_bytes()), kind, "{essence} {head}");
        }
    }

    #[test]
    fn r2_text_keeps_the_encoding_that_was_said() {
        assert_eq!(TEXT.content_type(Some("koi8-r")), "text/plain; charset=koi8-r");
        assert_eq!(TEXT.content_type(Some("a\r\nSet-Cookie: x")), "text/plain");
        assert_eq!(Kind::Html.content_type(Some("koi8-r")), "text/html; charset=utf-8");
        assert_eq!(Kind::Plain("image/png").content_type(Some("utf-8")), "image/png");
    }
}
