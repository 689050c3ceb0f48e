//! Where values stand on a drawing, and which of them get a label.

use policy::time::{Span, Time};

/// A value axis from zero up to a round number.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    pub(super) max: f64,
    pub(super) ticks: Vec<f64>,
}

impl Scale {
    /// Reaches at least `max`, with about five labels at round numbers.
    pub(super) fn up_to(max: f64) -> Scale {
        Scale::with_steps(max, 0.0)
    }

    /// For what is counted: no labels between whole numbers.
    pub(super) fn of_counts(max: f64) -> Scale {
        Scale::with_steps(max, 1.0)
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful of ticks")]
    fn with_steps(max: f64, smallest: f64) -> Scale {
        let max = if max.is_finite() && max > 0.0 { max } else { 1.0 };
        let rough = max / 5.0;
        let magnitude = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * magnitude)
            .find(|step| *step >= rough * 0.999)
            .unwrap_or(rough)
            .max(smallest);
        let count = (max / step - 1e-9).ceil().clamp(1.0, 20.0) as u32;
        Scale { max: step * f64::from(count), ticks: (0..=count).map(|n| step * f64::from(n)).collect() }
    }

    /// The share of the axis at which a value stands.
    pub(super) fn share(&self, value: f64) -> f64 {
        (value / self.max).clamp(0.0, 1.0)
    }
}

#[allow(clippy::cast_precision_loss, reason = "a place on a drawing")]
pub(super) fn count(things: usize) -> f64 {
    things as f64
}

/// `0`, `2.5`, `1200`, `3 M`.
pub(super) fn number(value: f64) -> String {
    let (value, unit) = match value.abs() {
        v if v >= 1e9 => (value / 1e9, " G"),
        v if v >= 1e6 => (value / 1e6, " M"),
        v if v >= 1e4 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let text = format!("{value:.2}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Moments between the two that get a label: whole seconds, minutes, hours, days or weeks, not
/// closer than `least`, at most `most` of them.
pub(super) fn time_ticks(from: Time, to: Time, least: Span, most: u64) -> (Vec<Time>, Span) {
    let seconds = [10, 30, 60, 120, 300, 600, 900, 1800].map(Span::seconds);
    let hours = [1, 2, 3, 6, 12, 24, 48, 168, 336, 672, 1344, 2688, 8760].map(Span::hours);
    let whole = to.since(from).0;
    let mut steps = seconds.into_iter().chain(hours).filter(|step| *step >= least);
    let step = steps.find(|step| whole / step.0 <= most);
    let step = step.unwrap_or(Span(whole / most.max(1)));
    let width = i64::try_from(step.0.max(1)).unwrap_or(i64::MAX);
    let first = Time(from.0.div_euclid(width).saturating_mul(width));
    let ticks = std::iter::successors(Some(first), |at| Some(at.plus(step)));
    (ticks.skip_while(|at| *at < from).take_while(|at| *at <= to).collect(), step)
}

/// `14:00`, with seconds where they matter, or the day where one begins or only days are told.
pub(super) fn time_label(at: Time, step: Span) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = at.to_string();
    let (date, clock) = text.split_once('T').unwrap_or((&text, ""));
    let mut parts = date.rsplit('-');
    let day = parts.next().unwrap_or_default();
    let month = parts.next().and_then(|month| month.parse::<usize>().ok()).unwrap_or(1);
    let shown = if step < Span::seconds(60) { 8 } else { 5 };
    let hour = clock.get(..shown).unwrap_or_default();
    match step >= Span::days(1) || hour == "00:00" {
        true => format!("{} {}", day.trim_start_matches('0'), MONTHS.get(month - 1).unwrap_or(&"")),
        false => hour.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        for (max, end, ticks) in
            [(1.0, 1.0, 6), (7.0, 8.0, 5), (100.0, 100.0, 6), (1234.0, 1250.0, 6), (0.0, 1.0, 6)]
        {
            let scale = Scale::up_to(max);
            assert!((scale.max - end).abs() < 1e-9 && scale.ticks.len() == ticks, "{max}: {scale:?}");
        }
        assert_eq!(Scale::of_counts(2.0).ticks, [0.0, 1.0, 2.0]);
        assert!(Scale::up_to(f64::INFINITY).max.is_finite());
        let told = [0.0, 2.5, 1200.0, 12_000.0, 3e6, 2.5e9].map(number);
        assert_eq!(told, ["0", "2.5", "1200", "12 k", "3 M", "2.5 G"]);
    }

    #[test]
    fn times_are_labelled_at_whole_hours_and_days() {
        let from = Time(1_709_210_096_789);
        let (ticks, step) = time_ticks(from, from.plus(Span::hours(10)), Span::hours(1), 8);
        assert_eq!((step, ticks.len()), (Span::hours(2), 5));
        assert_eq!(time_label(ticks[0], step), "14:00");
        assert_eq!(time_label(Time(1_709_251_200_000), step), "1 Mar");
        let (ticks, step) = time_ticks(from, from.plus(Span::days(36_500)), Span::hours(1), 8);
        assert!(ticks.len() <= 9 && step > Span::days(1));
        let (ticks, step) = time_ticks(from, from.plus(Span::seconds(120)), Span::seconds(1), 8);
        assert_eq!((step, ticks.len()), (Span::seconds(30), 4));
        assert_eq!(time_label(ticks[0], step), "12:35:00");
    }
}
