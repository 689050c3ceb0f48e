//! A part of a capture (R6): `Range: bytes=…`, answered from the whole.

/// The bytes that are wanted, of something so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    From {
        first: u64,
        last: u64,
    },
    /// There is no such part.
    Beyond,
}

/// What is asked for of one part; anything else is answered with the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    From(u64, Option<u64>),
    Last(u64),
}

impl Range {
    pub(super) fn read(text: &str) -> Option<Range> {
        let (unit, range) = text.trim().split_once('=')?;
        if !unit.eq_ignore_ascii_case("bytes") {
            return None;
        }
        let (first, last) = range.trim().split_once('-')?;
        let number =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
        match (first.trim(), last.trim()) {
            ("", last) => Some(Range::Last(number(last)?)),
            (first, "") => Some(Range::From(number(first)?, None)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Range::From(first, Some(last)))
            }
        }
    }

    pub(super) fn of(self, length: u64) -> Part {
        let (first, last) = match self {
            Range::From(first, last) => (first, last.unwrap_or(u64::MAX)),
            Range::Last(0) => return Part::Beyond,
            Range::Last(bytes) => (length.saturating_sub(bytes), u64::MAX),
        };
        match first < length {
            true => Part::From { first, last: last.min(length - 1) },
            false => Part::Beyond,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r6_ranges_are_parts_of_the_whole() {
        for (text, length, part) in [
            ("bytes=0-9", 100, Some((0, 9))),
            ("bytes=90-", 100, Some((90, 99))),
            ("Bytes = 90-1000", 100, None),
            ("bytes=90-1000", 100, Some((90, 99))),
            ("bytes=-10", 100, Some((90, 99))),
            ("bytes=-1000", 100, Some((0, 99))),
            ("bytes=0-0", 1, Some((0, 0))),
        ] {
            let found = Range::read(text).map(|range| range.of(length));
            assert_eq!(found, part.map(|(first, last)| Part::From { first, last }), "{text}");
        }
        for text in ["bytes=100-", "bytes=-0", "bytes=100-200"] {
            assert_eq!(Range::read(text).map(|range| range.of(100)), Some(Part::Beyond), "{text}");
        }
        assert_eq!(Range::From(0, None).of(0), Part::Beyond);
        for text in [
            "",
            "bytes",
            "bytes=",
            "bytes=5-1",
            "bytes=0-1,3-4",
            "bytes=a-b",
            "lines=1-2",
            "bytes=+1-2",
            "bytes=99999999999999999999-",
        ] {
            assert_eq!(Range::read(text), None, "{text}");
        }
    }
}
