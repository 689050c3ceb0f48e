//! A small web for questions to the index.

use serde_json::{Value, json};

/// Fifty pages that link to all before them whose number divides theirs, and into the void.
pub fn fifty_pages() -> String {
    let mut text = String::new();
    for page in 1..=50u32 {
        let mut links: Vec<Value> = (1..page)
            .filter(|other| page % other == 0)
            .map(|other| {
                let url = format!("http://d{}.no/{other}", other % 5);
                json!({ "url": url, "anchor": format!("{other} \u{1b}[2J") })
            })
            .collect();
        links.push(json!({ "url": format!("http://void.com/{}", page % 7) }));
        let time = format!("20{:02}-06-01T00:00:00Z", page % 25);
        let url = format!("http://d{}.no/{page}", page % 5);
        let line = json!({ "op": "put", "url": url, "links": links, "time": time });
        text.push_str(&format!("{line}\n"));
    }
    text
}
