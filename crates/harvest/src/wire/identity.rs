//! Who asks (A1): the User-Agent, and the name by which robots.txt knows us.

use policy::model::{Collection, Settings};

const PRODUCT: &str = concat!("skurd/", env!("CARGO_PKG_VERSION"));

/// What the command line says of it: that goes before what is declared.
#[derive(Clone, Debug, Default)]
pub struct Introduction {
    pub user_agent: Option<String>,
    pub contact: Option<String>,
}

impl Introduction {
    /// Who asks, by what is declared now.
    pub fn with(&self, settings: &Settings) -> Identity {
        let own =
            |given: &Option<String>, declared: &Option<String>| given.as_ref().or(declared.as_ref()).cloned();
        Identity {
            user_agent: own(&self.user_agent, &settings.user_agent),
            contact: own(&self.contact, &settings.contact),
        }
    }
}

/// How requests introduce themselves.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// For all collections.
    pub user_agent: Option<String>,
    pub contact: Option<String>,
}

impl Identity {
    /// Whether a site owner could find us: only then are public addresses asked.
    pub fn is_reachable(&self) -> bool {
        let names_one = |agent: &String| agent.contains("://") || agent.contains('@');
        self.contact.is_some() || self.user_agent.as_ref().is_some_and(names_one)
    }

    pub fn user_agent(&self, collection: Option<&Collection>) -> String {
        let own = collection.and_then(|collection| collection.user_agent.clone());
        let agent = own.or_else(|| self.user_agent.clone());
        match (agent, &self.contact) {
            (Some(agent), Some(contact)) if !agent.contains(contact.as_str()) => {
                format!("{agent} (+{contact})")
            }
            (Some(agent), _) => agent,
            (None, Some(contact)) => format!("{PRODUCT} (+{contact})"),
            (None, None) => PRODUCT.to_owned(),
        }
    }
}

/// The product token by which a robots.txt addresses a User-Agent (RFC 9309): its letters, `-` and
/// `_` up to anything else.
pub(super) fn product_token(user_agent: &str) -> &str {
    let end = user_agent.find(|c: char| !(c.is_ascii_alphabetic() || c == '-' || c == '_'));
    &user_agent[..end.unwrap_or(user_agent.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a1_requests_say_who_asks_and_how_to_reach_them() {
        let cases = [
            (None, None, concat!("skurd/", env!("CARGO_PKG_VERSION")), false),
            (
                None,
                Some("https://a.org/bot"),
                concat!("skurd/", env!("CARGO_PKG_VERSION"), " (+https://a.org/bot)"),
                true,
            ),
            (Some("lib/2"), Some("me@a.org"), "lib/2 (+me@a.org)", true),
            (Some("lib/2 (+me@a.org)"), Some("me@a.org"), "lib/2 (+me@a.org)", true),
            (Some("lib/2 (+https://a.org)"), None, "lib/2 (+https://a.org)", true),
            (Some("lib/2"), None, "lib/2", false),
        ];
        for (agent, contact, expected, reachable) in cases {
            let own = |text: Option<&str>| text.map(str::to_owned);
            let said = Introduction { user_agent: own(agent), contact: own(contact) };
            let identity = said.with(&Settings::default());
            assert_eq!(identity.user_agent(None), expected);
            assert_eq!(identity.is_reachable(), reachable, "{expected}");
        }
    }

    #[test]
    fn a1_the_command_line_goes_before_what_is_declared_by_now() {
        let declared = Settings { contact: Some("new@a.org".to_owned()), ..Settings::default() };
        assert!(Introduction::default().with(&declared).user_agent(None).ends_with("(+new@a.org)"));
        let said = Introduction { contact: Some("me@a.org".to_owned()), ..Introduction::default() };
        assert!(said.with(&declared).user_agent(None).ends_with("(+me@a.org)"));
    }

    #[test]
    fn a3_robots_know_us_by_our_product() {
        for (agent, token) in
            [("skurd/0.1 (+x)", "skurd"), ("My-Bot_x", "My-Bot_x"), ("Mozilla/5.0 (x)", "Mozilla"), ("", "")]
        {
            assert_eq!(product_token(agent), token);
        }
    }
}
