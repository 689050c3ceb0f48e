//! The life of one URL as a row of marks.

use policy::time::Time;
use sim::Harvest;

use crate::Grid;
use crate::mark::Mark;

#[derive(Clone, Debug, Default)]
pub struct UrlRow {
    pub host: String,
    pub cells: Box<[Mark]>,
    pub harvests: u64,
    pub troubles: u64,
    /// The first column that has not been filled yet.
    next: usize,
    /// What it is until it is harvested again.
    rests: Mark,
}

impl UrlRow {
    pub fn new(grid: &Grid, host: &str) -> UrlRow {
        let cells = vec![Mark::Absent; grid.columns()].into_boxed_slice();
        UrlRow { host: host.to_owned(), cells, ..UrlRow::default() }
    }

    pub fn harvested(&mut self, grid: &Grid, harvest: &Harvest) {
        let mark = mark_of(harvest);
        self.harvests += 1;
        self.troubles += u64::from(mark.is_trouble());
        self.waited(grid, harvest.due);
        let column = grid.column(harvest.ended);
        self.fill(column, self.rests);
        self.show(column, mark);
        self.next = column + 1;
        self.rests = match (harvest.next_due, mark) {
            (Some(_), _) => Mark::Waiting,
            (None, mark) if mark.is_trouble() => Mark::Blacklisted,
            (None, _) => Mark::Out,
        };
        if self.rests == Mark::Blacklisted {
            self.show(column, Mark::Blacklisted);
        }
    }

    /// It has been in the queue since then at the latest.
    pub fn waited(&mut self, grid: &Grid, due: Time) {
        if self.rests != Mark::Waiting {
            self.fill(grid.column(due), self.rests);
            self.rests = Mark::Waiting;
        }
    }

    /// The run is over, and this is what it is now.
    pub fn ended(&mut self, state: Mark) {
        self.fill(self.cells.len(), state);
    }

    fn fill(&mut self, to: usize, mark: Mark) {
        for column in self.next..to.min(self.cells.len()) {
            self.show(column, mark);
        }
        self.next = self.next.max(to);
    }

    fn show(&mut self, column: usize, mark: Mark) {
        if let Some(cell) = self.cells.get_mut(column) {
            *cell = mark.max(*cell);
        }
    }

    /// The marks with so many columns as one.
    pub fn coarser(&self, times: usize) -> impl Iterator<Item = Mark> {
        self.cells.chunks(times.max(1)).map(|chunk| chunk.iter().copied().max().unwrap_or_default())
    }
}

fn mark_of(harvest: &Harvest) -> Mark {
    match harvest.status {
        None => Mark::Failed,
        Some(404 | 410) => Mark::NotFound,
        Some(429 | 500..) => Mark::Failed,
        Some(_) if harvest.unchanged => Mark::Unchanged,
        Some(_) => Mark::Fresh,
    }
}

#[cfg(test)]
mod tests {
    use policy::time::Span;

    use super::*;

    fn harvest(day: u64, status: u16, again: bool) -> Harvest {
        let at = Time(0).plus(Span::days(day));
        Harvest {
            collection: "c".into(),
            url: "https://a.no/".into(),
            host: "a.no".into(),
            seed: "a".into(),
            walk: None,
            due: at,
            began: at,
            ended: at.plus(Span(200)),
            status: Some(status),
            error: None,
            unchanged: day > 2,
            version: 0,
            next_due: again.then(|| at.plus(Span::days(1))),
            profiles: Vec::new(),
            added: 0,
            links: Vec::new(),
        }
    }

    /// A row of ten days, two columns a day.
    fn drawn(harvests: &[Harvest], end: Mark) -> String {
        let grid = Grid { start: Time(0), length: Span::days(10), step: Span::hours(12) };
        let mut row = UrlRow::new(&grid, "a.no");
        for harvest in harvests {
            row.harvested(&grid, harvest);
        }
        row.ended(end);
        row.cells.iter().map(|mark| mark.sign()).collect()
    }

    #[test]
    fn a_row_tells_the_life_of_a_url() {
        let ok = |day| harvest(day, 200, true);
        let table = [
            ("harvested and waiting", vec![ok(1), ok(2), ok(3)], Mark::Waiting, "  ●·●·○·············"),
            (
                "in trouble",
                vec![ok(1), harvest(2, 404, true), harvest(3, 503, true)],
                Mark::Waiting,
                "  ●·?·!·············",
            ),
            ("blacklisted", vec![ok(0), harvest(1, 404, false)], Mark::Blacklisted, "●·××××××××××××××××××"),
            ("done", vec![harvest(0, 200, false)], Mark::Out, "●-------------------"),
            (
                "done and started again",
                vec![harvest(0, 200, false), ok(4)],
                Mark::Waiting,
                "●-------○···········",
            ),
            ("removed while it waited", vec![ok(0)], Mark::Out, "●-------------------"),
        ];
        for (name, harvests, end, expected) in table {
            assert_eq!(drawn(&harvests, end), expected, "{name}");
        }
    }

    #[test]
    fn a_url_that_was_never_harvested_waits_from_its_due_time_on() {
        let grid = Grid { start: Time(0), length: Span::days(5), step: Span::days(1) };
        let mut row = UrlRow::new(&grid, "a.no");
        row.waited(&grid, Time(0).plus(Span::days(2)));
        row.ended(Mark::Waiting);
        assert_eq!(row.cells.iter().map(|mark| mark.sign()).collect::<String>(), "  ···");
        assert_eq!(row.coarser(2).map(Mark::sign).collect::<String>(), " ··");
    }
}
