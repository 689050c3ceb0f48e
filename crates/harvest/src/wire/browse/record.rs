//! From what was seen of a page to what is kept of it: links (B17), records beside the exchanges
//! (B16), and the [`Rendering`] that people are shown (B21).

use std::collections::{BTreeSet, HashSet};

use browser::Seen;
use frontier::ports::{Order, Outlink, PageNow, Report, StoredPayload};
use net::exchange::{Exchange, Head};
use net::extract::{self, Extracted, Page};
use net::http::body;
use net::warc::Prepared;
use policy::browser::{BrowserSettings, REFUSALS_MAX, Refusal, Rendering, Screenshot, crashes_in_a_row};
use policy::cookies::Update;
use policy::model::LinkKind;
use policy::time::{Span, Time};
use policy::url::{CrawlUrl, UrlRules, normalise};

use super::origin::State;
use crate::page_info::{DOM, PAGE_INFO, PageInfo, PageRequest, PhaseTimes, Source, THUMBNAIL, VIEW};
use crate::wire::WireFetcher;
use crate::wire::answer::indexed_links;
use crate::wire::manner::Manner;
use crate::wire::robots::Failure;

/// Hosts that a document names, as far as their cookies are looked for.
const NAMED_HOSTS_MAX: usize = 20;

/// What a page came to.
pub(in crate::wire) struct Rendered {
    rendering: Rendering,
    groups: Vec<Prepared>,
    cookies: Vec<Update>,
    /// What its final documents lead to; the page's own first.
    documents: Vec<Extracted>,
    outlinks: Vec<Outlink>,
    /// Requisites that need not be harvested again.
    loaded: BTreeSet<String>,
    retry_after: Option<Span>,
    bytes: u64,
    payloads: Vec<StoredPayload>,
    saved_bytes: u64,
}

impl Rendered {
    /// Takes what the browser saw into the report of its page (B17); gives what is to be archived of it.
    pub(in crate::wire) fn take_into(self, report: &mut Report, indexed: bool) -> Vec<Prepared> {
        let Rendered { rendering, groups, cookies, documents, outlinks, loaded, retry_after, bytes, .. } =
            self;
        report.payloads.extend(self.payloads);
        report.saved_bytes += self.saved_bytes;
        report.retry_after = report.retry_after.max(retry_after);
        if let Some(own) = documents.first().filter(|_| indexed) {
            report.page = Some(PageNow::Links(indexed_links(own)));
        }
        let mut known: HashSet<String> =
            report.outlinks.iter().map(|link| link.url.as_str().to_owned()).collect();
        // What a reader saw, not what was sent.
        if report.text.is_some() {
            let shown = documents.iter().flat_map(|document| &document.links);
            let shown: Vec<_> = shown.map(|link| (&link.url, link.kind)).collect();
            report.text = documents.first().and_then(|own| own.text.clone());
            if let Some(text) = &mut report.text {
                text.show(shown);
            }
        }
        let found = documents.into_iter().flat_map(|document| document.links);
        let found = found.map(|link| Outlink::new(link.url, link.kind));
        for link in found.chain(outlinks) {
            if known.insert(link.url.as_str().to_owned()) {
                report.outlinks.push(link);
            }
        }
        report
            .outlinks
            .retain(|link| link.kind != LinkKind::Requisite || !loaded.contains(link.url.as_str()));
        report.cookies.extend(cookies);
        report.bytes += bytes;
        if !rendering.ending.is_capture() {
            report
                .problem
                .get_or_insert_with(|| format!("rendering it ended: {}", rendering.ending.as_str()));
        }
        report.rendering = Some(rendering);
        groups
    }
}

impl WireFetcher {
    /// From what was seen to what is kept of it.
    #[allow(clippy::too_many_arguments, reason = "it puts together what several rooms found")]
    pub(super) fn told(
        &self,
        order: &Order,
        manner: &Manner,
        seen: &Seen,
        state: State,
        rendering: Rendering,
        cookies: Vec<Update>,
        page_id: &str,
    ) -> Result<Rendered, Failure> {
        let infos = state.infos.into_inner();
        let mut groups = state.groups.into_inner();
        let is_capture = rendering.ending.is_capture();
        let documents: Vec<Extracted> = if is_capture {
            seen.frames.iter().filter_map(|frame| links_of(frame, order, &manner.rules)).collect()
        } else {
            Vec::new()
        };
        let mut outlinks = leads(&seen.popups, LinkKind::Link, &manner.rules);
        outlinks.extend(leads(&seen.redirects, LinkKind::Redirect, &manner.rules));
        let url = order.url.as_str();
        let from_web = infos.iter().filter(|info| info.from == Source::Web);
        let bytes = from_web.map(|info| info.bytes).sum();
        let info = info_of(url, page_id, seen, &rendering, infos);
        let info = serde_json::to_vec(&info).map_err(std::io::Error::from)?;
        let mut resources: Vec<(String, &str, &[u8])> = Vec::new();
        if is_capture {
            if let Some(picture) = &seen.screenshot {
                resources.push((format!("{VIEW}{url}"), picture.content_type, &picture.bytes));
            }
            if let Some(picture) = &seen.thumbnail {
                resources.push((format!("{THUMBNAIL}{url}"), picture.content_type, &picture.bytes));
            }
            if let Some(frame) = seen.frames.first().filter(|_| manner.browser().is_some_and(|own| own.dom)) {
                resources.push((format!("{DOM}{url}"), "text/html; charset=utf-8", frame.html.as_bytes()));
            }
        }
        resources.push((format!("{PAGE_INFO}{url}"), "application/json", &info));
        groups.extend(self.packed_resources(&resources, self.frontier.now())?);
        Ok(Rendered {
            rendering,
            groups,
            cookies,
            documents,
            outlinks,
            loaded: spelled_as_links(&state.loaded.into_inner(), &manner.rules),
            retry_after: state.retry_after.into_inner(),
            bytes,
            payloads: state.payloads.into_inner(),
            saved_bytes: state.saved_bytes.into_inner(),
        })
    }
}

pub(super) fn rendering(
    seen: &Seen,
    state: &State,
    digest: &str,
    before: Option<&Rendering>,
    now: Time,
) -> Rendering {
    let infos = state.infos.lock();
    let count = |source: Source| {
        u32::try_from(infos.iter().filter(|info| info.from == source).count()).unwrap_or(u32::MAX)
    };
    let refusal = |info: &PageRequest| Refusal {
        url: shortened(&info.url),
        reason: shortened(info.reason.as_deref().unwrap_or_default()),
    };
    let refused = infos.iter().filter(|info| info.from == Source::Refused);
    let over = state.over.lock().clone();
    let late = seen.truncated.map(|phase| match phase {
        "total" => "the time for the page was over".to_owned(),
        phase => format!("the time for the phase `{phase}` was over"),
    });
    Rendering {
        at: now,
        ending: seen.ending,
        digest: Some(digest.to_owned()),
        crashes: crashes_in_a_row(before, Some(digest), seen.ending),
        load: seen.phases.load,
        behave: seen.phases.behave,
        collect: seen.phases.collect,
        total: seen.phases.total,
        requests: count(Source::Web) + count(Source::Archive),
        from_archive: count(Source::Archive),
        failed: count(Source::Failed),
        refused: count(Source::Refused),
        refusals: refused.take(REFUSALS_MAX).map(refusal).collect(),
        truncated: over.or(late),
        note: seen.notes.first().map(|note| shortened(note)),
    }
}

/// As much as a row keeps.
fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(500)].to_owned()
}

/// B17: what a final document leads to, by the scanner that reads all documents.
fn links_of(frame: &browser::Frame, order: &Order, rules: &UrlRules) -> Option<Extracted> {
    let own = CrawlUrl::from_normal(frame.url.split('#').next()?).ok();
    // A frame without an address of its own stands on its parent's.
    let url = own.or_else(|| normalise(&frame.base, None, rules).ok()).unwrap_or_else(|| order.url.clone());
    let headers = vec![("Content-Type".to_owned(), b"text/html; charset=utf-8".to_vec())];
    let head = Head { status: 200, headers, bytes: 0 };
    Some(extract::links(&page_of(&url, &head, order, rules), &mut frame.html.as_bytes()))
}

/// B15: the page's host, and those of what its document needs.
pub(super) fn named_hosts(order: &Order, rules: &UrlRules, document: &Exchange) -> Vec<String> {
    let page = page_of(&order.url, &document.head, order, rules);
    let named = extract::links(&page, &mut body(document)).links;
    let requisites = named.iter().filter(|link| link.kind == LinkKind::Requisite);
    let mut hosts = vec![order.host.clone()];
    for host in requisites.map(|link| link.url.host()) {
        if hosts.len() <= NAMED_HOSTS_MAX && !hosts.iter().any(|have| have == host) {
            hosts.push(host.to_owned());
        }
    }
    hosts
}

fn page_of<'a>(url: &'a CrawlUrl, head: &'a Head, order: &Order, rules: &'a UrlRules) -> Page<'a> {
    let limits = &order.plan.limits;
    Page {
        url,
        head,
        limits: extract::Limits {
            links_max: usize::try_from(limits.max_outlinks).unwrap_or(usize::MAX),
            decoded_bytes_max: limits.max_decoded_bytes,
            text: true,
            ..extract::Limits::default()
        },
        rules,
        forms: false,
        announced_as_sitemap: false,
    }
}

fn leads(urls: &[String], kind: LinkKind, rules: &UrlRules) -> Vec<Outlink> {
    urls.iter().filter_map(|url| Some(Outlink::new(normalise(url, None, rules).ok()?, kind))).collect()
}

/// Browsers spell URLs in their own way.
fn spelled_as_links(urls: &BTreeSet<String>, rules: &UrlRules) -> BTreeSet<String> {
    urls.iter().filter_map(|url| Some(normalise(url, None, rules).ok()?.as_str().to_owned())).collect()
}

/// B16: every request of the page, and how it went.
fn info_of(
    url: &str,
    page_id: &str,
    seen: &Seen,
    rendering: &Rendering,
    requests: Vec<PageRequest>,
) -> PageInfo {
    PageInfo {
        url: url.to_owned(),
        page: page_id.to_owned(),
        title: seen.frames.first().map(|frame| frame.title.clone()),
        ending: rendering.ending.as_str().to_owned(),
        phases: PhaseTimes {
            load: rendering.load.0,
            behave: rendering.behave.0,
            collect: rendering.collect.0,
            total: rendering.total.0,
        },
        truncated: rendering.truncated.clone(),
        dialogs: seen.dialogs,
        notes: seen.notes.clone(),
        popups: seen.popups.clone(),
        redirects: seen.redirects.clone(),
        frames: seen.frames.iter().skip(1).map(|frame| frame.url.clone()).collect(),
        requests,
    }
}

/// What a collection's browser is set to, for the head of its files.
pub(in crate::wire) fn described(settings: &BrowserSettings) -> String {
    let screenshot = match settings.screenshot {
        Screenshot::View => "view",
        Screenshot::Full => "full",
        Screenshot::None => "none",
    };
    let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "its own".to_owned());
    format!(
        "browser: viewport {}x{}, scale {}, touch {}, language {}, time zone {}, {:?} scheme, screenshot {screenshot}",
        settings.viewport.width,
        settings.viewport.height,
        settings.device.scale,
        settings.device.touch,
        or(&settings.language),
        or(&settings.timezone),
        settings.color_scheme,
    )
}
