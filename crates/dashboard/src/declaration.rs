//! One seed, profile or collection: what it says, what hangs on it, and its switches.

use app::Kind;
use maud::{Markup, html};
use serde_json::Value;
use server::api::Path;

use super::address::href;
use super::declared::{about, edit_path, is_active, link, names, new_path, state, switches};
use super::edit::delete_path;
use super::layout::{Visit, command};
use super::results;
use super::text::{lines, shown, way_out};
use crate::Shown;

pub(super) async fn show(kind: Kind, visit: Visit, Path(name): Path<String>) -> Shown {
    let says = app::declared::show(&visit.site.app, kind, &name).await?.thing;
    let name = says["name"].as_str().unwrap_or(&name);
    let active = is_active(&says);
    let mut yaml = Vec::new();
    // Writing to memory does not fail.
    let _ = declare::to_yaml(&mut yaml, &says);
    let came = results::show(&visit, kind, name).await?;
    let main = html! {
        p.crumbs { a href=(format!("/{}", kind.path())) { (about(kind).title) } }
        div.title {
            h1 { (shown(name)) }
            @if kind != Kind::Group { (state(active)) }
            div.actions {
                a.button.main href=(edit_path(kind, name)) { "Edit" }
                @if kind != Kind::Group { (switches(kind, &visit, name, active)) }
                // Pausing a collection: unlike disabling, it is about now.
                @if kind == Kind::Collection {
                    @for is_paused in [false, true] { (visit.pause_button("collection", name, is_paused)) }
                }
                a.button href=(href(&new_path(kind), &[("like", name)])) { "Copy" }
                a.button href=(delete_path(kind, name)) { "Delete" }
            }
        }
        (related(kind, name, &says))
        (came)
        h2 { "What is declared" }
        pre tabindex="0" { (lines(&String::from_utf8_lossy(&yaml))) }
        p.faint { "In a terminal: " (command(&format!("skurd {} add --replace", kind.command()))) " or " (command("skurd config apply FILE")) " change it too." }
    };
    Ok(visit.page(name, main))
}

fn related(kind: Kind, name: &str, says: &Value) -> Markup {
    let text = |key: &str| says[key].as_str().unwrap_or_default();
    html! {
        ul.inline {
            @match kind {
                Kind::Group => {
                    @for host in says["hosts"].as_array().map(Vec::as_slice).unwrap_or_default().iter().filter_map(Value::as_str) {
                        li { a href=(href("/queue", &[("host", host)])) { (shown(host)) } }
                    }
                },
                Kind::Host => {
                    li { a href=(href("/queue", &[("host", name)])) { "Its URLs" } }
                },
                Kind::Seed => {
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
