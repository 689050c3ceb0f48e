//! The sites of Skurdvik, one module each.
//!
//! A site is a function from a request to an answer. Nearly all of them are pure; what changes with time asks
//! the [`Memory`].

mod arkiv;
mod avis;
mod bibliotek;
mod bilder;
mod butikk;
mod felle;
mod ferie;
mod html;
mod memory;
mod omvei;
mod privat;
mod tregt;
mod verksted;

use crate::answer::{Answer, Reply};
use crate::ask::Ask;

pub(super) use memory::Memory;

pub(super) fn answer(ask: &Ask, memory: &Memory) -> Answer {
    match ask.host.as_str() {
        "arkiv.test" => arkiv::answer(ask),
        "avis.test" => avis::answer(ask, memory),
        "bibliotek.test" => bibliotek::answer(ask),
        "bilder.avis.test" => bilder::answer(ask),
        "butikk.test" => Reply::redirect(301, &format!("http://www.butikk.test{}", ask.target())).send(),
        "felle.test" => felle::answer(ask),
        "ferie.test" => ferie::answer(ask, memory),
        "omvei.test" => omvei::answer(ask),
        "privat.test" => privat::answer(ask, memory),
        "tregt.test" => tregt::answer(ask, memory),
        "verksted.test" => verksted::answer(ask, memory),
        "www.butikk.test" => butikk::answer(ask, memory),
        _ => Reply::text("Nobody of that name lives in Skurdvik.\n").status(421).send(),
    }
}
