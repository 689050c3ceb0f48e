//! What an answer means (L3), and what robots have to say.

use serde_json::json;
use testkit::web::Answer;
use testkit::world::World;

use crate::walker::{Walker, number};

#[test]
fn l3_soft_404s_are_told_by_their_bodies() {
    let world = World::new(crate::SKURD, |ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        path => match number(path) {
            2 | 5 => Answer::html("<p>Sorry, <b>no such</b> notice.</p>"),
            6 => Answer::html("<p>Under construction</p>"),
            id => Answer::html(format!("<article>notice {id}</article>")),
        },
    });
    let bounds = ["http://a.test/n/{id}", "--min", "1", "--max", "6"];
    assert_eq!(
        world.walk(&[&bounds[..], &["--name", "trusting"]].concat()).only()["content"],
        json!([[1, 6]])
    );
    let lacks =
        world.walk(&[&bounds[..], &["--name", "lacks", "--body-lacks", "(?i)no such.*notice"]].concat());
    assert_eq!(lacks.only()["content"], json!([[1, 1], [3, 4], [6, 6]]));
    let has = world.walk(
        &[&bounds[..], &["--name", "has", "--body-has", "<article", "--body-has", "notice [1-3]"]].concat(),
    );
    assert_eq!(has.only()["content"], json!([[1, 1], [3, 3]]));
    assert_eq!(has.fetches[1]["outcome"], "absent");
}

#[test]
fn l3_redirects_are_told_by_their_targets() {
    let world = World::new(crate::SKURD, |ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        _ => match number(&ask.target()) {
            2 => Answer::redirect("/archive/2"),
            3 => Answer::redirect("http://a.test/search?q=3"),
            4 => Answer::of(301, &[("Location", "/archive/4")], "moved"),
            id => Answer::html(format!("notice {id}")),
        },
    });
    let bounds = ["http://a.test/n/{id}", "--min", "1", "--max", "5"];
    let plain = world.walk(&[&bounds[..], &["--name", "plain"]].concat());
    assert_eq!(plain.only()["content"], json!([[1, 1], [5, 5]]), "a redirect brings no content");
    let judged = world.walk(
        &[
            &bounds[..],
            &["--name", "judged", "--redirect-exists", "/archive/\\d", "--redirect-absent", "/search"],
        ]
        .concat(),
    );
    assert_eq!(judged.only()["content"], json!([[1, 2], [4, 5]]));
    let moved = world.walk(&[&bounds[..], &["--name", "moved", "--exists", "200,301"]].concat());
    assert_eq!(moved.only()["content"], json!([[1, 1], [4, 5]]));
}

#[test]
fn l3_statuses_exist_are_absent_or_failed() {
    let statuses = [200, 404, 410, 403, 429, 500, 503, 204, 200];
    let world = World::new(crate::SKURD, move |ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        path => match number(path) {
            9 => Answer::html(""),
            id => {
                Answer::of(statuses[usize::try_from(id).unwrap() - 1], &[("Content-Type", "text/html")], "x")
            }
        },
    });
    let bounds = ["http://a.test/n/{id}", "--min", "1", "--max", "9"];
    let outcomes = |args: &[&str]| -> Vec<String> {
        let walked = world.walk(&[&bounds[..], args].concat());
        walked.fetches.iter().map(|fetch| fetch["outcome"].as_str().unwrap().to_owned()).collect()
    };
    let plain = ["exists", "absent", "absent", "failed", "failed", "failed", "failed", "absent", "absent"];
    assert_eq!(outcomes(&["--name", "plain"]), plain);
    let told =
        outcomes(&["--name", "told", "--exists", "2xx", "--absent", "403, 500-502", "--failed", "404"]);
    assert_eq!(
        told,
        ["exists", "failed", "absent", "absent", "failed", "absent", "failed", "exists", "exists"]
    );
}

#[test]
fn l3_no_answer_is_a_failure() {
    let world = World::new(crate::SKURD, |ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        "/n/2" => Answer::raw("not HTTP at all"),
        path => Answer::html(path),
    });
    let walked = world.walk(&["http://a.test/n/{id}", "--min", "1", "--max", "3"]);
    assert_eq!(
        (&walked.only()["content"], &walked.only()["holes"]),
        (&json!([[1, 1], [3, 3]]), &json!([[2, 2]]))
    );
    let fetch = &walked.fetches[1];
    assert_eq!((&fetch["outcome"], &fetch["status"]), (&json!("failed"), &json!(null)));
    assert!(fetch["problem"].is_string());
}

#[test]
fn l3_ids_that_robots_deny_are_not_asked_for() {
    let world = World::new(crate::SKURD, |ask| match ask.path.as_str() {
        "/robots.txt" => Answer::text("User-agent: *\nDisallow: /n/2\nDisallow: /n/4\n"),
        path => Answer::html(path),
    });
    let walked = world.walk(&["http://a.test/n/{id}", "--min", "1", "--max", "5"]);
    assert_eq!(walked.only()["holes"], json!([[2, 2], [4, 4]]));
    assert_eq!(
        (&walked.fetches[1]["outcome"], &walked.fetches[1]["error"]),
        (&json!("failed"), &json!("robots"))
    );
    assert_eq!(world.asked(), ["a.test/n/1", "a.test/n/3", "a.test/n/5"]);
    let again = world.walk(&[
        "http://a.test/n/{id}",
        "--min",
        "1",
        "--max",
        "5",
        "--resume",
        "holes",
        "--robots",
        "ignore",
    ]);
    assert_eq!((again.fetches.len(), &again.only()["content"]), (2, &json!([[1, 5]])));
}
