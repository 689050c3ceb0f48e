//! Linear walks (spec 3): all of them with how far they are, and each with the map of its ids.

mod map;
mod sight;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use frontier::WalkError;
use maud::{Markup, html};
use policy::walk::{Cell, Leg, Resume, Why};

use super::Site;
use super::ask::href;
use super::forms::Face;
use super::layout::{Frame, Section, Visit, badge, columns, command, empty, facts, pager, table};
use super::spark::parts;
use super::text::{number, or_dash, shown, span, time};
use crate::api::{Answer, Path, Problem, segment};
use sight::Sight;

const ROWS: usize = 50;
/// Stretches told one by one.
const STRETCHES: usize = 16;

pub(super) async fn list(State(site): State<Site>, visit: Visit) -> Answer<Response> {
    let after = visit.asked("after").unwrap_or_default();
    let names = site.app.look(|catalog| {
        let mut names: Vec<String> =
            catalog.walks().map(|walk| walk.name.clone()).filter(|name| name.as_str() > after).collect();
        names.sort();
        names.truncate(ROWS + 1);
        names
    });
    let names = names.await?;
    let mut walks = Vec::new();
    for name in names.iter().take(ROWS) {
        walks.push(sight::of(&site.app, name, None).await.map_err(problem)?);
    }
    let next = names.get(ROWS).and_then(|_| names.get(ROWS - 1));
    let main = html! {
        div.title { h1 { "Walks" } }
        p.lead { "The ids of a URL template, one after the other: what was found, what was missing, and where each head stands." }
        @if walks.is_empty() {
            (empty("No walk is declared.", html! {
                p { "Begin one: " (command("skurd linear 'https://example.org/item/{id}' --from 1 --margin 20")) }
                p { "Or declare it under " code { "walks:" } " in a file: " (command("skurd config apply FILE")) }
            }))
        } @else {
            (table("Walks", columns(&["Walk", "State", "Found and missing", "#Found", "#Missing", "#Left", "Heads"]), html! {
                @for walk in &walks { (row(walk)) }
            }))
        }
        (pager(&visit, "after", next.map(String::as_str)))
    };
    Ok(site.page(&Frame { title: "Walks", section: Section::Walks, visit: &visit }, main))
}

fn row(walk: &Sight) -> Markup {
    let whole = [
        ("good", walk.counts.content),
        ("bad", walk.counts.holes),
        ("grey", walk.counts.remaining.unwrap_or(0)),
    ];
    html! {
        tr {
            th scope="row" { a href=(path(&walk.name)) { (shown(&walk.name)) } br; span.faint { (shown(&walk.template)) } }
            td { (state(walk)) }
            td.share { (parts("Found, missing, left", &whole)) }
            td.num { (number(walk.counts.content)) }
            td.num { (number(walk.counts.holes)) }
            td.num { (or_dash(walk.counts.remaining.map(number).as_deref())) }
            td { (heads(walk)) }
        }
    }
}

fn path(name: &str) -> String {
    format!("/walks/{}", segment(name))
}

fn state(walk: &Sight) -> Markup {
    match walk {
        Sight { active: false, .. } => badge("warn", "disabled"),
        Sight { paused: true, .. } => badge("warn", "paused"),
        Sight { ended: true, .. } => badge("plain", "ended"),
        Sight { walking: true, .. } => badge("good", "walking"),
        Sight { is_new: true, .. } => badge("plain", "not begun"),
        _ => badge("calm", "waiting"),
    }
}

fn heads(walk: &Sight) -> Markup {
    html! {
        @for (place, head) in walk.heads.iter().enumerate() {
            @if place > 0 { br; }
            @match head.leg { Leg::Up => "up ", Leg::Down => "down " }
            b { (or_dash(head.at.map(number).as_deref())) }
            @match head.ended {
                Some(Why::Bound) => " at its bound",
                Some(Why::Margin) => " at its margin",
                Some(Why::Interrupted) => " was interrupted",
                None => { @if head.misses > 0 { ", " (number(head.misses)) " missed in a row" } },
            }
        }
    }
}

pub(super) async fn one(
    State(site): State<Site>,
    visit: Visit,
    Path(name): Path<String>,
) -> Answer<Response> {
    let number_of = |name| visit.asked(name).and_then(|text| text.parse::<u64>().ok());
    let part = number_of("from").zip(number_of("to"));
    let walk = sight::of(&site.app, &name, part).await.map_err(problem)?;
    let main = html! {
        p.crumbs { a href="/walks" { "Walks" } }
        div.title { h1 { (shown(&walk.name)) } (state(&walk)) div.actions { (site.pause_button(&visit, &walk)) } }
        p.address { (shown(&walk.template)) }
        (figures(&walk))
        section aria-labelledby="map" {
            h2 #map { "Map" }
            @if walk.cells.is_empty() {
                (empty("Nothing of it has been tried yet.", html! {
                    p { "It begins when its turn comes, unless it is paused or " a href="/" { "everything" } " is." }
                }))
            } @else {
                (zoom(&visit, &walk))
                (map::draw(&walk))
            }
        }
        @if !walk.stretches.is_empty() { (stretches(&visit, &walk.stretches)) }
        (site.resume_buttons(&visit, &walk))
    };
    Ok(site.page(&Frame { title: &walk.name, section: Section::Walks, visit: &visit }, main))
}

fn figures(walk: &Sight) -> Markup {
    html! {
        (facts(&[
            ("Found", html! { (number(walk.counts.content)) }),
            ("Missing", html! { (number(walk.counts.holes)) }),
            ("Left", or_dash(walk.counts.remaining.map(number).as_deref())),
            ("Heads", heads(walk)),
            ("Requests of this run", html! { (number(walk.run.requests)) }),
            ("Rate", match walk.rate() { Some(rate) => html! { (format!("{rate:.1} a second")) }, None => or_dash(None) }),
            ("Forecast", forecast(walk)),
            ("Profile", html! { a href=(format!("/profiles/{}", segment(&walk.profile))) { (shown(&walk.profile)) } }),
        ]))
    }
}

fn forecast(walk: &Sight) -> Markup {
    html! {
        @match (walk.ended, walk.counts.remaining, walk.left()) {
            (true, ..) => "its run has ended",
            (_, None, _) => "no bound is known; the margin ends it",
            (_, Some(_), Some(left)) => { "about " (span(left.0)) " more, at this rate" },
            (_, Some(_), None) => "when it has a rate",
        }
    }
}

/// Which ids the map shows, and how to see others.
fn zoom(visit: &Visit, walk: &Sight) -> Markup {
    let (from, to) = walk.shown;
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

fn stretches(visit: &Visit, cells: &[Cell]) -> Markup {
    let base = |cell: &Cell| {
        let here = visit.here();
        let path = here.split('?').next().unwrap_or("/walks");
        href(path, &[("from", &cell.from.to_string()), ("to", &cell.to.to_string())])
    };
    html! {
        section aria-labelledby="stretches" {
            h2 #stretches { "Stretch by stretch" }
            (table("Stretches", columns(&["Ids", "Found and missing", "#Found", "#Missing", "#Not tried"]), html! {
                @for cell in cells {
                    tr {
                        th scope="row" { a href=(base(cell)) { (number(cell.from)) " – " (number(cell.to)) } }
                        td.share { (parts("Found, missing, not tried", &[("good", cell.content), ("bad", cell.holes), ("grey", cell.unknown)])) }
                        td.num { (number(cell.content)) } td.num { (number(cell.holes)) } td.num { (number(cell.unknown)) }
                    }
                }
            }))
        }
    }
}

impl Site {
    fn pause_button(&self, visit: &Visit, walk: &Sight) -> Markup {
        let (word, label) = if walk.paused { ("resume", "Resume") } else { ("pause", "Pause") };
        let face = Face { label, class: "plain", says: Some(format!("{label} {}", walk.name)) };
        self.button(visit, "/act/pause", &[("do", word), ("what", "walk"), ("name", &walk.name)], &face)
    }

    fn resume_buttons(&self, visit: &Visit, walk: &Sight) -> Markup {
        let button = |resume: &str, label: &str| {
            let fields = [("name", walk.name.as_str()), ("resume", resume)];
            self.button(visit, "/act/walk", &fields, &Face { label, class: "plain", says: None })
        };
        html! {
            section aria-labelledby="resume" {
                h2 #resume { "Go on" }
                @if walk.walking && !walk.ended {
                    p { "It is being walked. When its run has ended, it can go on from here." }
                } @else {
                    div.actions {
                        (button("continue", "With what is left"))
                        (button("holes", &format!("With the {} missing", number(walk.counts.holes))))
                        (button("both", "With both"))
                    }
                }
                @if let Some(last) = walk.run.last {
                    p.faint { "The last of " (number(walk.run.requests)) " requests was at " (time(&last.to_string())) "." }
                }
            }
        }
    }
}

/// L11, for the button.
pub(super) async fn resume(site: &Site, name: &str, resume: Resume) -> Answer<()> {
    let frontier = &site.app.frontier;
    let is_walked = frontier.peek_walk(name, |walk, _| walk.ended().is_none()).unwrap_or(false);
    if is_walked {
        return Err(Problem::new(StatusCode::CONFLICT, "this walk is being walked")
            .hint("it can be resumed when its run has ended"));
    }
    frontier.resume_walk(name, resume).await.map_err(problem)
}

fn problem(error: WalkError) -> Problem {
    match error {
        WalkError::Unknown(name) => Problem::new(StatusCode::NOT_FOUND, format!("there is no walk {name}"))
            .hint("/walks lists those there are"),
        WalkError::Busy(name) => Problem::new(StatusCode::CONFLICT, format!("ids of {name} are in flight")),
        WalkError::Refused(refusal) => Problem::new(StatusCode::CONFLICT, refusal.to_string()),
        WalkError::Store(error) => error.into(),
    }
}
