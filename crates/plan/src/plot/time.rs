//! Values over time, as lines or as bars that stand on each other.

use policy::time::{Span, Time};

use super::scale::{Scale, count, number, time_label, time_ticks};
use super::svg::{Anchor, RIGHT, Svg};

const HEIGHT: f64 = 440.0;
const LEFT: f64 = 72.0;
const BOTTOM: f64 = HEIGHT - 54.0;
/// Points up to which each is marked.
const DOTS_MAX: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Lines,
    Stacked,
}

#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub colour: &'static str,
    /// One per slot of the plot; none where nothing is known.
    pub values: Vec<Option<f64>>,
}

impl Series {
    fn at(&self, slot: usize) -> Option<f64> {
        self.values.get(slot).copied().flatten()
    }
}

#[derive(Clone, Debug)]
pub struct TimePlot {
    pub title: String,
    pub subtitle: String,
    pub shape: Shape,
    /// What values are counted in, after each label of the axis.
    pub unit: &'static str,
    /// Where the value axis ends; if not given, values are counts and it ends at the largest.
    pub max: Option<f64>,
    pub from: Time,
    pub step: Span,
    pub slots: usize,
    pub series: Vec<Series>,
}

impl TimePlot {
    pub fn to_svg(&self) -> String {
        let mut svg = Svg::new(HEIGHT, &self.title, &self.subtitle);
        let entries: Vec<(&str, &str)> =
            self.series.iter().map(|series| (series.name.as_str(), series.colour)).collect();
        let top = svg.legend(&entries, LEFT) + 24.0;
        let scale = match self.max {
            Some(max) => Scale::up_to(max),
            None => Scale::of_counts(self.largest()),
        };
        let frame = Frame { plot: self, scale, top, width: (RIGHT - LEFT) / count(self.slots.max(1)) };
        frame.axes(&mut svg);
        match self.shape {
            Shape::Lines => frame.lines(&mut svg),
            Shape::Stacked => frame.stacks(&mut svg),
        }
        svg.axis(LEFT, BOTTOM, RIGHT, BOTTOM);
        svg.finish()
    }

    fn largest(&self) -> f64 {
        let value = |series: &Series, slot: usize| series.at(slot).unwrap_or(0.0);
        let heights = (0..self.slots).map(|slot| match self.shape {
            Shape::Lines => self.series.iter().map(|series| value(series, slot)).fold(0.0, f64::max),
            Shape::Stacked => self.series.iter().map(|series| value(series, slot)).sum(),
        });
        heights.fold(0.0, f64::max)
    }

    fn time(&self, slot: usize) -> Time {
        let slots = u64::try_from(slot).unwrap_or(u64::MAX);
        self.from.plus(Span(self.step.0.saturating_mul(slots)))
    }
}

/// A plot with its axes laid out.
struct Frame<'a> {
    plot: &'a TimePlot,
    scale: Scale,
    top: f64,
    /// Of one slot.
    width: f64,
}

impl Frame<'_> {
    fn x(&self, slot: usize) -> f64 {
        LEFT + count(slot) * self.width
    }

    fn y(&self, value: f64) -> f64 {
        BOTTOM - self.scale.share(value) * (BOTTOM - self.top)
    }

    fn axes(&self, svg: &mut Svg) {
        for tick in &self.scale.ticks {
            let y = self.y(*tick);
            svg.grid(LEFT, y, RIGHT, y);
            svg.label(LEFT - 10.0, y + 4.0, Anchor::End, &format!("{}{}", number(*tick), self.plot.unit));
        }
        let end = self.plot.time(self.plot.slots);
        let (ticks, step) = time_ticks(self.plot.from, end, self.plot.step, 8);
        let whole = count_ms(end.since(self.plot.from));
        for at in ticks {
            let x = LEFT + (RIGHT - LEFT) * count_ms(at.since(self.plot.from)) / whole.max(1.0);
            svg.axis(x, BOTTOM, x, BOTTOM + 5.0);
            svg.label(x, BOTTOM + 20.0, Anchor::Middle, &time_label(at, step));
        }
        svg.label(RIGHT, BOTTOM + 40.0, Anchor::End, "time (UTC)");
    }

    fn lines(&self, svg: &mut Svg) {
        for series in &self.plot.series {
            let place = |slot: usize, value: f64| (self.x(slot) + self.width / 2.0, self.y(value));
            let points: Vec<Option<(f64, f64)>> =
                (0..self.plot.slots).map(|slot| series.at(slot).map(|value| place(slot, value))).collect();
            svg.path(&points, series.colour);
            for (slot, point) in points.iter().enumerate() {
                let alone = slot.checked_sub(1).and_then(|before| points[before]).is_none()
                    && points.get(slot + 1).copied().flatten().is_none();
                if let Some((x, y)) = point
                    && (alone || points.len() <= DOTS_MAX)
                {
                    svg.dot(*x, *y, series.colour, &self.tip(series, slot));
                }
            }
        }
    }

    fn stacks(&self, svg: &mut Svg) {
        let gap = if self.width > 4.0 { self.width * 0.15 } else { 0.0 };
        for slot in 0..self.plot.slots {
            let mut below = 0.0;
            for series in &self.plot.series {
                let Some(value) = series.at(slot).filter(|value| *value > 0.0) else { continue };
                let (low, high) = (self.y(below), self.y(below + value));
                let x = self.x(slot) + gap / 2.0;
                svg.rect(x, high, self.width - gap, low - high, series.colour, &self.tip(series, slot));
                below += value;
            }
        }
    }

    fn tip(&self, series: &Series, slot: usize) -> String {
        let value = number(series.at(slot).unwrap_or(0.0));
        format!("{}, {}: {value}{}", series.name, self.plot.time(slot), self.plot.unit)
    }
}

#[allow(clippy::cast_precision_loss, reason = "a place on a drawing")]
fn count_ms(span: Span) -> f64 {
    span.0 as f64
}
