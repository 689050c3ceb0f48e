//! Gzip members one after the other, read without any of the code under test.

use std::io::Read;

use flate2::bufread::GzDecoder;

/// One member of a file, unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub offset: usize,
    /// As it is packed.
    pub length: usize,
    pub bytes: Vec<u8>,
}

/// Every sound member there is, whatever lies between them.
pub fn members(bytes: &[u8]) -> Vec<Member> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = bytes[at..].windows(3).position(|window| window == [0x1f, 0x8b, 8]) {
        at += start;
        let mut decoder = GzDecoder::new(&bytes[at..]);
        let mut unpacked = Vec::new();
        if decoder.read_to_end(&mut unpacked).is_err() {
            at += 1;
            continue;
        }
        let length = bytes.len() - at - decoder.into_inner().len();
        found.push(Member { offset: at, length, bytes: unpacked });
        at += length;
    }
    found
}

/// The members of a file in which every byte belongs to one.
pub fn whole(name: &str, bytes: &[u8]) -> Vec<Member> {
    let members = members(bytes);
    let mut at = 0;
    for member in &members {
        assert_eq!(member.offset, at, "{name}: what is at {at} is no member");
        at += member.length;
    }
    assert_eq!(at, bytes.len(), "{name}: what is at {at} is no member");
    members
}
