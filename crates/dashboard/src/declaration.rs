//! One seed, profile or collection: what it says, what hangs on it, and its switches.

use app::Kind;
use maud::{Markup, html};
use serde_json::Value;
use server::api::Path;

use super::address::href;
use super::declared::{about, is_active, link, names, state, switches};
use super::layout::{Visit, command};
use super::text::{lines, shown, way_out};
use crate::Shown;

pub(super) async fn show(kind: Kind, visit: Visit, Path(name): Path<String>) -> Shown {
    let says = app::declared::show(&visit.site.app, kind, &name).await?.thing;
    let name = says["name"].as_str().unwrap_or(&name);
    let active = is_active(&says);
    let mut yaml = Vec::new();
    // Writing to memory does not fail.
    let _ = declare::to_yaml(&mut yaml, &says);
    let main = html! {
        p.crumbs { a href=(format!("/{}", kind.path())) { (about(kind).title) } }
        div.title {
            h1 { (shown(name)) }
            (state(active))
            div.actions {
                (switches(kind, &visit, name, active))
                // Pausing a collection: unlike disabling, it is about now.
                @if kind == Kind::Collection {
                    @for is_paused in [false, true] { (visit.pause_button("collection", name, is_paused)) }
                }
            }
        }
        (related(kind, name, &says))
        h2 { "What is declared" }
        pre tabindex="0" { (lines(&String::from_utf8_lossy(&yaml))) }
        p.faint { "To change it: " (command(&format!("skurd {} add --replace", kind.command()))) " or " (command("skurd config apply FILE")) }
    };
    Ok(visit.page(name, main))
}

fn related(kind: Kind, name: &str, says: &Value) -> Markup {
    let text = |key: &str| says[key].as_str().unwrap_or_default();
    html! {
        ul.inline {
            @match kind {
                Kind::Seed | Kind::Group | Kind::Host => {
                    li { (shown(text("url"))) (way_out(text("url"))) }
                    li { "Profiles: " (names(Kind::Profile, &says["profiles"])) }
                    li { a href=(href("/inspect", &[("url", text("url"))])) { "Why is it harvested?" } }
                    li { a href=(href("/captures", &[("prefix", text("url"))])) { "Captures" } }
                },
                Kind::Profile => {
                    li { "Collection: " (link(Kind::Collection, text("collection"))) }
                    li { a href=(href("/seeds", &[("profile", name)])) { "Its seeds" } }
                },
                Kind::Collection => {
                    li { a href=(href("/profiles", &[("collection", name)])) { "Its profiles" } }
                    li { a href=(href("/queue", &[("collection", name)])) { "Its URLs" } }
                    li { a href=(href("/captures", &[("collection", name)])) { "Its captures" } }
                    li { a href=(href("/links", &[("index", name)])) { "Its links" } }
                },
            }
        }
    }
}
