//! Where a store is, as a person says it: a data directory, or an address on a cluster.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::cluster::{Address, BadAddress};
use crate::embedded::{Missing, Options};
use crate::error::OpenError;
use crate::store::{Purpose, Store};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Dir(PathBuf),
    Cluster(Address),
}

impl Place {
    pub fn parse(text: &Path) -> Result<Place, BadAddress> {
        match text.to_str() {
            Some(address) if Address::is_meant_by(address) => address.parse().map(Place::Cluster),
            _ => Ok(Place::Dir(text.to_owned())),
        }
    }

    /// Opens the store that is there; none is an error.
    pub fn open_existing(&self, options: &Options) -> Result<Store, OpenError> {
        self.open(options, Missing::Refuse, Purpose::Use)
    }

    /// Opens what [`crate::copy::copy`] may copy to: nothing yet, or an unfinished copy.
    pub fn open_for_copy(&self, options: &Options) -> Result<Store, OpenError> {
        self.open(options, Missing::Create, Purpose::Copy)
    }

    fn open(&self, options: &Options, missing: Missing, purpose: Purpose) -> Result<Store, OpenError> {
        match self {
            Place::Dir(dir) => Store::open_or(dir, options, missing, purpose),
            #[cfg(feature = "tikv")]
            Place::Cluster(address) => Store::open_cluster_or(address, options, missing, purpose),
            #[cfg(not(feature = "tikv"))]
            Place::Cluster(address) => Err(OpenError::NoEngine { address: address.to_string() }),
        }
    }

    /// The same wherever it is said: directories from the root on, links followed.
    pub fn full_name(&self) -> String {
        match self {
            Place::Dir(dir) => match dir.canonicalize().or_else(|_| std::path::absolute(dir)) {
                Ok(full) => full.display().to_string(),
                Err(_) => self.to_string(),
            },
            Place::Cluster(_) => self.to_string(),
        }
    }

    /// Whether both are one store, as far as their names tell.
    pub fn is_same(&self, other: &Place) -> bool {
        match (self, other) {
            (Place::Cluster(one), Place::Cluster(other)) => {
                let is_shared = |driver| other.placement_drivers.contains(driver);
                one.prefix == other.prefix && one.placement_drivers.iter().any(is_shared)
            }
            _ => self.full_name() == other.full_name(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Dir(dir) => dir.display().fmt(f),
            Place::Cluster(address) => address.fmt(f),
        }
    }
}
