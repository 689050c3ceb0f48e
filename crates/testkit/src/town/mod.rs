//! A small web of a small town, for `skurd demo`.
//!
//! Thirteen host names of the imagined town of Skurdvik live on one listening socket: a newspaper, a
//! library, a shop, and between them everything that makes harvesting hard. Each site is a module,
//! and a function from a request to an answer. Nearly all of them are pure; the town has a
//! [`Memory`] of how often some things were asked for, so that pages change and a busy server
//! recovers.

mod arkiv;
mod avis;
mod bibliotek;
mod bilder;
mod butikk;
mod felle;
mod ferie;
mod havn;
mod html;
mod memory;
mod omvei;
mod privat;
mod reply;
mod tregt;
mod verksted;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::web::{Answer, Ask, Keep, Seen, Setup, Web};

use reply::Reply;

pub(crate) use memory::Memory;

/// Every host of the town. `butikk.test` only redirects to its `www.`.
pub const HOSTS: [&str; 13] = [
    "arkiv.test",
    "avis.test",
    "bibliotek.test",
    "bilder.avis.test",
    "butikk.test",
    "felle.test",
    "ferie.test",
    "havn.test",
    "omvei.test",
    "privat.test",
    "tregt.test",
    "verksted.test",
    "www.butikk.test",
];

/// Requests that are remembered.
pub(crate) const REQUESTS_MAX: usize = 10_000;
const CONNECTIONS_MAX: usize = 512;
const REQUEST_WAIT: Duration = Duration::from_secs(30);
/// The longest script takes a minute.
const ANSWER_WAIT: Duration = Duration::from_secs(90);

/// The town at work, until it is dropped.
#[derive(Debug)]
pub struct Demo {
    web: Web,
}

impl Demo {
    /// Listens on this port of 127.0.0.1, or any that is free if it is 0.
    pub async fn start_at(port: u16) -> io::Result<Demo> {
        let memory = Memory::default();
        let setup = Setup {
            keep: Keep::Latest(REQUESTS_MAX),
            connections_max: CONNECTIONS_MAX,
            request_wait: Some(REQUEST_WAIT),
            answer_wait: Some(ANSWER_WAIT),
            ..Setup::default()
        };
        let site = move |ask: &Ask| answer(ask, &memory);
        Ok(Demo { web: Web::listen((Ipv4Addr::LOCALHOST, port), setup, site).await? })
    }

    pub fn address(&self) -> SocketAddr {
        self.web.address()
    }

    /// Requests that were answered, the latest of them, in the order in which they came.
    pub fn log(&self) -> Vec<Seen> {
        let mut seen = self.web.seen();
        seen.retain(|seen| seen.end.is_some());
        seen
    }
}

/// How the town is harvested: in three collections, one of them logged in at the rowing club, one
/// with a browser.
pub fn config() -> &'static str {
    include_str!("demo.yaml")
}

pub(crate) fn answer(ask: &Ask, memory: &Memory) -> Answer {
    match ask.host.as_str() {
        "arkiv.test" => arkiv::answer(ask),
        "avis.test" => avis::answer(ask, memory),
        "bibliotek.test" => bibliotek::answer(ask),
        "bilder.avis.test" => bilder::answer(ask),
        "butikk.test" => Reply::redirect(301, &format!("http://www.butikk.test{}", ask.target())).send(),
        "felle.test" => felle::answer(ask),
        "ferie.test" => ferie::answer(ask, memory),
        "havn.test" => havn::answer(ask),
        "omvei.test" => omvei::answer(ask),
        "privat.test" => privat::answer(ask, memory),
        "tregt.test" => tregt::answer(ask, memory),
        "verksted.test" => verksted::answer(ask, memory),
        "www.butikk.test" => butikk::answer(ask, memory),
        _ => Reply::text("Nobody of that name lives in Skurdvik.\n").status(421).send(),
    }
}
