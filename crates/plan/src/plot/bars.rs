//! Named bars from left to right, against a limit.

use super::scale::{Scale, count, number};
use super::svg::{Anchor, RIGHT, Svg, shortened, text_width};

const TOP: f64 = 104.0;
const ROW: f64 = 26.0;
const NAME_CHARS_MAX: usize = 36;

#[derive(Clone, Debug)]
pub struct Bar {
    pub name: String,
    pub value: f64,
    pub colour: &'static str,
    /// Beside the bar.
    pub note: String,
}

#[derive(Clone, Debug)]
pub struct BarPlot {
    pub title: String,
    pub subtitle: String,
    pub unit: &'static str,
    /// Up to here all is well: the value, and what the line that marks it says.
    pub limit: (f64, &'static str),
    pub legend: Vec<(&'static str, &'static str)>,
    pub bars: Vec<Bar>,
}

impl BarPlot {
    pub fn to_svg(&self) -> String {
        let bottom = TOP + ROW * count(self.bars.len().max(1)) + 8.0;
        let mut svg = Svg::new(bottom + 48.0, &self.title, &self.subtitle);
        let names = self.bars.iter().map(|bar| shortened(&bar.name, NAME_CHARS_MAX));
        let left = 40.0 + names.map(|name| text_width(&name)).fold(60.0, f64::max);
        svg.legend(&self.legend, left);
        let noted = self.bars.iter().map(|bar| text_width(&bar.note)).fold(0.0, f64::max);
        let right = RIGHT - noted - 10.0;
        let largest = self.bars.iter().map(|bar| bar.value).filter(|value| value.is_finite());
        let scale = Scale::up_to(largest.fold(self.limit.0, f64::max));
        let x = |value: f64| left + scale.share(value) * (right - left);
        for tick in &scale.ticks {
            svg.grid(x(*tick), TOP - 6.0, x(*tick), bottom);
            svg.label(x(*tick), bottom + 18.0, Anchor::Middle, &format!("{}{}", number(*tick), self.unit));
        }
        let end = |bar: &Bar| if bar.value.is_finite() { x(bar.value) } else { right };
        let top = |row: usize| TOP + ROW * count(row);
        for (row, bar) in self.bars.iter().enumerate() {
            let tip = format!("{}: {}", bar.name, bar.note);
            svg.label(left - 10.0, top(row) + 15.0, Anchor::End, &shortened(&bar.name, NAME_CHARS_MAX));
            svg.rect(left, top(row) + 3.0, (end(bar) - left).max(1.0), ROW - 8.0, bar.colour, &tip);
        }
        let (limit, said) = self.limit;
        svg.dashed(x(limit), TOP - 6.0, x(limit), bottom, super::LIMIT);
        svg.label(x(limit), bottom + 38.0, Anchor::Middle, said);
        for (row, bar) in self.bars.iter().enumerate() {
            svg.note(end(bar) + 8.0, top(row) + 15.0, &bar.note);
        }
        svg.axis(left, TOP - 6.0, left, bottom);
        svg.finish()
    }
}
