//! `skurd serve`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use super::harvest::HarvestArgs;

/// Where a server listens if nobody says.
pub(crate) const USUAL_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8642);

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// What to harvest; without it, what is declared in the data directory
    #[arg(value_name = "CONFIG")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) harvest: HarvestArgs,
    /// Where to listen; any address but loopback wants a token. Port 0 is any that is free
    #[arg(long, value_name = "ADDR:PORT", default_value_t = USUAL_LISTEN)]
    pub(crate) listen: SocketAddr,
    /// The file whose first line is the token that requests must bring; or set SKURD_TOKEN
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}
