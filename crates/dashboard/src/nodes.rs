//! The machines that share the store.

use app::Paging;
use app::nodes::{NodeItem, list_nodes};
use declare::text::bytes_text;
use maud::{Markup, html};

use super::layout::{Table, Visit, badge, command, empty};
use super::text::{number, shown, time};
use crate::Shown;

pub(super) async fn show(visit: Visit) -> Shown {
    let paging = Paging { cursor: visit.given("cursor"), limit: None };
    let nodes = list_nodes(&visit.site.app, paging).await?;
    let table = Table::new("Nodes", &nodes.items)
        .name("Node", name)
        .column(
            "State",
            |node| if node.alive { badge("good", "alive") } else { badge("bad", "not heard of") },
        )
        .column("Since", |node| time(&node.since))
        .column("Last heard", |node| time(&node.heard))
        .figures("Shards", |node| number(node.shards.into()))
        .figures("In flight", |node| number(node.in_flight))
        .figures("Harvests", |node| number(node.harvests))
        .figures("Bytes", |node| bytes_text(node.bytes));
    let main = html! {
        div.title { h1 { "Nodes" } }
        p.lead {
            "The machines that share this store. Hosts fall into 256 shards, and those that are alive divide the shards among themselves; one that is not heard of for ten seconds loses its part to the others."
        }
        (table.or(nothing()))
        (visit.pager("cursor", nodes.next.as_deref()))
        p.faint { "One that will not come back is taken off the list with " (command("skurd nodes forget NAME")) }
    };
    Ok(visit.page("Nodes", main))
}

fn name(node: &NodeItem) -> Markup {
    html! {
        (shown(&node.name))
        @if node.here { " " span.faint { "(this one)" } }
        @if let Some(address) = &node.address { br; span.faint { (shown(address)) } }
    }
}

fn nothing() -> Markup {
    empty("No node is at work.", html! { p { "One is while a harvest runs: " (command("skurd serve")) } })
}
