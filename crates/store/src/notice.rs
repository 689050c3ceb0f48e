use std::fmt;
use std::path::PathBuf;

use crate::error::Damage;

/// What is worth telling a person while a store is opened, or waited for; each is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    UpgradeBegun {
        from: u8,
        to: u8,
    },
    UpgradeDone {
        rows: u64,
    },
    /// A write that a crash cut short was cut off; its bytes are in `kept`.
    TailCut {
        dir: PathBuf,
        bytes: u64,
        kept: PathBuf,
    },
    /// See [`crate::Options::set_damage_aside`].
    DamageSetAside {
        dir: PathBuf,
        damage: Damage,
        kept: Vec<PathBuf>,
    },
    /// A store on other machines does not answer, and is waited for.
    Silent {
        address: String,
        reason: String,
    },
    Answers {
        address: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::UpgradeBegun { from, to } => write!(
                f,
                "the store is of format {from} and is being upgraded to {to}; if it is stopped, it goes on with the next command"
            ),
            Notice::UpgradeDone { rows } => write!(f, "the store is upgraded: {rows} rows looked at"),
            Notice::TailCut { dir, bytes, kept } => write!(
                f,
                "the last moment before {} was cut off from its disk is not whole: {bytes} bytes that were not safe yet are set aside in {}, and everything before them is there",
                dir.display(),
                kept.display()
            ),
            Notice::Silent { address, reason } => {
                write!(f, "the store at {address} does not answer, and is waited for: {reason}")
            }
            Notice::Answers { address } => write!(f, "the store at {address} answers again"),
            Notice::DamageSetAside { dir, damage, kept } => {
                write!(
                    f,
                    "the store in {} is damaged: {damage}; it goes on from the last state that reads",
                    dir.display()
                )?;
                match kept.as_slice() {
                    [] => Ok(()),
                    [first, ..] => write!(f, ", and what does not read is kept in {}", first.display()),
                }
            }
        }
    }
}
