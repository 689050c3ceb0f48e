//! A small web of a small town, on loopback, for `skurd demo`.
//!
//! Twelve host names of the imagined town of Skurdvik live on one listening socket: a newspaper, a library, a
//! shop, and between them everything that makes harvesting hard. A request becomes an [`ask::Ask`], a site of
//! [`web`] turns it into an [`answer::Answer`], which is a script of bytes and pauses, and the [`server`]
//! plays it. Since a script may hold any bytes, sites can break every rule of HTTP on purpose; that is why
//! this speaks to TCP directly and not through a server crate.
//!
//! The web remembers how often some things were asked for, so that pages change and a busy server recovers,
//! and keeps a bounded [`log`] of who asked when. Everything ends when [`Demo`] is dropped.
//!
//! URLs carry no port: whoever harvests sends `*.test` to [`Demo::address`]. Requests with a whole URL are
//! taken too, so a browser that uses the address as its proxy can look around.

mod answer;
mod ask;
mod coding;
mod log;
mod server;
mod web;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use log::Request;

use server::Shared;

/// Every host of the web. `butikk.test` only redirects to its `www.`.
pub const HOSTS: [&str; 12] = [
    "arkiv.test",
    "avis.test",
    "bibliotek.test",
    "bilder.avis.test",
    "butikk.test",
    "felle.test",
    "ferie.test",
    "omvei.test",
    "privat.test",
    "tregt.test",
    "verksted.test",
    "www.butikk.test",
];

/// A running web.
#[derive(Debug)]
pub struct Demo {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl Demo {
    /// Listens on this port of 127.0.0.1, or any that is free if it is 0, until dropped.
    pub async fn start_at(port: u16) -> io::Result<Demo> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let accepting = tokio::spawn(server::accept(listener, Arc::clone(&shared)));
        Ok(Demo { address, shared, accepting })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Requests that were answered, the latest [`log::REQUESTS_MAX`] of them, in the order in which they
    /// came.
    pub fn log(&self) -> Vec<Request> {
        self.shared.log.requests()
    }
}

impl Drop for Demo {
    /// Open connections go with the task that accepted them.
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// How the town is harvested: in two collections, one of them logged in at the rowing club.
pub fn config() -> &'static str {
    include_str!("demo.yaml")
}

#[cfg(test)]
mod tests;
