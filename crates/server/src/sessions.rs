//! Browsers that showed the token: each has a value of its own in a cookie, so that one can leave
//! without the others.
//!
//! Values live in memory only. Beyond the bound the oldest browser has to show the token again, and
//! after a restart all have to.

use std::collections::VecDeque;

use parking_lot::Mutex;
use subtle::{Choice, ConstantTimeEq};

/// Browsers at the same time.
const SESSIONS_MAX: usize = 64;

#[derive(Default)]
pub(crate) struct Sessions(Mutex<VecDeque<String>>);

impl Sessions {
    /// A new value, which is let in from now on.
    pub(crate) fn begin(&self) -> std::io::Result<String> {
        let value = drawn_key()?;
        let mut values = self.0.lock();
        if values.len() >= SESSIONS_MAX {
            values.pop_front();
        }
        values.push_back(value.clone());
        Ok(value)
    }

    /// Whether this is one of the values; takes equally long for every wrong one.
    pub(crate) fn holds(&self, given: &str) -> bool {
        let values = self.0.lock();
        let is_one = values
            .iter()
            .fold(Choice::from(0), |found, value| found | value.as_bytes().ct_eq(given.as_bytes()));
        is_one.into()
    }

    pub(crate) fn end(&self, given: &str) {
        self.0.lock().retain(|value| value != given);
    }
}

/// What nobody can guess.
pub fn drawn_key() -> std::io::Result<String> {
    let mut bytes = [0; 24];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(data_encoding::BASE64URL_NOPAD.encode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i5_sessions_are_bounded_and_end_one_by_one() {
        let sessions = Sessions::default();
        let values: Vec<String> = (0..=SESSIONS_MAX).map(|_| sessions.begin().unwrap()).collect();
        assert!(!sessions.holds(&values[0]), "the oldest made room");
        assert!(values[1..].iter().all(|value| sessions.holds(value)));
        sessions.end(&values[1]);
        assert!(!sessions.holds(&values[1]) && sessions.holds(&values[2]));
        assert!(!sessions.holds("") && !sessions.holds(&values[2][1..]));
    }
}
