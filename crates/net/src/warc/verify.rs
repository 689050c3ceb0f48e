//! Digests recomputed and compared with what a record says.

use std::io::Read;

use sha1::{Digest as _, Sha1};

use super::digest::{Digest, Parsed};
use super::head::RecordHead;
use super::read::{Extent, ReadError, Reader};
use super::split::{Http, HttpSplit};

/// What became of a record's digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digests {
    pub block: Outcome,
    pub payload: Outcome,
}

impl Digests {
    /// What is wrong, if anything is.
    pub fn problem(&self) -> Option<String> {
        let wrong = |what: &str, outcome: &Outcome| match outcome {
            Outcome::Wrong(found) => Some(format!("wrong {what} digest: {found}")),
            _ => None,
        };
        wrong("block", &self.block).or_else(|| wrong("payload", &self.payload))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Absent,
    /// Another algorithm than SHA-1, or the payload is in another record.
    NotChecked,
    Right,
    /// What was found instead.
    Wrong(String),
}

impl<R: Read> Reader<R> {
    /// Reads the record at hand to its end and compares its digests.
    pub fn verify(&mut self, head: &RecordHead) -> Result<(Extent, Digests), ReadError> {
        let mut verifier = Verifier::new(head);
        while let Some(piece) = self.piece()? {
            verifier.update(piece);
        }
        Ok((self.end()?, verifier.finish()))
    }
}

pub(super) struct Verifier<'a> {
    block: Expected<'a>,
    payload: Expected<'a>,
    split: Option<HttpSplit>,
}

enum Expected<'a> {
    Nothing(Outcome),
    Sum { said: Option<Digest>, hash: Sha1, text: &'a str },
}

impl<'a> Verifier<'a> {
    pub(super) fn new(head: &'a RecordHead) -> Verifier<'a> {
        // The payload of a revisit, and of a segment but the whole, is elsewhere.
        let elsewhere = head.kind() == "revisit" || head.get("WARC-Segment-Number").is_some();
        let payload = match head.get("WARC-Payload-Digest") {
            Some(_) if elsewhere => Expected::Nothing(Outcome::NotChecked),
            digest => Expected::new(digest),
        };
        let block = Expected::new(head.get("WARC-Block-Digest"));
        Verifier { block, payload, split: head.holds_http().then(HttpSplit::default) }
    }

    pub(super) fn update(&mut self, piece: &[u8]) {
        self.block.update(piece);
        let payload = self.split.as_mut().map_or(piece, |split| split.feed(piece));
        self.payload.update(payload);
    }

    pub(super) fn finish(self) -> Digests {
        Digests { block: self.block.finish(), payload: self.payload.finish() }
    }

    /// The head of the HTTP message in the block, as far as it was seen.
    pub(super) fn http(&self) -> Option<Http> {
        self.split.as_ref().map(HttpSplit::http)
    }
}

impl<'a> Expected<'a> {
    fn new(digest: Option<&'a str>) -> Expected<'a> {
        let Some(text) = digest else { return Expected::Nothing(Outcome::Absent) };
        match Digest::parse(text) {
            None => Expected::Nothing(Outcome::NotChecked),
            Some(Parsed::Illegible) => Expected::Sum { said: None, hash: Sha1::new(), text },
            Some(Parsed::Sum(sum)) => Expected::Sum { said: Some(sum), hash: Sha1::new(), text },
        }
    }

    fn update(&mut self, piece: &[u8]) {
        if let Expected::Sum { hash, .. } = self {
            hash.update(piece);
        }
    }

    fn finish(self) -> Outcome {
        match self {
            Expected::Nothing(outcome) => outcome,
            Expected::Sum { said, hash, text } => {
                let found = Digest::from_hash(hash);
                if said == Some(found) {
                    Outcome::Right
                } else {
                    Outcome::Wrong(format!("{text}, found {found}"))
                }
            }
        }
    }
}
