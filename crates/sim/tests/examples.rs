//! The worked examples of the specification, on the real frontier.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use frontier::{Target, UrlState};
use policy::catalog::Change;
use policy::model::{LinkKind, Profile};
use policy::scope::Scope;
use policy::time::Span;
use sim::web::{Page, Response, Web};
use sim::{Settings, Simulation};
use testkit::catalog::{self, collection, put};

fn profile(name: &str, hops: u32) -> Change {
    let scope = Scope { off_domain_hops: hops, ..Scope::default() };
    put(Profile { scope, ..catalog::profile(name, "news") })
}

fn seed(name: &str, profile: &str) -> Change {
    put(catalog::seed(name, &format!("https://{name}/"), &[profile]))
}

fn page(url: &str, links: &[&str]) -> Page {
    let outlinks = links.iter().map(|link| (format!("https://{link}"), LinkKind::Link)).collect();
    Page { url: format!("https://{url}"), responses: vec![Response { outlinks, ..Response::default() }] }
}

/// The web of page 2.
fn web() -> Web {
    Web::new([
        page("faktisk.no/", &["faktisk.no/artikkel"]),
        page("faktisk.no/artikkel", &["vg.no/artikkel", "cnn.com/article", "vg.no/"]),
        vg(),
        page("vg.no/artikkel", &["vg.no/artikkel2"]),
        page("vg.no/artikkel2", &[]),
        page("cnn.com/article", &[]),
    ])
}

/// Its own tree begins with its own harvest, after two for faktisk.no, as in the drawing of the
/// example.
fn vg() -> Page {
    let mut page = page("vg.no/", &["vg.no/artikkel"]);
    page.responses.insert(0, Response { count: 2, ..Response::default() });
    page
}

fn run<T>(future: impl Future<Output = T>) -> T {
    sim::virtual_time(future).unwrap()
}

async fn owners(simulation: &Simulation) -> Vec<(String, String)> {
    let ledger = simulation.frontier.audit().await.unwrap();
    assert_eq!(ledger.findings, Vec::<String>::new());
    let queued = ledger.urls.into_iter().filter_map(|((_, url), state)| match state {
        UrlState::Queued(record) => Some((url.trim_start_matches("https://").to_owned(), record.seed)),
        _ => None,
    });
    queued.collect()
}

async fn start(simulation: &Simulation, name: &str) {
    simulation.frontier.start(&Target::Seed { name: name.into(), profiles: None }).await.unwrap();
    let end = simulation.now().plus(Span::hours(1));
    simulation.run_until(end).await.unwrap();
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(url, seed)| ((*url).to_owned(), (*seed).to_owned())).collect()
}

#[test]
fn o1_o2_o3_o4_o5_o6_example_1_owners_after_each_harvest() {
    run(async {
        let simulation = Simulation::new(web(), Settings::default());
        let declared = [
            put(collection("news")),
            profile("plus one", 1),
            profile("domain only", 0),
            seed("faktisk.no", "plus one"),
            seed("vg.no", "domain only"),
        ];
        simulation.frontier.declare(&declared).await.unwrap();
        start(&simulation, "faktisk.no").await;
        let first = pairs(&[
            ("cnn.com/article", "faktisk.no"),
            ("faktisk.no/", "faktisk.no"),
            ("faktisk.no/artikkel", "faktisk.no"),
            ("vg.no/", "faktisk.no"),
            ("vg.no/artikkel", "faktisk.no"),
            ("vg.no/artikkel2", "vg.no"),
        ]);
        assert_eq!(owners(&simulation).await, first);

        // Second harvest of faktisk.no with nothing else in between: all keep their owner.
        let tomorrow = simulation.now().plus(Span::days(1));
        simulation.run_until(tomorrow).await.unwrap();
        assert_eq!(owners(&simulation).await, first);

        start(&simulation, "vg.no").await;
        let day_after = simulation.now().plus(Span::days(1));
        simulation.run_until(day_after).await.unwrap();
        assert_eq!(
            owners(&simulation).await,
            pairs(&[
                ("cnn.com/article", "faktisk.no"),
                ("faktisk.no/", "faktisk.no"),
                ("faktisk.no/artikkel", "faktisk.no"),
                ("vg.no/", "vg.no"),
                ("vg.no/artikkel", "vg.no"),
                ("vg.no/artikkel2", "vg.no"),
            ])
        );
    });
}

#[test]
fn o5_f27_example_2_without_off_domain_hops() {
    run(async {
        let simulation = Simulation::new(web(), Settings::default());
        let declared = [
            put(collection("news")),
            profile("domain only", 0),
            seed("faktisk.no", "domain only"),
            seed("vg.no", "domain only"),
        ];
        simulation.frontier.declare(&declared).await.unwrap();
        start(&simulation, "faktisk.no").await;
        let owners = owners(&simulation).await;
        assert!(owners.contains(&("vg.no/artikkel".into(), "vg.no".into())), "{owners:?}");
        assert!(!owners.iter().any(|(url, _)| url.starts_with("cnn.com")), "{owners:?}");
    });
}
