/// What happened to a URL in one step of time. Where several things did, the greatest is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Not known yet.
    #[default]
    Absent,
    /// In the queue.
    Waiting,
    /// Done or removed.
    Out,
    Unchanged,
    /// New, or changed since last time.
    Fresh,
    NotFound,
    /// No answer, or one that says the server is in trouble.
    Failed,
    Blacklisted,
}

impl Mark {
    /// In the order of the legend.
    pub const SHOWN: [Mark; 7] = [
        Mark::Fresh,
        Mark::Unchanged,
        Mark::NotFound,
        Mark::Failed,
        Mark::Blacklisted,
        Mark::Waiting,
        Mark::Out,
    ];

    pub(crate) fn look(self) -> MarkLook {
        let (sign, colour, class, says) = match self {
            Mark::Absent => (' ', None, "absent", "not known yet"),
            Mark::Waiting => ('·', Some(90), "waiting", "waiting"),
            Mark::Out => ('-', Some(90), "out", "out of the queue"),
            Mark::Unchanged => ('○', Some(36), "unchanged", "unchanged"),
            Mark::Fresh => ('●', Some(34), "fresh", "new or changed"),
            Mark::NotFound => ('?', Some(33), "missing", "not found"),
            Mark::Failed => ('!', Some(31), "failed", "error"),
            Mark::Blacklisted => ('×', Some(31), "blacklisted", "blacklisted"),
        };
        MarkLook { sign, colour, class, says }
    }

    pub(crate) fn sign(self) -> char {
        self.look().sign
    }

    pub fn is_trouble(self) -> bool {
        matches!(self, Mark::NotFound | Mark::Failed | Mark::Blacklisted)
    }
}

/// How a mark is shown.
pub(crate) struct MarkLook {
    /// For text that may have no colours.
    pub(crate) sign: char,
    /// Its number on a terminal.
    pub(crate) colour: Option<u8>,
    /// Its name in the picture's style sheet.
    pub(crate) class: &'static str,
    pub(crate) says: &'static str,
}
