//! The frontier of other crawlers, served beside a harvest from the same store (G1).

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use declare::hint::hinted;
use harvest::session::note;
use serde_json::json;
use urlfrontier::UrlFrontier;
use urlfrontier::grpc::{Access, Server, Tls};

use super::serve::listen;
use crate::args::harvest::ServeArgs;
use crate::output::line;

/// The certificate that it proves itself with, if there is one.
pub(super) fn tls(args: &ServeArgs) -> Result<Option<Tls>> {
    let files = args.url_frontier_cert.as_ref().zip(args.url_frontier_key.as_ref());
    let read = |(certificate, key): (&PathBuf, &PathBuf)| {
        Tls::read(certificate, key).map_err(|error| {
            hinted(error.to_string(), "--url-frontier-cert and --url-frontier-key take PEM files")
        })
    };
    files.map(read).transpose()
}

/// Serves it, and says where. On loopback clients need no token: most cannot bring one.
pub(super) fn start(
    urls: Arc<UrlFrontier>,
    address: SocketAddr,
    token: Option<String>,
    tls: Option<Tls>,
    as_json: bool,
) -> Result<Server> {
    let token = token.filter(|_| !address.ip().is_loopback());
    let server = Server::start(listen(address)?, Access { token, tls }, urls)?;
    match as_json {
        true => line(json!({ "event": "url-frontier", "address": server.address.to_string() }))?,
        false => note(&format!("the URL frontier for other crawlers is at {}", server.address))?,
    }
    Ok(server)
}
