//! Numbers that are there, kept as ranges: as many as there are gaps between them.

use std::collections::BTreeMap;

/// First → last of each range; no two of them touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    pub(super) fn contains(&self, number: u64) -> bool {
        self.0.range(..=number).next_back().is_some_and(|(_, last)| *last >= number)
    }

    /// False if it was there already.
    pub(super) fn insert(&mut self, number: u64) -> bool {
        if self.contains(number) {
            return false;
        }
        let before = self.0.range(..number).next_back();
        let first =
            before.filter(|(_, last)| last.saturating_add(1) == number).map_or(number, |(first, _)| *first);
        let last = number.checked_add(1).and_then(|next| self.0.remove(&next)).unwrap_or(number);
        self.0.insert(first, last);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn l13_numbers_are_there_once(numbers in prop::collection::vec(prop_oneof![0..40u64, u64::MAX - 3..=u64::MAX], 0..80)) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for number in &numbers {
                prop_assert_eq!(ranges.insert(*number), set.insert(*number));
            }
            for number in (0..42).chain(u64::MAX - 5..=u64::MAX) {
                prop_assert_eq!(ranges.contains(number), set.contains(&number));
            }
            let gaps = set.iter().filter(|number| number.checked_sub(1).is_none_or(|before| !set.contains(&before)));
            prop_assert_eq!(ranges.0.len(), gaps.count());
        }
    }
}
