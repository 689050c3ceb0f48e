//! What the index answers, page by page.

use serde_json::{Value, json};
use testkit::world::{World, fifty_pages};

use crate::load;

fn world() -> World {
    let world = World::empty(crate::SKURD);
    load(&world, "pages.jsonl", &fifty_pages());
    world
}

fn paged(world: &World, args: &[&str], limit: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let mut all = [args, &["--limit", limit]].concat();
        all.extend(after.iter().flat_map(|after| ["--after", after]));
        let mut page = world.json(&all);
        after = page
            .last_mut()
            .and_then(|row| row.as_object_mut().unwrap().remove("next"))
            .map(|next| next.as_str().unwrap().to_owned());
        rows.extend(page);
        if after.is_none() {
            return rows;
        }
    }
}

#[test]
fn x12_paging_through_everything_equals_the_whole_list() {
    let world = world();
    for args in [
        ["index", "top"].as_slice(),
        &["index", "top", "--by", "score"],
        &["index", "top", "--domains"],
        &["index", "missing"],
        &["index", "domain", "d0.no"],
        &["index", "page", "http://d1.no/1", "--inlinks"],
        &["index", "page", "http://d1.no/1", "--inlinks", "--since", "2003", "--until", "2010"],
        &["index", "page", "http://d3.no/48", "--outlinks"],
    ] {
        let whole = world.json(args);
        assert!(whole.len() > 4, "{args:?}: {}", whole.len());
        for limit in ["1", "4", "1000"] {
            assert_eq!(paged(&world, args, limit), whole, "{args:?}");
        }
    }
}

#[test]
fn x12_x15_answers_are_right() {
    let world = world();
    let top = world.json(&["index", "top", "--limit", "1"]);
    let first = json!({ "url": "http://d1.no/1", "uri": "no.d1/1", "incount": 49, "score": 50, "loaded": true, "next": top[0]["next"] });
    assert_eq!(top, [first]);
    let missing = world.json(&["index", "missing"]);
    assert_eq!(missing.len(), 7);
    assert!(
        missing
            .iter()
            .all(|row| row["uri"].as_str().unwrap().starts_with("com.void") && row["loaded"] == false)
    );
    let domains = world.json(&["index", "top", "--domains"]);
    assert_eq!(
        domains.iter().map(|row| row["pagecount"].as_u64().unwrap()).collect::<Vec<_>>(),
        [10, 10, 10, 10, 10, 7]
    );
    assert_eq!(domains[5], json!({ "domain": "void.com", "uri": "com.void", "pagecount": 7 }));
    let page = world.json(&["index", "page", "http://d1.no/1"]);
    assert_eq!(
        (&page[0]["incount"], &page[0]["outlinks"], &page[0]["domain"]),
        (&json!(49), &json!(1), &json!("d1.no"))
    );
    let in_2004 =
        world.json(&["index", "page", "http://d1.no/1", "--inlinks", "--since", "2004", "--until", "2004"]);
    let urls: Vec<&str> = in_2004.iter().map(|row| row["url"].as_str().unwrap()).collect();
    assert_eq!(urls, ["http://d4.no/29", "http://d4.no/4"]);
    assert_eq!(in_2004[0]["anchor"], "1 \u{1b}[2J");
    assert_eq!(in_2004[0]["first_seen"], "2004-06-01T00:00:00Z");
    let stats = world.json(&["index", "stats"]);
    assert_eq!(
        (&stats[0]["uris"], &stats[0]["loaded"], &stats[0]["waiting"]),
        (&json!(57), &json!(50), &json!(0))
    );
}

#[test]
fn i2_tables_are_harmless_and_say_how_to_go_on() {
    let world = world();
    let told = world.skurd(&["index", "page", "http://d1.no/1", "--inlinks", "--limit", "2"]);
    assert_eq!(
        told.out,
        "first seen            last seen             from             anchor\n\
         2010-06-01T00:00:00Z  2010-06-01T00:00:00Z  http://d0.no/10  1 [2J\n\
         2015-06-01T00:00:00Z  2015-06-01T00:00:00Z  http://d0.no/15  1 [2J\n"
    );
    let again = told.err.strip_prefix("more: skurd ").unwrap().trim_end();
    assert!(again.starts_with("index page 'http://d1.no/1' --inlinks --limit 2 --after "), "{again}");
    let args: Vec<String> = again.split(' ').map(|word| word.replace('\'', "")).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert!(world.good(&args).contains("http://d0.no/20"), "{args:?}");
    let table = world.good(&["index", "top", "--domains", "--limit", "1"]);
    assert_eq!(table, "pages  domain\n   10  d0.no\n");
    assert_eq!(world.good(&["index", "top"]).lines().count(), 1 + 32);
}
