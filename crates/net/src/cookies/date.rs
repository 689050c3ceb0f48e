//! Cookie dates, by the algorithm of RFC 6265, 5.1.1: of the words of a text, the first that looks
//! like a time of day, a day, a month and a year each count as that. Nothing else reads what
//! servers write.

use policy::civil;
use policy::time::Time;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

#[derive(Default)]
struct Parts {
    time: Option<(i64, i64, i64)>,
    day: Option<i64>,
    month: Option<i64>,
    year: Option<i64>,
}

pub fn parse(text: &str) -> Option<Time> {
    let mut parts = Parts::default();
    for word in text.as_bytes().split(|byte| is_delimiter(*byte)).filter(|word| !word.is_empty()) {
        parts.read(word);
    }
    parts.time()
}

impl Parts {
    fn read(&mut self, word: &[u8]) {
        if self.time.is_none()
            && let Some(time) = time_of_day(word)
        {
            self.time = Some(time);
        } else if self.day.is_none()
            && let Some(day) = number(word, 1..=2)
        {
            self.day = Some(day);
        } else if self.month.is_none()
            && let Some(month) = month(word)
        {
            self.month = Some(month);
        } else if self.year.is_none()
            && let Some(year) = number(word, 2..=4)
        {
            self.year = Some(year);
        }
    }

    fn time(&self) -> Option<Time> {
        let (hour, minute, second) = self.time?;
        let (day, month) = (self.day?, self.month?);
        let year = match self.year? {
            year @ 70..=99 => year + 1900,
            year @ 0..=69 => year + 2000,
            year => year,
        };
        civil::time([year, month, day], [hour, minute, second], 0).filter(|_| year >= 1601)
    }
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, 0x09 | 0x20..=0x2F | 0x3B..=0x40 | 0x5B..=0x60 | 0x7B..=0x7E)
}

/// The number at the head of a word: that many digits, and no digit after them.
fn number(word: &[u8], digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let count = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !digits.contains(&count) {
        return None;
    }
    Some(word[..count].iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

fn time_of_day(word: &[u8]) -> Option<(i64, i64, i64)> {
    let mut fields = word.splitn(3, |byte| *byte == b':');
    let whole = |field: &[u8]| number(field, 1..=2).filter(|_| field.iter().all(u8::is_ascii_digit));
    Some((whole(fields.next()?)?, whole(fields.next()?)?, number(fields.next()?, 1..=2)?))
}

fn month(word: &[u8]) -> Option<i64> {
    let head = word.get(..3)?;
    (1..).zip(MONTHS).find(|(_, name)| name.as_bytes().eq_ignore_ascii_case(head)).map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::parse;

    /// As servers have written them, and as RFC 6265 reads them.
    #[test]
    fn a7_dates_are_read_as_servers_write_them() {
        let table = "
            Wed, 09 Jun 2021 10:18:14 GMT    | 2021-06-09T10:18:14Z
            Wednesday, 09-Jun-21 10:18:14 GMT | 2021-06-09T10:18:14Z
            Wed Jun  9 10:18:14 2021         | 2021-06-09T10:18:14Z
            Wed, 09-Jun-2021 10:18:14        | 2021-06-09T10:18:14Z
            9 june 2021 1:2:3                | 2021-06-09T01:02:03Z
            2021 jun 09 10:18:14             | 2021-06-09T10:18:14Z
            Mon, 10-Dec-2007 17:02:24 GMT    | 2007-12-10T17:02:24Z
            Thu, 01-Jan-70 00:00:00 GMT      | 1970-01-01T00:00:00Z
            Thu, 01-Jan-69 00:00:00 GMT      | 2069-01-01T00:00:00Z
            29 Feb 2000 12:00:00             | 2000-02-29T12:00:00Z
            10:18:14Z 9th Jun 2021AD         | 2021-06-09T10:18:14Z
            29 Feb 2001 12:00:00             | -
            31 Apr 2021 12:00:00             | -
            09 Jun 1600 10:18:14             | -
            09 Jun 2021 24:00:00             | -
            09 Jun 2021 10:18                | -
            09 Jun 10:18:14                  | -
            0 Jun 2021 10:18:14              | -
            2021-06-09T10:18:14Z             | -
            09 Jun 20211 10:18:14            | -
            | -";
        for line in table.lines().filter(|line| line.contains('|')) {
            let (text, expected) = line.split_once('|').unwrap();
            let found = parse(text.trim()).map_or("-".to_owned(), |time| time.to_string());
            assert_eq!(found, expected.trim(), "{text}");
        }
    }
}
