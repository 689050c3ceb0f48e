//! A walk: its figures, the map of its ids, and what can be done with it.

use app::walks::{Look, WalkDetail, WalkItem, WalkState, get_walk};
use app::{Answer, Kind, Problem};
use harvest::walk::WalkCell;
use maud::{Markup, Render, html};
use policy::walk::WalkSettings;
use server::api::Path;

use super::super::address::href;
use super::super::declared::link;
use super::super::forms::Face;
use super::super::layout::{Table, Visit, empty, facts, section};
use super::super::spark::parts;
use super::super::text::{number, or_dash, shown, span, time};
use super::{heads, left, map, path, state};
use crate::Shown;

/// Stretches told one by one.
const STRETCHES: usize = 16;
/// Of what was tried, the way to a bound is drawn so many times.
const AHEAD_TIMES: u64 = 20;
const TRIED_IDS_MIN: u64 = 64;

pub(in super::super) async fn one(visit: Visit, Path(name): Path<String>) -> Shown {
    let number_of = |name| visit.asked(name).and_then(|text| text.parse::<u64>().ok());
    let part = number_of("from").zip(number_of("to"));
    let WalkDetail { item: walk, stretches: cells, .. } = detail(&visit, &name, part).await?;
    let is_paused = walk.paused.iter().any(|what| what == "walk");
    let main = html! {
        p.crumbs { a href="/walks" { "Walks" } }
        div.title {
            h1 { (shown(&walk.name)) }
            (state(&walk))
            div.actions {
                (visit.pause_button("walk", &walk.name, is_paused))
                (visit.switch_button("walks", &walk.name, walk.active))
            }
        }
        p.address { (shown(&walk.standing.template)) }
        (rests(&walk))
        (figures(&walk))
        (section("map", "Map", html! {
            @if walk.begun { (zoom(&visit, &walk, part, &cells)) }
            @if !walk.begun {
                (empty("Nothing of it has been tried yet.", html! {
                    p { "It begins when its turn comes, unless it is paused or " a href="/" { "everything" } " is." }
                }))
            } @else if cells.is_empty() {
                (empty("This walk has no such ids.", html! { p { a href=(path(&walk.name)) { "Show all" } } }))
            } @else {
                (map::draw(&cells, &walk.standing.heads))
            }
        }))
        @if walk.begun && !cells.is_empty() { (stretches(&walk, &coarse(&cells))) }
        (resume_buttons(&visit, &walk))
    };
    Ok(visit.page(&walk.name, main))
}

/// With the map of these ids, or of all there is something to say of.
async fn detail(visit: &Visit, name: &str, part: Option<(u64, u64)>) -> Answer<WalkDetail> {
    let (from, to) = match part {
        Some((one, other)) => (one.min(other), one.max(other)),
        None => {
            let nothing = Look { ranges: Some(0), cells: Some(0), ..Look::default() };
            worth_showing(&get_walk(&visit.site.app, name.to_owned(), nothing).await?.item)?
        }
    };
    let look = Look { ranges: Some(0), cells: Some(map::CELLS), from: Some(from), to: Some(to) };
    get_walk(&visit.site.app, name.to_owned(), look).await
}

fn resume_buttons(visit: &Visit, walk: &WalkItem) -> Markup {
    let button = |resume: &str, label: &str| {
        let fields = [("name", walk.name.as_str()), ("resume", resume)];
        visit.button("/act/walk", &fields, &Face { label, class: "plain", says: None })
    };
    let is_walked = walk.state == WalkState::Open && walk.active && walk.paused.is_empty();
    let inside = html! {
        @if walk.state == WalkState::NotBegun {
            p { "It can go on once it has begun." }
        } @else if is_walked {
            p { "It is being walked. When its run has ended, or while it is paused, it can go on in another way." }
        } @else {
            div.actions {
                (button("continue", "With what is left"))
                (button("holes", &format!("With the {} missing", number(walk.standing.counts.holes))))
                (button("both", "With both"))
            }
        }
        @if let Some(last) = &walk.last {
            p.faint { "The last of " (number(walk.standing.requests)) " requests was at " (time(last)) "." }
        }
    };
    section("resume", "Go on", inside)
}

/// What was tried, and the way to the bounds where they are near enough to be seen beside it.
fn worth_showing(walk: &WalkItem) -> Answer<(u64, u64)> {
    let settings: WalkSettings =
        serde_json::from_value(walk.settings.clone()).map_err(|error| Problem::internal(&error))?;
    let heads = walk.standing.heads.iter().filter_map(|head| head.at);
    let (low, high) =
        heads.fold((settings.start(), settings.start()), |(low, high), at| (low.min(at), high.max(at)));
    let near = (high - low).max(TRIED_IDS_MIN).saturating_mul(AHEAD_TIMES);
    let is_near = |bound: &u64| bound.abs_diff(low).min(bound.abs_diff(high)) <= near;
    let from = Some(settings.min()).filter(is_near).unwrap_or(low);
    let to = settings.max().filter(is_near).unwrap_or(high);
    Ok((from.min(low), to.max(high)))
}

/// What keeps it waiting besides its own switches.
fn rests(walk: &WalkItem) -> Markup {
    html! {
        @for what in &walk.paused {
            @match what.as_str() {
                "everything" => p { "It waits: " a href="/" { "everything" } " is paused." },
                "collection" => p { "It waits: its collection is paused." },
                "host" => p { "It waits: its host is paused on the page of " a href="/hosts" { "hosts" } "." },
                _ => {},
            }
        }
    }
}

fn figures(walk: &WalkItem) -> Markup {
    let standing = &walk.standing;
    facts(&[
        ("Found", html! { (number(standing.counts.content)) }),
        ("Missing", html! { (number(standing.counts.holes)) }),
        ("Left", left(walk)),
        ("Heads", heads(walk)),
        ("Requests of this run", html! { (number(standing.requests)) }),
        ("Rate", or_dash(standing.requests_per_second.map(|rate| format!("{rate:.1} a second")).as_deref())),
        ("Forecast", forecast(walk)),
        ("Profile", link(Kind::Profile, &walk.profile)),
    ])
}

fn forecast(walk: &WalkItem) -> Markup {
    let standing = &walk.standing;
    html! {
        @match (walk.state, standing.counts.remaining, standing.seconds_left) {
            (WalkState::Ended, ..) => "its run has ended",
            (_, None, _) => "no bound is known; the margin ends it",
            (_, Some(_), Some(left)) => { "about " (span(left.saturating_mul(1000))) " more, at this rate" },
            (_, Some(_), None) => "when it has a rate",
        }
    }
}

/// Which ids the map shows, and how to see others.
fn zoom(visit: &Visit, walk: &WalkItem, part: Option<(u64, u64)>, cells: &[WalkCell]) -> Markup {
    let drawn = cells.first().zip(cells.last()).map(|(first, last)| (first.from, last.to));
    let (from, to) = drawn.or(part).unwrap_or_default();
    html! {
        form.search method="get" {
            div.row {
                label for="from" { "From id" }
                input #from type="text" name="from" value=(from) inputmode="numeric" pattern="[0-9]*" maxlength="20";
                label for="to" { "to id" }
                input #to type="text" name="to" value=(to) inputmode="numeric" pattern="[0-9]*" maxlength="20";
                button type="submit" { "Show" }
                @if visit.asked("from").is_some() { a href=(path(&walk.name)) { "Show all" } }
            }
        }
    }
}

/// As few cells as can be told one by one.
fn coarse(cells: &[WalkCell]) -> Vec<WalkCell> {
    let joined = |sum: WalkCell, cell: WalkCell| WalkCell {
        content: sum.content + cell.content,
        from: sum.from,
        holes: sum.holes + cell.holes,
        to: cell.to,
        unknown: sum.unknown + cell.unknown,
    };
    let chunks = cells.chunks(cells.len().div_ceil(STRETCHES).max(1));
    chunks.filter_map(|chunk| chunk.iter().cloned().reduce(joined)).collect()
}

fn stretches(walk: &WalkItem, cells: &[WalkCell]) -> Markup {
    let closer = |cell: &WalkCell| {
        let (from, to) = (cell.from.to_string(), cell.to.to_string());
        html! { a href=(href(&path(&walk.name), &[("from", &from), ("to", &to)])) { (map::ids(cell)) } }
    };
    let share = |cell: &WalkCell| {
        let whole = [("good", cell.content), ("bad", cell.holes), ("grey", cell.unknown)];
        parts("Found, missing, not tried", &whole)
    };
    let table = Table::new("Stretches", cells)
        .styled(true, Some("ids"), "Ids", closer)
        .styled(false, Some("share"), "Found and missing", share)
        .figures("Found", |cell| number(cell.content))
        .figures("Missing", |cell| number(cell.holes))
        .figures("Not tried", |cell| number(cell.unknown));
    section("stretches", "Stretch by stretch", table.render())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(count: u64) -> Vec<WalkCell> {
        (0..count)
            .map(|n| WalkCell { content: 1, from: 10 * n, holes: 2, to: 10 * n + 9, unknown: n })
            .collect()
    }

    #[test]
    fn l12_few_stretches_tell_all_that_the_cells_do() {
        for count in [0, 1, 15, 16, 17, 60, 576] {
            let (fine, few) = (cells(count), coarse(&cells(count)));
            assert!(few.len() <= STRETCHES, "{count}");
            assert_eq!(few.first().map(|cell| cell.from), fine.first().map(|cell| cell.from));
            assert_eq!(few.last().map(|cell| cell.to), fine.last().map(|cell| cell.to));
            assert!(few.windows(2).all(|pair| pair[0].to + 1 == pair[1].from), "{count}");
            let all = |cells: &[WalkCell]| {
                cells.iter().map(|cell| cell.content + cell.holes + cell.unknown).sum::<u64>()
            };
            assert_eq!(all(&few), all(&fine), "{count}");
        }
    }
}
