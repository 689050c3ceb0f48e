//! JSON lines: `{"op":"put","url":…,"links":[{"url":…,"anchor":…}]}` and `{"op":"delete","url":…}`.
//!
//! Either may have a `"time"` (RFC 3339), and whatever fields other programs add: those are passed
//! over. An anchor may be missing. Anything else that is missing or not of its kind makes the line
//! a broken one, which is told and left out. Blank lines are none.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use policy::time::Time;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::{At, JSON_BYTES_MAX, LINKS_MAX, Mark, Page, Problem, Source, Step, rfc3339};

/// A file of lines.
pub(super) struct Lines {
    input: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    /// Reading can begin at a line of a plain file only.
    gzip: bool,
    mark: Mark,
    /// Bytes of the file that have been read.
    at: Arc<AtomicU64>,
    is_over: bool,
}

impl Lines {
    /// `input` is at `from.offset`, without its compression.
    pub(super) fn new(
        input: Box<dyn BufRead + Send>,
        gzip: bool,
        from: Mark,
        at: &Arc<AtomicU64>,
    ) -> io::Result<Lines> {
        let mark = Mark { steps: 0, ..from };
        let mut lines = Lines { input, line: Vec::new(), gzip, mark, at: Arc::clone(at), is_over: false };
        for _ in 0..from.steps {
            lines.read()?;
        }
        Ok(lines)
    }

    /// Nothing can be read any further; of the line at hand a part is missing.
    fn damaged(&mut self, error: &io::Error) -> Step {
        self.is_over = true;
        let reason = match error.kind() {
            io::ErrorKind::UnexpectedEof => "the file ends inside its compressed data".to_owned(),
            _ => format!("its compressed data is broken: {error}"),
        };
        Step::Damaged(Problem { at: At::Offset(self.at.load(Ordering::Relaxed)), reason })
    }

    fn step(&self) -> Result<Step, String> {
        let first = self.place() == At::Line(1);
        let line = self.line.strip_prefix(b"\xEF\xBB\xBF").filter(|_| first).unwrap_or(&self.line);
        if line.trim_ascii().is_empty() {
            return Ok(Step::Other);
        }
        let text = str::from_utf8(line)
            .map_err(|error| format!("not UTF-8 from its byte {} on", error.valid_up_to() + 1))?;
        serde_json::from_str::<Line<'_>>(text).map_err(|error| told(&error))?.step()
    }

    /// Reads the next line and moves the mark behind it.
    fn read(&mut self) -> io::Result<Read> {
        self.line.clear();
        let (mut taken, mut ended) = (0, false);
        while !ended {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            ended = end.is_some();
            let len = end.map_or(bytes.len(), |at| at + 1);
            let room = JSON_BYTES_MAX.saturating_sub(self.line.len());
            self.line.extend_from_slice(&bytes[..len.min(room)]);
            self.input.consume(len);
            taken += len;
        }
        if taken == 0 {
            return Ok(Read::End);
        }
        match self.gzip {
            true => self.mark.steps += 1,
            false => {
                self.mark.offset += taken as u64;
                self.mark.lines += 1;
            }
        }
        Ok(if taken > JSON_BYTES_MAX { Read::TooLong } else { Read::Whole })
    }
}

impl Source for Lines {
    fn next(&mut self) -> Result<Option<Step>> {
        if self.is_over {
            return Ok(None);
        }
        let step = match self.read() {
            Ok(Read::End) => return Ok(None),
            Ok(Read::Whole) => self.step(),
            Ok(Read::TooLong) => Err(format!("longer than {} MiB", JSON_BYTES_MAX >> 20)),
            Err(error) if self.gzip && is_damage(&error) => return Ok(Some(self.damaged(&error))),
            Err(error) => return Err(error.into()),
        };
        Ok(Some(step.unwrap_or_else(|reason| Step::Broken(Problem { at: self.place(), reason }))))
    }

    /// The number of the last line.
    fn place(&self) -> At {
        At::Line(self.mark.lines + self.mark.steps)
    }

    fn mark(&self) -> Mark {
        self.mark
    }
}

fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
    )
}

enum Read {
    Whole,
    TooLong,
    End,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    op: Cow<'a, str>,
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow)]
    links: Option<LinksOf<'a>>,
    #[serde(borrow)]
    time: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct LinkOf<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow)]
    anchor: Option<Cow<'a, str>>,
}

impl Line<'_> {
    fn step(self) -> Result<Step, String> {
        let url = self.url.into_owned();
        let time = self.time.as_deref().map(time_of).transpose()?;
        match (&*self.op, self.links) {
            ("put", Some(links)) => {
                let mut page = Page { url, time, dropped: links.dropped, ..Page::default() };
                let mut bytes = 0;
                for link in links.kept {
                    page.add(link.url.into_owned(), &link.anchor.unwrap_or_default(), &mut bytes);
                }
                Ok(Step::Put(page))
            }
            ("put", None) => Err("a page that is put has no `links`".to_owned()),
            ("delete", _) => Ok(Step::Delete { url, time }),
            _ => Err("`op` is neither `put` nor `delete`".to_owned()),
        }
    }
}

fn time_of(text: &str) -> Result<Time, String> {
    rfc3339(text).ok_or_else(|| "`time` is no time like 2024-02-29T12:00:00Z".to_owned())
}

/// The links of a line; those beyond the limit never come to be.
struct LinksOf<'a> {
    kept: Vec<LinkOf<'a>>,
    dropped: u64,
}

impl<'de: 'a, 'a> Deserialize<'de> for LinksOf<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<LinksOf<'a>, D::Error> {
        struct Links;
        impl<'de> Visitor<'de> for Links {
            type Value = LinksOf<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of links")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<LinksOf<'de>, A::Error> {
                let mut links = LinksOf { kept: Vec::new(), dropped: 0 };
                while links.kept.len() < LINKS_MAX {
                    match list.next_element()? {
                        Some(link) => links.kept.push(link),
                        None => return Ok(links),
                    }
                }
                while list.next_element::<IgnoredAny>()?.is_some() {
                    links.dropped += 1;
                }
                Ok(links)
            }
        }
        from.deserialize_seq(Links)
    }
}

/// What the parser says, without the line it always takes for the first.
fn told(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}
