//! Paths that grow by repeating themselves: the mark of a relative link that resolves wrongly for
//! ever (F29).
//!
//! `/a/b/a/b/a/b/a/b` says `a/b` four times in a row; a calendar or a broken template goes on until
//! the length limit stops it. A path is a trap when a sequence of segments follows itself more
//! often than allowed, when one segment occurs all over the place, or when there are more segments
//! than any sane site has.

use std::fmt;

/// Most segments of a path.
pub const SEGMENTS_MAX: usize = 64;

/// How often the same segment may occur in a path, wherever.
const SAME_SEGMENT_MAX: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trap {
    Repeats { segments: usize, times: u32, max: u32 },
    SameSegment { times: usize },
    Segments { count: usize },
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trap::Repeats { segments, times, max } => {
                write!(f, "{segments} path segment(s) {times} times in a row, {max} are allowed")
            }
            Trap::SameSegment { times } => {
                write!(f, "the same path segment {times} times, {SAME_SEGMENT_MAX} are allowed")
            }
            Trap::Segments { count } => write!(f, "{count} path segments, {SEGMENTS_MAX} are allowed"),
        }
    }
}

/// What makes this path a trap, if anything does.
pub fn trap(path: &str, max_repeats: u32) -> Option<Trap> {
    let count = path.bytes().filter(|byte| *byte == b'/').count();
    if count > SEGMENTS_MAX {
        return Some(Trap::Segments { count });
    }
    if u32::try_from(count).is_ok_and(|count| count <= max_repeats) {
        return None;
    }
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    repeats(&segments, max_repeats.max(1)).or_else(|| same_segment(&segments))
}

fn repeats(segments: &[&str], max: u32) -> Option<Trap> {
    (1..=segments.len() / 2).find_map(|period| {
        let times = times_in_a_row(segments, period);
        (times > max).then_some(Trap::Repeats { segments: period, times, max })
    })
}

/// How often a sequence of `period` segments follows itself at most, itself included.
fn times_in_a_row(segments: &[&str], period: usize) -> u32 {
    let mut run = 0;
    let mut longest = 0;
    for (segment, earlier) in segments.iter().skip(period).zip(segments) {
        run = if segment == earlier { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    u32::try_from(longest / period + 1).unwrap_or(u32::MAX)
}

fn same_segment(segments: &[&str]) -> Option<Trap> {
    if segments.len() <= SAME_SEGMENT_MAX {
        return None;
    }
    let times = segments.iter().map(|one| segments.iter().filter(|other| *other == one).count()).max()?;
    (times > SAME_SEGMENT_MAX).then_some(Trap::SameSegment { times })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f29_paths_that_repeat_themselves_are_traps() {
        let table = "
            /                        | -
            /a/a/a                   | -
            /a/a/a/a                 | 1 path segment(s) 4 times in a row, 3 are allowed
            /a/b/a/b/a/b             | -
            /a/b/a/b/a/b/a           | -
            /a/b/a/b/a/b/a/b         | 2 path segment(s) 4 times in a row, 3 are allowed
            /x/a/b/c/a/b/c/a/b/c/a/b/c/y | 3 path segment(s) 4 times in a row, 3 are allowed
            /a/1/a/2/a/3/a/4/a/5/a/6/a/7/a/8/a/9 | the same path segment 9 times, 8 are allowed
            /a/1/a/2/a/3/a/4/a/5/a/6/a/7/a/8     | -
            /////x                   | 1 path segment(s) 4 times in a row, 3 are allowed
            /2024/01/01/01           | -";
        for line in table.lines().filter(|line| line.contains('|')) {
            let (path, expected) = line.split_once('|').unwrap();
            let found = trap(path.trim(), 3).map_or("-".to_owned(), |trap| trap.to_string());
            assert_eq!(found, expected.trim(), "{path}");
        }
        assert_eq!(trap(&"/x".repeat(65), 1000), Some(Trap::Segments { count: 65 }));
        let all_different: String = (0..64).map(|n| format!("/{n}")).collect();
        assert_eq!(trap(&all_different, 3), None);
    }
}
