//! How the files of a collection are made, and what stands in their heads.

use net::warc::{self, Compression, FileSettings};

use policy::browser::Engine;
use policy::unit::print_duration;

use super::WarcArchive;

/// Of the host in file names.
const HOST_BYTES_MAX: usize = 60;
/// What names of files begin with where the collection does not say.
const PREFIX: &str = "skurd";

impl WarcArchive {
    pub(super) fn file_settings(&self, collection: &str, compression: Compression) -> FileSettings {
        let prefix = self.frontier.peek_catalog(|catalog| {
            catalog.collection(collection).and_then(|found| found.warc_prefix.clone())
        });
        let mut info = warc::Fields::new();
        info.add("software", concat!("skurd/", env!("CARGO_PKG_VERSION")));
        info.add("format", "WARC File Format 1.1");
        info.add(
            "conformsTo",
            "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        );
        info.add(super::adopt::PART_OF, collection);
        info.add("hostname", &self.host);
        let identity = self.frontier.peek_catalog(|catalog| self.introduction.with(catalog.settings()));
        info.add("http-header-user-agent", &identity.user_agent(None));
        if let Some(contact) = &identity.contact {
            info.add("operator", contact);
        }
        let profiles = self.frontier.peek_catalog(|catalog| -> Vec<String> {
            catalog.profiles_of_collection(collection).map(describe).collect()
        });
        for profile in profiles {
            info.add("description", &profile);
        }
        let browser = self.frontier.peek_catalog(|catalog| {
            let found = catalog.collection(collection)?;
            (found.engine == Engine::Browser).then(|| super::super::browse::described(&found.browser))
        });
        if let Some(browser) = browser {
            info.add("description", &browser);
        }
        FileSettings {
            dir: self.dir.clone(),
            prefix: prefix.unwrap_or_else(|| PREFIX.to_owned()),
            collection: collection.to_owned(),
            host: self.host.clone(),
            compression,
            bytes_max: FileSettings::BYTES_MAX,
            age_max: FileSettings::AGE_MAX,
            info,
        }
    }
}

fn describe(profile: &policy::model::Profile) -> String {
    let robots = match &profile.robots {
        policy::model::RobotsPolicy::Obey => "obey".to_owned(),
        policy::model::RobotsPolicy::Ignore => "ignore".to_owned(),
        policy::model::RobotsPolicy::ObeyAs(agent) => format!("obey as {agent}"),
    };
    let slowest = profile.slowest.map(|slowest| format!("..{}", print_duration(slowest)));
    let every = print_duration(profile.every) + slowest.as_deref().unwrap_or_default();
    format!("profile {}: every {every}, robots {robots}", profile.name)
}

pub(crate) fn host_name() -> String {
    let name = rustix::system::uname();
    let mut name = name.nodename().to_string_lossy().into_owned();
    name.truncate(name.floor_char_boundary(HOST_BYTES_MAX));
    name
}
