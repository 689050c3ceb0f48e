//! The link index through the API: what the commands say, page by page (I4, X12, X13, X15).

use serde_json::{Value, json};
use testkit::world::{Served, World, fifty_pages, json_lines};

use crate::site::told;

/// Nothing is harvested.
const QUIET: &str = "collections: [{name: c, index: false}]\n";

/// With these pages in the index `web`.
fn loaded() -> World {
    let world = World::new(crate::SKURD, |_| testkit::web::Answer::not_found());
    world.write("c.yaml", QUIET);
    world.write("pages.jsonl", &fifty_pages());
    world.good(&["index", "load", "pages.jsonl"]);
    world
}

/// Paths, and the commands that say the same.
const TABLE: [(&str, &[&str]); 9] = [
    ("indexes", &["index", "stats"]),
    ("index/pages?limit=7", &["index", "top"]),
    ("index/pages?by=score&limit=7", &["index", "top", "--by", "score"]),
    ("index/domains?collection=web&limit=2", &["index", "top", "--domains", "--collection", "web"]),
    ("index/missing?limit=3", &["index", "missing"]),
    ("index/domains/d0.no/pages?limit=4", &["index", "domain", "d0.no"]),
    ("index/inlinks?url=http://d1.no/1&limit=5", &["index", "page", "http://d1.no/1", "--inlinks"]),
    (
        "index/inlinks?url=http://d1.no/1&since=2003&until=2010&limit=1",
        &["index", "page", "http://d1.no/1", "--inlinks", "--since", "2003", "--until", "2010"],
    ),
    ("index/outlinks?url=http://d3.no/48&limit=2", &["index", "page", "http://d3.no/48", "--outlinks"]),
];

#[test]
fn x12_i4_commands_and_api_say_the_same_with_and_without_a_server() {
    let world = loaded();
    let served = Served::start(&world);
    let mut before = Vec::new();
    for (path, command) in TABLE {
        let api = served.items(path);
        assert!(api.len() > 4 || path == "indexes", "{path}: {}", api.len());
        let json = [command, &["--json"]].concat();
        assert_eq!(json_lines(&told(&world, &json).1), api, "{path}");
        let cut = [command, &["--limit", "2"]].concat();
        before.extend([json, cut, command.to_vec()].map(|args| (told(&world, &args), args)));
    }
    let page = ["index", "page", "http://d1.no/1"];
    let facts = served.json("index/page?url=http://d1.no/1");
    assert_eq!(world.json(&page)[0], facts);
    assert_eq!((&facts["incount"], &facts["outlinks"]), (&json!(49), &json!(1)));
    assert_eq!(
        served.json("index/domains/void.com"),
        json!({ "domain": "void.com", "uri": "com.void", "pagecount": 7 })
    );
    assert_eq!(served.json("index"), served.json("indexes")["items"][0]);
    assert_eq!(served.json("index")["waiting"], 0);
    for wrong in [
        &["index", "page", "http://d1.no/x"][..],
        &["index", "page", "d1.no"],
        &["index", "domain", "b.com"],
        &["index", "domain", "http://d1.no/"],
        &["index", "top", "--after", "xyz"],
        &["index", "top", "--collection", "wbe"],
        &["index", "missing", "--all"],
        &["index", "top", "--limit", "0"],
        &page,
    ] {
        before.push((told(&world, wrong), wrong.to_vec()));
    }
    assert!(served.stop().success());
    for (with_server, args) in before {
        assert_eq!(told(&world, &args), with_server, "{args:?}");
    }
}

#[test]
fn x12_i4_what_is_wrong_with_a_question_to_the_index_is_told() {
    let world = loaded();
    let served = Served::start(&world);
    let cursor = served.json("index/pages?limit=1")["next"].as_str().unwrap().to_owned();
    let foreign = format!("index/missing?cursor={cursor}");
    let other_order = format!("index/pages?by=score&cursor={cursor}");
    #[rustfmt::skip]
    let table: &[(&str, u16, &str)] = &[
        (&foreign, 400, "cursor"),
        (&other_order, 400, "cursor"),
        ("index/pages?cursor=AAAA", 400, "cursor"),
        ("index/domains?cursor=%00", 400, "cursor"),
        ("index/inlinks?url=http://d1.no/1&cursor=x", 400, "cursor"),
        ("indexes?cursor=!!", 400, "cursor"),
        ("indexes?limit=0", 400, "from 1 to 1000"),
        ("index/pages?limit=1001", 400, "from 1 to 1000"),
        ("index/outlinks?url=http://d1.no/1&limit=0", 400, "from 1 to 1000"),
        ("index/pages?by=rank", 400, "rank"),
        ("index/pages?colection=web", 400, "colection"),
        ("index/pages?all=maybe", 400, "all"),
        ("index/pages?collection=wbe", 404, "did you mean `web`?"),
        ("index?collection=news", 404, "there are: web"),
        ("index/missing?all=true", 404, "there is no index across all collections"),
        ("index/missing?all=true&collection=web", 400, "two indexes at once"),
        ("index/page", 400, "url"),
        ("index/page?url=d1.no", 400, "write `https://d1.no`"),
        ("index/page?url=mailto:x@d1.no", 400, "not http or https"),
        ("index/page?url=http://d1.no/x", 404, "`skurd index domain d1.no`"),
        ("index/inlinks?url=http://d1.no/x", 404, "neither loaded nor linked to"),
        ("index/outlinks?url=http://d1.no/x", 404, "neither loaded nor linked to"),
        ("index/inlinks?url=http://d1.no/1&since=soon", 400, "write a year, month or day"),
        ("index/inlinks?url=http://d1.no/1&until=2024-13", 400, "`until` is no time"),
        ("index/domains/b.com", 404, "nothing is known of the domain `b.com`"),
        ("index/domains/b.com/pages", 404, "nothing is known of the domain `b.com`"),
        ("index/domains/http%3A%2F%2Fa.no%2F", 400, "write it like `example.com`"),
    ];
    for (path, status, words) in table {
        let answer = served.get(&format!("/api/v1/{path}"));
        assert_eq!(answer.status, *status, "{path}: {}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{path}");
        assert!(answer.text().contains(words), "{path}: {}", answer.text());
    }
}

#[test]
fn x13_i4_each_index_is_asked_by_its_collection_and_the_one_across_by_all() {
    let world = World::new(crate::SKURD, |ask| match ask.path.as_str() {
        "/" => testkit::web::Answer::html("<a href='/1'>one</a> <a href='http://void.test/'>void</a>"),
        "/1" => testkit::web::Answer::html("<a href='/'>back</a>"),
        _ => testkit::web::Answer::not_found(),
    });
    let config = "
settings: {index_across: true, politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: news}, {name: law}]
profiles: [{name: n, collection: news, every: 1d}, {name: l, collection: law, every: 1d}]
seeds: [{url: 'http://a.test/', profiles: [n]}, {url: 'http://b.test/', profiles: [l]}]
";
    world.write("c.yaml", config);
    let served = Served::start(&world);
    let loaded = |served: &Served| {
        let all = served.json("indexes?limit=1000")["items"].as_array().unwrap().clone();
        let found =
            |item: &Value| (item["collection"].clone(), item["loaded"].as_u64(), item["waiting"].as_u64());
        all.iter().map(found).collect::<Vec<_>>()
    };
    let expected = [
        (Value::Null, Some(4), Some(0)),
        (json!("law"), Some(2), Some(0)),
        (json!("news"), Some(2), Some(0)),
    ];
    served.until("all is worked in", |served| loaded(served) == expected);
    assert_eq!(served.items("indexes?limit=1").len(), 3);
    let several = served.get("/api/v1/index/pages");
    assert_eq!(several.status, 400, "{}", several.text());
    assert!(
        several.text().contains("say which with --collection: law, news; or --all"),
        "{}",
        several.text()
    );
    let urls = |path: &str| -> Vec<String> {
        served.items(path).iter().map(|item| item["url"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(urls("index/missing?collection=law"), ["http://void.test/"]);
    assert_eq!(
        urls("index/pages?all=true&limit=2"),
        ["http://void.test/", "http://a.test/", "http://a.test/1", "http://b.test/", "http://b.test/1"]
    );
    assert_eq!(
        urls("index/inlinks?url=http://void.test/&all=true&limit=1"),
        ["http://a.test/", "http://b.test/"]
    );
    let command = world.json(&["index", "page", "http://void.test/", "--inlinks", "--collection", "news"]);
    assert_eq!(command[0]["anchor"], "void");
    assert_eq!(served.json("index?all=true")["collection"], Value::Null);
    let stats = world.good(&["index", "stats"]);
    assert!(stats.lines().nth(1).unwrap().starts_with("(all) "), "{stats}");
}

#[test]
fn x12_i4_without_an_index_that_is_told() {
    let world = World::new(crate::SKURD, |_| testkit::web::Answer::not_found());
    world.write("c.yaml", QUIET);
    let served = Served::start(&world);
    assert_eq!(served.json("indexes"), json!({ "items": [], "next": null }));
    for path in ["index", "index/pages", "index/domains", "index/missing", "index/page?url=http://a.no/"] {
        let answer = served.get(&format!("/api/v1/{path}"));
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
        assert!(answer.text().contains("there is no link index"), "{path}: {}", answer.text());
    }
    for command in ["stats", "top", "missing"] {
        let (code, _, err) = told(&world, &["index", command]);
        assert_eq!(
            (code, err.as_str()),
            (Some(1), "error: there is no link index\nhint: `skurd index load FILE…` makes one\n")
        );
    }
}

#[test]
fn i1_what_wants_the_directory_for_itself_says_so() {
    let world = loaded();
    let served = Served::start(&world);
    for args in [
        &["index", "dump"][..],
        &["index", "verify"],
        &["index", "load", "pages.jsonl"],
        &["linear", "http://a.test/{id}", "--min", "1", "--max", "2", "--allow-net", "127.0.0.0/8"],
        &["crawl", "c.yaml", "--allow-net", "127.0.0.0/8"],
    ] {
        let (code, out, err) = told(&world, args);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{args:?}: {err}");
        assert!(err.starts_with("error: ") && err.contains(" is in use by process "), "{args:?}: {err}");
        assert!(
            err.contains("hint: that is `skurd serve`") && err.contains("stop the server"),
            "{args:?}: {err}"
        );
    }
    assert!(served.stop().success());
    world.good(&["index", "verify"]);
}
