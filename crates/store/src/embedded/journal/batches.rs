//! Reading the batches of a journal (fjall 3): where the whole ones end, and what comes after.
//!
//! A batch is a start (tag 1, number of items, sequence number), its items, and an end (tag 3, xxh3
//! of the items as written, `FJL3`). An item is tag 2, kind, compression, keyspace, lengths of key,
//! value and stored value, then key and stored value; or tag 4 and a keyspace.
//!
//! The sequence number is not under the checksum. It grows from batch to batch, by little: a batch
//! whose number is not below that of the next is as broken as one whose checksum is wrong.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const MAGIC: [u8; 4] = [b'F', b'J', b'L', 3];
/// Of a start with its tag.
const START_BYTES: usize = 13;
/// Of an item before its key, with its tag.
const ITEM_HEAD_BYTES: usize = 21;
const READ_BYTES: usize = 1 << 16;
/// The most that sequence numbers are ahead of the batch before.
const SEQNO_STEP_MAX: u64 = 1 << 32;
/// Bytes that are looked at again and again in search of a batch; beyond them one is assumed to be
/// there.
const SEARCH_BYTES_MAX: u64 = 4 << 30;

/// What a journal holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Batches {
    /// Where the last of the batches ends that are all whole.
    pub(super) good_bytes: u64,
    pub(super) last_seqno: Option<u64>,
    pub(super) rest: Rest,
}

/// What comes after the whole batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing, or only zeros.
    Clean,
    Bad {
        /// Somewhere behind it is a whole batch.
        batch_after: bool,
    },
}

impl Batches {
    pub(super) fn read(path: &Path) -> io::Result<Batches> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut reader = BufReader::with_capacity(READ_BYTES, file);
        let mut batches = Batches { good_bytes: 0, last_seqno: None, rest: Rest::Clean };
        let mut before = batches;
        while let Some((seqno, bytes)) = whole(&mut reader, length - batches.good_bytes)? {
            match batches.last_seqno {
                Some(last) if seqno <= last => {
                    batches = before;
                    break;
                }
                Some(last) if seqno - last > SEQNO_STEP_MAX => break,
                _ => {}
            }
            before = batches;
            batches.good_bytes += bytes;
            batches.last_seqno = Some(seqno);
        }
        if !is_zeros(reader.get_ref(), batches.good_bytes)? {
            reader.seek(SeekFrom::Start(batches.good_bytes))?;
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes)?;
            batches.rest = Rest::Bad { batch_after: has_batch(&bytes) };
        }
        Ok(batches)
    }
}

/// Whether nothing but zeros comes from a byte on. A journal is made at its full length, and what was
/// never written of it is not read.
fn is_zeros(mut file: &File, from: u64) -> io::Result<bool> {
    let mut piece = vec![0; READ_BYTES];
    let mut at = from;
    loop {
        at = match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(rustix::io::Errno::NXIO) => return Ok(true),
            // Not every file system can tell.
            Err(_) => file.seek(SeekFrom::Start(at))?,
        };
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(true);
        }
        if piece[..read].iter().fold(0, |all, byte| all | byte) != 0 {
            return Ok(false);
        }
        at += read as u64;
    }
}

/// Whether a batch begins anywhere in the bytes but at their beginning.
fn has_batch(bytes: &[u8]) -> bool {
    let starts = (1..bytes.len()).filter(|at| bytes[*at] == START);
    let plausible = starts.filter(|at| {
        let after = bytes.get(at + START_BYTES).is_some_and(|tag| matches!(*tag, ITEM | CLEAR));
        after && bytes[at + 1..at + 5] != [0; 4]
    });
    let mut looked_at = 0;
    for at in plausible {
        let mut rest = &bytes[at..];
        if looked_at > SEARCH_BYTES_MAX || matches!(whole(&mut rest, (bytes.len() - at) as u64), Ok(Some(_)))
        {
            return true;
        }
        looked_at += (bytes.len() - at - rest.len()) as u64;
    }
    false
}

/// Reads one batch, if a whole one begins here: its sequence number and length.
fn whole(reader: &mut impl Read, available: u64) -> io::Result<Option<(u64, u64)>> {
    let mut batch = Batch { reader, left: available, hash: Xxh3::new() };
    let seqno = match batch.read() {
        Ok(seqno) => seqno,
        Err(Broken::NoBatch) => return Ok(None),
        Err(Broken::Io(e)) => return Err(e),
    };
    Ok(Some((seqno, available - batch.left)))
}

enum Broken {
    NoBatch,
    Io(io::Error),
}

struct Batch<'a, R> {
    reader: &'a mut R,
    /// Bytes there are.
    left: u64,
    hash: Xxh3,
}

impl<R: Read> Batch<'_, R> {
    fn read(&mut self) -> Result<u64, Broken> {
        let [tag, count @ ..] = self.take::<5>()?;
        let seqno = u64::from_le_bytes(self.take()?);
        if tag != START {
            return Err(Broken::NoBatch);
        }
        for _ in 0..u32::from_le_bytes(count) {
            self.item()?;
        }
        let [END] = self.take()? else { return Err(Broken::NoBatch) };
        let checksum = u64::from_le_bytes(self.take()?);
        let magic: [u8; 4] = self.take()?;
        if magic == MAGIC && checksum == self.hash.digest() { Ok(seqno) } else { Err(Broken::NoBatch) }
    }

    fn item(&mut self) -> Result<(), Broken> {
        let tag: [u8; 1] = self.take()?;
        self.hash.update(&tag);
        match tag {
            [ITEM] => {
                let head: [u8; ITEM_HEAD_BYTES - 1] = self.take()?;
                self.hash.update(&head);
                let [.., k0, k1, _, _, _, _, v0, v1, v2, v3] = head;
                let bytes =
                    u64::from(u16::from_le_bytes([k0, k1])) + u64::from(u32::from_le_bytes([v0, v1, v2, v3]));
                self.pass(bytes)
            }
            [CLEAR] => self.pass(8),
            _ => Err(Broken::NoBatch),
        }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Broken> {
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or(Broken::NoBatch)?;
        self.reader.read_exact(bytes).map_err(Broken::Io)
    }

    /// Content, which only the checksum looks at.
    fn pass(&mut self, mut bytes: u64) -> Result<(), Broken> {
        if bytes > self.left {
            return Err(Broken::NoBatch);
        }
        let mut piece = [0; 4096];
        while bytes > 0 {
            let length = usize::try_from(bytes).unwrap_or(usize::MAX).min(piece.len());
            self.fill(&mut piece[..length])?;
            self.hash.update(&piece[..length]);
            bytes -= length as u64;
        }
        Ok(())
    }
}
