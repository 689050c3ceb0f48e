//! The frontier of other crawlers, served beside a harvest from the same store (G1).

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Result;
use frontier::ports::Clock;
use harvest::Harvest;
use harvest::clock::SystemClock;
use harvest::session::note;
use serde_json::json;
use urlfrontier::UrlFrontier;
use urlfrontier::grpc::{Access, Server};

use super::serve::listen;
use crate::output::line;

/// Serves it, and says where. On loopback clients need no token: most cannot bring one.
pub(super) fn start(
    harvest: &Harvest,
    address: SocketAddr,
    token: Option<String>,
    as_json: bool,
) -> Result<Server> {
    let store = harvest.frontier.store().clone();
    // Among nodes on one store, counters of one's own; two that draw the same number only wait for each other.
    let number = store.is_shared().then(std::process::id);
    let seed = SystemClock.now().0.cast_unsigned() ^ (u64::from(std::process::id()) << 44);
    let urls = Arc::new(UrlFrontier::new(store, Arc::new(|| SystemClock.now().0), number, seed));
    let token = token.filter(|_| !address.ip().is_loopback());
    let server = Server::start(listen(address)?, Access { token }, urls)?;
    match as_json {
        true => line(json!({ "event": "url-frontier", "address": server.address.to_string() }))?,
        false => note(&format!("the URL frontier for other crawlers is at {}", server.address))?,
    }
    Ok(server)
}
