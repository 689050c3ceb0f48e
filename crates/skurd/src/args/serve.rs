//! `skurd serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::HarvestArgs;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// What to harvest; without it, what is declared in the data directory
    #[arg(value_name = "CONFIG")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) harvest: HarvestArgs,
    /// Where to listen; any address but loopback wants a token. Port 0 is any that is free
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8642")]
    pub(crate) listen: SocketAddr,
    /// The file whose first line is the token that requests must bring; or set SKURD_TOKEN
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}
