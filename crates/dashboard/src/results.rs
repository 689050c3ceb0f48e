//! What came of a seed, a profile or a collection, on its page.

use app::results::{Results, results};
use app::{Kind, Problem};
use maud::{Markup, Render, html};

use super::layout::{Visit, facts, section};
use super::runs;
use super::text::{count, number, shown, time_or_dash, url};

pub(super) async fn show(visit: &Visit, kind: Kind, name: &str) -> Result<Markup, Problem> {
    if kind == Kind::Group {
        return Ok(html! {});
    }
    let results = results(&visit.site.app, kind, name).await?;
    Ok(section("results", "What came of it", told(kind, &results)))
}

fn told(kind: Kind, results: &Results) -> Markup {
    let at_least = |value: usize| html! { (count(value)) @if !results.is_whole { " or more" } };
    let whole = |value: i64| html! { (number(u64::try_from(value).unwrap_or(0))) };
    let mut rows = vec![
        ("Last harvest", time_or_dash(results.last.as_deref())),
        ("Next", time_or_dash(results.next.as_deref())),
    ];
    match &results.counts {
        Some(counts) => rows.extend([
            ("Queued", whole(counts.queued)),
            ("Never harvested yet", whole(counts.never_harvested)),
            ("Done", whole(counts.done)),
            ("Blacklisted", whole(counts.blacklisted)),
            ("Captures", whole(counts.captures)),
        ]),
        None => rows.extend([
            ("URLs", at_least(results.looked_at)),
            ("Never harvested yet", at_least(results.never_harvested)),
            ("Blacklisted", at_least(results.blacklisted)),
        ]),
    }
    rows.push(("Failing", at_least(results.failing)));
    html! {
        (facts(&rows))
        p.faint {
            @match (kind, results.is_whole) {
                (_, _) if results.looked_at == 0 => "Nothing of it is known yet: start it.",
                (Kind::Collection, true) => "",
                (Kind::Collection, false) => "Last, next and failing are by sample: of the first URLs of the collection.",
                (_, true) => "Of its URLs on its own sites.",
                (_, false) => "By sample: of its first URLs on its own sites.",
            }
        }
        @if !results.examples.is_empty() {
            h3 { "Failing, for example" }
            ul.list { @for (address, problem) in &results.examples { li { (url(address)) ": " (shown(problem)) } } }
        }
        @if !results.runs.is_empty() {
            h3 { "The runs its URLs belong to" }
            (runs::table("The runs its URLs belong to", &results.runs).render())
        }
    }
}
