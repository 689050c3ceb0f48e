//! Pages and domains as people write them, and as the index spells them (X1).

use declare::excerpt;
use declare::text::is_harmful;
use index::{Skip, Uri};

use crate::{Answer, Problem};

/// A page as the index spells it.
pub fn uri_of(url: &str) -> Answer<Uri> {
    Uri::of_url(url).map_err(|skip| {
        let hint = match skip {
            Skip::Unparsable if !url.contains("://") => format!("write `https://{}`", url.trim()),
            _ => "a URL like `https://example.com/`".to_owned(),
        };
        let hint: String = hint.chars().filter(|c| !is_harmful(*c)).collect();
        Problem::bad_request(format!("{} is no URL of the index: {skip}", excerpt(url))).hint(hint)
    })
}

/// A domain as the index spells it; of a host, its registrable domain.
pub fn reversed(domain: &str) -> Answer<String> {
    let uri = Uri::of_url(&format!("http://{domain}/"));
    match uri {
        Ok(uri) if !domain.contains(['/', '?', '#', ':']) || domain.starts_with('[') => {
            Ok(uri.domain().to_owned())
        }
        _ => Err(Problem::bad_request(format!("{} is not a domain", excerpt(domain)))
            .hint("write it like `example.com`")),
    }
}

/// `example.com` for `com.example`.
pub fn domain_text(reversed: &str) -> String {
    let url = Uri::read(reversed).map(|uri| uri.to_url());
    let host = url.as_deref().and_then(|url| url.strip_prefix("http://")?.strip_suffix('/'));
    host.unwrap_or(reversed).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x8_domains_are_shown_as_people_write_them() {
        for (spelt, shown) in [
            ("com.example", "example.com"),
            ("uk.co.bbc", "bbc.co.uk"),
            ("10.0.0.1", "10.0.0.1"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(domain_text(spelt), shown);
            assert_eq!(reversed(shown).unwrap(), spelt);
        }
        for wrong in ["http://a.no/", "a.no/x", "a.no:80", "", "a b", "a.no?x", "u@a.no"] {
            assert_eq!(reversed(wrong).map_err(|problem| problem.status), Err(400), "{wrong}");
        }
    }
}
