//! The linear crawl: walking the ids of a URL template, as arithmetic (spec 3, L1–L11 and L14).
//!
//! The life of a walk: a [`Draft`] of what people ask for becomes [`WalkSettings`], or a
//! [`Problem`] that names the field. [`Walk::new`] stands before its first id, [`Walk::resume`]
//! where stored rows say. Its legs, one up, one down or both, are asked for their [`Step`] in
//! [`Turns`]: re-attempts that are due first, then ids that were issued and lost, then the next id
//! at the head while the margin allows it. What an answer means is [`Existence`]'s to say;
//! [`Walk::result`] takes it in, and [`Walk::dirty`] gives the rows that changed, to be written in
//! the transaction of the capture. A leg has ended when it owes nothing and its head may not go on.
//!
//! The invariant that lets many ids be in flight at once (L9): a head goes on only while fewer ids
//! than the margin lie behind it since the last that is known to exist, whether missed, in flight
//! or lost. Such an id is fetched whatever the answers in flight will be, so the ids fetched in all
//! do not depend on timing.

mod course;
mod existence;
mod expression;
mod give_back;
mod heads;
mod ids;
mod owed;
mod problem;
mod resume;
mod rows;
mod settings;
mod spans;
mod state;
mod status;
mod template;
mod turns;
mod view;

use serde::{Deserialize, Serialize};

pub use existence::{EXISTENCE_LIST_MAX, Existence, ExistenceDraft, Outcome, Seen};
pub use expression::Expression;
pub use ids::{CorruptRow, Kind, STRETCH, StretchRow};
pub use problem::{ID_MAX, Problem, parse_id};
pub use resume::{Refusal, Resume};
pub use rows::{Changes, HeadRow};
pub use settings::{ATTEMPTS_MAX, COOLDOWN_DEFAULT, Direction, Draft, Retry, WalkSettings};
pub use state::{Step, Walk, Why};
pub use status::StatusRange;
pub use template::{PAD_WIDTH_MAX, Template};
pub use turns::{Cursor, Turn, Turns};
pub use view::{CELLS_MAX, Cell, Counts, Head, Split};

/// One way of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Leg {
    Up,
    Down,
}
