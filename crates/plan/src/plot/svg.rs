//! The few elements that drawings are made of.

use std::fmt::Write;

const WIDTH: f64 = 960.0;
const LEGEND_TOP: f64 = 80.0;
/// Where what is drawn ends.
pub(super) const RIGHT: f64 = WIDTH - 28.0;
const INK: &str = "#1f2933";
const FAINT_INK: &str = "#616e7c";
const GRID: &str = "#e4e7eb";
const AXIS: &str = "#9aa5b1";

#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing in the making.
#[derive(Debug)]
pub(super) struct Svg {
    text: String,
}

impl Svg {
    /// With a white ground, a title, and below it what the title leaves open.
    pub(super) fn new(height: f64, title: &str, subtitle: &str) -> Svg {
        let (shown, below) = (escape(title), escape(subtitle));
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{shown}: {below}\" \
             font-family=\"system-ui, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', sans-serif\" font-size=\"12\">\n\
             <title>{shown}</title>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
             <text x=\"24\" y=\"34\" font-size=\"18\" font-weight=\"600\" fill=\"{INK}\">{shown}</text>\n\
             <text x=\"24\" y=\"54\" font-size=\"13\" fill=\"{FAINT_INK}\">{below}</text>\n"
        );
        Svg { text }
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }

    fn element(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.text.write_fmt(arguments);
        self.text.push('\n');
    }

    pub(super) fn label(&mut self, x: f64, y: f64, anchor: Anchor, label: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let label = escape(label);
        self.element(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{FAINT_INK}\">{label}</text>"
        ));
    }

    /// A label that stays readable where lines cross it.
    pub(super) fn note(&mut self, x: f64, y: f64, label: &str) {
        let label = escape(label);
        self.element(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{FAINT_INK}\" stroke=\"#ffffff\" stroke-width=\"4\" \
             paint-order=\"stroke\">{label}</text>"
        ));
    }

    pub(super) fn grid(&mut self, x1: f64, y1: f64, x2: f64, y2: f64) {
        self.line(x1, y1, x2, y2, GRID, "");
    }

    pub(super) fn axis(&mut self, x1: f64, y1: f64, x2: f64, y2: f64) {
        self.line(x1, y1, x2, y2, AXIS, "");
    }

    pub(super) fn dashed(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, colour: &str) {
        self.line(x1, y1, x2, y2, colour, " stroke-dasharray=\"5 4\"");
    }

    fn line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, colour: &str, more: &str) {
        self.element(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"{more}/>"
        ));
    }

    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, colour: &str, tip: &str) {
        let tip = escape(tip);
        self.element(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"><title>{tip}</title></rect>"
        ));
    }

    pub(super) fn dot(&mut self, x: f64, y: f64, colour: &str, tip: &str) {
        let tip = escape(tip);
        self.element(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"><title>{tip}</title></circle>"
        ));
    }

    /// A line through points; a gap where there is none.
    pub(super) fn path(&mut self, points: &[Option<(f64, f64)>], colour: &str) {
        let (mut steps, mut is_drawing) = (String::new(), false);
        for point in points {
            if let Some((x, y)) = point {
                let _ = write!(steps, "{}{x:.1} {y:.1} ", if is_drawing { 'L' } else { 'M' });
            }
            is_drawing = point.is_some();
        }
        self.element(format_args!(
            "<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>",
            steps.trim_end()
        ));
    }

    /// Names and colours in rows from the left; returns where the last row stands.
    pub(super) fn legend(&mut self, entries: &[(&str, &str)], left: f64) -> f64 {
        let (mut x, mut y) = (left, LEGEND_TOP);
        for (name, colour) in entries {
            let name = shortened(name, 40);
            let width = 34.0 + text_width(&name);
            if x > left && x + width > RIGHT {
                (x, y) = (left, y + 20.0);
            }
            self.rect(x, y - 10.0, 12.0, 12.0, colour, &name);
            self.label(x + 18.0, y, Anchor::Start, &name);
            x += width;
        }
        y
    }
}

/// At this size a letter is about this wide in most fonts.
#[allow(clippy::cast_precision_loss, reason = "a guess in pixels")]
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * 7.0
}

pub(super) fn shortened(text: &str, chars_max: usize) -> String {
    match text.chars().nth(chars_max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(chars_max - 1).chain(['…']).collect(),
    }
}

fn escape(text: &str) -> String {
    let clean = text.chars().filter(|c| !c.is_control()).collect::<String>();
    clean.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
