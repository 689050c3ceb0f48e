//! Hosts that somebody else asks too, out of the same store (G11).
//!
//! This room knows nothing of them but when a host may be asked, and says until when it has it. Both
//! are part of the transaction that hands out: who asks at the same time conflicts with it.

use std::pin::Pin;

use store::{Result, Tx};
use url::Url;

pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Others that are polite to hosts.
pub trait Neighbours: Send + Sync {
    /// To be asked before a transaction begins, and to be held until it is committed or given up;
    /// none: nothing is shared.
    fn meet(&self) -> Option<Box<dyn Meeting + '_>>;
}

/// One transaction with them.
pub trait Meeting: Send + Sync {
    /// When a host may be asked, in milliseconds since 1970; none: now.
    fn free_at<'a>(&'a self, tx: &'a Tx, host: &'a str) -> Pending<'a, Option<i64>>;

    /// The host is asked from now on, and is to be left alone until then.
    fn book<'a>(&'a self, tx: &'a Tx, host: &'a str, until: i64) -> Pending<'a, ()>;
}

/// Whether a key is the name of a host as a URL has it, and no other word.
pub(crate) fn is_host(key: &str) -> bool {
    if !key.contains(['.', ':']) && key != "localhost" {
        return false;
    }
    let read = Url::parse(&format!("http://{key}/"));
    read.is_ok_and(|url| url.host_str() == Some(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g11_hosts_are_told_from_other_keys() {
        for host in ["a.example", "xn--bcher-kva.example", "127.0.0.1", "[::1]", "localhost", "www.a_b.org"] {
            assert!(is_host(host), "{host}");
        }
        for other in [
            "",
            "q_7",
            "A.example",
            "a.example:80",
            "a.example/",
            "u@a.example",
            "a b.org",
            "1.2",
            "bücher.example",
        ] {
            assert!(!is_host(other), "{other}");
        }
    }
}
