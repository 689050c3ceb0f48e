//! Drawings as SVG: values over time, and bars against a limit. No fonts, no files, no outside
//! asset.

mod bars;
mod scale;
mod svg;
mod time;

pub use bars::{Bar, BarPlot};
pub use time::{Series, Shape, TimePlot};

/// Calm colours that are told apart also by people who do not see all of them.
pub const PALETTE: [&str; 8] =
    ["#3b6ea5", "#e08a3c", "#5a9e8f", "#b5577a", "#8a78b4", "#c2a83e", "#7a6a5d", "#9aa5b1"];

/// For what a colour itself should say.
pub const GOOD: &str = "#5a9e8f";
pub const NEUTRAL: &str = "#3b6ea5";
pub const WARNING: &str = "#e0a63c";
pub const BAD: &str = "#c4533f";
pub const GREY: &str = "#9aa5b1";
/// A line that also shows on a bar.
const LIMIT: &str = "#52606d";
