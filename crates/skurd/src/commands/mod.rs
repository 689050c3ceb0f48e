mod apply;
mod archive;
mod blacklist;
mod captures;
mod config;
mod crawl;
mod declared;
mod demo;
mod hosts;
mod import;
mod index;
mod linear;
mod listing;
mod queue;
mod report;
mod serve;
mod simulate;
mod start;
mod store;
mod why;

use anyhow::Result;
use declare::import as list;

use crate::args::{
    ArchiveCommand, Args, CdxCommand, Command, ConfigCommand, ImportCommand, StoreCommand, WarcCommand,
};

pub(crate) fn run(args: Args) -> Result<()> {
    match args.command {
        Command::Demo(args) => demo::run(&args),
        Command::Crawl(args) => crawl::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Linear(args) => linear::run(&args),
        Command::Captures(args) => captures::run(&args),
        Command::Cdx(CdxCommand::Export(args)) => archive::export(&args),
        Command::Archive(ArchiveCommand::Check { data, quick, json }) => {
            archive::check::run(&data.dir, quick, json)
        }
        Command::Archive(ArchiveCommand::Adopt { files, data, collection, json }) => {
            archive::adopt::run(&data.dir, &files, collection.as_deref(), json)
        }
        Command::Warc(WarcCommand::Check { files, json }) => archive::check_files(&files, json),
        Command::Config(ConfigCommand::Check { file, json }) => config::check(&file, json),
        Command::Config(ConfigCommand::Apply { file, data, prune, json }) => {
            apply::run(&file, &data.dir, prune, json)
        }
        Command::Config(ConfigCommand::Schema) => config::schema(),
        Command::Config(ConfigCommand::Example) => config::example(),
        Command::Import(ImportCommand::Urls(args)) => import::run(&args, list::urls),
        Command::Import(ImportCommand::Heritrix(args)) => import::run(&args, list::heritrix),
        Command::Import(ImportCommand::Veidemann(args)) => import::run(&args, list::veidemann),
        Command::Seed(command) => declared::seed(command),
        Command::Profile(command) => declared::profile(command),
        Command::Collection(command) => declared::collection(command),
        Command::HostGroup(command) => declared::group(command),
        Command::Start(args) => start::run(&args),
        Command::Queue(args) => queue::run(&args),
        Command::Hosts(args) => hosts::run(&args),
        Command::Blacklist(args) => blacklist::run(&args),
        Command::Why(args) => why::run(&args),
        Command::Index(command) => index::run(&command),
        Command::Report(command) => report::run(&command),
        Command::Simulate(args) => simulate::run(&args),
        Command::Store(StoreCommand::Check { dir, json }) => store::check(&dir, json),
        Command::Store(StoreCommand::Repair { dir }) => store::repair(&dir),
    }
}
