//! Addresses of this server.

use url::form_urlencoded;

/// The `name=value` pairs of a query.
pub(super) type Pairs<'a> = &'a [(&'a str, &'a str)];

/// A path of this server with its query.
pub(super) fn href(path: &str, pairs: Pairs<'_>) -> String {
    let given = pairs.iter().filter(|(_, value)| !value.is_empty());
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}
