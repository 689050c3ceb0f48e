//! Hours put together to as many slots as a drawing has room for.

use plan::plot::{Series, Shape, TimePlot};
use policy::time::{Span, Time};

/// Slots a drawing begins with at least, so that an hour of data does not fill it.
const SLOTS_MIN: u64 = 12;

#[derive(Clone, Copy, Debug)]
pub struct Timeline {
    from: Time,
    step: Span,
    slots: usize,
}

impl Timeline {
    /// From the first hour with data, but not before `since`, up to now.
    pub fn new(hours: impl Iterator<Item = Time>, since: Time, now: Time) -> Timeline {
        let first = hours.min().unwrap_or(now).max(since).min(now);
        let step = match now.since(first) {
            whole if whole <= Span::days(8) => Span::hours(1),
            whole if whole <= Span::days(40) => Span::hours(6),
            _ => Span::days(1),
        };
        let width = i64::try_from(step.0).unwrap_or(i64::MAX);
        let align = |time: Time| Time(time.0.div_euclid(width) * width);
        let end = align(now);
        let from = align(first);
        let slots = (end.since(from).0 / step.0 + 1).max(SLOTS_MIN);
        let back = i64::try_from((slots - 1) * step.0).unwrap_or(0);
        Timeline { from: Time(end.0 - back), step, slots: usize::try_from(slots).unwrap_or(1) }
    }

    /// The slot of an hour; what is before the first is in the first.
    pub fn slot(&self, hour: Time) -> usize {
        let slot = usize::try_from(hour.since(self.from).0 / self.step.0).unwrap_or(usize::MAX);
        slot.min(self.slots - 1)
    }

    pub fn empty<T: Clone + Default>(&self) -> Vec<T> {
        vec![T::default(); self.slots]
    }

    /// `per hour`.
    pub fn per_step(&self) -> &'static str {
        match self.step {
            step if step == Span::hours(1) => "per hour",
            step if step == Span::hours(6) => "per six hours",
            _ => "per day",
        }
    }

    pub fn plot(&self, title: &str, subtitle: String, shape: Shape, series: Vec<Series>) -> TimePlot {
        TimePlot {
            title: title.to_owned(),
            subtitle,
            shape,
            unit: "",
            max: None,
            from: self.from,
            step: self.step,
            slots: self.slots,
            series,
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "drawn, not counted with")]
pub fn drawn(counts: &[u64]) -> Vec<Option<f64>> {
    counts.iter().map(|count| Some(*count as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f32_every_hour_has_a_slot() {
        let now = Time(1_709_210_096_789);
        for days in [0, 1, 7, 30, 300] {
            let first = Time(now.0 - days * 86_400_000);
            let timeline = Timeline::new([first, now].into_iter(), Time(0), now);
            assert!(timeline.slot(first) < timeline.slots && timeline.slots <= 400, "{timeline:?}");
            assert_eq!(timeline.slot(now), timeline.slots - 1);
            assert!(timeline.from <= first && timeline.slots >= 12);
        }
    }
}
