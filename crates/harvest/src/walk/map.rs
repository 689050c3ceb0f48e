//! The content map (L12): a line of cells from the lowest id to the highest, and below it where the
//! heads stand.
//!
//! `o` is a cell with content, `x` one with more holes than content, `·` one that nothing is known
//! of. A head that goes up is `>`, one that goes down is `<`. A walk that nothing but a margin ends
//! is drawn as far as it has come, with a little of what is ahead.

use std::io::IsTerminal;
use std::ops::RangeInclusive;

use policy::walk::{ID_MAX, Kind, Walk};

use super::standing::{WalkCell, WalkHead, WalkLeg};

/// Cells where there is no terminal to say how many fit.
pub const CELLS: usize = 64;
/// Of what was walked, so much is drawn of what is ahead.
const AHEAD_PARTS: u64 = 8;
const AHEAD_IDS_MIN: u64 = 4;

pub struct Map {
    cells: Vec<WalkCell>,
    /// By cell.
    heads: Vec<(usize, WalkLeg)>,
    /// There is more above.
    open: bool,
}

impl Map {
    pub fn of(walk: &Walk, cells_max: usize) -> Map {
        let shown = shown(walk);
        let cells = walk.cells(*shown.start(), *shown.end(), cells_max).iter().map(WalkCell::from).collect();
        let heads: Vec<WalkHead> = walk.heads().iter().map(WalkHead::from).collect();
        Map::drawn(cells, &heads, walk.settings().max().is_none())
    }

    /// What somebody else has counted; `open` if there is more above.
    pub fn drawn(cells: Vec<WalkCell>, heads: &[WalkHead], open: bool) -> Map {
        let at = |id: u64| cells.iter().position(|cell| (cell.from..=cell.to).contains(&id));
        let heads = heads.iter().filter_map(|head| Some((at(head.at?)?, head.leg))).collect();
        Map { cells, heads, open }
    }

    /// The map and its heads, each line with this before it.
    pub fn lines(&self, before: &str, colours: bool) -> [String; 2] {
        let (Some(first), Some(last)) = (self.cells.first(), self.cells.last()) else {
            return [format!("{before}nothing"), String::new()];
        };
        let begin = format!("{before}{} ", first.from);
        let cells = self.signs(colours);
        let beyond = if self.open { "…" } else { "" };
        let below = " ".repeat(begin.chars().count());
        [format!("{begin}{cells} {}{beyond}", last.to), format!("{below}{}", self.marks().trim_end())]
    }

    fn marks(&self) -> String {
        let mut marks = vec![' '; self.cells.len()];
        for (at, leg) in &self.heads {
            marks[*at] = match (*leg, marks[*at]) {
                (_, '<' | '>') => '^',
                (WalkLeg::Up, _) => '>',
                (WalkLeg::Down, _) => '<',
            };
        }
        marks.into_iter().collect()
    }

    fn signs(&self, colours: bool) -> String {
        let (mut signs, mut last) = (String::new(), "");
        for (sign, colour) in self.cells.iter().map(sign) {
            if colours && colour != last {
                signs.push_str(&format!("\x1b[{colour}m"));
                last = colour;
            }
            signs.push(sign);
        }
        let end = if colours { "\x1b[0m" } else { "" };
        signs + end
    }
}

/// Columns that the numbers beside the cells take.
pub fn margins(walk: &Walk) -> usize {
    let shown = shown(walk);
    shown.start().to_string().len() + shown.end().to_string().len() + 3
}

/// What the map shows: the bounds, or what is walked where they are not what ends it.
pub fn shown(walk: &Walk) -> RangeInclusive<u64> {
    let settings = walk.settings();
    let bounds = settings.min()..=settings.max().unwrap_or(ID_MAX);
    let walked = walk.covered().unwrap_or(settings.start()..=settings.start());
    if settings.margin().is_none() && settings.max().is_some() {
        return *bounds.start().min(walked.start())..=*bounds.end().max(walked.end());
    }
    let ids = (walked.end() - walked.start()) / AHEAD_PARTS;
    let ahead = ids.max(AHEAD_IDS_MIN.saturating_mul(settings.step()));
    let remains = |at: u64| walk.ranges(Kind::Unknown, at).next().is_some();
    let below = walk.ranges(Kind::Unknown, 0).next().is_some_and(|first| first.start() < walked.start());
    let from = if below { walked.start().saturating_sub(ahead) } else { *walked.start() };
    let to = if remains(walked.end().saturating_add(1)) {
        walked.end().saturating_add(ahead)
    } else {
        *walked.end()
    };
    from.max(*bounds.start()).min(*walked.start())..=to.min(*bounds.end()).max(*walked.end())
}

/// The sign of a cell, and its colour as a terminal knows it.
fn sign(cell: &WalkCell) -> (char, &'static str) {
    match (cell.content, cell.holes) {
        (0, 0) => ('·', "0;2"),
        (content, holes) if content >= holes => ('o', "0;32"),
        _ => ('x', "0;31"),
    }
}

/// Whether what goes there is to have colours.
pub fn has_colours(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

#[cfg(test)]
mod tests {
    use policy::time::Time;
    use policy::walk::{Draft, Leg, Outcome, Step, WalkSettings};

    use super::*;

    /// A walk from 10 both ways, after so many steps; multiples of five are missing.
    fn walked(steps: usize, margin: Option<u32>) -> Walk {
        let bounds = (Some(1), if margin.is_some() { None } else { Some(20) });
        let template = "http://a.test/{id}".to_owned();
        let draft =
            Draft { template, from: Some(10), min: bounds.0, max: bounds.1, margin, ..Draft::default() };
        let mut walk = Walk::new(WalkSettings::new(draft).unwrap());
        for leg in [Leg::Up, Leg::Down].into_iter().cycle().take(steps) {
            let Step::Fetch { id, .. } = walk.next(leg, Time(0)) else { continue };
            let outcome = if id.is_multiple_of(5) { Outcome::Absent } else { Outcome::Exists };
            walk.result(id, outcome, Time(0));
        }
        walk
    }

    #[test]
    fn l12_the_map_has_signs_and_heads() {
        let lines = |steps, margin| Map::of(&walked(steps, margin), 64).lines("", false);
        assert_eq!(lines(0, None), ["1 ···················· 20", "  "]);
        assert_eq!(lines(1, None), ["1 ·········x·········· 20", "           >"]);
        assert_eq!(lines(6, None), ["1 ······oooxoo········ 20", "        <    >"]);
        assert_eq!(lines(40, None), ["1 ooooxooooxooooxoooox 20", "  <                  >"]);
        assert_eq!(lines(6, Some(3)), ["3 ····oooxoo···· 16…", "      <    >"]);
    }

    #[test]
    fn l12_cells_of_many_ids_show_what_most_are() {
        let map = Map::of(&walked(14, None), 5);
        assert_eq!(map.lines("> ", false)[0], "> 1 oooo· 20");
        let coloured = map.lines("> ", true)[0].clone();
        assert_eq!(coloured, "> 1 \x1b[0;32moooo\x1b[0;2m·\x1b[0m 20", "a colour once for all that have it");
    }
}
