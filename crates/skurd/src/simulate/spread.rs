//! How values are spread, in a bounded number of counters: exact to a sixteenth.

/// Counters per power of two.
const PARTS: u64 = 16;
const PARTS_LOG2: u32 = 4;

#[derive(Clone, Debug, Default)]
pub(crate) struct Spread {
    counts: Vec<u64>,
    total: u64,
}

impl Spread {
    pub(crate) fn add(&mut self, value: u64) {
        let at = place(value);
        if self.counts.len() <= at {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
        self.total += 1;
    }

    /// At most this is the given percentage of the values; the greatest value of its counter.
    pub(crate) fn percentile(&self, percent: u64) -> u64 {
        let rank = (u128::from(self.total) * u128::from(percent)).div_ceil(100).max(1);
        let mut seen = 0u128;
        for (at, count) in self.counts.iter().enumerate() {
            seen += u128::from(*count);
            if seen >= rank {
                return greatest(at);
            }
        }
        0
    }
}

fn place(value: u64) -> usize {
    if value < PARTS {
        return usize::try_from(value).unwrap_or(0);
    }
    let power = value.ilog2() - PARTS_LOG2;
    let place = PARTS * u64::from(power + 1) + ((value >> power) - PARTS);
    usize::try_from(place).unwrap_or(0)
}

fn greatest(place: usize) -> u64 {
    let place = u64::try_from(place).unwrap_or(0);
    if place < PARTS {
        return place;
    }
    let (power, part) = (place / PARTS - 1, place % PARTS);
    ((PARTS + part) << power) + ((1 << power) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact_to_a_sixteenth() {
        let mut spread = Spread::default();
        assert_eq!(spread.percentile(99), 0);
        for value in 1..=1000 {
            spread.add(value);
        }
        for percent in [1, 50, 95, 99, 100] {
            let (exact, given) = (percent * 10, spread.percentile(percent));
            assert!(given >= exact && given <= exact + exact / 16 + 1, "{percent}: {given}");
        }
    }

    #[test]
    fn places_and_their_greatest_values_agree() {
        let mut last = 0;
        for value in (0..5000).chain([u64::MAX / 2, u64::MAX]) {
            let at = place(value);
            assert!(at >= last && greatest(at) >= value, "{value}");
            assert!(at == 0 || greatest(at - 1) < value, "{value}");
            last = at;
        }
    }
}
