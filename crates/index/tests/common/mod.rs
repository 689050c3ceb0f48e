//! What the tests of the index share: pages in short form, and a model that computes the dump from
//! pages alone.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test uses a part of it")]

use std::collections::{BTreeMap, BTreeSet};

use index::{Index, Page, Uri};
use policy::time::Time;
use store::contract::fresh;

pub fn uri(url: &str) -> Uri {
    Uri::of_url(url).unwrap_or_else(|skip| panic!("{url}: {skip}"))
}

/// Links as (url, anchor).
pub fn page(links: &[(&str, &str)]) -> Page {
    Page::new(links.iter().map(|(url, anchor)| (uri(url), (*anchor).to_owned())))
}

pub async fn load(index: &Index, url: &str, page: Option<&Page>, at: i64) {
    let uri = uri(url);
    let uri = &uri;
    let load = index.store().transact(|tx| async move { index.load(&tx, uri, page, Time(at)).await });
    load.await.unwrap();
}

pub async fn dump(index: &Index) -> String {
    let mut dump = index.dump().await.unwrap();
    let mut text = String::new();
    while let Some(piece) = dump.next().await.unwrap() {
        text.push_str(std::str::from_utf8(&piece).unwrap());
    }
    text
}

pub async fn new_index() -> Index {
    Index::open(&fresh(1), "test").await.unwrap()
}

/// Current pages, each with its links: target and anchor.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub pages: BTreeMap<String, BTreeMap<String, String>>,
}

impl Model {
    pub fn links(&self) -> u64 {
        self.pages.values().map(|links| links.len() as u64).sum()
    }

    /// X14, the slow and simple way: all cells, then sorted.
    pub fn dump(&self) -> String {
        let mut inlinks: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
        for (source, links) in &self.pages {
            for (target, anchor) in links {
                inlinks.entry(target).or_default().insert(source, anchor);
            }
        }
        let uris: BTreeSet<&str> =
            inlinks.keys().copied().chain(self.pages.keys().map(String::as_str)).collect();
        let mut cells: Vec<[String; 4]> = Vec::new();
        let mut cell = |row: &str, family: &str, qualifier: &str, value: &str| {
            cells.push([row, family, qualifier, value].map(str::to_owned));
        };
        let mut domains: BTreeMap<String, u64> = BTreeMap::new();
        for uri in &uris {
            let row = format!("p:{uri}");
            let links = inlinks.get(uri).cloned().unwrap_or_default();
            let score = links.len() + usize::from(self.pages.contains_key(*uri));
            let ranked = format!("{score}:{uri}");
            let domain = Uri::read(uri).unwrap().domain().to_owned();
            for (source, anchor) in &links {
                cell(&row, "inlinks", source, anchor);
            }
            if let Some(outlinks) = self.pages.get(*uri) {
                let targets: Vec<String> =
                    outlinks.keys().map(|uri| serde_json::json!(uri).to_string()).collect();
                let cur =
                    format!("{{\"outlinkcount\": {}, \"outlinks\":[{}]}}", targets.len(), targets.join(","));
                cell(&row, "page", "cur", &cur);
            }
            if !links.is_empty() {
                let incount = links.len().to_string();
                cell(&row, "page", "incount", &incount);
                cell("t:incount", "rank", &format!("{incount}:{uri}"), &incount);
            }
            cell(&row, "page", "score", &score.to_string());
            cell("t:score", "rank", &ranked, &score.to_string());
            cell(&format!("d:{domain}"), "rank", &ranked, &score.to_string());
            *domains.entry(domain).or_default() += 1;
        }
        for (domain, pagecount) in domains {
            let pagecount = pagecount.to_string();
            cell(&format!("d:{domain}"), "domain", "pagecount", &pagecount);
            cell("t:pagecount", "rank", &format!("{pagecount}:{domain}"), &pagecount);
        }
        let mut lines: Vec<String> = cells
            .iter()
            .map(|fields| fields.each_ref().map(|field| escaped(field)).join("\t") + "\n")
            .collect();
        lines.sort_unstable();
        lines.concat()
    }
}

fn escaped(field: &str) -> String {
    let escape = |c: char| match c {
        '\\' => "\\\\".to_owned(),
        '\t' => "\\t".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        c if c < ' ' => format!("\\x{:02x}", u32::from(c)),
        c => c.to_string(),
    };
    field.chars().map(escape).collect()
}

/// Puts differing lines next to each other, which a failing comparison of two long texts does not.
pub fn assert_same(found: &str, expected: &str, story: &str) {
    if found == expected {
        return;
    }
    let (found, expected): (BTreeSet<&str>, BTreeSet<&str>) =
        (found.lines().collect(), expected.lines().collect());
    let show =
        |lines: Vec<&&str>| lines.iter().take(20).map(|line| format!("\n    {line}")).collect::<String>();
    panic!(
        "{story}\n  too much:{}\n  missing:{}",
        show(found.difference(&expected).collect()),
        show(expected.difference(&found).collect())
    );
}
