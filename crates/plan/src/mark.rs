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

    /// For text that may have no colours.
    pub fn sign(self) -> char {
        match self {
            Mark::Absent => ' ',
            Mark::Waiting => '·',
            Mark::Out => '-',
            Mark::Unchanged => '○',
            Mark::Fresh => '●',
            Mark::NotFound => '?',
            Mark::Failed => '!',
            Mark::Blacklisted => '×',
        }
    }

    pub fn says(self) -> &'static str {
        match self {
            Mark::Absent => "not known yet",
            Mark::Waiting => "waiting",
            Mark::Out => "out of the queue",
            Mark::Unchanged => "unchanged",
            Mark::Fresh => "new or changed",
            Mark::NotFound => "not found",
            Mark::Failed => "error",
            Mark::Blacklisted => "blacklisted",
        }
    }

    /// Its name in the picture's style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Mark::Absent => "absent",
            Mark::Waiting => "waiting",
            Mark::Out => "out",
            Mark::Unchanged => "unchanged",
            Mark::Fresh => "fresh",
            Mark::NotFound => "missing",
            Mark::Failed => "failed",
            Mark::Blacklisted => "blacklisted",
        }
    }

    pub fn is_trouble(self) -> bool {
        matches!(self, Mark::NotFound | Mark::Failed | Mark::Blacklisted)
    }
}
