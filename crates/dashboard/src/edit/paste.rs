//! Many seeds at once: pasted, looked at line by line, and saved but for the wrong ones.

use app::declared::many::{Fate, Pasted, PastedLine, add_pasted, look_at_pasted};
use app::{Kind, Problem};
use declare::counted;
use maud::{Markup, Render, html};

use super::super::forms::{Filled, Long, sentence};
use super::super::layout::{Table, Visit, badge, empty};
use super::super::text::{count, dash, number, shown};
use super::names;
use crate::Shown;

/// Of each kind, so many lines are told.
const LINES_SHOWN: usize = 200;
/// With more profiles than this, they are typed.
const PROFILES_SHOWN: usize = 100;

pub(in super::super) async fn show(visit: Visit) -> Shown {
    let profiles: Vec<String> = visit.asked("profile").into_iter().map(str::to_owned).collect();
    asking(&visit, &profiles, "", None).await
}

pub(in super::super) async fn take(visit: Visit, Long(filled): Long) -> Shown {
    let (profiles, text) = (profiles(&filled), filled.get("seeds"));
    let app = &visit.site.app;
    let came = match filled.get("step") {
        "back" => return asking(&visit, &profiles, text, None).await,
        "save" => match add_pasted(app, &profiles, text).await {
            Ok((pasted, undo)) => {
                let told = format!("{}; {}", summary(&pasted), "they are harvested once they are started");
                return Ok(visit.site.changed("/seeds", told, undo));
            }
            Err(problem) => Err(problem),
        },
        _ if text.trim().is_empty() => Err(Problem::invalid("the list is empty")),
        _ => look_at_pasted(app, &profiles, text).await,
    };
    match came {
        Ok(pasted) => Ok(visit.page("Paste seeds", looked_at(&visit, &profiles, text, &pasted))),
        Err(problem) if super::is_of_the_form(&problem) => {
            asking(&visit, &profiles, text, Some(&problem)).await
        }
        Err(problem) => Err(problem.into()),
    }
}

fn profiles(filled: &Filled) -> Vec<String> {
    let lines = filled.all("profiles").flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

async fn asking(visit: &Visit, chosen: &[String], text: &str, problem: Option<&Problem>) -> Shown {
    let known = names(visit, Kind::Seed).await?.pop().map(|(_, names)| names).unwrap_or_default();
    let main = html! {
        p.crumbs { a href="/seeds" { "Seeds" } }
        div.title { h1 { "Paste seeds" } }
        p.lead { "One address or domain a line. What follows it after a blank is a note, and so is a line that begins with #." }
        @if let Some(problem) = problem { p.notice.bad role="alert" { "Nothing is saved yet. " (shown(&sentence(problem))) } }
        @if known.is_empty() {
            (empty("Seeds are harvested by profiles, and there is none yet.", html! { p { a href="/new/profiles" { "New profile" } } }))
        } @else {
            form.sheet method="post" action="/paste/seeds" {
                (visit.hidden())
                div.field {
                    label for="f-seeds" { "Seeds" }
                    textarea #f-seeds name="seeds" rows="12" required spellcheck="false" placeholder="https://example.org/\nexample.net" { (text) }
                    // Only who has a script can read a file here.
                    label.file hidden data-file="f-seeds" { "Or from a file: " input type="file" accept="text/*,.txt,.csv"; }
                }
                @if known.len() <= PROFILES_SHOWN {
                    fieldset.field {
                        legend { "Profiles" }
                        div.boxes {
                            @for name in &known {
                                label { input type="checkbox" name="profiles" value=(name) checked[chosen.contains(name)]; " " (shown(name)) }
                            }
                        }
                    }
                } @else {
                    div.field {
                        label for="f-profiles" { "Profiles, one a line" }
                        textarea #f-profiles name="profiles" rows="3" { (chosen.join("\n")) }
                    }
                }
                div.actions {
                    button.main type="submit" name="step" value="look" { "Look at each line" }
                    a.button href="/seeds" { "Cancel" }
                }
            }
        }
    };
    Ok(match problem {
        Some(_) => visit.refused("Paste seeds", main),
        None => visit.page("Paste seeds", main),
    })
}

fn looked_at(visit: &Visit, profiles: &[String], text: &str, pasted: &Pasted) -> Markup {
    let is =
        |wrong: bool| pasted.lines.iter().filter(move |line| matches!(line.fate, Fate::Wrong(_)) == wrong);
    let shown_of = |wrong: bool| is(wrong).take(LINES_SHOWN).collect::<Vec<&PastedLine>>();
    let (wrong, good) = (shown_of(true), shown_of(false));
    let good_in_all = pasted.counts.added + pasted.counts.changed;
    html! {
        p.crumbs { a href="/seeds" { "Seeds" } }
        div.title { h1 { "What would become of each line" } }
        p role="status" { (summary(pasted)) "." }
        @if !wrong.is_empty() {
            h2 { "Wrong" }
            (table("Wrong lines", &wrong).render())
            (more(wrong.len(), pasted.wrong))
        }
        @if !good.is_empty() {
            h2 { "Good" }
            (table("Good lines", &good).render())
            (more(good.len(), is(false).count() as u64))
        }
        form.sheet.kept method="post" action="/paste/seeds" {
            (visit.hidden())
            @for name in profiles { input type="hidden" name="profiles" value=(name); }
            input type="hidden" name="seeds" value=(text);
            div.actions {
                @if good_in_all > 0 {
                    button.main type="submit" name="step" value="save" { "Save the " (number(good_in_all)) " good ones" }
                }
                button type="submit" name="step" value="back" { "Back to the list" }
                a.button href="/seeds" { "Cancel" }
            }
        }
    }
}

fn more(told: usize, all: u64) -> Markup {
    let rest = all.saturating_sub(told as u64);
    html! { @if rest > 0 { p.faint { "And " (number(rest)) " more." } } }
}

fn table<'a>(caption: &'a str, lines: &'a [&'a PastedLine]) -> Table<'a, &'a PastedLine> {
    Table::new(caption, lines)
        .name("Line", |line| count(line.line as usize))
        .column("Is", |line| match &line.fate {
            Fate::New => badge("good", "new"),
            Fate::More => badge("calm", "gets a profile"),
            Fate::Same => badge("plain", "there already"),
            Fate::Wrong(_) => badge("bad", "wrong"),
        })
        .wide("What", |line| match (&line.fate, &line.url) {
            (Fate::Wrong(why), _) => shown(why),
            (_, Some(url)) => shown(url),
            _ => dash(),
        })
}

fn summary(pasted: &Pasted) -> String {
    let Pasted { counts, wrong, .. } = pasted;
    let mut parts = vec![format!("{} new", counted(as_usize(counts.added), "seed"))];
    let others = [
        (counts.changed, "got profiles they lacked"),
        (counts.unchanged, "there already"),
        (*wrong, "wrong"),
    ];
    parts.extend(
        others.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")),
    );
    parts.join(", ")
}

fn as_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
