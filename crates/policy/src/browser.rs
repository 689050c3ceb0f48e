//! Harvesting with a browser (page 7 of the specification): what people declare of it, and how a
//! rendering can end.
//!
//! A collection says by which [`Engine`] its URLs are fetched (B1) and how its browser is set up
//! ([`BrowserSettings`], B2); the settings of the whole installation say which program that is
//! ([`BrowserProgram`]). What a rendering came to is kept as a [`Rendering`] beside the record of
//! its URL, for people to look at (B21) and so that a page that crashes again and again is left
//! alone (B13).

use serde::{Deserialize, Serialize};

use crate::time::{Span, Time};

/// B1: how the URLs of a collection are fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Engine {
    #[default]
    Http,
    Browser,
}

/// B2: how a collection is seen by its browser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrowserSettings {
    /// Instead of the browser's own; the contact of A1 is added.
    pub user_agent: Option<String>,
    /// Languages in the order of preference: `nb-NO,nb,en`.
    pub language: Option<String>,
    /// A name of the tz database.
    pub timezone: Option<String>,
    pub viewport: Viewport,
    pub device: Device,
    pub color_scheme: ColorScheme,
    pub behaviours: Behaviours,
    pub screenshot: Screenshot,
    /// Whether the final DOM is kept.
    pub dom: bool,
    pub when_unchanged: WhenUnchanged,
    pub robots_requisites: RobotsRequisites,
    /// B10: a requisite captured no longer ago than this is served from the archive.
    pub fresh: Span,
    pub limits: BrowserLimits,
}

impl Default for BrowserSettings {
    fn default() -> BrowserSettings {
        BrowserSettings {
            user_agent: None,
            language: None,
            timezone: None,
            viewport: Viewport::default(),
            device: Device::default(),
            color_scheme: ColorScheme::Light,
            behaviours: Behaviours::default(),
            screenshot: Screenshot::View,
            dom: true,
            when_unchanged: WhenUnchanged::Render,
            robots_requisites: RobotsRequisites::Obey,
            fresh: Span::hours(1),
            limits: BrowserLimits::default(),
        }
    }
}

/// In CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Viewport {
    pub width: u32,
    pub height: u32,
}

impl Default for Viewport {
    fn default() -> Viewport {
        Viewport { width: 1280, height: 1024 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    pub touch: bool,
    /// Pixels of the screen to one of CSS.
    pub scale: f64,
}

impl Default for Device {
    fn default() -> Device {
        Device { touch: false, scale: 1.0 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColorScheme {
    #[default]
    Light,
    Dark,
}

/// What is done with a page once it is loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Behaviours {
    pub scroll: bool,
    /// A CSS selector: what it selects is clicked, once each.
    pub click: Option<String>,
}

impl Default for Behaviours {
    fn default() -> Behaviours {
        Behaviours { scroll: true, click: None }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Screenshot {
    /// What the viewport shows.
    #[default]
    View,
    /// The page from top to bottom.
    Full,
    None,
}

/// What is done with a page whose document is as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhenUnchanged {
    /// What its scripts fetch may still have changed.
    #[default]
    Render,
    Skip,
}

/// B9: whether robots.txt is obeyed for what a page needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RobotsRequisites {
    #[default]
    Obey,
    Ignore,
}

/// B6, B11: how long and how much one page may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserLimits {
    /// Up to the load event.
    pub load: Span,
    /// For so long nothing may be under way for a page to be at rest.
    pub quiet: Span,
    /// Of all behaviours together.
    pub behave: Span,
    /// Of reading the final DOM and taking the pictures.
    pub collect: Span,
    /// In all.
    pub total: Span,
    pub requests: u32,
    /// Of all answers, as they come over the wire.
    pub bytes: u64,
    /// B6: media up to this size are asked for whole.
    pub media_bytes: u64,
}

impl Default for BrowserLimits {
    fn default() -> BrowserLimits {
        BrowserLimits {
            load: Span::seconds(30),
            quiet: Span::seconds(1),
            behave: Span::seconds(20),
            collect: Span::seconds(10),
            total: Span::seconds(90),
            requests: 1000,
            bytes: 200 << 20,
            media_bytes: 100 << 20,
        }
    }
}

/// Which browser there is for all collections (B19, B20).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserProgram {
    /// None: looked for by its usual names.
    pub path: Option<String>,
    /// Off, pages run without the browser's own sandbox: as root it does not start with one.
    pub sandbox: bool,
    /// Pages at a time; never more than there are cores.
    pub tabs: u32,
}

impl Default for BrowserProgram {
    fn default() -> BrowserProgram {
        BrowserProgram { path: None, sandbox: true, tabs: 2 }
    }
}

/// B12: how a rendering ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ending {
    Ok,
    /// The load event did not come in time; what was there by then is kept.
    SlowLoad,
    /// It never came to rest; what was there by then is kept.
    NeverIdle,
    /// Its script did not end.
    Hung,
    /// Its renderer died.
    Crashed,
    /// It turned out to be a file to be saved.
    Download,
    /// The browser would not show it.
    Refused,
    /// The browser itself died, for which nobody is blamed.
    BrowserGone,
}

impl Ending {
    pub const ALL: [Ending; 8] = [
        Ending::Ok,
        Ending::SlowLoad,
        Ending::NeverIdle,
        Ending::Hung,
        Ending::Crashed,
        Ending::Download,
        Ending::Refused,
        Ending::BrowserGone,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Ending::Ok => "ok",
            Ending::SlowLoad => "slow-load",
            Ending::NeverIdle => "never-idle",
            Ending::Hung => "hung",
            Ending::Crashed => "crashed",
            Ending::Download => "download",
            Ending::Refused => "refused",
            Ending::BrowserGone => "browser-gone",
        }
    }

    /// Whether what the browser saw is kept; otherwise the capture over HTTP stands alone.
    pub fn is_capture(self) -> bool {
        matches!(self, Ending::Ok | Ending::SlowLoad | Ending::NeverIdle)
    }
}

/// What came of the last rendering of a URL (B13, B21).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendering {
    pub at: Time,
    pub ending: Ending,
    /// The document that was rendered.
    pub digest: Option<String>,
    /// Crashes in a row, of that document.
    pub crashes: u32,
    /// How long each phase took: load, behave, collect, and all of it.
    pub load: Span,
    pub behave: Span,
    pub collect: Span,
    pub total: Span,
    /// Requests of the page beside the document, and where they were answered from.
    pub requests: u32,
    pub from_archive: u32,
    pub failed: u32,
    /// What it was refused, and why: the first few, by reason.
    pub refused: u32,
    pub refusals: Vec<Refusal>,
    /// Which limit it ran into (B11).
    pub truncated: Option<String>,
    /// What else is to be said, in a sentence.
    pub note: Option<String>,
}

/// Refusals that a rendering lists.
pub const REFUSALS_MAX: usize = 10;
/// B13: crashes in a row after which a document is not rendered again.
pub const CRASHES_MAX: u32 = 2;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub url: String,
    pub reason: String,
}

impl Rendering {
    /// B13: whether a document is rendered once more, after what came of it before.
    pub fn allows(&self, digest: Option<&str>) -> bool {
        self.crashes < CRASHES_MAX || self.digest.as_deref() != digest
    }
}

/// Crashes in a row of this document, with a rendering that ended like that.
pub fn crashes_in_a_row(before: Option<&Rendering>, digest: Option<&str>, ending: Ending) -> u32 {
    let before =
        before.filter(|before| before.digest.as_deref() == digest).map_or(0, |before| before.crashes);
    match ending {
        Ending::Crashed => before.saturating_add(1),
        // Nobody's fault, and nobody's merit.
        Ending::BrowserGone => before,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendering(ending: Ending, digest: &str, before: Option<&Rendering>) -> Rendering {
        Rendering {
            at: Time(0),
            ending,
            digest: Some(digest.to_owned()),
            crashes: crashes_in_a_row(before, Some(digest), ending),
            load: Span::ZERO,
            behave: Span::ZERO,
            collect: Span::ZERO,
            total: Span::ZERO,
            requests: 0,
            from_archive: 0,
            failed: 0,
            refused: 0,
            refusals: Vec::new(),
            truncated: None,
            note: None,
        }
    }

    #[test]
    fn b13_two_crashes_in_a_row_end_the_rendering_of_a_document() {
        use Ending::{BrowserGone, Crashed, Hung, Ok};
        for (endings, then, allowed) in [
            (&[Crashed][..], "a", true),
            (&[Crashed, Crashed], "a", false),
            (&[Crashed, Crashed], "b", true),
            (&[Crashed, Ok, Crashed], "a", true),
            (&[Crashed, Hung, Crashed], "a", true),
            (&[Crashed, BrowserGone, Crashed], "a", false),
            (&[BrowserGone, BrowserGone], "a", true),
        ] {
            let mut last = None;
            for ending in endings {
                last = Some(rendering(*ending, "a", last.as_ref()));
            }
            assert_eq!(last.map(|last| last.allows(Some(then))), Some(allowed), "{endings:?} then {then}");
        }
        // Another document begins anew.
        let first = rendering(Crashed, "a", None);
        assert_eq!(rendering(Crashed, "b", Some(&first)).crashes, 1);
    }

    #[test]
    fn b12_the_first_three_endings_are_captures() {
        let captures: Vec<&str> =
            Ending::ALL.iter().filter(|ending| ending.is_capture()).map(|ending| ending.as_str()).collect();
        assert_eq!(captures, ["ok", "slow-load", "never-idle"]);
    }
}
