//! Values on the command line: read by the rules of the config file ([`declare::given`]), or one of
//! a few words.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
pub(crate) use declare::given::*;
use policy::scope::Within;

/// One of the values that have a word of their own.
pub(crate) fn choice<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    described(all, word, |_| "")
}

/// The same with a sentence about each in the long help.
pub(crate) fn described<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    word: fn(T) -> &'static str,
    help: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let possible = |value: &T| match help(*value) {
        "" => PossibleValue::new(word(*value)),
        text => PossibleValue::new(word(*value)).help(text),
    };
    let words = PossibleValuesParser::new(all.iter().map(possible));
    words.try_map(move |text| {
        all.iter().copied().find(|value| word(*value) == text).ok_or("this is no such word")
    })
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DataDir {
    /// The data directory
    #[arg(long = "data", value_name = "DIR", default_value = "./skurd-data")]
    pub(crate) dir: PathBuf,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum WithinArg {
    Path,
    Host,
    Domain,
    Any,
}

impl From<WithinArg> for Within {
    fn from(word: WithinArg) -> Within {
        match word {
            WithinArg::Path => Within::Path,
            WithinArg::Host => Within::Host,
            WithinArg::Domain => Within::Domain,
            WithinArg::Any => Within::Any,
        }
    }
}
