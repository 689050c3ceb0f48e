//! The answer of a scope, with the thing that decided it.

use std::fmt;

use crate::scope::Within;
use crate::url::{Scheme, Trap};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeVerdict {
    pub in_scope: bool,
    pub because: ScopeReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeReason {
    Scheme(Scheme),
    TooLong {
        bytes: usize,
        max: u32,
    },
    Trap(Trap),
    /// By the exclude pattern at this place in its list, counted from 0.
    Excluded {
        pattern: usize,
    },
    SeedItself,
    TooDeep {
        depth: u32,
        max: u32,
    },
    /// By the include pattern at this place in its list, counted from 0.
    Included {
        pattern: usize,
    },
    Requisite,
    Within(Within),
    OffDomain {
        hops: u32,
        max: u32,
    },
    TooFar {
        hops: u32,
        max: u32,
    },
    Outside(Within),
}

impl ScopeReason {
    fn admits(self) -> bool {
        use ScopeReason as R;
        match self {
            R::SeedItself | R::Included { .. } | R::Requisite | R::Within(_) | R::OffDomain { .. } => true,
            R::Scheme(_) | R::TooLong { .. } | R::Trap(_) | R::Excluded { .. } => false,
            R::TooDeep { .. } | R::TooFar { .. } | R::Outside(_) => false,
        }
    }
}

impl From<ScopeReason> for ScopeVerdict {
    fn from(because: ScopeReason) -> ScopeVerdict {
        ScopeVerdict { in_scope: because.admits(), because }
    }
}

impl fmt::Display for ScopeVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.in_scope { "in" } else { "out of" };
        write!(f, "{side} scope: {}", self.because)
    }
}

impl fmt::Display for ScopeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScopeReason::Scheme(scheme) => write!(f, "scheme {scheme} is not allowed"),
            ScopeReason::TooLong { bytes, max } => write!(f, "{bytes} bytes long, {max} are allowed"),
            ScopeReason::Trap(trap) => write!(f, "looks like a trap: {trap}"),
            ScopeReason::Excluded { pattern } => write!(f, "matches exclude pattern {}", pattern + 1),
            ScopeReason::SeedItself => f.write_str("is the seed itself"),
            ScopeReason::TooDeep { depth, max } => write!(f, "depth {depth}, {max} is allowed"),
            ScopeReason::Included { pattern } => write!(f, "matches include pattern {}", pattern + 1),
            ScopeReason::Requisite => f.write_str("is a page requisite"),
            ScopeReason::Within(within) => write!(f, "within the seed's {within}"),
            ScopeReason::OffDomain { hops, max } => write!(f, "{hops} of {max} off-domain hops"),
            ScopeReason::TooFar { hops, max } => write!(f, "{hops} off-domain hops, {max} are allowed"),
            ScopeReason::Outside(within) => write!(f, "outside the seed's {within}"),
        }
    }
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Within::Path => "path",
            Within::Host => "host",
            Within::Domain => "domain",
            Within::Any => "reach (any)",
        })
    }
}
