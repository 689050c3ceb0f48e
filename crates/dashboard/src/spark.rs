//! Small drawings of a figure over time, and shares as bars: inline SVG, coloured by the style
//! sheet.

use std::fmt::Write;

use maud::{Markup, html};

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 48.0;
/// Points drawn; the script keeps as many.
pub(super) const POINTS_MAX: usize = 120;

/// A figure over time. `name` is that of the figure in the event stream; the script goes on with
/// it.
pub(super) fn line(name: &str, says: &str, values: &[f64], top: Option<f64>) -> Markup {
    let values = &values[values.len().saturating_sub(POINTS_MAX)..];
    let fixed = top.map(|top| top.to_string());
    let told: Vec<String> = values.iter().map(|value| format!("{value:.3}")).collect();
    html! {
        svg.spark viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" role="img" aria-label=(says)
            data-spark=(name) data-values=(told.join(" ")) data-top=[fixed] {
            title { (says) }
            path.area d=(path(values, top, true)) {}
            path.stroke d=(path(values, top, false)) {}
        }
    }
}

fn path(values: &[f64], top: Option<f64>, closed: bool) -> String {
    let most = top.unwrap_or_else(|| values.iter().copied().fold(0.0, f64::max)).max(1e-9);
    let x = |place: usize| WIDTH - spread(values.len() - 1 - place);
    let mut steps = String::new();
    for (place, value) in values.iter().enumerate() {
        let y = HEIGHT - 2.0 - (value / most).clamp(0.0, 1.0) * (HEIGHT - 4.0);
        let _ = write!(steps, "{}{:.1} {y:.1}", if place == 0 { 'M' } else { 'L' }, x(place));
    }
    if closed && !values.is_empty() {
        let _ = write!(steps, "L{WIDTH} {HEIGHT}L{:.1} {HEIGHT}Z", x(0));
    }
    steps
}

/// How far back a point lies.
#[allow(clippy::cast_precision_loss, reason = "a place on a drawing")]
fn spread(points: usize) -> f64 {
    points as f64 * WIDTH / (POINTS_MAX - 1) as f64
}

/// Parts of a whole from left to right, each with its class.
#[allow(clippy::cast_precision_loss, reason = "a width on a drawing")]
pub(super) fn parts(says: &str, parts: &[(&'static str, u64)]) -> Markup {
    let whole = parts.iter().map(|(_, count)| *count).sum::<u64>().max(1) as f64;
    let share = |count: u64| count as f64 * 100.0 / whole;
    let left = |place: usize| parts[..place].iter().fold(0.0, |sum, (_, count)| sum + share(*count));
    html! {
        svg.parts viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=(says) {
            title { (says) }
            @for (place, (class, count)) in parts.iter().enumerate().filter(|(_, (_, count))| *count > 0) {
                rect.(class) x=(format!("{:.2}", left(place))) y="0" width=(format!("{:.2}", share(*count))) height="8" {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i5_lines_stay_inside_whatever_the_values() {
        for values in [vec![], vec![0.0], vec![f64::MAX, 0.0, f64::NAN], vec![3.0; 500]] {
            let html = line("x", "x", &values, None).into_string();
            assert!(html.len() < 8000, "{}", html.len());
            assert!(!html.contains("inf"));
        }
        assert!(path(&[0.0, 1.0], None, false).ends_with("L240.0 2.0"));
        let html = parts("x", &[("a", 1), ("b", 0), ("c", 3)]).into_string();
        assert!(
            html.contains("x=\"25.00\"") && html.contains("width=\"75.00\"") && !html.contains("class=\"b\"")
        );
    }
}
