//! `date`, `time`, `date-time` (RFC 3339) and `duration` (ISO 8601, as its appendix A says).

/// `2024-02-29`
pub(super) fn date(text: &str) -> bool {
    let Some((year, month, day)) = split_date(text) else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn split_date(text: &str) -> Option<(u32, u32, u32)> {
    let (year, rest) = text.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    Some((digits(year, 4)?, digits(month, 2)?, digits(day, 2)?))
}

/// A number of so many digits.
fn digits(text: &str, count: usize) -> Option<u32> {
    let good = text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    if good { text.parse().ok() } else { None }
}

/// `23:59:60Z`, `08:30:06.283185+01:00`
pub(super) fn time(text: &str) -> bool {
    clock(text).is_some()
}

fn clock(text: &str) -> Option<()> {
    let at = text.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = text.split_at(at);
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let (hour, minute, second) = three(whole)?;
    let fraction = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
    let offset = if zone.eq_ignore_ascii_case("z") {
        0
    } else {
        let (hours, minutes) = zone.get(1..)?.split_once(':')?;
        let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
        let minutes = i64::from((hours < 24 && minutes < 60).then_some(hours * 60 + minutes)?);
        if zone.starts_with('-') { -minutes } else { minutes }
    };
    let good = fraction && hour < 24 && minute < 60 && second <= 60;
    // A leap second is the last one of a day in UTC.
    let utc = (i64::from(hour * 60 + minute) - offset).rem_euclid(24 * 60);
    (good && (second < 60 || utc == 23 * 60 + 59)).then_some(())
}

fn three(text: &str) -> Option<(u32, u32, u32)> {
    let (hour, rest) = text.split_once(':')?;
    let (minute, second) = rest.split_once(':')?;
    Some((digits(hour, 2)?, digits(minute, 2)?, digits(second, 2)?))
}

/// A date, `T` and a time.
pub(super) fn date_time(text: &str) -> bool {
    text.split_once(['T', 't']).is_some_and(|(day, clock)| date(day) && time(clock))
}

/// `P3Y6M4DT12H30M5S`, `P2W`
pub(super) fn duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else { return false };
    if let Some(weeks) = rest.strip_suffix('W') {
        return !weeks.is_empty() && weeks.bytes().all(|b| b.is_ascii_digit());
    }
    match rest.split_once('T') {
        Some((days, clock)) => (days.is_empty() || units(days, "YMD")) && units(clock, "HMS"),
        None => units(rest, "YMD"),
    }
}

/// Numbers, each with a unit; the units in order, one at least.
fn units(text: &str, mut order: &str) -> bool {
    let mut number = false;
    for c in text.chars() {
        if c.is_ascii_digit() {
            number = true;
        } else {
            let Some(at) = order.find(c).filter(|_| number) else { return false };
            order = &order[at + 1..];
            number = false;
        }
    }
    !text.is_empty() && !number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_clocks() {
        assert!(date("2024-02-29") && date("2000-02-29") && !date("1900-02-29"));
        assert!(
            !date("2024-2-9") && !date("2024-00-01") && !date("2024-04-31") && !date("٢024-01-01")
        );
        for good in ["00:00:00Z", "23:59:60z", "08:30:06.283185+01:00", "15:59:60-08:00"] {
            assert!(time(good), "{good}");
        }
        for bad in ["24:00:00Z", "12:00:60Z", "12:00:00", "12:00:00.Z", "12:00:00+24:00", "1:2:3Z"]
        {
            assert!(!time(bad), "{bad}");
        }
        assert!(date_time("1963-06-19t08:30:06z") && !date_time("1963-06-19 08:30:06Z"));
    }

    #[test]
    fn durations() {
        for good in ["P4DT12H30M5S", "P1M", "PT1M", "P2W", "PT0S", "P1DT12H"] {
            assert!(duration(good), "{good}");
        }
        for bad in ["P", "PT", "P1", "P1YT", "PT1D", "P2D1Y", "P1Y2W", "4DT", "P1DT2H3", "P2S"] {
            assert!(!duration(bad), "{bad}");
        }
    }
}
