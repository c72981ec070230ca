//! Times as people read them, always in UTC.

/// `2026-11-16 04:30` of seconds since 1970.
pub fn minute(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", rest / 3600, rest % 3600 / 60)
}

/// The calendar date of a number of days since 1970, for the proleptic Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    // Years are counted from March, so that the leap day is the last of its year; 146,097 days are 400 years.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::minute;

    #[test]
    fn dates_around_the_odd_corners() {
        assert_eq!(minute(0), "1970-01-01 00:00");
        assert_eq!(minute(951_782_400), "2000-02-29 00:00");
        assert_eq!(minute(1_794_803_400), "2026-11-16 04:30");
        assert_eq!(minute(-60), "1969-12-31 23:59");
    }
}
