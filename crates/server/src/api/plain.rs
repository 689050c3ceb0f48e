//! The plain routes, which are most of them: what a request says is handed to a function of `app`,
//! and what that answers is sent back as JSON.
//!
//! An entry is a route: what its description says, its method and path, the function with where
//! each of its arguments comes from (the path, a body, or behind a `?` the query), what it answers,
//! and how it can end otherwise.

use app::declared::Switched;
use app::declared::many::{self, ManySeeds, SeedsAdded};
use app::index::links::{self, Inlinks, OnePage, Outlinks};
use app::index::ranks::{self, List, Top};
use app::index::{self, IndexDomain, IndexInlink, IndexItem, IndexOutlink, IndexPage, One, PageFacts};
use app::reports::budgets;
use app::{
    App, Page, Paging, blacklist, captures, control, first, hosts, nodes, queue, runs, status, traps,
    url_frontier, walks, why,
};
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::{Json, Path, Query};
use crate::failure::Answer;

macro_rules! plain {
    ($($tag:literal {
        $($(#[$($doc:tt)*])*
        $method:ident $path:literal $(where $key:literal is $about:literal)?:
            $module:ident::$name:ident($($given:ident: $place:ident<$what:ty>),* $(?$asked:ident: $query:ty)?)
            -> $answer:ty $(: $told:literal)? $(, $status:literal: $why:literal)*;)*
    })*) => {
        pub(super) fn routes() -> OpenApiRouter<App> {
            OpenApiRouter::new()$($(.routes(routes!($name)))*)*
        }

        $($(
            $(#[$($doc)*])*
            #[utoipa::path(
                $method,
                path = $path,
                tag = $tag,
                params($(($key = String, Path, description = $about),)? $($query)?),
                responses(
                    (status = 200, $(description = $told,)? body = $answer),
                    $((status = $status, description = $why),)*
                ),
            )]
            async fn $name(
                State(app): State<App>,
                $($place($given): $place<$what>,)*
                $(Query($asked): Query<$query>)?
            ) -> Answer<axum::Json<$answer>> {
                Ok(axum::Json($module::$name(&app, $($given,)* $($asked)?).await?))
            }
        )*)*
    };
}

plain! {
    "declared" {
        /// Declare many seeds at once: those that are there get the profiles they lack
        ///
        /// If one is wrong, none is taken.
        post "/api/v1/seeds": many::add_seeds(many: Json<ManySeeds>) -> SeedsAdded: "What became of them";
    }

    "control" {
        /// Start a seed, profiles or a collection as a new run; everything if nothing is named
        post "/api/v1/start": control::start(wanted: Json<control::Start>)
            -> Vec<control::Run>: "One run for each thing that was started",
            404: "There is no such thing", 409: "There is nothing to start";

        /// Harvest a URL: what that takes is declared and started
        ///
        /// A collection `web` and a profile named by the frequency are declared unless they are
        /// there.
        post "/api/v1/harvest": first::harvest_url(wanted: Json<first::FirstHarvest>)
            -> Vec<control::Run>: "The run that began";

        /// List the runs, the latest first: each start is one
        get "/api/v1/runs": runs::list_runs(?paging: Paging) -> Page<runs::RunItem>;

        /// Get a run: what it has come to, by collection, and the run before of the same thing
        get "/api/v1/runs/{run}" where "run" is "Its number":
            runs::get_run(run: Path<String>) -> runs::RunDetail,
            404: "There is no such run";

        /// List what is paused
        get "/api/v1/pauses": control::list_pauses() -> Vec<control::PauseItem>;

        /// Pause: nothing more of it is fetched until it is resumed, also after a restart
        ///
        /// What is in flight comes home.
        post "/api/v1/pause": control::pause(what: Json<control::Pausable>) -> control::PauseChange,
            404: "There is no such collection, host or walk";

        /// Resume: it goes on at once
        post "/api/v1/resume": control::resume(what: Json<control::Pausable>) -> control::PauseChange;
    }

    "queue" {
        /// List the URLs that are known, with their state
        get "/api/v1/queue": queue::list_queue(?filter: queue::Filter) -> Page<queue::QueueItem>,
            404: "There is no such collection";

        /// Move a queued URL to another due time
        post "/api/v1/queue/move": queue::move_url(body: Json<queue::Move>) -> queue::Moved,
            404: "There is no such collection", 409: "The URL is not queued";

        /// Explain why a URL is, or is not, harvested: every rule that decides
        get "/api/v1/why": why::why(?asked: why::Asked) -> Vec<why::WhyItem>: "For each collection",
            404: "There is no such collection";

        /// List the hosts that have URLs
        get "/api/v1/hosts": hosts::list_hosts(?filter: hosts::Filter) -> Page<hosts::HostItem>;

        /// List what seems to be a trap: a host that brings ever more URLs and nothing new
        get "/api/v1/traps": traps::list_traps(?filter: traps::Filter) -> Page<traps::TrapItem>;

        /// Let a suspicion go: it is no trap, and what was held for it is due now
        post "/api/v1/traps/release": traps::release_trap(body: Json<traps::Release>) -> traps::Decided,
            404: "There is no such suspicion", 409: "Several collections have it";

        /// End a suspicion: its line is added to a profile's scope, or to the settings
        post "/api/v1/traps/exclude": traps::exclude_trap(body: Json<traps::Exclude>) -> traps::Decided,
            404: "There is no such suspicion or profile", 409: "There are several to choose from";

        /// List the machines that share the store
        get "/api/v1/nodes": nodes::list_nodes(?paging: Paging) -> Page<nodes::NodeItem>;

        /// Take a machine off the list that will not come back
        ///
        /// Its captures stay known; the answer counts those that can no longer be read.
        delete "/api/v1/nodes/{name}" where "name" is "Of the list":
            nodes::forget_node(name: Path<String>) -> nodes::Forgotten,
            404: "There is no such node", 409: "It is at work";

        /// List what is blacklisted, why, and until when
        get "/api/v1/blacklist": blacklist::list_blacklist(?filter: blacklist::Filter)
            -> Page<blacklist::BlacklistItem>, 404: "There is no such collection";

        /// Take a queued URL out of the queue, for a time or until lifted
        post "/api/v1/blacklist": blacklist::add_to_blacklist(body: Json<blacklist::Addition>)
            -> blacklist::Added, 404: "There is no such collection", 409: "The URL is not queued";

        /// List the patterns on the blacklist
        get "/api/v1/blacklist/patterns": blacklist::list_patterns(?filter: blacklist::Filter)
            -> Page<blacklist::PatternItem>, 404: "There is no such collection";

        /// Leave URLs alone by pattern: a host, a prefix, a regular expression
        ///
        /// What is queued leaves the queue when its turn comes, with its record; what is new is not
        /// queued.
        post "/api/v1/blacklist/patterns": blacklist::add_patterns(body: Json<blacklist::Bar>)
            -> Vec<blacklist::PatternItem>, 404: "There is no such collection";

        /// Lift a pattern: what it held comes back into the queue, due now
        post "/api/v1/blacklist/patterns/lift": blacklist::lift_pattern(body: Json<blacklist::LiftPattern>)
            -> blacklist::LiftedPattern, 404: "There is no such pattern";

        /// Bring a URL back into the queue, due now
        post "/api/v1/blacklist/lift": blacklist::lift(body: Json<blacklist::Lift>) -> blacklist::Lifted,
            404: "There is no such collection", 409: "The URL is not blacklisted";
    }

    "archive" {
        /// List what was archived: of a URL, of all that begin alike, or all
        get "/api/v1/captures": captures::list_captures(?filter: captures::Filter)
            -> Page<captures::CaptureItem>, 404: "There is no such collection";

        /// Get what is known of a capture
        get "/api/v1/captures/{id}" where "id" is "Of the list":
            captures::get_capture(id: Path<String>) -> captures::CaptureItem,
            404: "There is no such capture";
    }

    "walks" {
        /// List the walks in the order of their names, and where each stands
        get "/api/v1/walks": walks::list_walks(?paging: Paging) -> Page<walks::WalkItem>;

        /// Get a walk: where it stands, what is known of its ids, and a map of them
        ///
        /// Ranges are inclusive; with a step, a range means its first, its last and those between
        /// them in steps. A list that is cut off goes on at `from` in `more`.
        get "/api/v1/walks/{name}" where "name" is "Its name: the template, unless it was given another":
            walks::get_walk(name: Path<String> ?look: walks::Look) -> walks::WalkDetail,
            404: "There is no such walk";

        /// Begin another run of a walk that was interrupted or has ended
        ///
        /// It is walked as soon as its host has a slot, unless it is switched off or paused.
        post "/api/v1/walks/{name}/resume" where "name" is "Its name":
            walks::resume_walk(name: Path<String>, another: Json<walks::AnotherRun>)
            -> walks::WalkItem: "Where it stands now",
            404: "There is no such walk", 409: "Its ids are being fetched";

        /// Switch a walk on again: it continues where it was
        post "/api/v1/walks/{name}/enable" where "name" is "Its name":
            walk_switches::enable_walk(name: Path<String>) -> Switched, 404: "There is no such walk";

        /// Switch a walk off: what is in flight comes home, and nothing is lost
        post "/api/v1/walks/{name}/disable" where "name" is "Its name":
            walk_switches::disable_walk(name: Path<String>) -> Switched, 404: "There is no such walk";
    }

    "index" {
        /// List the indexes in the order of their collections, and what each holds
        get "/api/v1/indexes": index::list_indexes(?paging: Paging) -> Page<IndexItem>;

        /// Get what an index holds, and what waits to be worked in
        get "/api/v1/index": index::get_index(?asked: One) -> IndexItem,
            404: "There is no such index";

        /// List the pages that are linked to most
        ///
        /// By incount, pages that nothing links to are not listed.
        get "/api/v1/index/pages": ranks::top_pages(?asked: Top) -> Page<IndexPage>,
            404: "There is no such index";

        /// List the domains with the most pages
        get "/api/v1/index/domains": ranks::top_domains(?asked: List) -> Page<IndexDomain>,
            404: "There is no such index";

        /// Get a domain
        get "/api/v1/index/domains/{name}"
            where "name" is "The registrable domain, like `example.com`; or a host in it":
            ranks::get_domain(name: Path<String> ?asked: One) -> IndexDomain,
            404: "There is no such index, or nothing is known of the domain";

        /// List the pages of a domain, the highest score first
        get "/api/v1/index/domains/{name}/pages"
            where "name" is "The registrable domain, like `example.com`; or a host in it":
            ranks::domain_pages(name: Path<String> ?asked: List) -> Page<IndexPage>,
            404: "There is no such index, or nothing is known of the domain";

        /// List what is linked to most but was never captured
        get "/api/v1/index/missing": ranks::missing_pages(?asked: List) -> Page<IndexPage>,
            404: "There is no such index";

        /// Get what is known of a page
        get "/api/v1/index/page": links::get_page(?asked: OnePage) -> PageFacts,
            404: "There is no such index, or the page is not known";

        /// List the links to a page with their texts, in the order of the pages that link
        ///
        /// With a stretch of time, only those that were there in it.
        get "/api/v1/index/inlinks": links::list_inlinks(?asked: Inlinks) -> Page<IndexInlink>,
            404: "There is no such index, or the page is not known";

        /// List the links of a page with their texts, in the order of where they lead
        get "/api/v1/index/outlinks": links::list_outlinks(?asked: Outlinks) -> Page<IndexOutlink>,
            404: "There is no such index, or the page is not known";
    }

    "url-frontier" {
        /// Get how the frontier of other crawlers is set
        get "/api/v1/url-frontier": url_frontier::get_url_frontier() -> url_frontier::UrlFrontierState;

        /// Switch on or off that URLs are handed out to other crawlers
        ///
        /// What they put is taken either way.
        put "/api/v1/url-frontier/activity":
            url_frontier::set_url_frontier_activity(activity: Json<url_frontier::Activity>)
            -> url_frontier::UrlFrontierState;

        /// List the crawls of other crawlers, by name
        get "/api/v1/url-frontier/crawls": url_frontier::list_crawls(?paging: Paging)
            -> Page<url_frontier::CrawlItem>;

        /// List the queues of a crawl, by key
        get "/api/v1/url-frontier/queues": url_frontier::list_crawl_queues(?filter: url_frontier::Filter)
            -> Page<url_frontier::CrawlQueueItem>, 404: "There is no such crawl";

        /// Let a queue give nothing for a while, or end that
        post "/api/v1/url-frontier/block": url_frontier::block_crawl_queue(block: Json<url_frontier::Block>)
            -> url_frontier::CrawlQueueItem, 404: "There is no such queue";

        /// Delete a queue with its URLs, or a crawl with its queues
        ///
        /// They are gone at once; their rows are swept up afterwards.
        post "/api/v1/url-frontier/delete": url_frontier::delete_crawl_urls(delete: Json<url_frontier::Delete>)
            -> url_frontier::DeletedUrls, 404: "There is no such crawl";
    }

    "reports" {
        /// Report what is used of every budget, and what it keeps back
        get "/api/v1/reports/budgets": budgets::report_budgets(?asked: budgets::Asked)
            -> budgets::BudgetReport;
    }

    "server" {
        /// Get the figures of now
        get "/api/v1/status": status::status() -> status::Status;

        /// Get the last harvests, the latest first
        ///
        /// A few dozen are kept, also over a restart.
        get "/api/v1/latest": status::latest() -> Vec<status::LatestItem>;
    }
}

mod walk_switches {
    use app::{Answer, App, walks};

    use super::Switched;

    pub(super) async fn enable_walk(app: &App, name: String) -> Answer<Switched> {
        walks::switch(app, name, true).await
    }

    pub(super) async fn disable_walk(app: &App, name: String) -> Answer<Switched> {
        walks::switch(app, name, false).await
    }
}
