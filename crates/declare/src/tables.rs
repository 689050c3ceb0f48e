//! Every key of the config file. Add one here and it is read, suggested, in the schema and in the example; the
//! tests then want it to have an effect and its default to be the real one.

mod walk;

use policy::model::NAME_BYTES_MAX;
use policy::url::URL_BYTES_MAX;

use crate::keys::Kind::{Bool, Choice, ChoiceOr, Count, Duration, Factor, Headers, List, OneOf, Size, Text};
use crate::keys::Need::{Default, Empty, Optional, Required, RequiredUnless};
use crate::keys::{Key, Kind, Need, Table, TextRule};

const NAME: Kind = Text(TextRule::Name { bytes_max: NAME_BYTES_MAX });
const LINE: Kind = Text(TextRule::Line);
const HOST: Kind = Text(TextRule::Host);
/// A seed is named by its URL unless it has a name of its own, so its name may be as long.
const SEED_NAME: Kind = Text(TextRule::Name { bytes_max: URL_BYTES_MAX });
const TIME: Kind = Duration { zero: false };
const SIZE_U64: Kind = Size { max: 1 << 50 };
const U32: Kind = Count { min: 0, max: u32::MAX };
const U32_POSITIVE: Kind = Count { min: 1, max: u32::MAX };

const fn key(name: &'static str, kind: Kind, need: Need, example: &'static str, doc: &'static str) -> Key {
    Key { name, kind, need, doc, example }
}

pub(crate) static ROOT: Table = Table {
    name: "config",
    keys: &[
        key("settings", Kind::Table(&SETTINGS), Empty, "", "Settings of the whole installation."),
        key(
            "collections",
            List { of: &Kind::Table(&COLLECTION), min: 0 },
            Empty,
            "",
            "What is harvested together and apart from the rest: the same URL in two collections is two URLs, with their own records, cookies and captures.",
        ),
        key(
            "profiles",
            List { of: &Kind::Table(&PROFILE), min: 0 },
            Empty,
            "",
            "How to harvest: one collection, a scope, a frequency.",
        ),
        key("seeds", List { of: &Kind::Table(&SEED), min: 0 }, Empty, "", "Where to start."),
        key(
            "host_groups",
            List { of: &Kind::Table(&HOST_GROUP), min: 0 },
            Empty,
            "",
            "Hosts that share one politeness slot, since one server is behind them.",
        ),
        key(
            "hosts",
            List { of: &Kind::Table(&HOST_ENTRY), min: 0 },
            Empty,
            "",
            "Hosts with a politeness of their own.",
        ),
        key(
            "walks",
            List { of: &Kind::Table(&walk::WALK), min: 0 },
            Empty,
            "",
            "Ids that are counted up and down: content that no page links to.",
        ),
    ],
};

static SETTINGS: Table = Table {
    name: "settings",
    keys: &[
        key(
            "recheck",
            TIME,
            Default("1h"),
            "30m",
            "When a URL that was postponed, because its seed, profile or collection is switched off, is looked at again.",
        ),
        key(
            "lease",
            TIME,
            Default("30m"),
            "20m",
            "How long a worker may hold a host without a sign of life before another one takes over.",
        ),
        key(
            "on_time",
            Duration { zero: true },
            Default("10m"),
            "5m",
            "A harvest that is this late or less counts as on time.",
        ),
        key(
            "robots_cache",
            TIME,
            Default("1d"),
            "6h",
            "How long what a robots.txt says is relied on before it is read again.",
        ),
        key(
            "session_ids",
            List { of: &LINE, min: 0 },
            Default("[]"),
            "[PHPSESSID, jsessionid]",
            "Query and path parameters that carry sessions; they are dropped from every URL.",
        ),
        key(
            "user_agent",
            LINE,
            Optional,
            "skurd/0.1 (+https://example.org/bot)",
            "How requests introduce themselves.",
        ),
        key(
            "contact",
            Text(TextRule::Contact),
            Optional,
            "https://example.org/bot",
            "Where site owners can reach you: a web page or mail address.",
        ),
        key(
            "certificates",
            Choice(&["accept", "refuse"]),
            Default("accept"),
            "refuse",
            "Whether servers with a bad certificate (expired, self-signed, of another name) are harvested, with a note in the archive, or not.",
        ),
        key(
            "index_across",
            Bool,
            Default("no"),
            "yes",
            "Whether there is a link index across all collections too, besides the one each has.",
        ),
        key(
            "politeness",
            Kind::Table(&POLITENESS),
            Empty,
            "",
            "The delay between two requests to a host is its response time × factor, at least min and at most max.",
        ),
    ],
};

static POLITENESS: Table = Table {
    name: "politeness",
    keys: &politeness([Default("5"), Default("1s"), Default("30s"), Default("1")], ["10", "2s", "1m", "2"]),
};

/// Of a host or group: what is not given is as in the settings.
static OWN_POLITENESS: Table =
    Table { name: "politeness", keys: &politeness([Empty; 4], ["20", "5s", "2m", "4"]) };

const fn politeness(needs: [Need; 4], examples: [&'static str; 4]) -> [Key; 4] {
    let [factor, min, max, parallel] = needs;
    [
        key("factor", Factor, factor, examples[0], "How many response times to wait."),
        key("min", Duration { zero: true }, min, examples[1], "The shortest delay."),
        key("max", Duration { zero: true }, max, examples[2], "The longest delay."),
        key("parallel", U32_POSITIVE, parallel, examples[3], "Simultaneous requests."),
    ]
}

static COLLECTION: Table = Table {
    name: "collection",
    keys: &[
        key("name", NAME, Required, "news", "What profiles call it."),
        key(
            "active",
            Bool,
            Default("yes"),
            "yes",
            "Switched off, everything in it waits and nothing is lost.",
        ),
        key("user_agent", LINE, Optional, "news-archive/1.0", "Instead of the one in the settings."),
        key(
            "headers",
            Headers,
            Empty,
            "{Accept-Language: \"nb, nn;q=0.8\"}",
            "Sent with every request. Values that may be secret are shown as `•••`; put back, that means the value there is.",
        ),
        key(
            "cookies",
            List { of: &Kind::Table(&COOKIE), min: 0 },
            Empty,
            "",
            "What the cookie jar starts with.",
        ),
        key(
            "warc_prefix",
            Text(TextRule::FilePrefix),
            Optional,
            "NEWS",
            "What the names of its WARC files begin with, before the collection's name; `skurd` if none.",
        ),
        key("index", Bool, Default("yes"), "yes", "Whether its pages feed the link index."),
    ],
};

static COOKIE: Table = Table {
    name: "cookie",
    keys: &[
        key("host", HOST, Required, "vg.no", "Who gets it."),
        key("name", Text(TextRule::Without("=;")), Required, "consent", "Its name."),
        key(
            "value",
            Text(TextRule::Without(";")),
            Required,
            "all",
            "Its value; shown as `•••`, which means the value there is when it is put back.",
        ),
        key("path", Text(TextRule::Path), Optional, "/", "Only below this path."),
    ],
};

static PROFILE: Table = Table {
    name: "profile",
    keys: &[
        key("name", NAME, Required, "daily", "What seeds call it."),
        key(
            "extends",
            NAME,
            Optional,
            "base",
            "Another profile: everything but the name that is not given here is as there, key by key also in scope and limits.",
        ),
        key(
            "active",
            Bool,
            Default("yes"),
            "yes",
            "Switched off, what it alone covers waits and nothing is lost.",
        ),
        key("collection", NAME, RequiredUnless("extends"), "news", "Where its harvests belong."),
        key("every", TIME, RequiredUnless("extends"), "1d12h", "How often each URL is harvested."),
        key(
            "length",
            U32_POSITIVE,
            Optional,
            "10",
            "How many times each URL is harvested in a run; 1 is once, none is for ever.",
        ),
        key("ttl", TIME, Optional, "26w", "A URL that no page has linked to for this long is dropped."),
        key(
            "robots",
            ChoiceOr(&["obey", "ignore"], &ROBOTS_AS),
            Default("obey"),
            "{as: Googlebot}",
            "Whether robots.txt is obeyed, ignored, or obeyed as another agent.",
        ),
        key("scope", Kind::Table(&SCOPE), Empty, "", "Which URLs are taken in, seen from the seed."),
        key("limits", Kind::Table(&LIMITS), Empty, "", "Patience with a URL, and bounds of one fetch."),
    ],
};

static ROBOTS_AS: Table = Table {
    name: "robots",
    keys: &[key("as", LINE, Required, "Googlebot", "Obey the rules for this agent instead of our own.")],
};

static SCOPE: Table = Table {
    name: "scope",
    keys: &[
        key(
            "within",
            Choice(&["path", "host", "domain", "any"]),
            Default("domain"),
            "host",
            "How far around the seed: below its path, on its host, in its registrable domain, or anywhere.",
        ),
        key("max_depth", U32, Optional, "20", "Links from the seed; none is no limit."),
        key(
            "off_domain_hops",
            U32,
            Default("0"),
            "1",
            "Links that are followed after leaving the seed's domain.",
        ),
        key(
            "requisites",
            Bool,
            Default("yes"),
            "yes",
            "Whether images, styles, scripts and frames come along from wherever they are.",
        ),
        key(
            "include",
            List { of: &OneOf(&PATTERN), min: 0 },
            Default("[]"),
            "[{host: \"*.vgtv.no\"}, {prefix: \"nrk.no/nyheter\"}, {regex: '\\.pdf$'}]",
            "Taken in although not within; max_depth still holds.",
        ),
        key(
            "exclude",
            List { of: &OneOf(&PATTERN), min: 0 },
            Default("[]"),
            "[{regex: '[?&]sort='}, {prefix: \"https://vg.no/kalender/\"}, {host: \"ads.vg.no\"}]",
            "Never taken in, whatever else says so.",
        ),
        key("max_url_length", Count { min: 1, max: 3000 }, Default("3000"), "2000", "In bytes."),
        key(
            "max_repeats",
            U32_POSITIVE,
            Default("3"),
            "2",
            "How often a path segment, or a sequence of them, may follow itself before it counts as a trap.",
        ),
        key(
            "schemes",
            List { of: &Choice(&["http", "https"]), min: 1 },
            Default("[http, https]"),
            "[https]",
            "Which schemes are harvested.",
        ),
    ],
};

static PATTERN: Table = Table {
    name: "pattern",
    keys: &[
        key(
            "prefix",
            LINE,
            Optional,
            "\"vg.no/sport\"",
            "The URL begins with it; without a scheme it is compared from the host on, `www.` or not.",
        ),
        key(
            "host",
            Text(TextRule::HostPattern),
            Optional,
            "\"*.vg.no\"",
            "This host; `*.` in front: its subdomains too.",
        ),
        key("regex", Text(TextRule::Regex), Optional, "'/print/\\d+$'", "Found somewhere in the URL."),
    ],
};

static LIMITS: Table = Table {
    name: "limits",
    keys: &[
        key("max_errors", U32, Default("10"), "5", "Errors in a row after which a URL is blacklisted."),
        key("max_not_found", U32, Default("3"), "2", "Not-founds in a row after which a URL is blacklisted."),
        key("blacklist_for", TIME, Optional, "30d", "How long that lasts; none is until somebody lifts it."),
        key(
            "backoff_base",
            TIME,
            Default("1m"),
            "30s",
            "The wait after the first error; it doubles with each.",
        ),
        key("backoff_cap", TIME, Default("1d"), "12h", "The longest such wait."),
        key("max_bytes", SIZE_U64, Default("1GiB"), "100MB", "Of one answer; the rest is cut off."),
        key(
            "max_decoded_bytes",
            SIZE_U64,
            Default("64MiB"),
            "32MiB",
            "Of one answer unpacked, as read for links.",
        ),
        key(
            "max_header_bytes",
            Size { max: u32::MAX as u64 },
            Default("256KiB"),
            "64KiB",
            "Of an answer's headers.",
        ),
        key("connect_timeout", TIME, Default("20s"), "10s", "Until the connection stands."),
        key("first_byte_timeout", TIME, Default("1m"), "30s", "Until the answer begins."),
        key("total_timeout", TIME, Default("20m"), "10m", "Until the answer is complete."),
        key(
            "max_outlinks",
            U32,
            Default("10000"),
            "5000",
            "Links taken from one page; the rest is counted and dropped.",
        ),
        key(
            "max_redirects",
            U32,
            Default("20"),
            "10",
            "Redirects followed in a row; one more leads nowhere.",
        ),
    ],
};

static SEED: Table = Table {
    name: "seed",
    keys: &[
        key("url", Text(TextRule::Url), Required, "https://vg.no/", "With its scheme."),
        key("name", SEED_NAME, Optional, "vg", "Its name; the URL in normal form if none."),
        key(
            "active",
            Bool,
            Default("yes"),
            "yes",
            "Switched off, everything that belongs to it waits and nothing is lost.",
        ),
        key(
            "profiles",
            List { of: &NAME, min: 1 },
            Required,
            "[daily, weekly]",
            "How it is harvested: one or more.",
        ),
    ],
};

static HOST_GROUP: Table = Table {
    name: "host group",
    keys: &[
        key(
            "name",
            Text(TextRule::GroupName),
            Required,
            "group:shops",
            "A name that no host can have: with a colon, a slash or a blank in it.",
        ),
        key(
            "hosts",
            List { of: &HOST, min: 1 },
            Required,
            "[shop.example.org, shop.example.net]",
            "The hosts, `www.` or not, without scheme and port.",
        ),
        key(
            "politeness",
            Kind::Table(&OWN_POLITENESS),
            Empty,
            "",
            "Of the group as a whole; what is not given is as in the settings.",
        ),
    ],
};

static HOST_ENTRY: Table = Table {
    name: "host",
    keys: &[
        key("host", HOST, Required, "slow.example.org", "The host, `www.` or not, without scheme and port."),
        key(
            "politeness",
            Kind::Table(&OWN_POLITENESS),
            Empty,
            "",
            "What is not given is as in the settings.",
        ),
    ],
};
