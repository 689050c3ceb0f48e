//! The content map of a walk (L12): the ids in order, row by row, each cell one id or as many as
//! there is no room for.
//!
//! A cell is filled from below with what was found and from above with what was missing; a cell
//! where all was missing is crossed. The heads are framed. Colours come from the style sheet, and
//! the shapes tell the same without them.

use harvest::walk::{WalkCell, WalkHead};
use maud::{Markup, html};

use super::super::text::number;

const COLUMNS: usize = 48;
const ROWS: usize = 12;
/// Cells of a map at most.
pub(super) const CELLS: usize = COLUMNS * ROWS;
/// Of a cell, with the gap to the next.
const SIZE: f64 = 20.0;
const INNER: f64 = 17.0;

pub(super) fn draw(cells: &[WalkCell], heads: &[WalkHead]) -> Markup {
    let columns = cells.len().min(COLUMNS);
    let rows = cells.len().div_ceil(COLUMNS);
    let says = format!(
        "Ids {} to {}: {} found, {} missing",
        number(cells.first().map_or(0, |cell| cell.from)),
        number(cells.last().map_or(0, |cell| cell.to)),
        number(cells.iter().map(|cell| cell.content).sum()),
        number(cells.iter().map(|cell| cell.holes).sum()),
    );
    let each = cells.iter().map(|cell| cell.content + cell.holes + cell.unknown).max().unwrap_or(1);
    html! {
        figure.map {
            div.plot tabindex="0" role="region" aria-label="Map of ids" {
                svg viewBox=(format!("0 0 {} {}", place(columns), place(rows))) width=(place(columns)) height=(place(rows)) role="img" aria-label=(says) {
                    title { (says) }
                    @for (index, cell) in cells.iter().enumerate() { (one(heads, index, cell)) }
                }
            }
            figcaption {
                ul.legend {
                    li { span.swatch.good {} "found" }
                    li { span.swatch.bad {} "missing" }
                    li { span.swatch.unknown {} "not tried" }
                    li { span.swatch.head {} "a head stands here" }
                    li.faint { @if each > 1 { "up to " (number(each)) " ids a cell" } @else { "one id a cell" } }
                }
            }
        }
    }
}

fn one(heads: &[WalkHead], index: usize, cell: &WalkCell) -> Markup {
    let (x, y) = (place(index % COLUMNS), place(index / COLUMNS));
    let all = (cell.content + cell.holes + cell.unknown).max(1);
    let (found, missing) = (share(cell.content, all), share(cell.holes, all));
    let has_head = heads.iter().filter_map(|head| head.at).any(|at| (cell.from..=cell.to).contains(&at));
    let tip = format!(
        "{}: {} found, {} missing, {} not tried",
        ids(cell),
        number(cell.content),
        number(cell.holes),
        number(cell.unknown)
    );
    html! {
        g.cell.head[has_head] transform=(format!("translate({x} {y})")) {
            title { (tip) }
            rect.unknown width=(INNER) height=(INNER) rx="3" {}
            @if missing > 0.0 { rect.bad width=(INNER) height=(tall(missing)) rx="3" {} }
            @if found > 0.0 { rect.good y=(tall(1.0 - found)) width=(INNER) height=(tall(found)) rx="3" {} }
            @if cell.holes == all { path.cross d="M5 5L12 12M12 5L5 12" {} }
            @if has_head { rect.frame x="-1" y="-1" width=(INNER + 2.0) height=(INNER + 2.0) rx="4" {} }
        }
    }
}

/// The ids of a cell, from the first to the last.
pub(super) fn ids(cell: &WalkCell) -> String {
    match cell.from == cell.to {
        true => number(cell.from),
        false => format!("{} – {}", number(cell.from), number(cell.to)),
    }
}

fn tall(share: f64) -> String {
    format!("{:.1}", share * INNER)
}

#[allow(clippy::cast_precision_loss, reason = "a place on a drawing")]
fn place(cells: usize) -> f64 {
    cells as f64 * SIZE + 2.0
}

#[allow(clippy::cast_precision_loss, reason = "a share on a drawing")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}
