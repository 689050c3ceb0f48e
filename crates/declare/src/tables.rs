//! Every key of the config file, once. An entry says how a key is spelled, what it takes, whether
//! it must be there, a good value and what it means; the model of `policy` has the field of that
//! name and its default. From these two the key is read from YAML and JSON, written, suggested, and
//! stands in schema and example.

use policy::browser::{
    Behaviours, BrowserLimits, BrowserProgram, BrowserSettings, ColorScheme, Device, Engine,
    RobotsRequisites, Screenshot, Viewport, WhenUnchanged,
};
use policy::budget::Budget;
use policy::hours::{Weekday, Window};
use policy::model::{
    BadCertificates, Collection, Dedup, GivenCookie, HostGroup, Limits, NAME_BYTES_MAX, Politeness, Profile,
    Seed, Settings,
};
use policy::scope::{Scope, Within};
use policy::trap::Traps;
use policy::url::{Scheme, URL_BYTES_MAX};
use policy::walk::{ATTEMPTS_MAX, Direction, Retry};
use policy::way::Way;

use crate::field::{Field, Record, Words, place, record, table};
use crate::keys::Kind::{
    Bool, Choice, ChoiceOr, Count, Duration, Factor, Frequency, Headers, Id, List, OneOf, Size, Text,
};
use crate::keys::Need::{Default, Empty, Optional, Required, RequiredUnless};
use crate::keys::{Key, Kind, Table, TextRule};
use crate::value::Data;
use crate::walks::WalkDraft;

const NAME: Kind = Text(TextRule::Name { bytes_max: NAME_BYTES_MAX });
const LINE: Kind = Text(TextRule::Line);
const HOST: Kind = Text(TextRule::Host);
/// A seed is named by its URL unless it has a name of its own, so its name may be as long.
const SEED_NAME: Kind = Text(TextRule::Name { bytes_max: URL_BYTES_MAX });
const TIME: Kind = Duration { zero: false };
const SIZE_U64: Kind = Size { max: 1 << 50 };
const U32: Kind = Count { min: 0, max: u32::MAX };
const U32_POSITIVE: Kind = Count { min: 1, max: u32::MAX };
const ID: Kind = Id { min: 0 };
const STATUSES: Kind = List { of: &Text(TextRule::Status), min: 0 };
/// What a response time is multiplied by.
const TIMES: Kind = Factor { min: 0.0, max: 1e6 };
const PIXELS: Kind = Count { min: 100, max: 10_000 };
const PROXY: Kind = Text(TextRule::Proxy);
const RESOLVER: Kind = Text(TextRule::Resolver);
const ADDRESS: Kind = Text(TextRule::Address);
const MOMENT: Kind = Text(TextRule::TimeOfDay { end: false });
const ZONE: Kind = Text(TextRule::Zone);
const WINDOWS: Kind = List { of: &Kind::Table(&WINDOW), min: 0 };
const WEEKDAYS: Kind = List { of: &Choice(Weekday::WORDS), min: 0 };
const REGEXES: Kind = List { of: &Text(TextRule::Regex), min: 0 };

table! {
    pub(crate) static ROOT = "config";
    settings: Kind::Table(&SETTINGS), Empty, "", "Settings of the whole installation.";
    collections: List { of: &Kind::Table(&COLLECTION), min: 0 }, Empty, "",
        "What is harvested together and apart from the rest: the same URL in two collections is \
         two URLs, with their own records, cookies and captures.";
    profiles: List { of: &Kind::Table(&PROFILE), min: 0 }, Empty, "",
        "How to harvest: one collection, a scope, a frequency.";
    seeds: List { of: &Kind::Table(&SEED), min: 0 }, Empty, "", "Where to start.";
    host_groups: List { of: &Kind::Table(&HOST_GROUP), min: 0 }, Empty, "",
        "Hosts that share one politeness slot, since one server is behind them.";
    hosts: List { of: &Kind::Table(&HOST_ENTRY), min: 0 }, Empty, "",
        "Hosts with a politeness of their own.";
    walks: List { of: &Kind::Table(&WALK), min: 0 }, Empty, "",
        "Ids that are counted up and down: content that no page links to.";
}

record! {
    pub(crate) static SETTINGS = "settings" of Settings;
    recheck: TIME, Default, "30m",
        "When a URL that was postponed, because its seed, profile or collection is switched off, \
         is looked at again.";
    lease: TIME, Default, "20m",
        "How long a worker may hold a host without a sign of life before another one takes over.";
    on_time: Duration { zero: true }, Default, "5m",
        "A harvest that is this late or less counts as on time.";
    robots_cache: TIME, Default, "6h",
        "How long what a robots.txt says is relied on before it is read again.";
    session_ids: List { of: &LINE, min: 0 }, Default, "[PHPSESSID, jsessionid]",
        "Query and path parameters that carry sessions; they are dropped from every URL.";
    user_agent: LINE, Optional, "skurd/0.1 (+https://example.org/bot)",
        "How requests introduce themselves.";
    contact: Text(TextRule::Contact), Optional, "https://example.org/bot",
        "Where site owners can reach you: a web page or mail address.";
    certificates: Choice(BadCertificates::WORDS), Default, "refuse",
        "Whether servers with a bad certificate (expired, self-signed, of another name) are \
         harvested, with a note in the archive, or not.";
    index_across: Bool, Default, "yes",
        "Whether there is a link index across all collections too, besides the one each has.";
    share_hosts: Bool, Default, "yes",
        "Whether hosts rest after other crawlers too that get their URLs here (`--url-frontier`), and \
         they after us: where the key of a queue is the name of a host.";
    politeness: Kind::Table(&POLITENESS), Empty, "",
        "The delay between two requests to a host is its response time × factor, at least min and \
         at most max.";
    browser: Kind::Table(&PROGRAM), Empty, "",
        "The browser of collections with `engine: browser`.";
}

record! {
    pub(crate) static PROGRAM = "browser" of BrowserProgram;
    path: LINE, Optional, "/usr/bin/chromium",
        "The program; if none, Chromium or Chrome is looked for by its usual names.";
    sandbox: Bool, Default, "yes",
        "Whether pages are kept in the browser's own sandbox. As root it does not start with one: \
         switched off, a page that breaks out of the browser has the whole machine.";
    tabs: Count { min: 1, max: 64 }, Default, "4",
        "Pages at a time, never more than there are cores.";
}

/// The settings have a politeness of which all is said; that of a host or group says what is not as
/// in the settings.
macro_rules! politeness {
    ($kind:ident $table:ident $(of $model:ty)?: $need:ident, $factor:literal, $min:literal,
     $max:literal, $parallel:literal $($more:tt)*) => {
        $kind! {
            pub(crate) static $table = "politeness" $(of $model)?;
            factor: TIMES, $need, $factor, "How many response times to wait.";
            min: Duration { zero: true }, $need, $min, "The shortest delay.";
            max: Duration { zero: true }, $need, $max, "The longest delay.";
            parallel: U32_POSITIVE, $need, $parallel, "Simultaneous requests.";
            $($more)*
        }
    };
}

politeness! { record POLITENESS of Politeness: Default, "10", "2s", "1m", "2"
    windows: WINDOWS, Default, "[{from: \"20:00\", to: \"08:00\", weekdays: [mon, tue]}]",
        "When hosts may be asked for anything at all; always if none. Outside, their URLs wait.";
    timezone: ZONE, Optional, "Europe/Oslo", "Whose clocks the windows are by; UTC if none.";
}
politeness! { table OWN_POLITENESS: Empty, "20", "5s", "2m", "4" }

// What there is at most of it, whoever has it.
record! {
    pub(crate) static BUDGET = "budget" of Budget;
    max_urls: U32_POSITIVE, Optional, "100000",
        "URLs that are known at a time; a link to one more is not queued.";
    max_harvests: U32_POSITIVE, Optional, "50000",
        "Harvests of a run. What is beyond waits until this is raised or left out, as with the next \
         two.";
    max_bytes: SIZE_U64, Optional, "20GB", "Bytes of a run, as they come over the wire.";
    max_duration: TIME, Optional, "2w", "From the first harvest of a run on.";
}

const BUDGETED: &str = "How much there is at most; nothing of it is no limit.";

record! {
    pub(crate) static COLLECTION = "collection" of Collection;
    name: NAME, Required, "news", "What profiles call it.";
    active: Bool, Default, "yes", "Switched off, everything in it waits and nothing is lost.";
    user_agent: LINE, Optional, "news-archive/1.0", "Instead of the one in the settings.";
    headers: Headers, Empty, "{Accept-Language: \"nb, nn;q=0.8\"}",
        "Sent with every request. Values that may be secret are shown as `•••`; put back, that \
         means the value there is.";
    cookies: List { of: &Kind::Table(&COOKIE), min: 0 }, Empty, "",
        "What the cookie jar starts with.";
    warc_prefix: Text(TextRule::FilePrefix), Optional, "NEWS",
        "What the names of its WARC files begin with, before the collection's name; `skurd` if \
         none.";
    index: Bool, Default, "yes", "Whether its pages feed the link index.";
    engine: Choice(Engine::WORDS), Default, "browser",
        "How its URLs are fetched: as they are, or with pages opened in a browser that runs their \
         scripts and loads what they need.";
    browser: Kind::Table(&BROWSER), Empty, "",
        "How its browser is set up; says nothing without `engine: browser`.";
    dedup: Choice(Dedup::WORDS), Default, "payload",
        "Of which captures the same payload is stored only once: those of one URL, or all of the \
         collection.";
    proxy [way.proxy]: PROXY, Optional, "http://user:password@proxy.example.org:3128",
        "Asked through this proxy: http:// (by CONNECT, also to port 80) or socks5://. Names are \
         looked up here, and addresses judged as without it. The password is shown as `•••`, which \
         means the one there is when it is put back.";
    resolver [way.resolver]: RESOLVER, Optional, "192.0.2.53:5353",
        "Names are looked up by this name server, instead of those of the machine.";
    source_address [way.source_address]: ADDRESS, Optional, "192.0.2.7",
        "Connections are made from this address of the machine, those to a proxy too.";
    budget: Kind::Table(&BUDGET), Empty, "", BUDGETED;
}

record! {
    pub(crate) static BROWSER = "browser" of BrowserSettings;
    user_agent: LINE, Optional, "Mozilla/5.0 (X11; Linux x86_64) archive/1.0",
        "Instead of the browser's own; the contact of the settings is added.";
    language: Text(TextRule::Languages), Optional, "nb-NO,nb,en",
        "Languages in the order of preference.";
    timezone: Text(TextRule::Timezone), Optional, "Europe/Oslo",
        "What the pages take for the time zone; the machine's own if none.";
    viewport: Kind::Table(&VIEWPORT), Empty, "", "The size of the window, in CSS pixels.";
    device: Kind::Table(&DEVICE), Empty, "", "What the pages take the machine for.";
    color_scheme: Choice(ColorScheme::WORDS), Default, "dark", "Which colours pages are asked for.";
    behaviours: Kind::Table(&BEHAVIOURS), Empty, "", "What is done with a page once it is loaded.";
    screenshot: Choice(Screenshot::WORDS), Default, "full",
        "What is kept as a picture: what the window shows, the page from top to bottom, or nothing.";
    dom: Bool, Default, "no", "Whether the page is kept as its scripts left it, too.";
    when_unchanged: Choice(WhenUnchanged::WORDS), Default, "skip",
        "Whether a page whose document is as it was is opened all the same: what its scripts fetch \
         may have changed.";
    robots_requisites: Choice(RobotsRequisites::WORDS), Default, "ignore",
        "Whether robots.txt is obeyed for what a page needs: pictures, styles, scripts and what \
         they fetch.";
    fresh: Duration { zero: true }, Default, "30m",
        "What a page needs and the collection has captured within this time comes from the \
         archive; 0s is never.";
    limits: Kind::Table(&BROWSER_LIMITS), Empty, "",
        "How long one page may take, and how much it may load. What is there by then is kept.";
}

record! {
    pub(crate) static VIEWPORT = "viewport" of Viewport;
    width: PIXELS, Default, "1920", "From left to right.";
    height: PIXELS, Default, "1080", "From top to bottom.";
}

record! {
    pub(crate) static DEVICE = "device" of Device;
    touch: Bool, Default, "yes", "Whether it has a touch screen.";
    scale: Factor { min: 0.1, max: 10.0 }, Default, "2", "Pixels of the screen to one of CSS.";
}

record! {
    pub(crate) static BEHAVIOURS = "behaviours" of Behaviours;
    scroll: Bool, Default, "no", "Scroll down to the end, so that what is loaded on the way is there.";
    click: LINE, Optional, "'button.more, a.next'",
        "A CSS selector: what it selects is clicked, once each.";
}

record! {
    pub(crate) static BROWSER_LIMITS = "limits" of BrowserLimits;
    load: TIME, Default, "20s", "Until the page says that it is loaded.";
    quiet: Duration { zero: true }, Default, "2s",
        "For so long nothing may be under way before a page counts as at rest.";
    behave: Duration { zero: true }, Default, "30s", "For scrolling and clicking, together.";
    collect: TIME, Default, "15s", "For pictures and the page as its scripts left it.";
    total: TIME, Default, "2m", "For all of it; not less than any of the others.";
    requests: U32_POSITIVE, Default, "500", "Requests of one page.";
    bytes: SIZE_U64, Default, "100MB", "Of all answers to one page, as they come over the wire.";
    media_bytes: SIZE_U64, Default, "50MB",
        "Video and sound of up to this size are fetched whole; of what is larger, the parts that \
         are played.";
}

record! {
    pub(crate) static COOKIE = "cookie" of GivenCookie;
    host: HOST, Required, "vg.no", "Who gets it.";
    name: Text(TextRule::Without("=;")), Required, "consent", "Its name.";
    value: Text(TextRule::Without(";")), Required, "all",
        "Its value; shown as `•••`, which means the value there is when it is put back.";
    path: Text(TextRule::Path), Optional, "/", "Only below this path.";
}

record! {
    pub(crate) static PROFILE = "profile" of Profile;
    name: NAME, Required, "daily", "What seeds call it.";
    extends []: NAME, Optional, "base",
        "Another profile: everything but the name that is not given here is as there, key by key \
         also in scope and limits.";
    active: Bool, Default, "yes", "Switched off, what it alone covers waits and nothing is lost.";
    collection: NAME, RequiredUnless("extends"), "news", "Where its harvests belong.";
    every {every, slowest}: Frequency, RequiredUnless("extends"), "2d",
        "How often each URL is harvested; with two durations (`1h..30d`) each URL as often as it is \
         seen to change, between the two.";
    length: U32_POSITIVE, Optional, "10",
        "How many times each URL is harvested in a run; 1 is once, none is for ever.";
    ttl: TIME, Optional, "26w", "A URL that no page has linked to for this long is dropped.";
    robots: ChoiceOr(&["obey", "ignore"], &ROBOTS_AS), Default, "{as: Googlebot}",
        "Whether robots.txt is obeyed, ignored, or obeyed as another agent.";
    scope: Kind::Table(&SCOPE), Empty, "", "Which URLs are taken in, seen from the seed.";
    limits: Kind::Table(&LIMITS), Empty, "", "Patience with a URL, and bounds of one fetch.";
    at: MOMENT, Optional, "\"03:00\"",
        "The moment that its frequency counts from: days of the calendar, or hours from then on. A \
         moment that clocks skip is the first there is after it, one that comes twice is the first.";
    weekdays: WEEKDAYS, Default, "[tue, sat]", "The days that have such a moment; every day if none.";
    timezone: ZONE, Optional, "Europe/Oslo",
        "Whose clocks its moment and its windows are by; UTC if none.";
    windows: WINDOWS, Default, "",
        "When its harvests may happen; always if none. Outside, its URLs wait for the next.";
    budget: Kind::Table(&BUDGET), Empty, "", BUDGETED;
    traps: Choice(Traps::WORDS), Default, "hold",
        "Whether URLs that seem to be a trap are harvested all the same, or held in the queue until \
         somebody decides: `skurd traps`.";
}

record! {
    pub(crate) static WINDOW = "window" of Window;
    from: MOMENT, Required, "\"22:00\"", "When it opens.";
    to: Text(TextRule::TimeOfDay { end: true }), Required, "\"06:00\"",
        "When it closes, on the next day if that is not later; what has begun by then is finished.";
    weekdays: WEEKDAYS, Default, "[mon, fri]", "The days on which it opens; every day if none.";
}

table! {
    pub(crate) static ROBOTS_AS = "robots";
    as: LINE, Required, "Googlebot", "Obey the rules for this agent instead of our own.";
}

record! {
    pub(crate) static SCOPE = "scope" of Scope;
    within: Choice(Within::WORDS), Default, "host",
        "How far around the seed: below its path, on its host, in its registrable domain, or \
         anywhere.";
    max_depth: U32, Optional, "20", "Links from the seed; none is no limit.";
    off_domain_hops: U32, Default, "1", "Links that are followed after leaving the seed's domain.";
    requisites: Bool, Default, "yes",
        "Whether images, styles, scripts and frames come along from wherever they are.";
    include: List { of: &OneOf(&PATTERN), min: 0 }, Default,
        "[{host: \"*.vgtv.no\"}, {prefix: \"nrk.no/nyheter\"}, {regex: '\\.pdf$'}]",
        "Taken in although not within; max_depth still holds.";
    exclude: List { of: &OneOf(&PATTERN), min: 0 }, Default,
        "[{regex: '[?&]sort='}, {prefix: \"https://vg.no/kalender/\"}, {host: \"ads.vg.no\"}]",
        "Never taken in, whatever else says so.";
    max_url_length: Count { min: 1, max: 3000 }, Default, "2000", "In bytes.";
    max_repeats: U32_POSITIVE, Default, "2",
        "How often a path segment, or a sequence of them, may follow itself before it counts as a \
         trap.";
    schemes: List { of: &Choice(Scheme::WORDS), min: 1 }, Default, "[https]",
        "Which schemes are harvested.";
}

table! {
    pub(crate) static PATTERN = "pattern";
    prefix: LINE, Optional, "\"vg.no/sport\"",
        "The URL begins with it; without a scheme it is compared from the host on, `www.` or not.";
    host: Text(TextRule::HostPattern), Optional, "\"*.vg.no\"",
        "This host; `*.` in front: its subdomains too.";
    regex: Text(TextRule::Regex), Optional, "'/print/\\d+$'", "Found somewhere in the URL.";
}

record! {
    pub(crate) static LIMITS = "limits" of Limits;
    max_errors: U32, Default, "5", "Errors in a row after which a URL is blacklisted.";
    max_not_found: U32, Default, "2", "Not-founds in a row after which a URL is blacklisted.";
    blacklist_for: TIME, Optional, "30d", "How long that lasts; none is until somebody lifts it.";
    backoff_base: TIME, Default, "30s", "The wait after the first error; it doubles with each.";
    backoff_cap: TIME, Default, "12h", "The longest such wait.";
    max_bytes: SIZE_U64, Default, "100MB", "Of one answer; the rest is cut off.";
    max_decoded_bytes: SIZE_U64, Default, "32MiB", "Of one answer unpacked, as read for links.";
    max_header_bytes: Size { max: u32::MAX as u64 }, Default, "64KiB", "Of an answer's headers.";
    connect_timeout: TIME, Default, "10s", "Until the connection stands.";
    first_byte_timeout: TIME, Default, "30s", "Until the answer begins.";
    total_timeout: TIME, Default, "10m", "Until the answer is complete.";
    max_outlinks: U32, Default, "5000",
        "Links taken from one page; the rest is counted and dropped.";
    max_redirects: U32, Default, "10", "Redirects followed in a row; one more leads nowhere.";
}

record! {
    pub(crate) static SEED = "seed" of Seed;
    url: Text(TextRule::Url), Required, "https://vg.no/", "With its scheme.";
    name: SEED_NAME, Optional, "vg", "Its name; the URL in normal form if none.";
    active: Bool, Default, "yes",
        "Switched off, everything that belongs to it waits and nothing is lost.";
    profiles: List { of: &NAME, min: 1 }, Required, "[daily, weekly]",
        "How it is harvested: one or more.";
    budget: Kind::Table(&BUDGET), Empty, "", BUDGETED;
}

record! {
    pub(crate) static HOST_GROUP = "host group" of HostGroup;
    name: Text(TextRule::GroupName), Required, "group:shops",
        "A name that no host can have: with a colon, a slash or a blank in it.";
    hosts: List { of: &HOST, min: 1 }, Required, "[shop.example.org, shop.example.net]",
        "The hosts, `www.` or not, without scheme and port.";
    politeness: Kind::Table(&OWN_POLITENESS), Empty, "",
        "Of the group as a whole; what is not given is as in the settings.";
    proxy [way.proxy]: PROXY, Optional, "socks5://user:password@192.0.2.8:1080",
        "As in collections, and before what those say; `direct` is none.";
    resolver [way.resolver]: RESOLVER, Optional, "192.0.2.53", "As in collections.";
    source_address [way.source_address]: ADDRESS, Optional, "192.0.2.7", "As in collections.";
    windows [politeness.windows]: WINDOWS, Empty, "[{from: \"21:00\", to: \"05:00\", weekdays: [sun]}]",
        "When its hosts may be asked for anything at all; as in the settings if none.";
    timezone [politeness.timezone]: ZONE, Optional, "Europe/Berlin", "Whose clocks they are by.";
    budget [politeness.budget]: Kind::Table(&BUDGET), Empty, "", BUDGETED;
}

record! {
    pub(crate) static HOST_ENTRY = "host" of (String, Politeness, Way);
    host [0]: HOST, Required, "slow.example.org",
        "The host, `www.` or not, without scheme and port.";
    politeness [1]: Kind::Table(&OWN_POLITENESS), Empty, "",
        "What is not given is as in the settings.";
    proxy [2.proxy]: PROXY, Optional, "direct",
        "As in collections, and before what those say; `direct` is none.";
    resolver [2.resolver]: RESOLVER, Optional, "192.0.2.53", "As in collections.";
    source_address [2.source_address]: ADDRESS, Optional, "192.0.2.7", "As in collections.";
    windows [1.windows]: WINDOWS, Empty, "[{from: \"00:00\", to: \"24:00\", weekdays: [sat, sun]}]",
        "When it may be asked for anything at all; as in the settings if none.";
    timezone [1.timezone]: ZONE, Optional, "America/New_York", "Whose clocks they are by.";
    budget [1.budget]: Kind::Table(&BUDGET), Empty, "", BUDGETED;
}

record! {
    pub(crate) static WALK = "walk" of WalkDraft;
    template [draft.template]: Text(TextRule::Template), Required,
        "https://example.org/notice/{id}",
        "The URL, with `{id}` where the number stands, or `{id:08}` for eight digits.";
    name: SEED_NAME, Optional, "notices", "Its name; the template if none.";
    active: Bool, Default, "yes", "Switched off, it stands still and nothing is lost.";
    profile: NAME, Required, "daily",
        "Says which collection it belongs to, whether robots.txt is obeyed, and how far a fetch \
         may go; its scope and frequency say nothing here.";
    seed: SEED_NAME, Optional, "vg",
        "On whose behalf the links of its pages are followed; none is not at all.";
    round: NAME, Optional, "registers",
        "Walks of the same round take turns in the order of this file; none is on its own.";
    min [draft.min]: ID, Optional, "1", "The lowest id.";
    max [draft.max]: ID, Optional, "200000",
        "The highest id; none where only the margin ends the way up.";
    from [draft.from]: ID, Optional, "4711",
        "The id to begin with; `min` going up and `max` going down if none.";
    direction [draft.direction]: Choice(Direction::WORDS), Optional, "both",
        "Which way the ids go; both with `from`, otherwise up.";
    step [draft.step]: Id { min: 1 }, Default, "10", "From one id to the next.";
    margin [draft.margin]: U32_POSITIVE, Optional, "50",
        "It stops after so many ids in a row that are not known to exist.";
    attempts [draft.attempts]: Count { min: 1, max: ATTEMPTS_MAX }, Default, "3",
        "How often an id that was not found is tried in all.";
    cooldown [draft.cooldown]: Duration { zero: true }, Default, "1h",
        "The pause before it is tried again.";
    retry [draft.retry]: Choice(Retry::WORDS), Default, "failed",
        "Which ids are tried again: all that were missed, since a 404 may be early, or only those \
         that failed.";
    rate [draft.rate]: U32_POSITIVE, Default, "2", "Fetches in its turn.";
    exists [rules.exists]: STATUSES, Default, "[200, 203]",
        "Statuses that mean the id exists, besides 200 with a body.";
    absent [rules.absent]: STATUSES, Default, "[404, 410, 3xx]",
        "Statuses that mean there is no such id.";
    failed [rules.failed]: STATUSES, Default, "[403, 429, 500-599]",
        "Statuses that say nothing about the id.";
    redirect_exists [rules.redirect_exists]: REGEXES, Default, "['/archive/\\d+$']",
        "A redirect to a URL with one of these in it means the id exists.";
    redirect_absent [rules.redirect_absent]: REGEXES, Default, "['/search', '/$']",
        "A redirect to a URL with one of these in it means there is no such id.";
    body_has [rules.body_has]: REGEXES, Default, "['<article']",
        "An id exists only with all of these in its body.";
    body_lacks [rules.body_lacks]: REGEXES, Default, "['[Nn]o such notice']",
        "An id exists only with none of these in its body: a page that says 200 and not found.";
}
