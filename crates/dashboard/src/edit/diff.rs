//! What is other in a text than in another, line by line.

/// Beyond this product of lines, all of the one text goes and all of the other comes.
const WORK_MAX: usize = 4_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    Come(&'a str),
}

/// The lines of both, in an order in which as many as can be are the same.
pub(super) fn lines<'a>(before: &'a str, after: &'a str) -> Vec<Line<'a>> {
    let (one, other): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    if one.len().saturating_mul(other.len()) > WORK_MAX {
        return one.into_iter().map(Line::Gone).chain(other.into_iter().map(Line::Come)).collect();
    }
    // common[i][j]: how many lines are the same from there on.
    let width = other.len() + 1;
    let mut common = vec![0_u32; (one.len() + 1) * width];
    for i in (0..one.len()).rev() {
        for j in (0..other.len()).rev() {
            common[i * width + j] = match one[i] == other[j] {
                true => common[(i + 1) * width + j + 1] + 1,
                false => common[(i + 1) * width + j].max(common[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < one.len() || j < other.len() {
        if i < one.len() && j < other.len() && one[i] == other[j] {
            lines.push(Line::Same(one[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == other.len()
            || (i < one.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            lines.push(Line::Gone(one[i]));
            i += 1;
        } else {
            lines.push(Line::Come(other[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn i8_what_stays_is_told_as_such() {
        assert_eq!(
            lines("a\nb\nc", "a\nc\nd"),
            [Line::Same("a"), Line::Gone("b"), Line::Same("c"), Line::Come("d")]
        );
    }

    proptest! {
        #[test]
        fn i8_both_texts_are_in_their_difference(before in "([abc]\n){0,12}", after in "([abc]\n){0,12}") {
            let all = lines(&before, &after);
            let side = |is: fn(&Line) -> bool| all.iter().filter(|line| is(line)).map(|line| match line {
                Line::Same(text) | Line::Gone(text) | Line::Come(text) => format!("{text}\n"),
            }).collect::<String>();
            prop_assert_eq!(side(|line| !matches!(line, Line::Come(_))), before.as_str());
            prop_assert_eq!(side(|line| !matches!(line, Line::Gone(_))), after.as_str());
        }
    }
}
