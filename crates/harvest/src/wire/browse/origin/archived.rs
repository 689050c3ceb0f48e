//! B10: what was captured a moment ago is not asked for again.

use std::io::{self, Read};

use frontier::Content;
use net::http::head::sent_header;
use net::proxy::Asked;
use net::surt;
use net::warc::{Reader, StoredRecord, open_file};
use policy::requisite::is_fresh;
use policy::url::CrawlUrl;

use super::PageOrigin;

/// Of what is served from the archive.
const ARCHIVED_BYTES_MAX: u64 = 16 << 20;
/// Of a request record that is looked at for its cookies.
const REQUEST_BYTES_MAX: u64 = 64 << 10;

impl PageOrigin<'_> {
    /// B10: what was captured in this collection a moment ago, for the same cookies.
    pub(super) async fn archived(&self, url: &CrawlUrl, asked: &Asked) -> Option<(Vec<u8>, u16)> {
        let dir = self.wire.archive_dir()?;
        let key = surt::key(url.as_str());
        let found = self.wire.frontier.content(&self.order.collection, &key, url.as_str()).await.ok()??;
        // A16: what lies under another URL has another head there.
        let Content::Own(time, capture) = found else { return None };
        if !is_fresh(time, self.wire.frontier.now(), self.settings.fresh) {
            return None;
        }
        let path = dir.join(&capture.file);
        let (cookie, status) = (asked.header("cookie"), capture.status);
        let read = || -> io::Result<Option<Vec<u8>>> {
            let record = StoredRecord::open(open_file(&path)?, capture.offset, capture.length)?;
            if record.head.kind() != "response" || record.head.get("WARC-Truncated").is_some() {
                return Ok(None);
            }
            let mut bytes = Vec::new();
            record.take(ARCHIVED_BYTES_MAX + 1).read_to_end(&mut bytes)?;
            let mut file = open_file(&path)?;
            io::Seek::seek(&mut file, io::SeekFrom::Start(capture.offset + capture.length))?;
            let mut reader = Reader::new(file.take(REQUEST_BYTES_MAX)).map_err(io::Error::other)?;
            let head = reader.next().map_err(io::Error::other)?;
            if head.is_none_or(|head| head.kind() != "request") {
                return Ok(None);
            }
            let mut request = Vec::new();
            while let Some(piece) = reader.piece().map_err(io::Error::other)? {
                request.extend_from_slice(piece);
            }
            let sent = sent_header(&request, "cookie");
            let is_same = sent.as_deref() == cookie && bytes.len() as u64 <= ARCHIVED_BYTES_MAX;
            Ok(is_same.then_some(bytes))
        };
        // What cannot be read is asked for.
        Some((read().ok()??, status))
    }
}
