//! F41: an adaptive frequency beside the fixed one, as two lines that grow: what is seen, and what is spent
//! for it.

use std::fmt::{self, Write};

use super::{LEFT, RIGHT, TICK_PIXELS, WIDTH, escaped, x};
use crate::Grid;
use crate::adaptive::{Compared, Course, Spent, sentences};
use crate::text::{cut, number};

/// More profiles than this nobody compares; the rest is in the text.
const PROFILES_MAX: usize = 6;
/// Room for the words above the drawings.
const HEAD: usize = 44;
const CHART: usize = 84;
const GAP: usize = 34;
const SENTENCE_CHARS: usize = 150;

/// What is drawn of each.
type Figure = (&'static str, fn(&Spent) -> u64);

const FIGURES: [Figure; 2] =
    [("changes seen", |spent| spent.seen), ("harvests spent", |spent| spent.harvests)];

const ONE: usize = HEAD + FIGURES.len() * (CHART + GAP);

pub(super) fn height(compared: &[Compared]) -> usize {
    compared.len().min(PROFILES_MAX) * ONE
}

pub(super) fn draw(svg: &mut String, grid: &Grid, compared: &[Compared], top: usize) -> fmt::Result {
    for (place, (own, sentence)) in compared.iter().zip(sentences(compared)).take(PROFILES_MAX).enumerate() {
        let top = top + place * ONE;
        let sentence = escaped(&cut(&sentence, SENTENCE_CHARS));
        writeln!(svg, r#"<text x="24" y="{}">{sentence}</text>"#, top + 18)?;
        for (nth, (name, figure)) in FIGURES.into_iter().enumerate() {
            let top = top + HEAD + nth * (CHART + GAP);
            draw_figure(svg, grid, own, (name, figure), top)?;
        }
    }
    Ok(())
}

fn draw_figure(
    svg: &mut String,
    grid: &Grid,
    own: &Compared,
    (name, figure): Figure,
    top: usize,
) -> fmt::Result {
    let (bottom, right) = (top + CHART, WIDTH - RIGHT);
    let ways = [("adaptive", &own.adaptive), ("fixed", &own.fixed)];
    let growing = ways.map(|(_, course)| course.growing(figure));
    let most = growing.iter().filter_map(|values| values.last()).copied().max().unwrap_or(0).max(1);
    writeln!(svg, r#"<text x="24" y="{}">{name}, in all</text>"#, top + 14)?;
    let apart = (TICK_PIXELS * grid.columns()).div_ceil(right - LEFT);
    for (column, label) in grid.ticks(apart) {
        let x = x(grid, column);
        writeln!(svg, r#"<line class="grid" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>"#)?;
        writeln!(
            svg,
            r#"<text class="quiet" x="{x}" y="{}" text-anchor="middle">{label}</text>"#,
            bottom + 16
        )?;
    }
    writeln!(svg, r#"<line class="grid" x1="{LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>"#)?;
    for (nth, ((class, course), values)) in ways.into_iter().zip(&growing).enumerate() {
        let path = path_of(grid, values, most, top);
        writeln!(svg, r#"<path class="{class}" d="{path}"/>"#)?;
        let y = top + 36 + nth * 18;
        let total = number(figure(&course.sum));
        writeln!(svg, r#"<path class="{class}" d="M24 {}h18"/>"#, y - 4)?;
        writeln!(svg, r#"<text x="49" y="{y}">{class} {total}{}</text>"#, each(course, name))?;
    }
    Ok(())
}

/// Of what is seen: how many harvests each costs.
fn each(course: &Course, name: &str) -> String {
    let Spent { harvests, seen, .. } = course.sum;
    match (name, harvests.saturating_mul(10).checked_div(seen)) {
        ("changes seen", Some(tenths)) => format!(", {}.{} harvests each", tenths / 10, tenths % 10),
        _ => String::new(),
    }
}

/// From the end of one column to the end of the next.
fn path_of(grid: &Grid, values: &[u64], most: u64, top: usize) -> String {
    let y = |value: u64| {
        let tenths = u128::from(value) * (CHART as u128) * 10 / u128::from(most);
        let tenths = (top + CHART) * 10 - usize::try_from(tenths).unwrap_or(CHART * 10);
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    let mut path = format!("M{} {}", x(grid, 0), y(0));
    for (column, value) in values.iter().enumerate() {
        path.push_str(&format!("L{} {}", x(grid, column + 1), y(*value)));
    }
    path
}
