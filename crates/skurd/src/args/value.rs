//! Values on the command line: read by the rules of the config file ([`declare::given`]), or one of
//! a few words.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
pub(crate) use declare::given::*;

/// One of the values that have a word of their own.
pub(crate) fn choice<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    one_of(all.iter().map(move |value| (*value, word(*value), "")))
}

/// One of some values, each with its word and what the long help says about it.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    words: impl IntoIterator<Item = (T, &'static str, &'static str)>,
) -> impl TypedValueParser<Value = T> {
    let words: Vec<_> = words.into_iter().collect();
    let possible = |(_, word, help): &(T, &'static str, &'static str)| match *help {
        "" => PossibleValue::new(*word),
        help => PossibleValue::new(*word).help(help),
    };
    PossibleValuesParser::new(words.iter().map(possible)).try_map(move |text| {
        let found = words.iter().find(|(_, word, _)| *word == text);
        found.map(|(value, ..)| *value).ok_or("this is no such word")
    })
}

/// Where to listen: an address with its port, or a port of this machine's own.
pub(crate) fn listen(text: &str) -> Result<SocketAddr, String> {
    let port = text.trim_start_matches(':').trim_start_matches("localhost:");
    match port.parse::<u16>() {
        Ok(port) => Ok((Ipv4Addr::LOCALHOST, port).into()),
        Err(_) => text.parse().map_err(|_| "write 127.0.0.1:8642, [::1]:8642, or a port alone".to_owned()),
    }
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DataDir {
    /// The data directory
    #[arg(long = "data", value_name = "DIR", default_value = "./skurd-data")]
    pub(crate) dir: PathBuf,
}
