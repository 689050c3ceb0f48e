//! Doing something to a URL in a collection, or in each that has it.

use frontier::Frontier;
use http::StatusCode;
use policy::time::Time;
use policy::url::CrawlUrl;

use super::{Answer, App, Problem};

/// What is done.
pub(crate) enum Act<'a> {
    /// To another due time.
    Move {
        due: Time,
    },
    Blacklist {
        reason: &'a str,
        until: Option<Time>,
    },
    Lift,
}

impl Act<'_> {
    /// What the URL must be for it.
    fn wants(&self) -> &'static str {
        match self {
            Act::Move { .. } | Act::Blacklist { .. } => "queued",
            Act::Lift => "blacklisted",
        }
    }

    async fn carry_out(&self, frontier: &Frontier, collection: &str, url: &CrawlUrl) -> store::Result<bool> {
        match self {
            Act::Move { due } => frontier.move_due(collection, url, *due).await,
            Act::Blacklist { reason, until } => frontier.blacklist_add(collection, url, reason, *until).await,
            Act::Lift => frontier.blacklist_lift(collection, url).await,
        }
    }
}

/// Does it in each collection; a URL to which it cannot be done in any is a conflict with what is
/// there.
pub(crate) async fn each(
    app: &App,
    act: &Act<'_>,
    url: &str,
    collection: Option<&str>,
) -> Answer<(String, Vec<String>)> {
    let url = app.url(url).await?;
    let mut done = Vec::new();
    for name in app.collections(collection).await? {
        if act.carry_out(&app.frontier, &name, &url).await? {
            done.push(name);
        }
    }
    if done.is_empty() {
        let place = collection.map_or("any collection".to_owned(), |name| format!("`{name}`"));
        let problem = Problem::new(StatusCode::CONFLICT, format!("{url} is not {} in {place}", act.wants()));
        return Err(problem.hint(format!("`skurd why {url}` says where it stands")));
    }
    Ok((url.as_str().to_owned(), done))
}
