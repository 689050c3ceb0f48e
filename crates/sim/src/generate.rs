use frontier::ErrorKind;
use policy::catalog::Catalog;
use policy::model::LinkKind;
use policy::time::Span;

use crate::web::{Page, Response, Web};

const LINKS_PER_PAGE: usize = 8;

/// A web around the catalog's seeds: about `urls` pages on the seeds' hosts, most of them linked
/// like a tree with cross-links, some to other hosts; a few are slow, flaky, moved or gone.
pub fn generate(catalog: &Catalog, urls: usize, seed: u64) -> Web {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut fronts: Vec<String> = catalog.seeds().map(|entry| entry.url.as_str().to_owned()).collect();
    fronts.sort();
    fronts.dedup();
    if fronts.is_empty() {
        return Web::default();
    }
    let per_site = (urls / fronts.len()).max(1);
    let mut pages = Vec::new();
    for (site, front) in fronts.iter().enumerate() {
        let name = |n: usize| if n == 0 { front.clone() } else { format!("{}p/{n}", directory(front)) };
        for n in 0..per_site {
            let mut outlinks: Vec<(String, LinkKind)> = (1..=LINKS_PER_PAGE)
                .map(|k| n * LINKS_PER_PAGE + k)
                .filter(|child| *child < per_site)
                .map(|child| (name(child), LinkKind::Link))
                .collect();
            outlinks.push((front.clone(), LinkKind::Link));
            outlinks.push((name(rng.usize(0..per_site)), LinkKind::Link));
            if rng.f64() < 0.1 {
                let other = &fronts[(site + 1 + rng.usize(0..fronts.len())) % fronts.len()];
                outlinks.push((other.clone(), LinkKind::Link));
            }
            pages.push(Page { url: name(n), responses: responses(n, outlinks, &mut rng) });
        }
    }
    Web::new(pages)
}

/// Everything up to the last slash.
fn directory(url: &str) -> &str {
    url.rfind('/').map_or(url, |slash| &url[..=slash])
}

fn responses(n: usize, outlinks: Vec<(String, LinkKind)>, rng: &mut fastrand::Rng) -> Vec<Response> {
    let delay = Span(50 + rng.u64(0..400));
    let usual = Response { outlinks, delay, ..Response::default() };
    // The front page is always there: without it there is nothing to see.
    match if n == 0 { 1.0 } else { rng.f64() } {
        share if share < 0.01 => vec![Response { status: 404, delay, ..Response::default() }],
        share if share < 0.02 => {
            let error = Some(ErrorKind::Timeout);
            vec![Response { error, delay: Span::seconds(30), count: 2, ..Response::default() }, usual]
        }
        share if share < 0.03 => {
            vec![Response { status: 503, delay, count: 3, ..Response::default() }, usual]
        }
        share if share < 0.05 => vec![Response { delay: Span::seconds(8), ..usual }],
        // Changes now and then.
        share if share < 0.3 => vec![Response { count: 1 + rng.u64(0..5), ..usual.clone() }, usual],
        _ => vec![usual],
    }
}
