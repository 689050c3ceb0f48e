//! What the index answers with. Scripts rely on these fields: commands print them as they are.

use index::{Inlink, Link, RankedDomain, RankedPage, Uri};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::domain_text;

/// A page among others.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct IndexPage {
    pub url: String,
    /// As the index spells it: by domain.
    pub uri: String,
    /// How many pages link to it.
    pub incount: u64,
    /// That, and one more if it was loaded.
    pub score: u64,
    /// Captured, and not only linked to.
    pub loaded: bool,
}

/// A domain.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct IndexDomain {
    pub domain: String,
    /// As the index spells it.
    pub uri: String,
    /// How many of its pages are known.
    pub pagecount: u64,
}

/// What is known of a page.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PageFacts {
    pub url: String,
    /// As the index spells it: by domain.
    pub uri: String,
    pub domain: String,
    /// Captured, and not only linked to. Then the following are known.
    pub loaded: bool,
    /// How many pages link to it.
    pub incount: u64,
    /// That, and one more if it was loaded.
    pub score: u64,
    /// How many pages it links to.
    pub outlinks: Option<u64>,
    #[schema(format = DateTime)]
    pub first_seen: Option<String>,
    #[schema(format = DateTime)]
    pub last_seen: Option<String>,
}

/// A link to a page.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct IndexInlink {
    /// Of the page that links.
    pub url: String,
    pub uri: String,
    /// The text of the link, as somebody on the web wrote it.
    pub anchor: String,
    #[schema(format = DateTime)]
    pub first_seen: String,
    /// When its page was last loaded with it.
    #[schema(format = DateTime)]
    pub last_seen: String,
}

/// A link of a page.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct IndexOutlink {
    /// Where it leads.
    pub url: String,
    pub uri: String,
    /// The text of the link, as somebody on the web wrote it.
    pub anchor: String,
}

impl From<RankedPage> for IndexPage {
    fn from(page: RankedPage) -> IndexPage {
        IndexPage {
            url: page.uri.to_url(),
            uri: page.uri.to_string(),
            incount: page.incount,
            score: page.score,
            loaded: page.loaded,
        }
    }
}

impl From<RankedDomain> for IndexDomain {
    fn from(found: RankedDomain) -> IndexDomain {
        IndexDomain { domain: domain_text(&found.domain), uri: found.domain, pagecount: found.pagecount }
    }
}

impl PageFacts {
    pub(super) fn new(uri: &Uri, facts: &index::PageFacts) -> PageFacts {
        PageFacts {
            url: uri.to_url(),
            uri: uri.to_string(),
            domain: domain_text(uri.domain()),
            loaded: facts.loaded,
            incount: facts.incount,
            score: facts.score,
            outlinks: facts.outlinks,
            first_seen: facts.first_seen.map(|time| time.to_string()),
            last_seen: facts.last_seen.map(|time| time.to_string()),
        }
    }
}

impl From<Inlink> for IndexInlink {
    fn from(link: Inlink) -> IndexInlink {
        IndexInlink {
            url: link.source.to_url(),
            uri: link.source.to_string(),
            anchor: link.anchor,
            first_seen: link.first_seen.to_string(),
            last_seen: link.last_seen.to_string(),
        }
    }
}

impl From<Link> for IndexOutlink {
    fn from(link: Link) -> IndexOutlink {
        IndexOutlink { url: link.target.to_url(), uri: link.target.to_string(), anchor: link.anchor }
    }
}
