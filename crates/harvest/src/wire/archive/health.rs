//! How the archive is: what is known to be missing, and whether it can be written (A14).

use declare::counted;
use parking_lot::Mutex;

/// Names that are told; the rest is counted.
const NAMES_TOLD_MAX: usize = 3;

/// Shared by the archive and who is asked about it.
#[derive(Debug, Default)]
pub struct Health(Mutex<State>);

#[derive(Clone, Debug, Default)]
struct State {
    losses: Vec<Loss>,
    failed: Option<String>,
}

/// A file that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The name it has when it is complete.
    pub file: String,
    pub damage: Damage,
    /// In the file, as far as it is still there.
    pub captures: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    Missing,
    Short { bytes: u64, known: u64 },
}

impl Damage {
    pub fn word(self) -> &'static str {
        match self {
            Damage::Missing => "missing",
            Damage::Short { .. } => "cut off",
        }
    }
}

impl Health {
    /// What was found when the harvest began.
    pub(super) fn begin(&self, losses: Vec<Loss>) {
        self.0.lock().losses = losses;
    }

    /// It can no longer be written.
    pub(super) fn fail(&self, reason: &str) {
        self.0.lock().failed.get_or_insert_with(|| reason.to_owned());
    }

    /// Why nothing can be archived, if that is so.
    pub fn failure(&self) -> Option<String> {
        self.0.lock().failed.clone()
    }

    /// What is missing, in a sentence.
    pub fn complaint(&self) -> Option<String> {
        complaint(&self.0.lock().losses)
    }

    /// Files and the captures in them.
    pub fn missing(&self) -> (u64, u64) {
        let losses = &self.0.lock().losses;
        (losses.len() as u64, losses.iter().map(|loss| loss.captures).sum())
    }
}

/// What is missing, in a sentence.
pub(super) fn complaint(losses: &[Loss]) -> Option<String> {
    if losses.is_empty() {
        return None;
    }
    let captures: u64 = losses.iter().map(|loss| loss.captures).sum();
    let mut told: Vec<String> = losses
        .iter()
        .take(NAMES_TOLD_MAX)
        .map(|loss| match loss.damage {
            Damage::Missing => format!("{} is missing", loss.file),
            Damage::Short { bytes, known } => {
                format!("{} has {bytes} bytes and had {known}", loss.file)
            }
        })
        .collect();
    if losses.len() > NAMES_TOLD_MAX {
        told.push(format!("and {} more", losses.len() - NAMES_TOLD_MAX));
    }
    Some(format!(
        "{} of the archive, with {}, {} not what {} was: {}",
        counted(losses.len(), "file"),
        counted(usize::try_from(captures).unwrap_or(usize::MAX), "capture"),
        if losses.len() == 1 { "is" } else { "are" },
        if losses.len() == 1 { "it" } else { "each" },
        told.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a14_what_is_missing_is_summed_up() {
        let loss = |n: u64| Loss { file: format!("f{n}"), damage: Damage::Missing, captures: n };
        assert_eq!(complaint(&[]), None);
        let one = complaint(&[Loss { damage: Damage::Short { bytes: 3, known: 9 }, ..loss(1) }]);
        let expected = "1 file of the archive, with 1 capture, is not what it was: f1 has 3 bytes and had 9";
        assert_eq!(one.as_deref(), Some(expected));
        let many: Vec<Loss> = (1..=1000).map(loss).collect();
        let expected = "1000 files of the archive, with 500500 captures, are not what each was: \
                        f1 is missing, f2 is missing, f3 is missing, and 997 more";
        assert_eq!(complaint(&many).as_deref(), Some(expected));
    }
}
