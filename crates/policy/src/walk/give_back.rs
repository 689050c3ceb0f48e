//! Undoing an issue: an id that was taken and not fetched after all becomes what it was.
//!
//! Given back in the reverse order of the taking, a walk is as it was before. Out of order, a new
//! id that is no longer the last at its head becomes a lost one, and is issued again before any new
//! one.

use super::state::{Origin, Walk};

impl Walk {
    /// False, and nothing changes, for an id that is not in flight.
    pub fn give_back(&mut self, id: u64) -> bool {
        let Some((position, origin)) = self.land(id) else { return false };
        let leg = self.course.leg_of(position);
        match origin {
            Origin::Owed(attempts) => self.todo(leg).owed.ready(attempts, position..position + 1),
            Origin::New if self.retract(leg, position) => {}
            Origin::New | Origin::Lost => self.todo(leg).lost.insert(position..position + 1),
        }
        true
    }
}
