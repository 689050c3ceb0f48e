//! The columns of a timeline: the simulated time in steps that a person can count.

use policy::time::{Span, Time};
use policy::unit::print_duration;

/// Columns that are kept: the picture shows all of them, the text as many together as the terminal
/// is narrow.
const COLUMNS_MAX: u64 = 120;

/// Steps a person can count, from small to large.
fn steps() -> impl Iterator<Item = Span> {
    let seconds = [1, 5, 15, 30].map(Span::seconds);
    let minutes = [1, 5, 10, 15, 30].map(Span::minutes);
    let hours = [1, 2, 3, 6, 12].map(Span::hours);
    let days = [1, 2, 7, 14, 28, 84, 182, 364, 1820, 3640].map(Span::days);
    seconds.into_iter().chain(minutes).chain(hours).chain(days)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    pub start: Time,
    pub length: Span,
    pub step: Span,
}

impl Grid {
    pub fn new(start: Time, length: Span) -> Grid {
        Grid { start, length, step: fitting(length, COLUMNS_MAX, Span(1)) }
    }

    pub fn columns(&self) -> usize {
        index(self.length.0.div_ceil(self.step.0.max(1)).max(1))
    }

    /// The column of a moment; what lies outside belongs to the first or last one.
    pub fn column(&self, at: Time) -> usize {
        index(at.since(self.start).0 / self.step.0.max(1)).min(self.columns() - 1)
    }

    /// The same time in at most so many columns; each is made of whole columns of this one.
    pub fn coarser(&self, columns: usize) -> Grid {
        let columns = u64::try_from(columns).unwrap_or(u64::MAX).max(1);
        Grid { step: fitting(self.length, columns, self.step), ..*self }
    }

    /// How many columns of `finer` one of this has.
    pub fn times(&self, finer: &Grid) -> usize {
        index(self.step.0 / finer.step.0.max(1)).max(1)
    }

    /// Where labels stand, at least `apart` columns from each other: the column and the time since
    /// the start.
    pub fn ticks(&self, apart: usize) -> Vec<(usize, String)> {
        let apart = Span(self.step.0.saturating_mul(u64::try_from(apart).unwrap_or(u64::MAX)));
        let every = steps().find(|step| *step >= apart && step.0.is_multiple_of(self.step.0));
        let every = every.unwrap_or(Span(apart.0.next_multiple_of(self.step.0.max(1)))).0.max(1);
        let label = |at: u64| if at == 0 { "0".to_owned() } else { print_duration(Span(at)) };
        let count = self.length.0.div_ceil(every);
        (0..count).map(|n| (index(n * every / self.step.0.max(1)), label(n * every))).collect()
    }
}

/// The shortest step that is made of `unit`s and gives at most so many columns.
fn fitting(length: Span, columns: u64, unit: Span) -> Span {
    let fits = |step: &Span| length.0.div_ceil(step.0) <= columns && step.0.is_multiple_of(unit.0.max(1));
    steps().find(fits).unwrap_or(Span(length.0.div_ceil(columns).next_multiple_of(unit.0.max(1)).max(1)))
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_whole_and_fit() {
        let table = [
            ("1h", Span::hours(1), 36, "30s", "5m"),
            ("1d", Span::days(1), 36, "15m", "1h"),
            ("30d", Span::days(30), 36, "6h", "1d"),
            ("30d wide", Span::days(30), 70, "6h", "12h"),
            ("1y", Span::days(365), 36, "1w", "2w"),
            ("1ms", Span(1), 36, "1s", "1s"),
        ];
        for (name, length, columns, fine, coarse) in table {
            let grid = Grid::new(Time(0), length);
            let shown = grid.coarser(columns);
            assert_eq!(print_duration(grid.step), fine, "{name}");
            assert_eq!(print_duration(shown.step), coarse, "{name}");
            assert!(shown.columns() <= columns && grid.columns() <= 120, "{name}");
            assert_eq!(shown.step.0, grid.step.0 * shown.times(&grid) as u64, "{name}");
        }
    }

    #[test]
    fn moments_outside_belong_to_the_edges() {
        let grid = Grid::new(Time(1000), Span::days(30));
        assert_eq!(grid.column(Time(0)), 0);
        assert_eq!(grid.column(Time(1000).plus(Span::hours(6))), 1);
        assert_eq!(grid.column(Time(i64::MAX)), grid.columns() - 1);
    }

    #[test]
    fn labels_do_not_touch() {
        let grid = Grid::new(Time(0), Span::days(30)).coarser(36);
        let ticks = grid.ticks(6);
        let expected = [(0, "0"), (7, "1w"), (14, "2w"), (21, "3w"), (28, "4w")];
        assert_eq!(ticks, expected.map(|(at, label)| (at, label.to_owned())));
    }
}
