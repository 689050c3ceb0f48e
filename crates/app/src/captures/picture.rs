//! Pictures of pages (B16), to be shown to people.
//!
//! An archive may hold anything under any name, and what is shown is shown by the browser of whoever
//! looks: so a picture is what its first bytes say, and only of the kinds that are taken here (JPEG
//! and PNG: no drawing that could carry a script), no larger than can be shown. Anything else is a
//! file to be saved.

use std::io::Read;

use http::StatusCode;

use super::get_content;
use crate::{Answer, App, Problem};

/// Of a picture, as it is stored.
const PICTURE_BYTES_MAX: usize = 32 << 20;
/// Few bytes can unfold to many pixels, which take four bytes each in a browser.
const PIXELS_MAX: u64 = 64_000_000;

/// A picture as it may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub content_type: &'static str,
    pub bytes: Vec<u8>,
}

/// A capture as a picture.
#[crate::boxed]
pub async fn get_picture(app: &App, id: String) -> Answer<Picture> {
    let stored = get_content(app, id).await?;
    app.heavy(async move |_| {
        let (_, source) = stored.open()?;
        let mut bytes = Vec::new();
        let read = source.take(PICTURE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| Problem::internal(&error))?;
        let content_type = shown_as(&bytes).ok_or_else(|| {
            Problem::new(StatusCode::NOT_FOUND, "this capture is no picture that can be shown")
        })?;
        Ok(Picture { content_type, bytes })
    })
    .await
}

/// What it is shown as; none if it is not.
fn shown_as(bytes: &[u8]) -> Option<&'static str> {
    let (content_type, (width, height)) = match bytes {
        [0xFF, 0xD8, rest @ ..] => ("image/jpeg", jpeg_size(rest)?),
        [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, rest @ ..] => ("image/png", png_size(rest)?),
        _ => return None,
    };
    let pixels = u64::from(width) * u64::from(height);
    (bytes.len() <= PICTURE_BYTES_MAX && (1..=PIXELS_MAX).contains(&pixels)).then_some(content_type)
}

/// Width and height, of the first chunk.
fn png_size(rest: &[u8]) -> Option<(u32, u32)> {
    let [_, _, _, _, b'I', b'H', b'D', b'R', a, b, c, d, e, f, g, h, ..] = *rest else { return None };
    Some((u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])))
}

/// Width and height, of the first frame.
fn jpeg_size(mut rest: &[u8]) -> Option<(u32, u32)> {
    loop {
        let [0xFF, marker, after @ ..] = rest else { return None };
        match marker {
            // Filling.
            0xFF => rest = &rest[1..],
            // The picture itself, or its end, before there was a frame.
            0x00 | 0xD8..=0xDA => return None,
            0x01 | 0xD0..=0xD7 => rest = after,
            _ => {
                let [high, low, ..] = *after else { return None };
                let segment = after.get(2..usize::from(u16::from_be_bytes([high, low])))?;
                let is_frame = matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC);
                if is_frame {
                    let [_, a, b, c, d, ..] = *segment else { return None };
                    let [height, width] = [[a, b], [c, d]].map(u16::from_be_bytes).map(u32::from);
                    return Some((width, height));
                }
                rest = &after[segment.len() + 2..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice();
        [head, &width.to_be_bytes(), &height.to_be_bytes(), b"\x08\x02\0\0\0"].concat()
    }

    fn jpeg(before: &[u8], width: u16, height: u16) -> Vec<u8> {
        let frame = [b"\xff\xc0\0\x0b\x08".as_slice(), &height.to_be_bytes(), &width.to_be_bytes()];
        [b"\xff\xd8".as_slice(), before, &frame.concat(), b"\x01\x01\x11\0"].concat()
    }

    #[test]
    fn r8_only_pictures_that_can_be_shown_are() {
        let quantised = b"\xff\xe0\0\x04ab\xff\xff\xdb\0\x03q".as_slice();
        let big = [jpeg(b"", 10, 10), vec![0; PICTURE_BYTES_MAX]].concat();
        for (what, bytes, expected) in [
            ("a picture", png(1280, 1024), Some("image/png")),
            ("a picture", jpeg(b"", 1280, 1024), Some("image/jpeg")),
            ("with more before the frame", jpeg(quantised, 1280, 16_000), Some("image/jpeg")),
            ("a bomb", png(60_000, 60_000), None),
            ("a bomb", jpeg(b"", 65_535, 65_535), None),
            ("a bomb", png(u32::MAX, u32::MAX), None),
            ("nothing", png(0, 10), None),
            ("nothing", jpeg(b"", 10, 0), None),
            ("cut off", png(10, 10)[..20].to_vec(), None),
            ("cut off", jpeg(b"", 10, 10)[..8].to_vec(), None),
            ("a segment beyond the end", b"\xff\xd8\xff\xe0\xff\xffab".to_vec(), None),
            ("a segment of no length", b"\xff\xd8\xff\xe0\0\0ab".to_vec(), None),
            ("no frame", b"\xff\xd8\xff\xda\0\x02ab".to_vec(), None),
            ("too many bytes", big, None),
            ("a page", b"<!doctype html><script>alert(1)</script>".to_vec(), None),
            ("a drawing", b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(), None),
            ("nothing at all", Vec::new(), None),
        ] {
            assert_eq!(shown_as(&bytes), expected, "{what}: {:?}", &bytes[..bytes.len().min(40)]);
        }
    }
}
