//! `skurd why`: every rule that decides about a URL, from stored state.

mod host;

use std::io::Write;

use anyhow::Result;
use frontier::schema::URLS;
use frontier::{Explanation, Situation};
use policy::model::{Position, Record};
use policy::time::Time;
use policy::url::CrawlUrl;
use serde_json::{Value, json};
use store::table::KeyRange;

use self::host::HostState;
use crate::args::WhyArgs;
use crate::hint::hinted;
use crate::output::time_json;
use crate::session::{Session, stdout};

/// What is known in one collection: the explanation, and the record where there is one.
struct Answer {
    why: Explanation,
    host: HostState,
    record: Option<Record>,
}

pub(crate) fn run(args: &WhyArgs) -> Result<()> {
    let session = Session::open(&args.data.dir)?;
    let url = session.url(&args.url)?;
    let collections = match &args.collection {
        Some(name) => {
            session.collection(name)?;
            vec![name.clone()]
        }
        None => collections(&session)?,
    };
    if collections.is_empty() {
        return Err(hinted(
            "there is no collection that could have it",
            "declare what to harvest with `skurd config apply FILE`",
        ));
    }
    let now = session.frontier.now();
    let mut out = stdout();
    for (place, name) in collections.iter().enumerate() {
        for why in session.wait(session.frontier.why(&url, Some(name)))? {
            let host = HostState::read(&session, &why.host)?;
            let answer = Answer { record: record(&session, name, &url)?, host, why };
            match args.json {
                true => writeln!(out, "{}", answer.object())?,
                false => {
                    if place > 0 {
                        writeln!(out)?;
                    }
                    answer.print(&mut out, now)?;
                }
            }
        }
    }
    Ok(out.flush()?)
}

/// Those that are declared, and those that are gone but have URLs left.
fn collections(session: &Session) -> Result<Vec<String>> {
    let mut names = session.collections_with_urls()?;
    names.extend(session.look(|catalog| catalog.collections().map(|c| c.name.clone()).collect::<Vec<_>>())?);
    names.sort();
    names.dedup();
    Ok(names)
}

fn record(session: &Session, collection: &str, url: &CrawlUrl) -> Result<Option<Record>> {
    let from = URLS.key((collection, url.as_str()));
    let to = [from.as_slice(), &[0]].concat();
    let (rows, _) = session.wait(session.frontier.urls(None, Some(KeyRange { from, to }), 1))?;
    Ok(rows.into_iter().next().and_then(|row| row.record))
}

impl Answer {
    fn seed(&self) -> Option<&str> {
        self.record.as_ref().map(|record| record.seed.as_str())
    }

    fn object(&self) -> Value {
        let why = &self.why;
        let steps: Vec<Value> = why
            .steps
            .iter()
            .map(|(rule, finding)| json!({ "rule": rule.as_str(), "finding": finding }))
            .collect();
        let blacklist = match &why.situation {
            Situation::Blacklisted(entry) => json!({
                "reason": entry.reason.to_string(),
                "since": time_json(Some(entry.since)),
                "until": time_json(entry.until),
            }),
            _ => Value::Null,
        };
        json!({
            "collection": why.collection,
            "url": why.url,
            "situation": situation_word(&why.situation),
            "seed": self.seed(),
            "best_seed": why.best_seed,
            "problem": why.problem,
            "due": time_json(why.situation.due()),
            "depth": self.record.as_ref().map(|record| record.position.depth),
            "hops": self.record.as_ref().map(|record| record.position.hops),
            "last_fetch": time_json(self.record.as_ref().and_then(|record| record.last).map(|last| last.at)),
            "blacklist": blacklist,
            "steps": steps,
            "verdict": why.verdict.as_ref().map(|(rule, text)| json!({ "rule": rule.as_str(), "text": text })),
            "host": self.host.object(),
        })
    }

    fn print(&self, out: &mut impl Write, now: Time) -> Result<()> {
        let why = &self.why;
        writeln!(out, "{} in collection {}", why.url, why.collection)?;
        let mut fact = |name: &str, text: &str| writeln!(out, "  {name:<10} {text}");
        fact("situation", &self.situation(now))?;
        match (self.seed(), &why.best_seed) {
            (Some(seed), Some(best)) if best == seed => fact("seed", &format!("{seed} (the best match)"))?,
            (Some(seed), Some(best)) => fact("seed", &format!("{seed} (the best match is {best})"))?,
            (Some(seed), None) => fact("seed", &format!("{seed} (no seed matches the URL)"))?,
            (None, Some(best)) => fact("best match", &format!("seed {best}"))?,
            (None, None) => fact("best match", "no seed matches the URL")?,
        }
        if let Some(record) = &self.record {
            fact("position", &position(&record.position))?;
            fact("history", &history(record))?;
        }
        if let Some(problem) = &why.problem {
            fact("problem", problem)?;
        }
        fact("host", &self.host.sentence(now))?;
        if !why.steps.is_empty() {
            writeln!(out, "  rules")?;
        }
        for (rule, finding) in &why.steps {
            writeln!(out, "    {:<4} {finding}", rule.as_str())?;
        }
        if let Some((rule, text)) = &why.verdict {
            writeln!(out, "  verdict    {rule} {text}")?;
        }
        Ok(())
    }

    fn situation(&self, now: Time) -> String {
        match &self.why.situation {
            Situation::Queued(record) => format!("queued, due {}", when(record.due, now)),
            Situation::InFlight(record) => {
                format!("in flight: being fetched, was due {}", when(record.due, now))
            }
            Situation::Done { run } => format!("done in run {run}"),
            Situation::Blacklisted(entry) => {
                format!("blacklisted since {} ({})", entry.since, entry.reason)
            }
            Situation::Unknown => "unknown: neither queued, done nor blacklisted".to_owned(),
        }
    }
}

fn situation_word(situation: &Situation) -> &'static str {
    match situation {
        Situation::InFlight(_) => "in-flight",
        situation => situation.as_str(),
    }
}

/// `2024-02-29T12:00:00Z (in 3h)`.
fn when(time: Time, now: Time) -> String {
    match time > now {
        true => format!("{time} (in {})", time.since(now)),
        false => format!("{time} ({} ago)", now.since(time)),
    }
}

fn position(position: &Position) -> String {
    let mut text = format!("depth {}, {} off-domain hops", position.depth, position.hops);
    if position.requisite {
        text.push_str(", a page requisite");
    }
    text
}

fn history(record: &Record) -> String {
    let last = record.last.map_or("never fetched".to_owned(), |last| format!("last fetched {}", last.at));
    format!(
        "{last}; run {}: {} cycles, {} errors and {} not-founds in a row",
        record.run, record.cycles, record.errors, record.not_found
    )
}
