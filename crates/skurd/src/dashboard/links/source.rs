//! Where the explorer's answers come from: the indexes of this store, under the names that people read.

use axum::http::StatusCode;
use frontier::INDEX_ACROSS;
use index::{Error, Index, Uri};

use crate::api::{Answer, App, Problem};

/// All indexes there are.
pub(super) async fn names(app: &App) -> Answer<Vec<String>> {
    Ok(Index::names(app.frontier.store()).await?)
}

/// The index of this name, if there is one; the first if none is named.
pub(super) async fn open(app: &App, name: Option<&str>) -> Answer<Option<(String, Index)>> {
    let names = names(app).await?;
    let found = match name {
        Some(name) => names.into_iter().find(|own| own == name),
        None => names.into_iter().next(),
    };
    match found {
        Some(name) => Ok(Some((name.clone(), app.frontier.index(&name).await?))),
        None => Ok(None),
    }
}

/// What people call an index.
pub(super) fn label(name: &str) -> &str {
    if name == INDEX_ACROSS { "All collections" } else { name }
}

/// What the index answers, or the problem that a page shows.
pub(super) fn listing<T>(answer: Result<T, Error>) -> Answer<T> {
    answer.map_err(|error| match error {
        Error::BadCursor => {
            Problem::bad_request("this page of the list is not one of it").hint("begin with the first page")
        }
        error => Problem::internal(&error),
    })
}

/// A URL as the index spells it.
pub(super) fn uri_of(url: &str) -> Answer<Uri> {
    let text = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    Uri::of_url(&text)
        .map_err(|skip| Problem::new(StatusCode::BAD_REQUEST, format!("the index has no such URL: {skip}")))
}

/// `com.example` as people write it.
pub(super) fn domain_name(domain: &str) -> String {
    let url = Uri::read(domain).map(|uri| uri.to_url());
    let host = url.and_then(|url| url::Url::parse(&url).ok()?.host_str().map(str::to_owned));
    host.unwrap_or_else(|| domain.to_owned())
}

/// And back.
pub(super) fn domain_of(name: &str) -> Answer<String> {
    Ok(uri_of(&format!("http://{name}/"))?.domain().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i5_domains_are_shown_as_people_write_them_and_found_again() {
        for (domain, name) in
            [("com.example", "example.com"), ("no.skurdvik", "skurdvik.no"), ("127.0.0.1", "127.0.0.1")]
        {
            assert_eq!(domain_name(domain), name);
            assert_eq!(domain_of(name).unwrap(), domain);
        }
        for odd in ["", "a b", "<script>", "x/../y@z"] {
            let _ = domain_of(odd);
            assert_eq!(domain_name("<b>"), "<b>", "escaped where it is shown");
        }
        assert!(uri_of("ftp://a.test/").is_err());
        assert_eq!(uri_of("a.test/x").unwrap().to_url(), "http://a.test/x");
    }
}
