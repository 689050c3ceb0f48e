use std::fmt;

/// What is worth telling a person while a store is opened; each is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    UpgradeBegun { from: u8, to: u8 },
    UpgradeDone { rows: u64 },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::UpgradeBegun { from, to } => write!(
                f,
                "the store is of format {from} and is being upgraded to {to}; if it is stopped, it goes on with the next command"
            ),
            Notice::UpgradeDone { rows } => write!(f, "the store is upgraded: {rows} rows looked at"),
        }
    }
}
