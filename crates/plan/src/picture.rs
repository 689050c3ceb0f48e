//! The timeline as a picture: SVG that stands on its own, with as much in it as a person can look
//! at.

mod compare;

use std::fmt::{self, Write};

use policy::unit::print_duration;

use crate::Grid;
use crate::adaptive::Compared;
use crate::forecast::{Forecast, UrlFact};
use crate::mark::{Mark, MarkLook};
use crate::text::{cut, number, short};
use crate::timeline::choose;

/// More rows than this nobody reads; the rest is counted.
pub const ROWS_MAX: usize = 100;

const WIDTH: usize = 1120;
const LEFT: usize = 380;
const RIGHT: usize = 30;
const TOP: usize = 96;
const ROW: usize = 18;
const BAR: usize = 10;
const FOOT: usize = 64;
const SEED_X: usize = 250;
/// An axis label and the room around it.
const TICK_PIXELS: usize = 56;
const LABEL_CHARS: usize = 34;
const SEED_CHARS: usize = 18;

const STYLE: &str = "
text{font:12px system-ui,'Segoe UI','Helvetica Neue',Arial,sans-serif;fill:#33404d}
.title{font-size:17px;font-weight:600;fill:#1d2733}
.quiet{fill:#7a8794}
.grid{stroke:#e6eaee;stroke-width:1}
path{fill:none;stroke-width:10}
.waiting{stroke:#d5dbe1;stroke-width:2}
.out{stroke:#d5dbe1;stroke-width:2;stroke-dasharray:1 4}
.unchanged{stroke:#9cc3dd}
.fresh{stroke:#2b6c9e}
.missing{stroke:#e0a83c}
.failed{stroke:#c94f43}
.blacklisted{stroke:#59636e}
.adaptive,.fixed{stroke-width:2;stroke-linejoin:round}
.adaptive{stroke:#2b6c9e}
.fixed{stroke:#c97a2b;stroke-dasharray:6 3}
";

/// What stands above the picture.
#[derive(Clone, Copy, Debug)]
pub struct Caption<'a> {
    pub title: &'a str,
    pub subtitle: &'a str,
}

/// With a drawing below it of each profile whose frequency adapts (F41).
pub fn draw(
    forecast: &Forecast,
    grid: &Grid,
    caption: Caption<'_>,
    compared: &[Compared],
) -> Result<String, fmt::Error> {
    let chosen = choose(&forecast.urls, ROWS_MAX);
    let more = forecast.urls.len() - chosen.len();
    let foot = TOP + chosen.len() * ROW;
    let rows_end = foot + FOOT + if more > 0 { ROW } else { 0 };
    let height = rows_end + compare::height(compared);
    let mut svg = String::new();
    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">"#
    )?;
    writeln!(svg, "<title>{}</title>\n<style>{STYLE}</style>", escaped(caption.title))?;
    writeln!(svg, r##"<rect width="100%" height="100%" fill="#fff"/>"##)?;
    writeln!(svg, r#"<text class="title" x="24" y="34">{}</text>"#, escaped(caption.title))?;
    writeln!(svg, r#"<text class="quiet" x="24" y="54">{}</text>"#, escaped(caption.subtitle))?;
    draw_axis(&mut svg, grid, foot)?;
    for (place, fact) in chosen.iter().enumerate() {
        draw_row(&mut svg, fact, grid, TOP + place * ROW + ROW / 2)?;
    }
    if more > 0 {
        let more = number(u64::try_from(more).unwrap_or(0));
        writeln!(svg, r#"<text class="quiet" x="24" y="{}">… and {more} more URLs</text>"#, foot + ROW - 4)?;
    }
    draw_legend(&mut svg, rows_end - 24)?;
    compare::draw(&mut svg, grid, compared, rows_end)?;
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// Tenths of a pixel are fine enough, and the same everywhere.
fn x(grid: &Grid, column: usize) -> String {
    let tenths = (WIDTH - LEFT - RIGHT) * 10 * column / grid.columns().max(1);
    match tenths % 10 {
        0 => (LEFT + tenths / 10).to_string(),
        rest => format!("{}.{rest}", LEFT + tenths / 10),
    }
}

fn draw_axis(svg: &mut String, grid: &Grid, foot: usize) -> fmt::Result {
    writeln!(
        svg,
        r#"<text class="quiet" x="24" y="{0}">URL</text><text class="quiet" x="{SEED_X}" y="{0}">seed in queue</text>"#,
        TOP - 10
    )?;
    let apart = (TICK_PIXELS * grid.columns()).div_ceil(WIDTH - LEFT - RIGHT);
    for (column, label) in grid.ticks(apart) {
        let x = x(grid, column);
        writeln!(svg, r#"<line class="grid" x1="{x}" x2="{x}" y1="{}" y2="{foot}"/>"#, TOP - 4)?;
        writeln!(svg, r#"<text class="quiet" x="{x}" y="{}" text-anchor="middle">{label}</text>"#, TOP - 10)?;
    }
    Ok(())
}

fn draw_row(svg: &mut String, fact: &UrlFact, grid: &Grid, middle: usize) -> fmt::Result {
    let label = escaped(&cut(short(&fact.url), LABEL_CHARS));
    let seed = escaped(&cut(fact.queued_for().map_or("–", short), SEED_CHARS));
    let base = middle + 4;
    writeln!(
        svg,
        r#"<text x="24" y="{base}">{label}</text><text class="quiet" x="{SEED_X}" y="{base}">{seed}</text>"#
    )?;
    for mark in Mark::SHOWN {
        let path = path_of(&fact.row.cells, mark, grid, middle);
        if !path.is_empty() {
            writeln!(svg, r#"<path class="{}" d="{path}"/>"#, mark.look().class)?;
        }
    }
    Ok(())
}

/// Stretches of one mark. Harvests stand apart from each other, waiting is one line.
fn path_of(cells: &[Mark], mark: Mark, grid: &Grid, middle: usize) -> String {
    let joined = matches!(mark, Mark::Waiting | Mark::Out | Mark::Blacklisted);
    let mut path = String::new();
    let mut column = 0;
    while column < cells.len() {
        let length = match joined {
            true => cells[column..].iter().take_while(|cell| **cell == mark).count(),
            false => usize::from(cells[column] == mark),
        };
        if length > 0 {
            path.push_str(&format!("M{} {middle}H{}", x(grid, column), x(grid, column + length)));
        }
        column += length.max(1);
    }
    path
}

fn draw_legend(svg: &mut String, y: usize) -> fmt::Result {
    let (mut left, middle) = (24, y - BAR / 2 + 1);
    for MarkLook { class, says, .. } in Mark::SHOWN.map(Mark::look) {
        let x = left + 25;
        writeln!(
            svg,
            r#"<path class="{class}" d="M{left} {middle}h18"/><text x="{x}" y="{y}">{says}</text>"#
        )?;
        left = x + 24 + 7 * says.len();
    }
    Ok(())
}

/// One column of the picture, in words.
pub fn step_text(grid: &Grid) -> String {
    format!("one cell is {}", print_duration(grid.step))
}

fn escaped(text: &str) -> String {
    let visible = text.replace(char::is_control, " ");
    visible.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
