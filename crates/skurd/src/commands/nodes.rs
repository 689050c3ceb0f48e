//! `skurd nodes`: the machines that share a store.

use anyhow::Result;
use app::nodes::{Forgotten, NodeItem};
use axum::http::Method;
use declare::counted;
use declare::text::bytes_text;
use server::client::{Call, Client};

use super::listing::Listing;
use crate::args::look::{NodesArgs, NodesCommand};
use crate::output::{Column, left, line, right, shown};

const NODES: [Column<NodeItem>; 8] = [
    left("node", |node| if node.here { format!("{} *", node.name) } else { node.name.clone() }),
    left("state", |node| if node.alive { "alive".to_owned() } else { "not heard of".to_owned() }),
    left("since", |node| shown(&node.since)),
    left("last heard", |node| shown(&node.heard)),
    right("shards", |node| shown(node.shards)),
    right("in flight", |node| shown(node.in_flight)),
    right("harvests/min", |node| format!("{:.1}", node.per_minute)),
    right("bytes", |node| bytes_text(node.bytes)),
];

pub(crate) fn run(args: &NodesArgs) -> Result<()> {
    match &args.command {
        Some(NodesCommand::Forget { name, data, json }) => {
            let call = Call::new(Method::DELETE, &format!("nodes/{}", urlencoded(name)));
            let client = Client::open(&data.dir)?;
            if *json {
                let answer: serde_json::Value = client.ask(&call)?;
                return line(answer);
            }
            let Forgotten { name, files, captures } = client.ask(&call)?;
            line(format!("{name} is forgotten"))?;
            match files {
                0 => Ok(()),
                files => line(format!(
                    "{} in {} can no longer be read, unless its files are put into another node's archive",
                    counted(usize::try_from(captures).unwrap_or(usize::MAX), "capture"),
                    counted(usize::try_from(files).unwrap_or(usize::MAX), "file"),
                )),
            }
        }
        None => {
            let listing =
                Listing { path: "nodes", query: Vec::new(), limit: None, json: args.json, columns: &NODES };
            listing.print_or(&args.data.dir, "no node is at work on this store; `skurd serve` makes one")
        }
    }
}

fn urlencoded(name: &str) -> String {
    url::form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>().replace('+', "%20")
}
