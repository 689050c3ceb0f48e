//! The keys of a walk.

use policy::walk::ATTEMPTS_MAX;

use super::{NAME, SEED_NAME, U32_POSITIVE, key};
use crate::keys::Kind::{Bool, Choice, Count, Duration, Id, List, Text};
use crate::keys::Need::{Default, Optional, Required};
use crate::keys::{Kind, Table, TextRule};

const ID: Kind = Id { min: 0 };
const STATUSES: Kind = List { of: &Text(TextRule::Status), min: 0 };
const REGEXES: Kind = List { of: &Text(TextRule::Regex), min: 0 };

pub(super) static WALK: Table = Table {
    name: "walk",
    keys: &[
        key(
            "template",
            Text(TextRule::Template),
            Required,
            "https://example.org/notice/{id}",
            "The URL, with `{id}` where the number stands, or `{id:08}` for eight digits.",
        ),
        key("name", SEED_NAME, Optional, "notices", "Its name; the template if none."),
        key("active", Bool, Default("yes"), "yes", "Switched off, it stands still and nothing is lost."),
        key(
            "profile",
            NAME,
            Required,
            "daily",
            "Says which collection it belongs to, whether robots.txt is obeyed, and how far a fetch may go; its scope and frequency say nothing here.",
        ),
        key(
            "seed",
            SEED_NAME,
            Optional,
            "vg",
            "On whose behalf the links of its pages are followed; none is not at all.",
        ),
        key(
            "round",
            NAME,
            Optional,
            "registers",
            "Walks of the same round take turns in the order of this file; none is on its own.",
        ),
        key("min", ID, Optional, "1", "The lowest id."),
        key("max", ID, Optional, "200000", "The highest id; none where only the margin ends the way up."),
        key(
            "from",
            ID,
            Optional,
            "4711",
            "The id to begin with; `min` going up and `max` going down if none.",
        ),
        key(
            "direction",
            Choice(&["up", "down", "both"]),
            Optional,
            "both",
            "Which way the ids go; both with `from`, otherwise up.",
        ),
        key("step", Id { min: 1 }, Default("1"), "10", "From one id to the next."),
        key(
            "margin",
            U32_POSITIVE,
            Optional,
            "50",
            "It stops after so many ids in a row that are not known to exist.",
        ),
        key(
            "attempts",
            Count { min: 1, max: ATTEMPTS_MAX },
            Default("1"),
            "3",
            "How often an id that was not found is tried in all.",
        ),
        key("cooldown", Duration { zero: true }, Default("30s"), "1h", "The pause before it is tried again."),
        key(
            "retry",
            Choice(&["all", "failed"]),
            Default("all"),
            "failed",
            "Which ids are tried again: all that were missed, since a 404 may be early, or only those that failed.",
        ),
        key("rate", U32_POSITIVE, Default("1"), "2", "Fetches in its turn."),
        key(
            "exists",
            STATUSES,
            Default("[]"),
            "[200, 203]",
            "Statuses that mean the id exists, besides 200 with a body.",
        ),
        key("absent", STATUSES, Default("[]"), "[404, 410, 3xx]", "Statuses that mean there is no such id."),
        key(
            "failed",
            STATUSES,
            Default("[]"),
            "[403, 429, 500-599]",
            "Statuses that say nothing about the id.",
        ),
        key(
            "redirect_exists",
            REGEXES,
            Default("[]"),
            "['/archive/\\d+$']",
            "A redirect to a URL with one of these in it means the id exists.",
        ),
        key(
            "redirect_absent",
            REGEXES,
            Default("[]"),
            "['/search', '/$']",
            "A redirect to a URL with one of these in it means there is no such id.",
        ),
        key(
            "body_has",
            REGEXES,
            Default("[]"),
            "['<article']",
            "An id exists only with all of these in its body.",
        ),
        key(
            "body_lacks",
            REGEXES,
            Default("[]"),
            "['[Nn]o such notice']",
            "An id exists only with none of these in its body: a page that says 200 and not found.",
        ),
    ],
};
