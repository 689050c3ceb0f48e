//! The index as it is asked by tools that replay: one line of eleven fields a capture, in the words of
//! OutbackCDX and pywb.
//!
//! Lines are made as they are taken, a page of rows at a time, in either order of keys and times; the
//! nearest to a time first is a merge of both.

use std::collections::VecDeque;

use frontier::{Capture, CaptureId, ranges};
use policy::time::Time;
use replay::cdx::{Line, Match, Sort};
use replay::moment::While;
use serde::Deserialize;
use store::Order;
use store::table::KeyRange;
use utoipa::IntoParams;

use crate::{Answer, App, Problem};

const LINES_USUAL: usize = 10_000;
const PIECE_BYTES: usize = 64 << 10;
const ROWS: usize = 500;

/// What is asked; tools send more, which changes nothing here.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
pub struct Query {
    /// The URL; with `*` at its end, or `*.` at its beginning, all that begin so, or all below the host.
    pub url: String,
    /// `exact`, `prefix`, `host` or `domain`.
    pub match_type: Option<String>,
    /// How many lines at most; 10,000 if not given.
    #[param(minimum = 1)]
    pub limit: Option<usize>,
    /// `reverse`: the latest first; `closest`: the nearest to `closest` first, for exact matches.
    pub sort: Option<String>,
    /// A time of up to fourteen digits.
    pub closest: Option<String>,
    /// From this time on.
    pub from: Option<String>,
    /// Up to this time, as long as it is: `2024` is all of that year.
    pub to: Option<String>,
}

/// What is still to be told.
pub struct Lines {
    /// In their order; for the closest, what is after the time and what is before it.
    sources: VecDeque<Source>,
    closest: Option<Time>,
    left: usize,
    from: Time,
    to: Time,
}

type Row = (CaptureId, Capture);

struct Source {
    rest: Option<KeyRange>,
    order: Order,
    rows: VecDeque<Row>,
}

impl Source {
    fn new(range: KeyRange, order: Order) -> Source {
        Source { rest: Some(range), order, rows: VecDeque::new() }
    }

    /// The next row, left where it is.
    async fn peek(&mut self, app: &App) -> Answer<Option<&Row>> {
        while self.rows.is_empty() {
            let Some(range) = self.rest.take() else { break };
            let (rows, rest) = app.frontier.captures_by(&range, ROWS, self.order).await?;
            (self.rows, self.rest) = (rows.into(), rest);
        }
        Ok(self.rows.front())
    }
}

/// Reads the question.
#[crate::boxed]
pub async fn ask(app: &App, collection: &str, query: &Query) -> Answer<Lines> {
    app.collection(collection).await?;
    let (kind, url) = Match::of(query.match_type.as_deref(), query.url.trim())
        .ok_or_else(|| Problem::bad_request("matchType is `exact`, `prefix`, `host` or `domain`"))?;
    if url.is_empty() {
        return Err(Problem::bad_request("url says of what"));
    }
    let time = |name: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => While::read(text).map(Some).ok_or_else(|| {
            Problem::bad_request(format!("{name} is a time of four to fourteen digits, like 20240229123456"))
        }),
    };
    let closest = time("closest", &query.closest)?.map(|found| found.from);
    let sort = match query.sort.as_deref() {
        None | Some("default") => Sort::Forward,
        Some("reverse") => Sort::Reverse,
        Some("closest") if closest.is_none() => {
            return Err(Problem::bad_request("sort=closest wants closest=TIME"));
        }
        Some("closest") if kind != Match::Exact => {
            return Err(Problem::bad_request("sort=closest is for exact matches"));
        }
        Some("closest") => Sort::Closest,
        Some(_) => return Err(Problem::bad_request("sort is `default`, `reverse` or `closest`")),
    };
    let key = net::surt::key(&url);
    let all = kind.starts(&key).into_iter().map(|start| match kind {
        Match::Exact => ranges::captures_of(collection, &start),
        _ => ranges::captures_below(collection, &start),
    });
    let sources = match (sort, closest) {
        (Sort::Closest, Some(time)) => VecDeque::from([
            Source::new(ranges::captures_since(collection, &key, time), Order::Forward),
            Source::new(ranges::captures_before(collection, &key, time), Order::Backward),
        ]),
        (Sort::Reverse, _) => all.rev().map(|range| Source::new(range, Order::Backward)).collect(),
        _ => all.map(|range| Source::new(range, Order::Forward)).collect(),
    };
    Ok(Lines {
        sources,
        closest: closest.filter(|_| sort == Sort::Closest),
        left: query.limit.unwrap_or(LINES_USUAL),
        from: time("from", &query.from)?.map_or(Time(i64::MIN), |found| found.from),
        to: time("to", &query.to)?.map_or(Time(i64::MAX), |found| found.to),
    })
}

impl Lines {
    /// The next lines; none at the end.
    #[crate::boxed]
    pub async fn piece(mut self, app: &App) -> Answer<Option<(String, Lines)>> {
        let mut piece = String::new();
        while piece.len() < PIECE_BYTES && self.left > 0 {
            let Some((id, row)) = self.next(app).await? else { break };
            if !(self.from..self.to).contains(&id.time) {
                continue;
            }
            self.left -= 1;
            // The row's key may hold less of it.
            let key = net::surt::key(&row.url);
            Line {
                key: &key,
                time: id.time,
                url: super::cdx::asked_for(&row.url),
                mime: row.mime.as_deref(),
                status: (row.status > 0 && !(row.revisit && row.status == 304)).then_some(row.status),
                digest: &row.digest,
                length: row.length,
                offset: row.offset,
                file: &row.file,
            }
            .write(&mut piece);
        }
        Ok((!piece.is_empty()).then_some((piece, self)))
    }

    async fn next(&mut self, app: &App) -> Answer<Option<Row>> {
        let Some(time) = self.closest else {
            while let Some(source) = self.sources.front_mut() {
                if source.peek(app).await?.is_some() {
                    return Ok(source.rows.pop_front());
                }
                self.sources.pop_front();
            }
            return Ok(None);
        };
        let mut nearest: Option<(u64, usize)> = None;
        for (n, source) in self.sources.iter_mut().enumerate() {
            if let Some((id, _)) = source.peek(app).await? {
                let distance = id.time.0.abs_diff(time.0);
                if nearest.is_none_or(|(other, _)| distance < other) {
                    nearest = Some((distance, n));
                }
            }
        }
        Ok(nearest.and_then(|(_, n)| self.sources.get_mut(n)?.rows.pop_front()))
    }
}
