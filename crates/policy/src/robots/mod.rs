//! What a server's robots.txt allows us (A3, RFC 9309).
//!
//! The life of such a file: it is asked for once per scheme, host and port; its answer becomes a
//! [`Standing`], which says whether rules, permission or refusal hold and when to ask again; its
//! text becomes [`Robots`], the rules for one agent; and every URL gets a [`Verdict`] that names
//! the line that decided.
//!
//! Only the first [`ROBOTS_BYTES_MAX`] bytes count, and a line cut there does not. A rule is a
//! chain of literal pieces, so matching is a plain search per piece and linear, whatever the file.
//! Files as they are in the wild are forgiven: byte order marks, UTF-16, any line end, the usual
//! misspellings, a missing colon.
//!
//! A rule ends a run of agents, and so does a crawl-delay, as Protego has it. RFC 9309 (2.2.4)
//! would have the second agent of `User-agent: *`, `Crawl-delay: 10`, `User-agent: BadBot`,
//! `Disallow: /` speak for everybody, and nobody who writes this means it.
//!
//! The crate `texting_robots` (0.2.2) does not serve: it cannot say which line decided, takes
//! `Skurd/1.0` for another agent than `Skurd` and `%61` for another letter than `a`, reads no
//! UTF-16, and rests on nom 7 and bstr 0.2.

mod line;
mod pattern;
mod standing;

use std::collections::HashSet;
use std::fmt;

use crate::time::Span;
use line::{Line, lines};
use pattern::Pattern;

pub use standing::{Answer, COPY_HOLDS, RETRY, Says, Standing};

/// How much of the file is read (RFC 9309, 2.5: at least this much).
pub const ROBOTS_BYTES_MAX: usize = 500 << 10;

/// The longest crawl-delay that is obeyed; who asks for more gets this.
pub const CRAWL_DELAY_MAX: Span = Span::minutes(5);

/// Sitemaps taken from one file: each is looked at for every URL of its server.
pub const SITEMAPS_MAX: usize = 1000;

/// As much of a rule's line as is told.
const LINE_BYTES_SHOWN_MAX: usize = 200;

/// The rules of one file for one agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robots {
    /// The most specific first, and of two as specific the one that allows.
    rules: Vec<Rule>,
    crawl_delay: Option<Span>,
    sitemaps: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    pattern: Pattern,
    allows: bool,
    line: u32,
    text: Box<str>,
}

/// The line that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleLine<'a> {
    /// Counted from 1.
    pub number: u32,
    pub text: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// By a rule, or because none matches.
    Allowed(Option<RuleLine<'a>>),
    Denied(RuleLine<'a>),
}

impl Robots {
    /// Reads the rules for `agent`: a product token (`skurd`), or a whole User-Agent that begins
    /// with one.
    pub fn parse(bytes: &[u8], agent: &str) -> Robots {
        let text = line::text(bytes, ROBOTS_BYTES_MAX);
        let named = Groups::read(&text, line::token(agent.as_bytes()));
        let Groups { own, own_named, any, sitemaps } = named;
        let Group { mut rules, crawl_delay } = if own_named { own } else { any };
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.pattern.bytes()), !rule.allows));
        Robots { rules, crawl_delay, sitemaps }
    }

    /// What the rules say of a path with its query: the longest match decides, in doubt for us.
    pub fn verdict(&self, path_and_query: &str) -> Verdict<'_> {
        if path_and_query == "/robots.txt" {
            return Verdict::Allowed(None);
        }
        let path = pattern::canonical_path(path_and_query);
        match self.rules.iter().find(|rule| rule.pattern.matches(&path)) {
            None => Verdict::Allowed(None),
            Some(rule) if rule.allows => Verdict::Allowed(Some(rule.at())),
            Some(rule) => Verdict::Denied(rule.at()),
        }
    }

    /// The longest that is asked for, at most [`CRAWL_DELAY_MAX`].
    pub fn crawl_delay(&self) -> Option<Span> {
        self.crawl_delay
    }

    /// As written, without repetitions; they hold for every agent and may be relative.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }
}

impl Rule {
    fn at(&self) -> RuleLine<'_> {
        RuleLine { number: self.line, text: &self.text }
    }
}

impl Verdict<'_> {
    pub fn is_allowed(&self) -> bool {
        matches!(self, Verdict::Allowed(_))
    }
}

impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Allowed(None) => f.write_str("allowed: no rule of robots.txt matches"),
            Verdict::Allowed(Some(rule)) => write!(f, "allowed by robots.txt, {rule}"),
            Verdict::Denied(rule) => write!(f, "denied by robots.txt, {rule}"),
        }
    }
}

impl fmt::Display for RuleLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.text[..self.text.floor_char_boundary(LINE_BYTES_SHOWN_MAX)];
        let more = if shown.len() < self.text.len() { "…" } else { "" };
        write!(f, "line {}: {shown}{more}", self.number)
    }
}

/// All groups of one agent are one group (RFC 9309, 2.2.1).
#[derive(Debug, Default)]
struct Group {
    rules: Vec<Rule>,
    crawl_delay: Option<Span>,
}

/// The two groups that can matter: that of the agent, and that of everybody else, which holds where
/// the agent is not named.
#[derive(Debug, Default)]
struct Groups {
    own: Group,
    own_named: bool,
    any: Group,
    sitemaps: Vec<String>,
}

/// Whom the rules that follow are for. A rule or a crawl-delay ends a run of agents: other lines
/// must not interfere (2.2.4).
#[derive(Debug, Default)]
struct Run {
    own: bool,
    any: bool,
    ended: bool,
}

impl Groups {
    fn read(text: &[u8], agent: &[u8]) -> Groups {
        let mut groups = Groups::default();
        let mut run = Run::default();
        let mut seen = HashSet::new();
        for (number, whole, line) in lines(text) {
            match line {
                Line::Agent(name) => groups.agent(&mut run, line::token(name), agent),
                Line::Rule { allows, path } => {
                    run.ended = true;
                    groups.rule(&run, allows, path, number, whole);
                }
                Line::CrawlDelay(delay) => {
                    run.ended = true;
                    groups.delay(&run, delay.map(|delay| delay.min(CRAWL_DELAY_MAX)));
                }
                Line::Sitemap(url) => {
                    if groups.sitemaps.len() < SITEMAPS_MAX && seen.insert(url) {
                        groups.sitemaps.push(String::from_utf8_lossy(url).into_owned());
                    }
                }
            }
        }
        groups
    }

    fn agent(&mut self, run: &mut Run, name: &[u8], agent: &[u8]) {
        if run.ended {
            *run = Run::default();
        }
        run.any |= name == b"*";
        run.own |= !agent.is_empty() && name.eq_ignore_ascii_case(agent);
        self.own_named |= run.own;
    }

    /// The groups that the run is about.
    fn of(&mut self, run: &Run) -> impl Iterator<Item = &mut Group> {
        let both = [run.own.then_some(&mut self.own), run.any.then_some(&mut self.any)];
        both.into_iter().flatten()
    }

    /// An empty path is no rule, though it ends the run of agents.
    fn rule(&mut self, run: &Run, allows: bool, path: &[u8], line: u32, text: &[u8]) {
        if path.is_empty() || !(run.own || run.any) {
            return;
        }
        let text: Box<str> = String::from_utf8_lossy(text).into();
        let rule = Rule { pattern: Pattern::new(path), allows, line, text };
        for group in self.of(run) {
            group.rules.push(rule.clone());
        }
    }

    fn delay(&mut self, run: &Run, delay: Option<Span>) {
        for group in self.of(run) {
            group.crawl_delay = group.crawl_delay.max(delay);
        }
    }
}
