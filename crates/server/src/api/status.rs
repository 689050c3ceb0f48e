//! How the process fares: figures as a stream, over the last hours and for Prometheus; whether it
//! lives, and whether it does its work.

use std::convert::Infallible;
use std::fmt::{Display, Write};
use std::time::Duration;

use app::live::{Event, Sample};
use app::status::Asked;
use app::{App, Problem};
use axum::extract::State;
use axum::http::header;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use frontier::is_content;
use harvest::figures::Standing;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::Query;
use crate::failure::Answer;

/// Streams at the same time.
const LISTENERS_MAX: usize = 1000;
/// So that proxies do not take a quiet stream for a dead one.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Events a stream may be behind before it misses some.
const EVENTS_AHEAD: usize = 16;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(events))
        .routes(routes!(history))
        .routes(routes!(metrics))
        .routes(routes!(healthz))
        .routes(routes!(readyz))
}

/// Follow the harvest: server-sent events
///
/// `figures` once a second, `harvest` for some of the URLs that were harvested. Who reads too
/// slowly misses events, and hears `missed` with how many.
#[utoipa::path(
    get,
    path = "/api/v1/events",
    tag = "server",
    responses((status = 200, description = "A stream without an end", body = String, content_type = "text/event-stream")),
)]
async fn events(State(app): State<App>) -> Answer<Response> {
    if app.live.listeners() >= LISTENERS_MAX {
        return Err(Problem::unavailable("too many listen already").into());
    }
    let (mut events, mut over) = app.live.listen();
    let first = serde_json::to_string(&app.live.now()).unwrap_or_default();
    let (send, receive) = mpsc::channel::<Result<sse::Event, Infallible>>(EVENTS_AHEAD);
    tokio::spawn(async move {
        let mut next = Some(sse::Event::default().event("figures").data(first));
        while let Some(event) = next.take() {
            if send.send(Ok(event)).await.is_err() {
                return;
            }
            next = tokio::select! {
                event = events.recv() => match event {
                    Ok(Event { name, json }) => Some(sse::Event::default().event(name).data(&*json)),
                    Err(RecvError::Lagged(missed)) => Some(sse::Event::default().event("missed").data(missed.to_string())),
                    Err(RecvError::Closed) => None,
                },
                _ = over.changed() => None,
                () = send.closed() => None,
            };
        }
    });
    let stream = Sse::new(ReceiverStream::new(receive)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    Ok(stream.into_response())
}

/// Get the figures of the last hours, the oldest first
#[utoipa::path(get, path = "/api/v1/history", tag = "server", params(Asked), responses((status = 200, body = Vec<Sample>)))]
async fn history(State(app): State<App>, Query(asked): Query<Asked>) -> axum::Json<Vec<Sample>> {
    axum::Json(app::status::history(&app, &asked))
}

/// The figures for Prometheus
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "server",
    responses((status = 200, body = String, content_type = "text/plain; version=0.0.4")),
)]
async fn metrics(State(app): State<App>) -> Answer<Response> {
    let mut out = Exposition(String::with_capacity(4096));
    let (added, standing, in_flight, hosts) = app.live.figures.look_at(|counts| {
        (counts.added, counts.standing, counts.in_flight as u64, counts.hosts.len() as u64)
    });
    let totals = app.frontier.totals().await?;
    let urls = app.frontier.url_counts().await?;
    let traffic = &totals.traffic;
    let captures: i64 = urls.values().map(|counts| counts.captures).sum();
    out.counter("skurd_harvests_total", "Requests for URLs, of all time", traffic.requests);
    out.counter("skurd_pages_total", "Answers with content, of all time", traffic.answers(is_content));
    out.counter("skurd_unchanged_total", "Answers that were as before, of all time", traffic.unchanged);
    out.counter("skurd_bytes_total", "Bytes received, of all time", traffic.bytes);
    let help = "Bytes received and not archived again, of all time";
    out.counter("skurd_saved_bytes_total", help, traffic.saved_bytes);
    out.counter("skurd_captures_total", "Captures archived, of all time", captures.max(0));
    out.counter("skurd_urls_added_total", "URLs found and queued, since the start", added);
    let statuses = traffic.statuses.iter().map(|(s, n)| (format!("status=\"{s}\""), n));
    out.labelled("counter", "skurd_answers_total", "Answers by status, of all time", statuses);
    let errors = traffic.errors.iter().map(|(e, n)| (format!("kind=\"{}\"", e.as_str()), n));
    out.labelled("counter", "skurd_no_answers_total", "Harvests without an answer by reason", errors);
    let promises = &totals.promises;
    let outcomes = [("on_time", promises.on_time), ("late", promises.late), ("missed", promises.missed)];
    let outcomes = outcomes.map(|(outcome, n)| (format!("outcome=\"{outcome}\""), n));
    let help = "Promised harvests that were settled, of all time";
    out.labelled("counter", "skurd_promises_total", help, outcomes);
    let Standing { missed, overdue, on_time, .. } = standing;
    out.gauge("skurd_promises_missed_day", "Promised harvests of the last day that were missed", missed);
    out.gauge("skurd_promises_overdue", "Promised harvests that can only come late", overdue);
    if let Some(share) = on_time {
        let help = "Of the promised harvests of the last day, those on time";
        out.gauge("skurd_promises_on_time_ratio", help, share);
    }
    let queued: i64 = urls.values().map(|counts| counts.queued).sum();
    out.gauge("skurd_queued_urls", "URLs that wait", queued.max(0));
    let states = urls.iter().flat_map(|(collection, counts)| {
        let states = [("queued", counts.queued), ("done", counts.done), ("blacklisted", counts.blacklisted)];
        let collection = label_text(collection);
        states.map(|(state, n)| (format!("collection=\"{collection}\",state=\"{state}\""), n.max(0)))
    });
    out.labelled("gauge", "skurd_urls", "URLs by collection and state", states);
    out.gauge("skurd_in_flight", "Fetches under way", in_flight);
    out.gauge("skurd_hosts", "Hosts asked since the start", hosts);
    out.gauge("skurd_pauses", "Things that are paused", app.frontier.paused().await?.len());
    out.gauge("skurd_event_listeners", "Streams of events", app.live.listeners());
    out.gauge("skurd_uptime_seconds", "Since the start", app.frontier.now().since(app.live.began).0 / 1000);
    if let Some(disk) = app.live.figures.look_at(|counts| counts.disk) {
        out.gauge("skurd_disk_free_bytes", "Free on the disk of the data directory", disk.free);
        out.gauge("skurd_disk_floor_bytes", "What is to stay free, or 0", disk.floor.unwrap_or(0));
        let is_full = u8::from(disk.is_full);
        out.gauge("skurd_disk_full", "1 if nothing is harvested until there is room", is_full);
    }
    let (files, captures) = app.live.archive.missing();
    out.gauge("skurd_archive_files_missing", "Files missing or cut off, as of the start", files);
    out.gauge("skurd_archive_captures_missing", "Captures in those files", captures);
    let failed = u8::from(app.live.archive.failure().is_some());
    out.gauge("skurd_archive_failed", "1 if nothing can be archived any more", failed);
    let store = app.frontier.store().figures();
    out.counter("skurd_store_commits_total", "Transactions committed", store.commits);
    out.counter("skurd_store_conflicts_total", "Transactions lost to another writer", store.conflicts);
    out.counter("skurd_store_undetermined_total", "Commits of unknown outcome", store.undetermined);
    out.counter("skurd_store_unavailable_total", "Operations refused", store.unavailable);
    out.counter("skurd_store_gave_up_total", "Transactions given up", store.gave_up);
    out.counter("skurd_store_groups_total", "Batches written", store.groups);
    out.counter("skurd_store_syncs_total", "Batches synced", store.syncs);
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], out.0).into_response())
}

/// Whether the process answers
#[utoipa::path(get, path = "/healthz", tag = "server", responses((status = 200, description = "It does", body = String, content_type = "text/plain")))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the store can be read, the archive written, and the harvest is not about to stop
///
/// An archive from which files are missing is told as `degraded` and is ready all the same: files
/// are moved to other shelves, and harvesting goes on.
#[utoipa::path(get, path = "/readyz", tag = "server", responses((status = 200, description = "All is well", body = String, content_type = "text/plain")))]
async fn readyz(State(app): State<App>) -> Answer<String> {
    if app.live.is_stopping() {
        return Err(Problem::unavailable("the harvest is stopping").into());
    }
    if let Some(reason) = app.live.archive.failure() {
        return Err(Problem::unavailable(reason).into());
    }
    app.look(|_| ()).await?;
    Ok(match app.live.archive.complaint() {
        None => "ready\n".to_owned(),
        Some(complaint) => format!("ready\ndegraded: {complaint}\n"),
    })
}

/// A name as the value of a label.
fn label_text(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Prometheus' text format.
struct Exposition(String);

impl Exposition {
    fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.labelled("counter", name, help, [(String::new(), value)]);
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.labelled("gauge", name, help, [(String::new(), value)]);
    }

    /// Values with their labels; an empty label is none.
    fn labelled<T: Display>(
        &mut self,
        kind: &str,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (String, T)>,
    ) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (label, value) in values {
            let label = if label.is_empty() { label } else { format!("{{{label}}}") };
            let _ = writeln!(self.0, "{name}{label} {value}");
        }
    }
}
