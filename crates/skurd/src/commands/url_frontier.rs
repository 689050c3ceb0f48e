//! The frontier of other crawlers, served beside a harvest from the same store (G1).

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Result;
use harvest::session::note;
use serde_json::json;
use urlfrontier::UrlFrontier;
use urlfrontier::grpc::{Access, Server};

use super::serve::listen;
use crate::output::line;

/// Serves it, and says where. On loopback clients need no token: most cannot bring one.
pub(super) fn start(
    urls: Arc<UrlFrontier>,
    address: SocketAddr,
    token: Option<String>,
    as_json: bool,
) -> Result<Server> {
    let token = token.filter(|_| !address.ip().is_loopback());
    let server = Server::start(listen(address)?, Access { token }, urls)?;
    match as_json {
        true => line(json!({ "event": "url-frontier", "address": server.address.to_string() }))?,
        false => note(&format!("the URL frontier for other crawlers is at {}", server.address))?,
    }
    Ok(server)
}
