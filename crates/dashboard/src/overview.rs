//! What the harvest is doing: figures that move, what is in flight, what is paused.

use app::control::{Pausable, PauseItem};
use app::hosts::{self, HostItem};
use app::reports::budgets::BudgetEnding;
use app::status::{DiskStatus, LatestItem, Status};
use app::{Sample, first};
use declare::text::{bytes_text, percent_text};
use maud::{Markup, Render, html};
use plan::plot::{NEUTRAL, Series, Shape, TimePlot};
use policy::time::{Span, Time};

use super::forms::Face;
use super::layout::{Table, Visit, badge, class_of, command, empty, plot, section};
use super::spark::{line, parts};
use super::text::{count, number, shown, span, time, url};
use crate::Shown;

/// Hosts shown at work; the page of hosts shows all.
const BUSY_SHOWN: usize = 12;
/// The drawing over time is this wide from the start; with fewer seconds than this, a point is
/// drawn for each.
const SLOTS_MIN: usize = 90;
/// The script keeps as many.
const LATEST_SHOWN: usize = 12;
/// With fewer minutes than this, a point is drawn for every ten seconds.
const YOUNG_MINUTES: usize = 15;

pub(super) async fn show(visit: Visit) -> Shown {
    let status = app::status::status(&visit.site.app).await?;
    let (seconds, minutes) = (visit.site.app.live.by_second(), visit.site.app.live.by_minute());
    let filter = hosts::Filter { busy: true, limit: Some(BUSY_SHOWN), ..hosts::Filter::default() };
    let busy = hosts::list_hosts(&visit.site.app, filter).await?;
    let latest_rows = app::status::latest(&visit.site.app).await?;
    let nothing = visit
        .site
        .app
        .look(|catalog| catalog.seeds().next().is_none() && catalog.walks().next().is_none())
        .await?;
    let is_unknown = first::is_unknown(&visit.site.app);
    let traps = super::traps::on_overview(&visit.site.app).await?;
    let main = html! {
        (state(&visit, &status))
        @if nothing { (first_harvest(&visit, is_unknown)) } @else if is_unknown { (introduction(&visit)) }
        (figures(&status.figures, &seconds))
        (paused(&visit, &status.paused))
        (disk(status.disk.as_ref()))
        (budgets(&status.budgets))
        (traps)
        div.columns {
            (in_flight(&busy.items))
            (latest(&latest_rows))
        }
        (answers(&status))
        (over_time(visit.site.app.frontier.now(), &seconds, &minutes))
        p.faint { "Skurd " (status.version) ", at work since " (time(&status.started)) " (" (span(status.uptime_s * 1000)) ")" }
    };
    Ok(visit.page("Overview", main))
}

/// Whether it harvests, and the button that changes it.
fn state(visit: &Visit, status: &Status) -> Markup {
    let is_paused = status.state == "paused";
    let class = if status.state == "harvesting" { "good" } else { "warn" };
    let (action, label) =
        if is_paused { ("resume", "Resume everything") } else { ("pause", "Pause everything") };
    let face = Face { label, class: if is_paused { "main" } else { "plain" }, says: None };
    html! {
        div.title {
            h1 { "Overview" }
            span role="status" { (badge(class, status.state)) }
            span.live data-live="" hidden { "live" }
            div.actions { (visit.button("/act/pause", &[("do", action), ("what", "everything")], &face)) }
        }
    }
}

/// I9.
fn disk(disk: Option<&DiskStatus>) -> Markup {
    let Some(DiskStatus { free_bytes, floor_bytes: Some(floor), is_full: true }) = disk else {
        return html! {};
    };
    html! {
        p.notice.warn role="status" {
            (bytes_text(*free_bytes)) " are free on the disk of the data directory, and " (bytes_text(*floor))
            " are to stay free: nothing is harvested until there is room; then it goes on by itself."
        }
    }
}

/// F36.
fn budgets(ended: &[BudgetEnding]) -> Markup {
    let Some(last) = ended.first() else { return html! {} };
    html! {
        p.notice.warn {
            "Run " (last.run) " has used up the " (shown(&last.limit)) " of " (shown(&last.holder)) " " (shown(&last.name))
            @if ended.len() > 1 { " (and " (number(ended.len() as u64 - 1)) " more like that)" }
            ": " a href="/reports#budgets" { "what it keeps back" }
        }
    }
}

fn paused(visit: &Visit, paused: &[PauseItem]) -> Markup {
    let rows = paused.iter().filter_map(|paused| match &paused.target {
        Pausable::Everything {} => None,
        Pausable::Collection { name } => Some(("collection", name, &paused.since)),
        Pausable::Host { name } => Some(("host", name, &paused.since)),
        Pausable::Walk { name } => Some(("walk", name, &paused.since)),
    });
    let rows: Vec<(&str, &String, &String)> = rows.collect();
    let resume = |(what, name, _): &(&str, &String, &String)| {
        let fields = [("do", "resume"), ("what", *what), ("name", name.as_str())];
        visit.button("/act/pause", &fields, &Face::plain("Resume", &format!("{what} {name}")))
    };
    let table = Table::new("What is paused", &rows)
        .column("What", |(what, ..)| shown(what))
        .column("Name", |(_, name, _)| shown(name))
        .column("Since", |(.., since)| time(since))
        .buttons(resume);
    html! { @if !rows.is_empty() { (section("paused", "Paused", table.render())) } }
}

/// On an empty system: what must be known, and a button.
fn first_harvest(visit: &Visit, is_unknown: bool) -> Markup {
    let form = html! {
        form.first method="post" action="/act/harvest" {
            (visit.hidden())
            label {
                "Address of the site"
                input type="url" name="url" required placeholder="https://example.org/" autocomplete="url" autofocus;
            }
            label {
                "How often"
                select name="often" {
                    option value="once" { "Once" }
                    option value="daily" { "Every day" }
                    option value="weekly" { "Every week" }
                    option value="monthly" { "Every 30 days" }
                }
            }
            @if is_unknown { (contact_field()) }
            button.main type="submit" { "Harvest" }
        }
        p.faint { "The site is harvested politely: one request at a time, with pauses, and as its robots.txt allows. Every page it links to on its own domain is archived." }
        p.faint { "Many sites at once, or other terms: " (command("skurd config example")) " prints a file with every key, and " (command("skurd config apply FILE")) " declares what it says." }
    };
    section("first", "Harvest your first site", form)
}

/// Something is declared, and nobody has said who asks.
fn introduction(visit: &Visit) -> Markup {
    let form = html! {
        p { "Nothing is harvested until site owners can reach whoever asks." }
        form.first method="post" action="/act/introduce" {
            (visit.hidden())
            (contact_field())
            button.main type="submit" { "Begin" }
        }
    };
    section("introduction", "Who asks?", form)
}

fn contact_field() -> Markup {
    html! {
        label {
            "How site owners reach you"
            input type="text" name="contact" required placeholder="https://your.site/bot or you@your.site" autocomplete="email" aria-describedby="contact-why";
            span.faint #contact-why { "A web page or mail address; it is sent with every request." }
        }
    }
}

/// The tiles; the script keeps them fresh by their names.
fn figures(now: &Sample, seconds: &[Sample]) -> Markup {
    let of = |pick: fn(&Sample) -> f64| seconds.iter().map(pick).collect::<Vec<f64>>();
    #[allow(clippy::cast_precision_loss, reason = "drawn, not counted with")]
    let queue = of(|sample| sample.queued as f64);
    let tile = |name: &str, label: &str, value: String, below: Markup, drawing: Option<Markup>| {
        html! {
            div.tile {
                h2 { (label) }
                p.figure data-figure=(name) { (value) }
                p.below { (below) }
                @if let Some(drawing) = drawing { (drawing) }
            }
        }
    };
    html! {
        section.tiles aria-label="Figures" {
            (tile("harvests_per_second", "Harvests a second", format!("{:.1}", now.harvests_per_second),
                html! { span data-figure="total_harvests" { (number(now.total_harvests)) } " in all" },
                Some(line("harvests_per_second", "Harvests a second over the last minutes", &of(|s| s.harvests_per_second), None))))
            (tile("bytes_per_second", "Bytes a second", bytes_text(whole(now.bytes_per_second)),
                html! { span data-figure="total_bytes" { (bytes_text(now.total_bytes)) } " in all, "
                    @if now.total_saved_bytes > 0 { span data-figure="total_saved_bytes" { (bytes_text(now.total_saved_bytes)) } " not archived again, " }
                    span data-figure="total_captures" { (number(now.total_captures)) } " captures" },
                Some(line("bytes_per_second", "Bytes a second over the last minutes", &of(|s| s.bytes_per_second), None))))
            (tile("queued", "Queue", number(now.queued), html! { "URLs that wait" },
                Some(line("queued", "URLs that wait over the last minutes", &queue, None))))
            (tile("on_time", "On time", now.on_time.map_or("–".to_owned(), percent_text),
                html! {
                    "of the last day; " span data-figure="missed" { (number(now.missed)) } " missed, "
                    span data-figure="overdue" { (number(now.overdue)) } " overdue"
                },
                Some(line("on_time", "Share of the last day on time, over the last minutes", &of(|s| s.on_time.unwrap_or(0.0)), Some(1.0)))))
            (tile("in_flight", "In flight", count(now.in_flight),
                html! { span data-figure="hosts" { (count(now.hosts)) } " hosts asked" }, None))
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate, never negative")]
fn whole(rate: f64) -> u64 {
    rate as u64
}

fn in_flight(busy: &[HostItem]) -> Markup {
    let inside = html! {
        @if busy.is_empty() {
            (empty("No host is being asked at this moment.", html! { p { a href="/hosts" { "All hosts" } " shows when each can next be asked." } }))
        } @else {
            ul.list {
                @for host in busy {
                    @for address in &host.in_flight { li { (url(address)) } }
                }
            }
            p { a href="/hosts" { "All hosts" } }
        }
    };
    section("flight", "In flight", inside)
}

/// The script goes on with it as harvests happen.
fn latest(rows: &[LatestItem]) -> Markup {
    let class = |item: &LatestItem| item.status.map_or("grey", class_of);
    let word = |item: &LatestItem| {
        item.status.map(|status| status.to_string()).or_else(|| item.error.clone()).unwrap_or("–".to_owned())
    };
    let inside = html! {
        ul.list.latest data-latest="" {
            @if rows.is_empty() { li.faint { "The next harvests appear here as they happen." } }
            @for item in rows.iter().take(LATEST_SHOWN) { li { (badge(class(item), &word(item))) " " (url(&item.url)) } }
        }
        noscript { p.faint { "Without script: " a href="/captures" { "captures" } " lists what was archived." } }
    };
    section("latest", "Latest harvests", inside)
}

fn answers(status: &Status) -> Markup {
    let class = |first: char| {
        status.statuses.iter().filter(|(code, _)| code.starts_with(first)).map(|(_, n)| n).sum::<u64>()
    };
    let none: u64 = status.errors.values().sum();
    let [two, three, four, five] = ['2', '3', '4', '5'].map(class);
    let classes = [("good", two), ("calm", three), ("warn", four), ("bad", five), ("grey", none)];
    let words = ["2xx", "3xx", "4xx", "5xx", "no answer"];
    html! {
        @if classes.iter().any(|(_, count)| *count > 0) {
            (section("answers", "Answers of all time", html! {
                (parts("Answers by kind", &classes))
                ul.legend {
                    @for ((class, count), word) in classes.iter().zip(words) {
                        li { span.swatch.(class) {} (word) " " b { (number(*count)) } }
                    }
                }
            }))
        }
    }
}

/// Harvests over time, as closely as their number allows: second by second at first, in the end
/// minute by minute for a day.
fn over_time(now: Time, seconds: &[Sample], minutes: &[Sample]) -> Markup {
    let (step, told, points): (u64, &str, Vec<f64>) = match (seconds.len(), minutes.len()) {
        (..SLOTS_MIN, _) => (1, "every second", seconds.iter().map(rate).collect()),
        (_, ..YOUNG_MINUTES) => (10, "every ten seconds", seconds.rchunks(10).rev().map(mean).collect()),
        _ => (60, "minute by minute, for up to a day", minutes.iter().map(rate).collect()),
    };
    let slots = points.len().max(SLOTS_MIN);
    let back = i64::try_from(slots as u64 * step).unwrap_or(0) * 1000;
    let mut values = vec![None; slots - points.len()];
    values.extend(points.into_iter().map(Some));
    let drawing = TimePlot {
        title: "Harvests a second".to_owned(),
        subtitle: format!("{told}, since this process began"),
        shape: Shape::Lines,
        unit: "",
        max: None,
        from: Time(now.0 - back),
        step: Span::seconds(step),
        slots,
        series: vec![Series { name: "harvests a second".to_owned(), colour: NEUTRAL, values }],
    };
    let inside = html! {
        (plot("Harvests over time", drawing.to_svg()))
        p { a href="/reports" { "Reports" } " show whether the promised frequency was kept, and what went wrong." }
    };
    section("time", "Over time", inside)
}

fn rate(sample: &Sample) -> f64 {
    sample.harvests_per_second
}

#[allow(clippy::cast_precision_loss, reason = "drawn, not counted with")]
fn mean(samples: &[Sample]) -> f64 {
    samples.iter().map(rate).sum::<f64>() / samples.len().max(1) as f64
}
