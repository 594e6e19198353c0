//! Times as people write them: RFC 3339, or seconds.

/// Seconds since 1970 for RFC 3339 (`2024-05-01T12:30:00.5+02:00`), the number itself for a number; `None`
/// for other text.
///
/// ```
/// assert_eq!(kith_io::time::seconds("1970-01-02T00:00:00Z"), Some(86400.0));
/// assert_eq!(kith_io::time::seconds("12.5"), Some(12.5));
/// assert_eq!(kith_io::time::seconds("yesterday"), None);
/// ```
pub fn seconds(text: &str) -> Option<f64> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.or_else(|| rfc_3339(text.as_bytes()))
}

fn rfc_3339(text: &[u8]) -> Option<f64> {
    let (date, rest) = text.split_at_checked(10)?;
    let (year, month, day) = (number(&date[..4])?, number(&date[5..7])?, number(&date[8..])?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let n_days = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let date_is_good =
        date[4] == b'-' && date[7] == b'-' && (1..=12).contains(&month) && (1..=n_days).contains(&day);
    let (&separator, rest) = rest.split_first()?;
    let (clock, rest) = rest.split_at_checked(8)?;
    let (hour, minute, second) = (number(&clock[..2])?, number(&clock[3..5])?, number(&clock[6..])?);
    // 60 is a leap second.
    let clock_is_good = clock[2] == b':' && clock[5] == b':' && hour <= 23 && minute <= 59 && second <= 60;
    if !(date_is_good && clock_is_good && matches!(separator, b'T' | b't' | b' ')) {
        return None;
    }
    let (fraction, zone) = fraction(rest)?;
    let whole = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second - offset(zone)?;
    Some(whole as f64 + fraction)
}

/// `.25`, or nothing; and what follows.
fn fraction(text: &[u8]) -> Option<(f64, &[u8])> {
    let Some(digits) = text.strip_prefix(b".") else { return Some((0.0, text)) };
    let n_digits = digits.iter().take_while(|digit| digit.is_ascii_digit()).count();
    let fraction = str::from_utf8(&text[..=n_digits]).ok()?.parse().ok().filter(|_| n_digits > 0)?;
    Some((fraction, &digits[n_digits..]))
}

/// `Z` or `+02:00`, in seconds.
fn offset(zone: &[u8]) -> Option<i64> {
    match *zone {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (number(&[h1, h2])?, number(&[m1, m2])?);
            let seconds = (hours * 60 + minutes) * 60;
            (hours <= 23 && minutes <= 59).then_some(if sign == b'+' { seconds } else { -seconds })
        }
        _ => None,
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    let step = |n, digit: &u8| digit.is_ascii_digit().then(|| n * 10 + i64::from(digit - b'0'));
    digits.iter().try_fold(0, step)
}

/// Days in the Gregorian calendar; a year begins with March, so that the leap day is its last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_since_1970() {
        for (text, wanted) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T12:00:00Z", 951_825_600.0),
            ("2024-05-01T12:30:00.25+02:00", 1_714_559_400.25),
            ("2024-05-01t10:30:00z", 1_714_559_400.0),
            ("2024-05-01 05:00:00-05:30", 1_714_559_400.0),
            ("1969-12-31T23:59:59Z", -1.0),
            ("0000-03-01T00:00:00Z", -62_162_035_200.0),
            ("2016-12-31T23:59:60Z", 1_483_228_800.0),
            ("-3", -3.0),
            ("1.7e9", 1.7e9),
        ] {
            assert_eq!(seconds(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn other_text_is_no_time() {
        for text in [
            "",
            "nan",
            "inf",
            "yesterday",
            "2024-05-01",
            "12:30",
            "2024-05-01T12:30:00",
            "2024-02-30T12:30:00Z",
            "2023-02-29T12:30:00Z",
            "1900-02-29T00:00:00Z",
            "2024-13-01T12:30:00Z",
            "2024-00-01T12:30:00Z",
            "2024-05-00T12:30:00Z",
            "2024-05-01T24:00:00Z",
            "2024-05-01T12:60:00Z",
            "2024-05-01T12:30:61Z",
            "2024-05-01T12:30:00.Z",
            "2024-05-01T12:30:00+2:00",
            "2024-05-01T12:30:00+24:00",
            "2024-05-01T12:30:00Zx",
            "2024/05/01T12:30:00Z",
            "2024-05-01_12:30:00Z",
            "+024-05-01T12:30:00Z",
            "\u{e9}\u{e9}24-05-01T12:30:00Z",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
