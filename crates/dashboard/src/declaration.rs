//! One seed, profile or collection: what it says, what hangs on it, and its switches.

use app::Kind;
use axum::extract::State;
use maud::{Markup, html};
use serde_json::Value;
use server::api::Path;

use super::Site;
use super::address::href;
use super::declared::{about, names, path_of, state};
use super::forms::Face;
use super::layout::{Frame, Visit, command};
use super::text::{lines, shown, way_out};
use crate::Shown;

pub(super) async fn seed(State(site): State<Site>, visit: Visit, Path(name): Path<String>) -> Shown {
    site.thing(Kind::Seed, &visit, &name).await
}

pub(super) async fn profile(State(site): State<Site>, visit: Visit, Path(name): Path<String>) -> Shown {
    site.thing(Kind::Profile, &visit, &name).await
}

pub(super) async fn collection(State(site): State<Site>, visit: Visit, Path(name): Path<String>) -> Shown {
    site.thing(Kind::Collection, &visit, &name).await
}

impl Site {
    async fn thing(&self, kind: Kind, visit: &Visit, name: &str) -> Shown {
        let says = app::declared::show(&self.app, kind, name).await?.thing;
        let name = says["name"].as_str().unwrap_or(name);
        let active = says["active"].as_bool().unwrap_or(true);
        let about = about(kind);
        let mut yaml = Vec::new();
        // Writing to memory does not fail.
        let _ = declare::to_yaml(&mut yaml, &says);
        let main = html! {
            p.crumbs { a href=(format!("/{}", kind.path())) { (about.title) } }
            div.title {
                h1 { (shown(name)) }
                (state(active))
                div.actions { (self.switches(kind, visit, name, active)) @if kind == Kind::Collection { (self.rest(visit, name)) } }
            }
            (related(kind, name, &says))
            h2 { "What is declared" }
            pre tabindex="0" { (lines(&String::from_utf8_lossy(&yaml))) }
            p.faint { "To change it: " (command(&format!("skurd {} add --replace", kind.command()))) " or " (command("skurd config apply FILE")) }
        };
        Ok(self.page(&Frame { title: name, section: about.section, visit }, main))
    }

    /// Pausing a collection: unlike disabling, it is about now.
    fn rest(&self, visit: &Visit, name: &str) -> Markup {
        let fields = |word| [("do", word), ("what", "collection"), ("name", name)];
        let face = |label| Face { label, class: "plain", says: Some(format!("{label} {name}")) };
        html! {
            (self.button(visit, "/act/pause", &fields("pause"), &face("Pause")))
            (self.button(visit, "/act/pause", &fields("resume"), &face("Resume")))
        }
    }
}

fn related(kind: Kind, name: &str, says: &Value) -> Markup {
    let text = |key: &str| says[key].as_str().unwrap_or_default();
    html! {
        ul.inline {
            @match kind {
                Kind::Seed | Kind::Group => {
                    li { (shown(text("url"))) (way_out(text("url"))) }
                    li { "Profiles: " (names(Kind::Profile, &says["profiles"])) }
                    li { a href=(href("/inspect", &[("url", text("url"))])) { "Why is it harvested?" } }
                    li { a href=(href("/captures", &[("prefix", text("url"))])) { "Captures" } }
                },
                Kind::Profile => {
                    li { "Collection: " a href=(path_of(Kind::Collection, text("collection"))) { (shown(text("collection"))) } }
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
