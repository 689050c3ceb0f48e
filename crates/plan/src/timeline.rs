//! The timeline as text: a line per URL, a column per step of time.

use std::io::{self, Write};

use policy::unit::print_duration;

use crate::Grid;
use crate::forecast::{Forecast, UrlFact};
use crate::mark::{Mark, MarkLook};
use crate::text::{cut, short, write_more};

/// URLs shown unless all are asked for.
pub const ROWS_SHOWN: usize = 40;
const LABEL_CHARS: usize = 28;
const SEED_CHARS: usize = 12;
/// Between label, seed and marks.
const GAPS: usize = 4;
const COLUMNS_MIN: usize = 20;
/// A label of the axis and the room around it, in columns.
const TICK_COLUMNS: usize = 6;

/// How the terminal is.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub width: usize,
    pub colours: bool,
}

/// The URLs to show when there is room for so many: the seeds, those in trouble, and the first of
/// the rest, in their usual order.
pub fn choose(urls: &[UrlFact], room: usize) -> Vec<&UrlFact> {
    if urls.len() <= room {
        return urls.iter().collect();
    }
    let rank = |fact: &UrlFact| match (fact.is_seed, fact.row.troubles > 0) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    };
    // No kind takes all the room; what the first two leave free the others fill.
    let mut left: [usize; 3] = [room / 2, room / 4, room];
    let mut chosen = vec![false; urls.len()];
    let mut free = room;
    for fill in [false, true] {
        for (fact, chosen) in urls.iter().zip(&mut chosen) {
            let left = &mut left[rank(fact)];
            let wanted = fill || (*left > 0 && rank(fact) < 2);
            if wanted && free > 0 && !*chosen {
                *chosen = true;
                free -= 1;
                *left = left.saturating_sub(1);
            }
        }
    }
    urls.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(fact, _)| fact).collect()
}

/// Prints the URLs of the forecast, at most `rows` of them.
pub fn write(
    out: &mut impl Write,
    forecast: &Forecast,
    fine: &Grid,
    look: Look,
    rows: usize,
) -> io::Result<()> {
    // A third of what is beyond 80 columns goes to the URLs.
    let width = LABEL_CHARS + look.width.saturating_sub(80) / 3;
    let before_marks = width + SEED_CHARS + GAPS;
    let grid = fine.coarser(look.width.saturating_sub(before_marks).max(COLUMNS_MIN));
    let times = grid.times(fine);
    writeln!(out, "Timeline: one column is {}\n", print_duration(grid.step))?;
    writeln!(out, "{}{}", " ".repeat(before_marks), axis(&grid))?;
    let chosen = choose(&forecast.urls, rows);
    let several = forecast.urls.windows(2).any(|pair| pair[0].collection != pair[1].collection);
    let mut collection = None;
    for fact in &chosen {
        if several && collection != Some(&fact.collection) {
            writeln!(out, "{}:", fact.collection)?;
            collection = Some(&fact.collection);
        }
        let seed = fact.queued_for().map_or("–", short);
        let marks = marks(fact.row.coarser(times), look.colours);
        let (label, seed) = (cut(short(&fact.url), width), cut(seed, SEED_CHARS));
        writeln!(out, "{label:<width$}  {seed:<SEED_CHARS$}  {marks}")?;
    }
    write_more(out, forecast.urls.len() - chosen.len(), "URLs")?;
    writeln!(out, "\n{}", legend(look.colours))
}

fn axis(grid: &Grid) -> String {
    let mut line = String::new();
    for (column, label) in grid.ticks(TICK_COLUMNS) {
        let blanks = column.saturating_sub(line.chars().count());
        line.push_str(&" ".repeat(blanks));
        line.push_str(&label);
    }
    line
}

fn marks(cells: impl Iterator<Item = Mark>, colours: bool) -> String {
    let text: String = match colours {
        false => cells.map(Mark::sign).collect(),
        true => cells.map(coloured).collect(),
    };
    text.trim_end().to_owned()
}

fn coloured(mark: Mark) -> String {
    let MarkLook { sign, colour, .. } = mark.look();
    colour.map_or_else(|| sign.to_string(), |colour| format!("\u{1b}[{colour}m{sign}\u{1b}[0m"))
}

fn legend(colours: bool) -> String {
    let entry = |mark: Mark| format!("{} {}", marks(std::iter::once(mark), colours), mark.look().says);
    Mark::SHOWN.map(entry).join("  ")
}

#[cfg(test)]
mod tests {
    use policy::time::{Span, Time};

    use super::*;
    use crate::rows::UrlRow;

    fn fact(url: &str, is_seed: bool, troubles: u64) -> UrlFact {
        let grid = Grid::new(Time(0), Span::days(30));
        let mut row = UrlRow::new(&grid, "a.no");
        row.troubles = troubles;
        row.waited(&grid, Time(0));
        row.ended(Mark::Waiting);
        UrlFact { collection: "c".into(), url: url.into(), state: None, record: None, is_seed, row }
    }

    fn printed(urls: Vec<UrlFact>, width: usize, rows: usize) -> String {
        let (waiting, contract) = Default::default();
        let (feasibility, budgets, endings) = Default::default();
        let forecast = Forecast { end: Time(0), urls, waiting, contract, feasibility, budgets, endings };
        let grid = Grid::new(Time(0), Span::days(30));
        let mut out = Vec::new();
        write(&mut out, &forecast, &grid, Look { width, colours: false }, rows).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn marks_stand_under_the_axis_and_lines_fit() {
        let long = format!("https://a.no/{}", "x".repeat(200));
        for width in [80, 81, 120, 200] {
            let text = printed(vec![fact("https://a.no/", true, 0), fact(&long, false, 0)], width, 40);
            let lines: Vec<&str> = text.lines().collect();
            let axis = lines[2].find('0').unwrap();
            assert_eq!(lines[3].chars().position(|c| c == '·'), Some(axis), "{text}");
            assert!(lines[..5].iter().all(|line| line.chars().count() <= width), "{text}");
        }
        let narrow = printed(vec![fact("https://a.no/", true, 0)], 80, 40);
        assert!(narrow.starts_with("Timeline: one column is 1d\n\n"), "{narrow}");
        assert!(printed(vec![fact("https://a.no/", true, 0)], 140, 40).contains("one column is 12h"));
    }

    #[test]
    fn seeds_and_troubles_are_shown_first_and_the_rest_is_counted() {
        let mut urls: Vec<UrlFact> =
            (0..100).map(|n| fact(&format!("https://a.no/{n:03}"), false, 0)).collect();
        urls.push(fact("https://b.no/", true, 0));
        urls.push(fact("https://c.no/", false, 3));
        let text = printed(urls, 80, 10);
        assert!(
            text.contains("\nb.no ") && text.contains("\nc.no ") && text.contains("\na.no/007 "),
            "{text}"
        );
        assert!(
            !text.contains("a.no/008") && text.contains("… and 92 more URLs: --all shows them"),
            "{text}"
        );
    }

    #[test]
    fn room_is_filled_whatever_there_is_most_of() {
        for (seed, troubles) in [(true, 0), (false, 1), (false, 0)] {
            let urls: Vec<UrlFact> =
                (0..100).map(|n| fact(&format!("https://a.no/{n}"), seed, troubles)).collect();
            assert_eq!(choose(&urls, 40).len(), 40);
        }
        assert!(choose(&[], 40).is_empty());
    }
}
