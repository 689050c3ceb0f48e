mod archive;
mod config;
mod crawl;
mod declared;
mod demo;
mod import;
mod index;
mod linear;
mod listing;
mod look;
mod manual;
mod nodes;
mod other_crawlers;
mod pause;
mod report;
mod runs;
mod serve;
mod simulate;
mod store;
mod traps;
#[cfg(feature = "url-frontier")]
mod url_frontier;
mod why;

use anyhow::Result;
use app::Kind;
use declare::import as list;

use crate::args::archive::ArchiveCommand;
use crate::args::declared::ThingCommand;
use crate::args::harvest::{CdxCommand, WarcCommand};
use crate::args::{Args, Command, ConfigCommand, ImportCommand, StoreCommand};
use crate::output::line;

pub(crate) fn run(args: Args) -> Result<()> {
    match args.command {
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { dir } => manual::pages(&dir),
        Command::Demo(args) => demo::run(&args),
        Command::Crawl(args) => crawl::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Linear(args) => linear::run(&args),
        Command::Captures(args) => look::captures(&args),
        Command::Cdx(CdxCommand::Export { data, collection, output }) => {
            archive::export(&data.dir, collection, output.as_deref())
        }
        Command::Archive(ArchiveCommand::Check { data, quick, json }) => {
            archive::check::run(&data.dir, quick, json)
        }
        Command::Archive(ArchiveCommand::Adopt { files, data, collection, json }) => {
            archive::adopt(&data.dir, &files, collection.as_deref(), json)
        }
        Command::Warc(WarcCommand::Check { files, json }) => archive::check_files(&files, json),
        Command::Config(ConfigCommand::Check { file, json }) => config::check(&file, json),
        Command::Config(ConfigCommand::Apply { file, data, prune, json }) => {
            config::apply(&file, &data.dir, prune, json)
        }
        Command::Config(ConfigCommand::Export { data, output }) => {
            config::export(&data.dir, output.as_deref())
        }
        Command::Config(ConfigCommand::Schema) => line(format!("{:#}", declare::schema())),
        Command::Config(ConfigCommand::Example) => line(declare::example().trim_end()),
        Command::Import(ImportCommand::Urls(args)) => import::run(&args, list::urls),
        Command::Import(ImportCommand::Heritrix(args)) => import::run(&args, list::heritrix),
        Command::Import(ImportCommand::Veidemann(args)) => import::run(&args, list::veidemann),
        Command::Seed(ThingCommand::Add(args)) => declared::add::seed(args),
        Command::Seed(ThingCommand::Same(command)) => declared::switched(Kind::Seed, &command),
        Command::Profile(ThingCommand::Add(args)) => declared::add::profile(args),
        Command::Profile(ThingCommand::Same(command)) => declared::switched(Kind::Profile, &command),
        Command::Collection(ThingCommand::Add(args)) => declared::add::collection(args),
        Command::Collection(ThingCommand::Same(command)) => declared::switched(Kind::Collection, &command),
        Command::HostGroup(ThingCommand::Add(args)) => declared::add::group(args),
        Command::HostGroup(ThingCommand::Same(command)) => declared::same(Kind::Group, &command),
        Command::Host(ThingCommand::Add(args)) => declared::add::host(args),
        Command::Host(ThingCommand::Same(command)) => declared::same(Kind::Host, &command),
        Command::Start(args) => look::start(&args),
        Command::Run(command) => runs::run(&command),
        Command::Pause(args) => pause::pause(&args),
        Command::Resume(args) => pause::resume(&args),
        Command::Queue(args) => look::queue(&args),
        Command::Hosts(args) => look::hosts(&args),
        Command::Nodes(args) => nodes::run(&args),
        Command::Traps(command) => traps::run(&command),
        Command::UrlFrontier(command) => other_crawlers::run(&command),
        Command::Blacklist(args) => look::blacklist(&args),
        Command::Why(args) => why::run(&args),
        Command::Index(command) => index::run(&command),
        Command::Report(command) => report::run(&command),
        Command::Simulate(args) => simulate::run(&args),
        Command::Store(StoreCommand::Check { dir, json }) => store::check(&dir, json),
        Command::Store(StoreCommand::Repair { dir }) => store::repair(&dir),
        Command::Store(StoreCommand::Copy { from, to, json }) => store::copy::run(&from, &to, json),
    }
}
