mod store;

use anyhow::Result;

use crate::args::{Args, Command, StoreCommand};

pub(crate) fn run(args: Args) -> Result<()> {
    match args.command {
        Command::Store(StoreCommand::Check { dir, json }) => store::check(&dir, json),
    }
}
