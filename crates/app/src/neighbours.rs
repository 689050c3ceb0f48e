//! The frontier of other crawlers meets ours at the hosts that both ask (G11).

use std::sync::Arc;

use frontier::{Frontier, Guests};
use policy::time::Time;
use store::Tx;
use urlfrontier::{Meeting, Neighbours, Pending};

pub(crate) struct Ours(pub(crate) Arc<Frontier>);

impl Neighbours for Ours {
    fn meet(&self) -> Option<Box<dyn Meeting + '_>> {
        Some(Box::new(Both(self.0.guests()?)))
    }
}

struct Both<'a>(Guests<'a>);

impl Meeting for Both<'_> {
    fn free_at<'a>(&'a self, tx: &'a Tx, host: &'a str) -> Pending<'a, Option<i64>> {
        Box::pin(async move { Ok(self.0.free_at(tx, host).await?.map(|at| at.0)) })
    }

    fn book<'a>(&'a self, tx: &'a Tx, host: &'a str, until: i64) -> Pending<'a, ()> {
        self.0.book(tx, host, Time(until))
    }
}
